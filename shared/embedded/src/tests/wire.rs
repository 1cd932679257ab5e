//! Both doors answer the same bytes, faults above all: the store decides by codes and reasons.

use serde_json::{Value, json};

use super::doors::{TABLE, create_table, serve};
use crate::Engine;
use crate::operations::{Answer, answer};

/// Operation and body, without the table's name: what the SDK is able to write, right or wrong.
fn requests() -> Vec<(&'static str, Value)> {
    let key = || json!({"pk": {"S": "A"}, "sk": {"S": "B"}});
    vec![
        ("PutItem", json!({"Item": {"pk": {"S": "A"}, "sk": {"S": "B"}, "n": {"N": "1"}}})),
        ("GetItem", json!({"Key": key()})),
        ("GetItem", json!({"Key": {"pk": {"S": "A"}}})),
        ("GetItem", json!({"Key": {"pk": {"N": "1"}, "sk": {"S": "B"}}})),
        ("GetItem", json!({})),
        ("GetItem", json!({"Key": key(), "TableName": "x"})),
        ("PutItem", json!({"Item": {"pk": {"S": ""}, "sk": {"S": "B"}}})),
        ("PutItem", json!({"Item": {"pk": {"S": "A"}, "sk": {"S": "B"}, "n": {"N": "not a number"}}})),
        ("PutItem", json!({"Item": {"pk": {"S": "A"}, "sk": {"S": "B"}, "n": {"NULL": false}}})),
        ("PutItem", json!({"Item": {"pk": {"S": "A"}, "sk": {"S": "B"}, "n": {"SS": []}}})),
        ("PutItem", json!({"Item": {"pk": {"S": "A"}, "sk": {"S": "B"}}, "ConditionExpression": ""})),
        ("PutItem", json!({"Item": {"pk": {"S": "A"}, "sk": {"S": "B"}}, "ConditionExpression": "size > :n"})),
        ("PutItem", json!({"Item": {"pk": {"S": "A"}, "sk": {"S": "B"}}, "ReturnValues": "ALL_NEW"})),
        (
            "PutItem",
            json!({"Item": {"pk": {"S": "A"}, "sk": {"S": "B"}}, "ConditionExpression": "attribute_not_exists(pk)",
                "ReturnValuesOnConditionCheckFailure": "ALL_OLD"}),
        ),
        ("UpdateItem", json!({"Key": key(), "UpdateExpression": "SET n = :unused", "ExpressionAttributeValues": {}})),
        (
            "UpdateItem",
            json!({"Key": key(), "UpdateExpression": "SET status = :v", "ExpressionAttributeValues": {":v": {"S": ""}}}),
        ),
        (
            "UpdateItem",
            json!({"Key": key(), "UpdateExpression": "SET pk = :v", "ExpressionAttributeValues": {":v": {"S": "C"}}}),
        ),
        (
            "UpdateItem",
            json!({"Key": key(), "UpdateExpression": "SET n = n + :v", "ExpressionAttributeValues": {":v": {"N": "2"}}, "ReturnValues": "ALL_NEW"}),
        ),
        (
            "DeleteItem",
            json!({"Key": key(), "ConditionExpression": "n = :v", "ExpressionAttributeValues": {":v": {"N": "9"}}}),
        ),
        ("Query", json!({"KeyConditionExpression": "sk = :v", "ExpressionAttributeValues": {":v": {"S": "B"}}})),
        (
            "Query",
            json!({"KeyConditionExpression": "pk = :v", "ExpressionAttributeValues": {":v": {"S": "A"}}, "Limit": 0}),
        ),
        (
            "Query",
            json!({"KeyConditionExpression": "pk = :v", "ExpressionAttributeValues": {":v": {"S": "A"}}, "IndexName": "none"}),
        ),
        ("Query", json!({"KeyConditionExpression": "pk = :v", "ExpressionAttributeValues": {":v": {"S": "A"}}})),
        ("TransactWriteItems", json!({"TransactItems": []})),
        (
            "TransactWriteItems",
            json!({"TransactItems": [
                {"Put": {"TableName": TABLE, "Item": {"pk": {"S": "T"}, "sk": {"S": "1"}}}},
                {"Put": {"TableName": TABLE, "Item": {"pk": {"S": "T"}, "sk": {"S": "1"}}}},
            ]}),
        ),
        (
            "TransactWriteItems",
            json!({"TransactItems": [
                {"Put": {"TableName": TABLE, "Item": {"pk": {"S": "T"}, "sk": {"S": "1"}}}},
                {"ConditionCheck": {"TableName": TABLE, "Key": key(), "ConditionExpression": "attribute_not_exists(pk)",
                    "ReturnValuesOnConditionCheckFailure": "ALL_OLD"}},
            ]}),
        ),
        ("CreateTable", json!({})),
        ("UpdateTimeToLive", json!({"TimeToLiveSpecification": {"Enabled": true, "AttributeName": "expires_at"}})),
        ("DescribeTimeToLive", json!({})),
    ]
}

#[tokio::test]
async fn both_doors_answer_the_same() {
    let (inside, outside) = (Engine::in_memory().unwrap(), Engine::in_memory().unwrap());
    create_table(&inside.client()).await;
    create_table(&outside.client()).await;
    let endpoint = serve(&outside).await;
    for (operation, mut body) in requests() {
        if !operation.starts_with("Transact") && body.get("TableName").is_none() {
            body["TableName"] = TABLE.into();
        }
        let target = format!("DynamoDB_20120810.{operation}");
        let body = body.to_string();
        let ours = answer(inside.database(), &target, body.as_bytes());
        let theirs = over_http(&endpoint, &target, &body).await;
        assert_eq!(parsed(&ours), parsed(&theirs), "{operation} {body}");
        assert!(!ours.body.contains("VALIDATION"), "{operation} {body}: {}", ours.body);
    }
}

#[tokio::test]
async fn an_operation_that_is_not_offered_is_a_validation_fault() {
    let engine = Engine::in_memory().unwrap();
    let refused = engine.client().list_backups().send().await.unwrap_err().into_service_error();
    let message = refused.meta().message().unwrap();
    assert_eq!(message, "the embedded engine does not offer ListBackups");
}

async fn over_http(endpoint: &str, target: &str, body: &str) -> Answer {
    let response = reqwest::Client::new()
        .post(endpoint)
        .header("content-type", "application/x-amz-json-1.0")
        .header("x-amz-target", target)
        .header("x-amz-date", "20260101T000000Z")
        .header("authorization", "AWS4-HMAC-SHA256 Credential=a/b/c/d/e, SignedHeaders=host, Signature=f")
        .body(body.to_owned())
        .send()
        .await
        .unwrap();
    Answer { status: response.status().as_u16(), body: response.text().await.unwrap() }
}

/// The order of an item's attributes is a hash map's.
fn parsed(answer: &Answer) -> (u16, Value) {
    (answer.status, serde_json::from_str(&answer.body).unwrap())
}
