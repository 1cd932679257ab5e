//! Calls through the one door, against a real engine: each test is named after the promise that it keeps.

#![allow(clippy::unwrap_used)]

mod effects;
mod elsewhere;
mod once;
mod sample;

use std::time::Duration;

use aws_sdk_dynamodb::types::AttributeValue;
use sample::{App, RIVALS, runs_of};
use serde_json::{Value, json};
use tandem_actions::ActionError;
use tandem_store::Outcome;

/// The result in one line: the output, or the code of the error.
fn brief(result: &Result<Value, ActionError>) -> String {
    match result {
        Ok(output) => output.to_string(),
        Err(error) => error.code().to_owned(),
    }
}

#[tokio::test]
async fn writes_and_outcome_exist_once_however_many_holders_run_the_call() {
    let app = App::new().await;
    let calls = (0..8).map(|_| app.spawn("add", json!({"name": "n", "by": 5}), app.tool("c1")));
    for result in futures::future::join_all(calls).await {
        assert_eq!(brief(&result.unwrap()), r#"{"value":5}"#);
    }
    assert_eq!(app.value("n").await, Some(json!(5)));
    assert_eq!(app.outcome("c1").await, Some(Outcome::Done(json!({"value": 5}))));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_hundred_parallel_increments_are_all_kept() {
    let app = App::new().await;
    let calls = (0..200).map(|n| {
        let call = if n % 2 == 0 { app.tool(&format!("c{n}")) } else { app.person() };
        app.spawn("add", json!({"name": "n", "by": 1}), call)
    });
    for result in futures::future::join_all(calls).await {
        result.unwrap().unwrap();
    }
    assert_eq!(app.value("n").await, Some(json!(200)));
}

#[tokio::test]
async fn what_was_read_is_stored_by_its_place_in_the_log_alone() {
    let app = App::new().await;
    let read = app.call("peek", json!({"name": "n"}), app.tool("c1")).await;
    assert_eq!(brief(&read), "null");
    assert_eq!(app.outcome("c1").await, None);
}

#[tokio::test]
async fn a_closed_call_changes_nothing() {
    for name in ["add", "count-up", "call-out"] {
        let app = App::new().await;
        app.put_outcome("c1", Outcome::Closed).await;
        let result = app.call(name, json!({"name": "n", "by": 3}), app.tool("c1")).await;
        assert!(matches!(result, Err(ActionError::Closed)), "{name}: {}", brief(&result));
        assert_eq!(app.value("n").await, None, "{name}");
    }
}

#[tokio::test]
async fn a_failure_is_an_outcome_without_writes() {
    let app = App::new().await;
    for (n, (how, code, text)) in [
        ("refuse", "no_luck", "not with [hidden] today [no_luck]"),
        ("panic", "internal", "a fault on our side"),
        ("conflict", "conflict", "somebody else"),
        ("long-output", "output_too_large", "at most"),
        ("deep-output", "output_too_deep", "at most 64 levels"),
        ("deep-value", "bad_value", "at most 64 levels"),
        ("many-writes", "too_large", "`checkpoint`"),
        ("long-value", "too_large", "`checkpoint`"),
    ]
    .into_iter()
    .enumerate()
    {
        let id = format!("c{n}");
        let input = json!({"how": how});
        for result in [
            app.call("fail", input.clone(), app.tool(&id)).await,
            app.call("fail", input.clone(), app.tool(&id)).await,
            app.call("fail", input.clone(), app.person()).await,
        ] {
            let error = result.unwrap_err();
            assert_eq!(error.code(), code);
            assert!(error.to_string().contains(text), "{error}");
        }
        let Some(Outcome::Failed(stored)) = app.outcome(&id).await else { panic!("{how} has no outcome") };
        assert!(stored.contains(text) && stored.ends_with(&format!(" [{code}]")), "{stored}");
        assert_eq!(app.value("n").await, None, "{how}");
    }
}

#[tokio::test]
async fn what_has_happened_elsewhere_is_not_told_to_be_done_again() {
    let app = App::new().await;
    for (how, code, text, written) in [
        ("long-output", "output_too_large", "It was done, and is not to be done again", true),
        ("deep-output", "output_too_deep", "It was done, and is not to be done again", true),
        ("many-writes", "too_large", "It has happened, but what it was to change here could not be stored", false),
    ] {
        for call in [app.tool(how), app.person()] {
            let error = app.call("deliver", json!({"how": how}), call).await.unwrap_err();
            assert_eq!(error.code(), code);
            assert!(error.to_string().starts_with(text), "{error}");
        }
        assert!(matches!(app.outcome(how).await, Some(Outcome::Failed(stored)) if stored.starts_with(text)), "{how}");
        assert_eq!(app.value("n").await.is_some(), written, "{how}");
        app.forget("n").await;
    }
}

#[tokio::test]
async fn a_refused_input_is_an_outcome_of_a_tool_call() {
    let app = App::new().await;
    let result = app.call("add", json!({"name": "n", "by": "1", "x": 1}), app.tool("c1")).await;
    assert_eq!(brief(&result), "invalid_input");
    let Some(Outcome::Failed(told)) = app.outcome("c1").await else { panic!("no outcome") };
    let want = "the input does not fit: /by must be a whole number, not a text; \
                /x is not a known field; known are: name, by. Nothing was run. The arguments must fit this JSON Schema: {";
    assert!(told.starts_with(want) && told.ends_with("} [invalid_input]"), "{told}");
    let schema = &told[want.len() - 1..told.len() - " [invalid_input]".len()];
    let schema: Value = serde_json::from_str(schema).unwrap();
    assert_eq!((&schema["required"], &schema["properties"]["by"]["type"]), (&json!(["name", "by"]), &json!("integer")));
    let Err(ActionError::Invalid(faults)) = app.call("add", json!({}), app.person()).await else { panic!() };
    assert_eq!(faults.len(), 2);
    assert_eq!(brief(&app.call("ad", json!({}), app.person()).await), "not_found");
}

#[tokio::test]
async fn a_read_action_cannot_write() {
    let app = App::new().await;
    assert_eq!(brief(&app.call("peek-and-write", json!({}), app.tool("c1")).await), "read_only");
    assert_eq!(app.value("n").await, None);
}

#[tokio::test]
async fn a_failure_of_the_store_never_looks_like_no_data() {
    let app = App::new().await;
    // An item that is no document: reading it fails, and a commit would not.
    let client = app.engine.client();
    let put = client.put_item().table_name("tandem");
    let put = put.item("pk", AttributeValue::S("STATE#acme#app:sample".into()));
    put.item("sk", AttributeValue::S("DOC#n".into())).send().await.unwrap();
    // The action takes every failed read for an empty document and goes on.
    let result = app.call("careless", json!({}), app.tool("c1")).await;
    assert!(matches!(result, Err(ActionError::Store(_))), "{}", brief(&result));
    assert_eq!(app.outcome("c1").await, None);
}

#[tokio::test]
async fn a_document_of_another_shape_is_an_outcome_that_names_it() {
    for name in ["add", "careless", "count-up"] {
        let app = App::new().await;
        app.write("n", json!("abc")).await;
        for call in [app.tool("c1"), app.tool("c1"), app.person()] {
            let input = if name == "careless" { json!({}) } else { json!({"name": "n", "by": 1}) };
            let error = app.call(name, input, call).await.unwrap_err();
            assert_eq!(error.code(), "unexpected_document", "{name}");
            let text = error.to_string();
            assert!(text.contains("The document n of app:sample") && text.contains("expected i64"), "{text}");
        }
        assert!(matches!(app.outcome("c1").await, Some(Outcome::Failed(_))), "{name}");
        assert_eq!(app.value("n").await, Some(json!("abc")), "{name}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_timeout_is_an_outcome_and_a_stop_is_not() {
    let app = App::new().await;
    let slow = json!({"seconds": 3600});
    let result = app.call("sleep", slow.clone(), app.tool("c1")).await;
    assert_eq!(brief(&result), "timeout");
    assert!(matches!(app.outcome("c1").await, Some(Outcome::Failed(text)) if text.contains("60 s")));
    assert!(matches!(app.call("sleep", slow.clone(), app.person()).await, Err(ActionError::Timeout(_))));

    let mut call = app.tool("c2");
    call.deadline = tokio::time::Instant::now() + Duration::from_secs(5);
    assert!(matches!(app.call("sleep", slow.clone(), call).await, Err(ActionError::Cancelled)));
    let mut call = app.person();
    call.deadline = tokio::time::Instant::now() + Duration::from_secs(5);
    assert!(matches!(app.call("sleep", slow.clone(), call).await, Err(ActionError::Timeout(_))));

    let call = app.tool("c3");
    let cancel = call.cancel.clone();
    let running = app.spawn("sleep", slow.clone(), call);
    tokio::time::sleep(Duration::from_secs(1)).await;
    cancel.cancel();
    assert!(matches!(running.await.unwrap(), Err(ActionError::Cancelled)));
    let call = app.tool("c4");
    call.cancel.cancel();
    assert!(matches!(app.call("add", json!({"name": "n", "by": 1}), call).await, Err(ActionError::Cancelled)));
    for id in ["c2", "c3", "c4"] {
        assert_eq!(app.outcome(id).await, None, "{id}");
    }
    assert_eq!(app.value("n").await, None);
}

#[tokio::test(start_paused = true)]
async fn the_time_of_a_checkpointed_action_begins_anew_with_every_checkpoint() {
    let app = App::new().await;
    let long = app.call("count-up", json!({"name": "n", "by": 5, "seconds": 40}), app.tool("c1")).await;
    assert_eq!(brief(&long), r#"{"value":5}"#);
    let stuck = app.call("count-up", json!({"name": "n", "by": 5, "seconds": 70}), app.tool("c2")).await;
    assert_eq!(brief(&stuck), "timeout");
    assert_eq!(app.value("n").await, Some(json!(5)));
}

#[tokio::test(start_paused = true)]
async fn long_work_goes_on_from_its_last_checkpoint() {
    let app = App::new().await;
    for (call, begun) in [(app.tool("c1"), "c1"), (app.person(), "person")] {
        let input = json!({"name": begun, "by": 6, "seconds": 10});
        // Dies in the third slice, and again in the fifth.
        for life in [25, 25] {
            let dying = app.call("count-up", input.clone(), call.clone());
            assert!(tokio::time::timeout(Duration::from_secs(life), dying).await.is_err());
        }
        assert_eq!(app.value(begun).await, Some(json!(4)));
        assert_eq!(brief(&app.call("count-up", input, call).await), r#"{"value":6}"#);
        assert_eq!(app.value(begun).await, Some(json!(6)));
        // Each slice made an id of its own, whoever ran it.
        let ids = app.value(&format!("{begun}-ids")).await.unwrap();
        let ids: std::collections::BTreeSet<_> = ids.as_array().unwrap().iter().map(Value::to_string).collect();
        assert_eq!(ids.len(), 6);
    }
}

#[tokio::test]
async fn a_slice_that_lost_its_race_runs_again() {
    let app = App::new().await;
    let up = |id: &str| app.spawn("count-up", json!({"name": "n", "by": 20, "seconds": 0}), app.tool(id));
    let (a, b, ()) = tokio::join!(up("c1"), up("c2"), async {
        for n in 0..10 {
            let call = app.call("add", json!({"name": "n", "by": 100}), app.tool(&format!("add{n}")));
            call.await.unwrap();
        }
    });
    for result in [a, b] {
        result.unwrap().unwrap();
    }
    assert_eq!(app.value("n").await, Some(json!(1040)));
}

#[tokio::test(start_paused = true)]
async fn the_time_of_a_slice_that_lost_its_race_began_with_the_slice_before() {
    let app = App::new().await;
    // The last of three slices of 40 s loses once: by then the action has run for twice as long as one slice may.
    RIVALS.lock().unwrap().insert("late".to_owned(), (app.registry.clone(), app.person()));
    let result = app.call("count-up", json!({"name": "late", "by": 3, "seconds": 40}), app.tool("c1")).await;
    assert_eq!(brief(&result), r#"{"value":3}"#);
    assert_eq!(app.value("late").await, Some(json!(103)));
}

#[tokio::test]
async fn a_run_that_is_repeated_computes_the_same() {
    let app = App::new().await;
    let first = app.call("derive", json!({}), app.person()).await.unwrap();
    assert_eq!(app.call("derive", json!({}), app.person()).await.unwrap(), first);
    let mut other = app.person();
    other.idempotency_key = "another".into();
    let other = app.call("derive", json!({}), other).await.unwrap();
    assert_eq!(other["now"], first["now"]);
    assert_ne!(other["ids"], first["ids"]);
    assert_ne!(first["ids"][0], first["ids"][1]);
}

#[tokio::test]
async fn a_function_runs_again_when_what_it_read_has_changed() {
    let app = App::new().await;
    // Another call commits between the first run's read and its commit.
    RIVALS.lock().unwrap().insert("raced".to_owned(), (app.registry.clone(), app.person()));
    let result = app.call("overtaken", json!({"name": "raced"}), app.tool("c1")).await;
    assert_eq!(brief(&result), r#"{"value":101}"#);
    assert_eq!(runs_of("raced"), 2);
    assert_eq!(app.value("raced").await, Some(json!(101)));
}

#[tokio::test]
async fn another_tenant_sees_and_settles_nothing() {
    let app = App::new().await;
    app.call("add", json!({"name": "n", "by": 7}), app.person()).await.unwrap();
    let mut foreign = app.person();
    foreign.principal.tenant = tandem_protocol::TenantId::new("other").unwrap();
    let result = app.call("add", json!({"name": "n", "by": 1}), foreign).await;
    assert_eq!(brief(&result), r#"{"value":1}"#);
    assert_eq!(app.value("n").await, Some(json!(7)));
}
