//! External calls of an agent whose process dies or sleeps in the middle.

use std::time::Duration;

use axum::http::Method;
use serde_json::{Value, json};
use tandem_protocol::{CallState, RunId, ToolCall, Transcript};
use tandem_store::{Outcome, Slot};
use tokio::runtime::{Builder, Runtime};

use crate::api::{Api, request};
use crate::sample::{alert_api, freeze, runs_of, until_run};

const UNKNOWN: &str = "it may or may not have happened: check before you try again";

/// Starts a turn in a process of its own, with one thread, and waits until its call has begun.
async fn begun(api: &Api, name: &'static str) -> (Runtime, RunId) {
    let process = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let there = api.another();
    let text = format!("/agent-out {{\"name\": \"{name}\", \"by\": 7}}");
    let message = json!({"id": "m", "role": "user", "parts": [{"type": "text", "text": text}]});
    let body = json!({"id": name, "messages": [message], "trigger": "submit-message"}).to_string();
    let request = request(Method::POST, "/api/agent-chat", &[("accept", "application/json")], &body);
    process.spawn(async move { there.send(request).await });
    until_run(name, 1).await;
    let active = api.get(&format!("/runs/active?threadId={name}")).await;
    (process, RunId::new(active.body["run"]["runId"].as_str().unwrap()).unwrap())
}

/// Follows a run until it has ended, which sets its recovery going, and gives its call.
async fn ended(api: &Api, run: &RunId) -> ToolCall {
    let until = tokio::time::Instant::now() + Duration::from_secs(60);
    let mut cursor = String::new();
    loop {
        let path = format!("/runs/{run}/events?wait=5{cursor}");
        let page = api.send(request(Method::GET, &path, &[("accept", "application/json")], "")).await;
        if page.body["done"] == true {
            return call(api, run).await;
        }
        assert!(tokio::time::Instant::now() < until, "the run does not end: {page:?}");
        if let Some(next) = page.body["next"].as_u64() {
            cursor = format!("&after={next}");
        }
    }
}

async fn call(api: &Api, run: &RunId) -> ToolCall {
    let (transcript, _): (Transcript, _) = api.store.transcript(run).await.unwrap();
    let calls: Vec<_> = transcript.calls().cloned().collect();
    let [call] = calls.as_slice() else { panic!("{calls:#?}") };
    call.clone()
}

fn slot(run: &RunId, call: &ToolCall) -> Slot {
    Slot::Call { run: run.clone(), call: call.id.clone() }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_whose_process_died_is_unknown_and_does_not_run_again() {
    let api = alert_api().await;
    let _never_wakes = freeze("agent-died");
    let (process, run) = begun(&api, "agent-died").await;
    process.shutdown_background();
    let call = ended(&api, &run).await;
    assert_eq!(call.state, CallState::Failed(UNKNOWN.into()));
    assert_eq!(runs_of("agent-died"), 1);
    assert_eq!(api.store.outcome(&slot(&run, &call)).await.unwrap(), Some(Outcome::Unknown));
    assert_eq!(api.store.late_result(&slot(&run, &call)).await.unwrap(), None);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_late_result_is_kept_and_the_transcript_says_what_the_outcome_says() {
    let api = alert_api().await;
    let wake = freeze("agent-slept");
    let (process, run) = begun(&api, "agent-slept").await;
    let call = ended(&api, &run).await;
    let log = api.store.log_from(&run, 0).await.unwrap().len();
    wake.send(()).unwrap();
    let slot = slot(&run, &call);
    let until = tokio::time::Instant::now() + Duration::from_secs(30);
    let late = loop {
        match api.store.late_result(&slot).await.unwrap() {
            Some(late) => break late,
            None => tokio::time::sleep(Duration::from_millis(20)).await,
        }
        assert!(tokio::time::Instant::now() < until, "the late result does not come");
    };
    assert_eq!(late, Outcome::Done(Value::from(7)));
    assert_eq!(api.store.outcome(&slot).await.unwrap(), Some(Outcome::Unknown));
    // Time for the displaced holder to do harm.
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert_eq!(call.state, CallState::Failed(UNKNOWN.into()));
    assert_eq!(ended(&api, &run).await, call);
    assert_eq!(api.store.log_from(&run, 0).await.unwrap().len(), log);
    assert_eq!(runs_of("agent-slept"), 1);
    process.shutdown_background();
}
