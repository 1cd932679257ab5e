//! The store's assumptions about DynamoDB, each asked through both doors.

use std::fmt::Debug;

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_dynamodb::types::{
    AttributeValue, Delete, Put, ReturnValue, ReturnValuesOnConditionCheckFailure as OnFailure, TransactWriteItem,
    Update,
};
use futures::future::join_all;
use serde_json::{Value, json};

use super::doors::{INDEX, TABLE, in_process, over_http};
use super::value::{Item, attribute, item, json as item_json};

macro_rules! through_both_doors {
    ($($promise:ident),+ $(,)?) => {
        mod without_a_socket {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $promise() { super::$promise(super::in_process().await).await })+
        }
        mod over_http {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $promise() { super::$promise(super::over_http().await).await })+
        }
    };
}

through_both_doors![
    a_failed_condition_returns_the_item_that_is_there,
    one_of_64_simultaneous_claims_wins,
    a_cancelled_transaction_says_which_operation_failed_and_why,
    a_transaction_token_replays_and_refuses_other_content,
    update_expressions_mean_what_the_store_means,
    values_come_back_as_they_were_put,
    a_query_pages_by_limit_and_by_size_in_key_order,
    the_due_index_is_sparse_ordered_and_holds_keys_only,
    what_dynamodb_cannot_hold_is_refused,
];

async fn a_failed_condition_returns_the_item_that_is_there(client: Client) {
    let first = json!({"pk": "RUN#1", "sk": "LOG#000000000000", "writer": "a", "attempt": 1});
    put_if_absent(&client, &first).await.unwrap();
    let second = json!({"pk": "RUN#1", "sk": "LOG#000000000000", "writer": "b", "attempt": 2});
    let refused = put_if_absent(&client, &second).await.unwrap_err().into_service_error();
    assert_eq!(refused.meta().message(), Some("The conditional request failed"));
    match refused {
        aws_sdk_dynamodb::operation::put_item::PutItemError::ConditionalCheckFailedException(refused) => {
            assert_eq!(refused.item, Some(item(&first)));
        }
        other => panic!("{other:?}"),
    }
}

async fn one_of_64_simultaneous_claims_wins(client: Client) {
    put(&client, &json!({"pk": "RUN#1", "sk": "RUN", "version": 7})).await;
    let claim = |holder: u32| {
        client
            .update_item()
            .table_name(TABLE)
            .set_key(Some(item(&json!({"pk": "RUN#1", "sk": "RUN"}))))
            .update_expression("SET holder = :holder, version = version + :one")
            .condition_expression("version = :seen")
            .expression_attribute_values(":holder", attribute(&holder.into()))
            .expression_attribute_values(":one", attribute(&1.into()))
            .expression_attribute_values(":seen", attribute(&7.into()))
            .send()
    };
    let outcomes = join_all((0..64).map(|holder| tokio::spawn(claim(holder)))).await;
    let outcomes: Vec<_> = outcomes.into_iter().map(Result::unwrap).collect();
    let winners: Vec<_> = outcomes.iter().enumerate().filter(|(_, o)| o.is_ok()).map(|(holder, _)| holder).collect();
    let lost: Vec<_> = outcomes.into_iter().filter_map(Result::err).map(code).collect();
    assert_eq!(winners.len(), 1, "winners: {winners:?}");
    assert_eq!(lost, vec!["ConditionalCheckFailedException"; 63]);
    let run = get(&client, "RUN#1", "RUN").await.unwrap();
    assert_eq!(run, json!({"holder": winners[0], "pk": "RUN#1", "sk": "RUN", "version": 8}));
}

