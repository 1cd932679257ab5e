//! Calls of the agent in one step.

use axum::body::to_bytes;
use axum::http::Method;
use serde_json::{Value, json};

use crate::api::{Api, request};
use crate::sample::api;

/// The chunks of a turn of the scripted model that say what came of its calls.
async fn results(api: &Api, script: &str) -> Vec<Value> {
    let body = json!({"message": script}).to_string();
    let response = api.raw(request(Method::POST, "/api/agent-chat", &[], &body)).await;
    let stream = String::from_utf8(to_bytes(response.into_body(), usize::MAX).await.unwrap().to_vec()).unwrap();
    let chunks = stream.lines().filter_map(|line| serde_json::from_str::<Value>(line.strip_prefix("data: ")?).ok());
    chunks
        .filter(|chunk| matches!(chunk["type"].as_str(), Some("tool-output-available" | "tool-output-error")))
        .collect()
}

#[tokio::test]
async fn reads_of_one_step_run_side_by_side() {
    // Each waits for the other: one after the other they would take their time and fail.
    let results = results(&api().await, "/meet {\"name\":\"met\"}\n/meet {\"name\":\"met\"}").await;
    let outputs: Vec<&Value> = results.iter().map(|chunk| &chunk["output"]).collect();
    assert_eq!(outputs, [2, 2], "{results:?}");
}

#[tokio::test]
async fn what_changes_something_runs_in_the_models_order() {
    let call = "/take-turns {\"name\":\"in-turn\"}";
    let results = results(&api().await, &[call, call, call].join("\n")).await;
    let outputs: Vec<&Value> = results.iter().map(|chunk| &chunk["output"]).collect();
    assert_eq!(outputs, [1, 2, 3], "{results:?}");
    let ids: std::collections::BTreeSet<_> = results.iter().map(|chunk| chunk["toolCallId"].to_string()).collect();
    assert_eq!(ids.len(), 3, "the same call three times is three calls");
}

#[tokio::test]
async fn an_invalid_call_comes_back_with_its_faults_and_the_expected_shape() {
    let results = results(&api().await, "/add {\"name\":1,\"x\":2}").await;
    let text = results[0]["errorText"].as_str().unwrap();
    for says in [
        "/name must be a text, not 1",
        "/by is missing",
        "/x is not a known field",
        "JSON Schema: {\"type\":\"object\"",
    ] {
        assert!(text.contains(says), "{says}: {text}");
    }
}
