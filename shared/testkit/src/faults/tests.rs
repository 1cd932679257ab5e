//! The proxy between the real SDK and the embedded engine over HTTP.

use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::config::retry::RetryConfig;
use aws_sdk_dynamodb::config::{BehaviorVersion, Config, Credentials, Region};
use aws_sdk_dynamodb::error::ProvideErrorMetadata;
use aws_sdk_dynamodb::operation::put_item::PutItemOutput;
use aws_sdk_dynamodb::operation::transact_write_items::TransactWriteItemsError;
use aws_sdk_dynamodb::types::{
    AttributeDefinition, AttributeValue, BillingMode, KeySchemaElement, KeyType, Put, ScalarAttributeType,
    TransactWriteItem,
};
use tandem_embedded::Engine;
use tokio::net::TcpListener;
use tokio::sync::Notify;

use super::*;

/// A table behind a proxy. The two clients differ in whether they try again.
struct Setting {
    proxy: Proxy,
    patient: Client,
    once: Client,
}

async fn setting() -> Setting {
    let engine = Engine::in_memory().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let proxy = Proxy::open(&format!("http://{}", listener.local_addr().unwrap())).await.unwrap();
    tokio::spawn(async move { engine.serve(listener).await });
    let client = |retries| {
        let config = Config::builder()
            .behavior_version(BehaviorVersion::latest())
            .region(Region::from_static("us-east-1"))
            .credentials_provider(Credentials::new("local", "local", None, None, "local"))
            .retry_config(retries)
            .endpoint_url(proxy.url());
        Client::from_conf(config.build())
    };
    let (patient, once) = (client(RetryConfig::standard()), client(RetryConfig::disabled()));
    create_table(&once).await;
    proxy.reset();
    Setting { proxy, patient, once }
}