async fn a_cancelled_transaction_says_which_operation_failed_and_why(client: Client) {
    let there = json!({"active": "RUN#0", "pk": "THREAD#1", "sk": "THREAD"});
    put(&client, &there).await;
    let fine = || put_op(&json!({"pk": "RUN#1", "sk": "RUN"}), Some("attribute_not_exists(pk)"));
    let taken = || put_op(&json!({"pk": "THREAD#1", "sk": "THREAD"}), Some("attribute_not_exists(active)"));
    let gone = || delete_op("THREAD#2", "THREAD", "attribute_exists(pk)");
    let wrong_type = || update_op("THREAD#1", "THREAD", "SET active = active + :one", json!({":one": 1}));
    let cases = [
        (vec![fine(), taken()], vec![("None", None), ("ConditionalCheckFailed", Some(there.clone()))]),
        (
            vec![taken(), fine(), gone()],
            vec![("ConditionalCheckFailed", Some(there.clone())), ("None", None), ("ConditionalCheckFailed", None)],
        ),
        (vec![fine(), wrong_type()], vec![("None", None), ("ValidationError", None)]),
    ];
    for (operations, expected) in cases {
        let sent = client.transact_write_items().set_transact_items(Some(operations)).send().await;
        let error = sent.unwrap_err().into_service_error();
        let aws_sdk_dynamodb::operation::transact_write_items::TransactWriteItemsError::TransactionCanceledException(
            cancelled,
        ) = error
        else {
            panic!("{error:?}")
        };
        let reasons = cancelled.cancellation_reasons().iter();
        let reasons: Vec<_> = reasons.map(|r| (r.code.as_deref().unwrap(), r.item.as_ref().map(item_json))).collect();
        assert_eq!(reasons, expected);
        assert_eq!(get(&client, "RUN#1", "RUN").await, None, "a cancelled transaction leaves nothing");
    }
}

async fn a_transaction_token_replays_and_refuses_other_content(client: Client) {
    let send = |operation: TransactWriteItem| {
        client.transact_write_items().client_request_token("token-1").transact_items(operation).send()
    };
    let count = |step: u32| update_op("COUNT", "COUNT", "ADD n :step", json!({":step": step}));
    send(count(1)).await.unwrap();
    send(count(1)).await.unwrap();
    assert_eq!(get(&client, "COUNT", "COUNT").await.unwrap()["n"], 1);
    assert_eq!(code(send(count(2)).await.unwrap_err()), "IdempotentParameterMismatchException");
}

async fn update_expressions_mean_what_the_store_means(client: Client) {
    let before = json!({"version": 3, "status": "running", "tags": ["a"], "meta": {"n": 1}, "holder": "x"});
    let cases: [(&str, Value, Result<Value, &str>); 12] = [
        ("SET version = version + :v", json!({":v": 1}), Ok(json!({"version": 4}))),
        ("SET version = :v REMOVE holder", json!({":v": 9}), Ok(json!({"version": 9, "holder": null}))),
        ("SET fresh = if_not_exists(fresh, :v) + :v", json!({":v": 2}), Ok(json!({"fresh": 4}))),
        ("SET version = if_not_exists(version, :v)", json!({":v": 0}), Ok(json!({"version": 3}))),
        ("SET tags = list_append(tags, :v)", json!({":v": ["b"]}), Ok(json!({"tags": ["a", "b"]}))),
        ("SET meta.n = meta.n - :v, tags[0] = :v", json!({":v": 5}), Ok(json!({"meta": {"n": -4}, "tags": [5]}))),
        ("ADD version :v, fresh :v", json!({":v": -3}), Ok(json!({"version": 0, "fresh": -3}))),
        ("REMOVE meta.n, tags[0]", json!(null), Ok(json!({"meta": {}, "tags": []}))),
        ("SET #reserved = :v", json!({":v": "done"}), Ok(json!({"status": "done"}))),
        (
            "SET status = :v",
            json!({":v": "done"}),
            Err("Attribute name is a reserved keyword; reserved keyword: status"),
        ),
        (
            "SET a.b = :v",
            json!({":v": 1}),
            Err("The document path provided in the update expression is invalid for update"),
        ),
        (
            "SET holder = holder + :v",
            json!({":v": 1}),
            Err("An operand in the update expression has an incorrect data type"),
        ),
    ];
    for (n, (expression, values, expected)) in cases.into_iter().enumerate() {
        let key = json!({"pk": format!("UPDATE#{n}"), "sk": "X"});
        put(&client, &merged(&key, &before)).await;
        let mut update = client
            .update_item()
            .table_name(TABLE)
            .set_key(Some(item(&key)))
            .update_expression(expression)
            .set_expression_attribute_values(values.is_object().then(|| item(&values)))
            .return_values(ReturnValue::AllNew);
        if expression.contains("#reserved") {
            update = update.expression_attribute_names("#reserved", "status");
        }
        match (update.send().await, expected) {
            (Ok(output), Ok(changes)) => {
                let after = merged(&merged(&key, &before), &changes);
                assert_eq!(output.attributes, Some(item(&after)), "{expression}");
            }
            (Err(error), Err(expected)) => {
                let error = error.into_service_error();
                assert_eq!(error.meta().code(), Some("ValidationException"), "{expression}");
                let message = error.meta().message().unwrap().to_owned();
                assert!(message.contains(expected) && !message.contains("VALIDATION"), "{expression}: {message}");
            }
            (got, expected) => panic!("{expression}: {got:?}, expected {expected:?}"),
        }
    }
}

async fn values_come_back_as_they_were_put(client: Client) {
    let n = |digits: &str| AttributeValue::N(digits.to_owned());
    let cases: [(&str, AttributeValue); 13] = [
        ("beyond-f64", n("9007199254740993")),
        ("beyond-f64-negative", n("-9007199254740993")),
        ("38-digits", n("12345678901234567890123456789012345678")),
        ("fraction", n("0.1")),
        ("empty-string", attribute(&"".into())),
        ("empty-in-map", attribute(&json!({"text": "", "list": [], "map": {}}))),
        ("nul", attribute(&"a\u{0}b".into())),
        ("emoji", attribute(&"🚲🧑‍🤝‍🧑 \u{1F1EB}\u{1F1EE}".into())),
        ("controls", attribute(&"\r\n\t\u{1f}\u{2028}\u{feff}\\\"".into())),
        ("reserved-names", attribute(&json!({"status": 1, "name": 2, "values": 3, "data": 4, "#": 5, "a.b": 6}))),
        ("null-and-bool", attribute(&json!([null, true, false]))),
        ("bytes", AttributeValue::B(vec![0, 255, 10].into())),
        ("set", AttributeValue::Ss(vec!["a".into(), "b".into()])),
    ];
    for (name, value) in cases {
        let mut put = item(&json!({"pk": "VALUE#🚲", "sk": name}));
        put.insert("status".into(), value);
        client.put_item().table_name(TABLE).set_item(Some(put.clone())).send().await.unwrap();
        let key = Some(item(&json!({"pk": "VALUE#🚲", "sk": name})));
        let got = client.get_item().table_name(TABLE).set_key(key).consistent_read(true).send().await.unwrap();
        assert_eq!(got.item, Some(put), "{name}");
    }
}

async fn a_query_pages_by_limit_and_by_size_in_key_order(client: Client) {
    let padding = "x".repeat(60_000);
    for n in 0..40 {
        put(&client, &json!({"pk": "PAGED", "sk": format!("LOG#{n:012}"), "n": n, "padding": padding})).await;
    }
    for (limit, from, pages, first, count) in [(None, 0, 3, 0, 40), (Some(7), 0, 6, 0, 40), (Some(100), 30, 1, 30, 10)]
    {
        let mut got: Vec<Vec<Item>> = Vec::new();
        let mut start = None;
        loop {
            let page = client
                .query()
                .table_name(TABLE)
                .key_condition_expression("pk = :pk AND sk >= :from")
                .expression_attribute_values(":pk", attribute(&"PAGED".into()))
                .expression_attribute_values(":from", attribute(&format!("LOG#{from:012}").into()))
                .set_limit(limit)
                .set_exclusive_start_key(start)
                .consistent_read(true)
                .send()
                .await
                .unwrap();
            got.push(page.items.unwrap_or_default());
            start = page.last_evaluated_key;
            if start.is_none() {
                break;
            }
        }
        let numbers: Vec<_> =
            got.iter().flatten().map(|item| item["n"].as_n().unwrap().parse::<i32>().unwrap()).collect();
        assert_eq!(numbers, (first..first + count).collect::<Vec<_>>());
        assert_eq!(got.len(), pages, "limit {limit:?}");
    }
}