async fn create_table(client: &Client) {
    let attribute = |name: &str| {
        AttributeDefinition::builder().attribute_name(name).attribute_type(ScalarAttributeType::S).build().unwrap()
    };
    let key = |name: &str, kind| KeySchemaElement::builder().attribute_name(name).key_type(kind).build().unwrap();
    client
        .create_table()
        .table_name("tandem")
        .billing_mode(BillingMode::PayPerRequest)
        .attribute_definitions(attribute("pk"))
        .attribute_definitions(attribute("sk"))
        .key_schema(key("pk", KeyType::Hash))
        .key_schema(key("sk", KeyType::Range))
        .send()
        .await
        .unwrap();
    while client.describe_table().table_name("tandem").send().await.unwrap().table.unwrap().table_status
        != Some("ACTIVE".into())
    {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

fn s(text: &str) -> AttributeValue {
    AttributeValue::S(text.into())
}

/// Puts an item that must not be there; the code of the error, or `lost` if there was no answer.
async fn put(client: &Client, sk: &str) -> Result<PutItemOutput, String> {
    let put = client.put_item().table_name("tandem").item("pk", s("P")).item("sk", s(sk));
    let put = put.condition_expression("attribute_not_exists(pk)").send().await;
    put.map_err(|error| error.code().unwrap_or("lost").to_owned())
}

async fn exists(client: &Client, sk: &str) -> bool {
    let get = client.get_item().table_name("tandem").key("pk", s("P")).key("sk", s(sk)).consistent_read(true);
    get.send().await.unwrap().item.is_some()
}

#[tokio::test]
async fn each_fault_at_the_second_write_and_nowhere_else() {
    use Fault::*;
    let late = Duration::from_millis(1500);
    for (what, error, stored) in [
        (LoseRequest, Some("lost"), false),
        (LoseReply, Some("lost"), true),
        (Delay(late), None, true),
        (Refuse(Refusal::Throttled), Some("ProvisionedThroughputExceededException"), false),
        (Refuse(Refusal::Conflict), Some("TransactionConflictException"), false),
        (Refuse(Refusal::InternalError), Some("InternalServerError"), false),
    ] {
        let Setting { proxy, once, .. } = setting().await;
        proxy.plan(Plan::once(At::Write(2), what));
        put(&once, "1").await.unwrap();
        assert!(!exists(&once, "2").await);
        let began = Instant::now();
        let second = put(&once, "2").await;
        assert_eq!(second.err().as_deref(), error, "{what:?}");
        assert_eq!(began.elapsed() >= late, what == Delay(late), "{what:?}");
        put(&once, "3").await.unwrap();
        assert_eq!(exists(&once, "2").await, stored, "{what:?}");
        let trace: Vec<_> = proxy.trace().into_iter().map(|call| (call.call, call.write, call.fault)).collect();
        let want = [(1, Some(1), None), (2, None, None), (3, Some(2), Some(what)), (4, Some(3), None), (5, None, None)];
        assert_eq!(trace, want);
    }
}

#[tokio::test]
async fn the_k_th_call_is_counted_with_reads() {
    let Setting { proxy, once, .. } = setting().await;
    proxy.plan(Plan::once(At::Call(2), Fault::LoseRequest));
    assert!(!exists(&once, "1").await);
    assert_eq!(put(&once, "1").await.unwrap_err(), "lost");
    assert!(!exists(&once, "1").await);
}

#[tokio::test]
async fn the_sdk_takes_the_answers_for_those_of_dynamodb() {
    // It tries again where DynamoDB would want it to, and then meets its own first success or none.
    for (what, error) in [
        (Fault::LoseRequest, None),
        (Fault::LoseReply, Some("ConditionalCheckFailedException")),
        (Fault::Refuse(Refusal::Throttled), None),
        (Fault::Refuse(Refusal::InternalError), None),
        // Not tried again by the SDK: it is for the store to know better.
        (Fault::Refuse(Refusal::Conflict), Some("TransactionConflictException")),
    ] {
        let Setting { proxy, patient, .. } = setting().await;
        proxy.plan(Plan::once(At::Write(1), what));
        assert_eq!(put(&patient, "1").await.err().as_deref(), error, "{what:?}");
    }
}

#[tokio::test]
async fn a_refused_transaction_has_a_reason_for_each_operation() {
    for (refusal, code) in [(Refusal::Conflict, "TransactionConflict"), (Refusal::Throttled, "ThrottlingError")] {
        let Setting { proxy, once, .. } = setting().await;
        proxy.plan(Plan::once(At::Write(1), Fault::Refuse(refusal)));
        let operation = |sk: &str| {
            let put = Put::builder().table_name("tandem").item("pk", s("P")).item("sk", s(sk)).build().unwrap();
            TransactWriteItem::builder().put(put).build()
        };
        let call = once.transact_write_items().transact_items(operation("1")).transact_items(operation("2"));
        let error = call.send().await.unwrap_err().into_service_error();
        let TransactWriteItemsError::TransactionCanceledException(cancelled) = error else { panic!("{error:?}") };
        let codes: Vec<_> = cancelled.cancellation_reasons().iter().map(|reason| reason.code().unwrap()).collect();
        assert_eq!(codes, [code, "None"]);
        assert_eq!(proxy.trace()[0].operation.keys, ["P 1", "P 2"]);
        assert!(!exists(&once, "1").await);
    }
}

#[tokio::test]
async fn a_lasting_fault_meets_every_call_until_its_time_is_over() {
    let Setting { proxy, once, .. } = setting().await;
    let (what, lasts) = (Fault::Refuse(Refusal::Throttled), Duration::from_millis(200));
    proxy.plan(Plan::during(At::Write(2), what, lasts));
    put(&once, "1").await.unwrap();
    let began = Instant::now();
    let mut refused = 0;
    while put(&once, "2").await.is_err() {
        refused += 1;
    }
    assert!(refused > 2 && began.elapsed() >= lasts, "{refused} in {:?}", began.elapsed());
    assert_eq!(proxy.trace().iter().filter(|call| call.fault == Some(what)).count(), refused);
    proxy.break_for(Fault::LoseRequest, Duration::from_secs(60));
    assert_eq!(put(&once, "3").await.unwrap_err(), "lost");
}

#[tokio::test]
async fn a_hook_stands_before_or_after_the_store_and_decides() {
    for (moment, then, stored_then, stored, answered) in [
        (Moment::Before, Then::GoOn, false, true, true),
        (Moment::Before, Then::Close, false, false, false),
        (Moment::After, Then::GoOn, true, true, true),
        (Moment::After, Then::Close, true, true, false),
    ] {
        let Setting { proxy, once, .. } = setting().await;
        let (called, go_on) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let (tell, wait) = (Arc::clone(&called), Arc::clone(&go_on));
        proxy.on_hook(move |call| {
            assert_eq!(call.operation.to_string(), "PutItem P 1");
            let (tell, wait) = (Arc::clone(&tell), Arc::clone(&wait));
            async move {
                tell.notify_one();
                wait.notified().await;
                then
            }
        });
        proxy.plan(Plan::once(At::Write(1), Fault::Hook(moment)));
        let writer = once.clone();
        let write = tokio::spawn(async move { put(&writer, "1").await });
        called.notified().await;
        assert_eq!(exists(&once, "1").await, stored_then, "{moment:?} {then:?}");
        go_on.notify_one();
        assert_eq!(write.await.unwrap().is_ok(), answered, "{moment:?} {then:?}");
        assert_eq!(exists(&once, "1").await, stored, "{moment:?} {then:?}");
    }
}

#[tokio::test]
async fn a_call_that_has_arrived_goes_on_without_the_one_who_asked() {
    let Setting { proxy, once, .. } = setting().await;
    proxy.plan(Plan::once(At::Write(1), Fault::Delay(Duration::from_millis(100))));
    let writer = once.clone();
    let write = tokio::spawn(async move { put(&writer, "1").await });
    while proxy.writes() == 0 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    write.abort();
    let _ = write.await;
    while !exists(&once, "1").await {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn a_reset_proxy_counts_from_one_and_breaks_nothing() {
    let Setting { proxy, once, .. } = setting().await;
    proxy.plan(Plan::during(At::Write(1), Fault::LoseRequest, Duration::from_secs(60)));
    proxy.plan(Plan::once(At::Write(3), Fault::LoseRequest));
    put(&once, "1").await.unwrap_err();
    assert!(proxy.has_struck());
    proxy.reset();
    for sk in ["1", "2", "3"] {
        put(&once, sk).await.unwrap();
    }
    assert_eq!((proxy.writes(), proxy.has_struck()), (3, false));
}

#[test]
fn a_process_sleeps_goes_on_and_dies() {
    let mut child = Command::new("sleep").arg("60").spawn().unwrap();
    let pid = child.id();
    let state = || {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
        stat.rsplit(") ").next().unwrap().chars().next().unwrap()
    };
    let becomes = |wanted: char| {
        let began = Instant::now();
        while state() != wanted {
            assert!(began.elapsed() < Duration::from_secs(5), "still {}", state());
        }
    };
    pause(pid).unwrap();
    becomes('T');
    resume(pid).unwrap();
    becomes('S');
    kill(pid).unwrap();
    assert!(!child.wait().unwrap().success());
    assert!(kill(pid).is_err());
}