async fn the_due_index_is_sparse_ordered_and_holds_keys_only(client: Client) {
    for (run, due_at) in [("RUN#c", 300), ("RUN#a", 100), ("RUN#b", 200)] {
        put(&client, &json!({"pk": run, "sk": "RUN", "due_shard": 3, "due_at": due_at, "status": "running"})).await;
    }
    put(&client, &json!({"pk": "RUN#other", "sk": "RUN", "due_shard": 4, "due_at": 1})).await;
    put(&client, &json!({"pk": "RUN#ended", "sk": "RUN", "status": "completed"})).await;
    let due = || async {
        let found = client
            .query()
            .table_name(TABLE)
            .index_name(INDEX)
            .key_condition_expression("due_shard = :shard AND due_at <= :now")
            .expression_attribute_values(":shard", attribute(&3.into()))
            .expression_attribute_values(":now", attribute(&250.into()))
            .send()
            .await
            .unwrap();
        found.items.unwrap_or_default().iter().map(item_json).collect::<Vec<_>>()
    };
    let keys = |run: &str, due_at: u32| json!({"due_at": due_at, "due_shard": 3, "pk": run, "sk": "RUN"});
    assert_eq!(due().await, [keys("RUN#a", 100), keys("RUN#b", 200)]);
    let end = update_op("RUN#a", "RUN", "REMOVE due_at, due_shard", Value::Null);
    client.transact_write_items().transact_items(end).send().await.unwrap();
    assert_eq!(due().await, [keys("RUN#b", 200)]);
}

async fn what_dynamodb_cannot_hold_is_refused(client: Client) {
    let nowhere = client.get_item().table_name("nowhere").set_key(Some(item(&json!({"pk": "a", "sk": "b"}))));
    assert_eq!(code(nowhere.send().await.unwrap_err()), "ResourceNotFoundException");
    let cases = [
        (json!("x".repeat(400 * 1024)), "Item size has exceeded the maximum allowed size"),
        (json!({"nested": {"": "a name may not be empty, however deep"}}), "Empty attribute name"),
    ];
    for (value, expected) in cases {
        let row = item(&json!({"pk": "a", "sk": "b", "value": value}));
        let sent = client.put_item().table_name(TABLE).set_item(Some(row)).send().await;
        let error = sent.unwrap_err().into_service_error();
        assert!(error.meta().message().unwrap().contains(expected), "{error:?}");
    }
}

fn code<E: ProvideErrorMetadata + Debug>(error: SdkError<E>) -> String {
    error.code().unwrap_or_else(|| panic!("not an answer: {error:?}")).to_owned()
}

async fn put(client: &Client, json: &Value) {
    client.put_item().table_name(TABLE).set_item(Some(item(json))).send().await.unwrap();
}

async fn put_if_absent(
    client: &Client,
    json: &Value,
) -> Result<(), SdkError<aws_sdk_dynamodb::operation::put_item::PutItemError>> {
    client
        .put_item()
        .table_name(TABLE)
        .set_item(Some(item(json)))
        .condition_expression("attribute_not_exists(pk)")
        .return_values_on_condition_check_failure(OnFailure::AllOld)
        .send()
        .await
        .map(drop)
}

async fn get(client: &Client, pk: &str, sk: &str) -> Option<Value> {
    let key = item(&json!({"pk": pk, "sk": sk}));
    let got = client.get_item().table_name(TABLE).set_key(Some(key)).consistent_read(true).send().await.unwrap();
    got.item.as_ref().map(item_json)
}

fn put_op(json: &Value, condition: Option<&str>) -> TransactWriteItem {
    let put = Put::builder()
        .table_name(TABLE)
        .set_item(Some(item(json)))
        .set_condition_expression(condition.map(str::to_owned))
        .return_values_on_condition_check_failure(OnFailure::AllOld);
    TransactWriteItem::builder().put(put.build().unwrap()).build()
}

fn delete_op(pk: &str, sk: &str, condition: &str) -> TransactWriteItem {
    let delete = Delete::builder()
        .table_name(TABLE)
        .set_key(Some(item(&json!({"pk": pk, "sk": sk}))))
        .condition_expression(condition)
        .return_values_on_condition_check_failure(OnFailure::AllOld);
    TransactWriteItem::builder().delete(delete.build().unwrap()).build()
}

fn update_op(pk: &str, sk: &str, expression: &str, values: Value) -> TransactWriteItem {
    let update = Update::builder()
        .table_name(TABLE)
        .set_key(Some(item(&json!({"pk": pk, "sk": sk}))))
        .update_expression(expression)
        .set_expression_attribute_values(values.is_object().then(|| item(&values)));
    TransactWriteItem::builder().update(update.build().unwrap()).build()
}

/// `base` with `changes` over it; null takes an attribute away.
fn merged(base: &Value, changes: &Value) -> Value {
    let mut merged = base.as_object().unwrap().clone();
    for (name, value) in changes.as_object().unwrap() {
        match value {
            Value::Null => drop(merged.remove(name)),
            value => drop(merged.insert(name.clone(), value.clone())),
        }
    }
    Value::Object(merged)
}
