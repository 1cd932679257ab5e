//! A person agrees, edits or refuses over HTTP; strangers cannot, and what was approved runs once.

use reqwest::Method;
use serde_json::{Value, json};
use tandem_tests::{Api, Dev, Split};

const SEND: &str = r#"/send-email {"to":"ann@example.com","subject":"Hello","body":"From the agent"}"#;

struct Asked {
    run: String,
    thread: String,
    calls: Vec<String>,
}

/// A turn that has ended with a question.
async fn asked(api: &Api, script: &str) -> Asked {
    let started = api.start(&json!({"message": script})).await;
    api.run_is(&started.run, "awaiting_approval").await;
    let log = api.log(&started.run).await;
    assert_eq!(log.of_type("finish")[0]["finishReason"], "tool-calls");
    let asked = log.of_type("tool-approval-request");
    let calls = asked.iter().map(|chunk| chunk["toolCallId"].as_str().unwrap().to_owned()).collect();
    Asked { run: started.run, thread: started.thread, calls }
}

fn decide(api: &Api, run: &str, call: &str, body: &Value) -> reqwest::RequestBuilder {
    api.request(Method::POST, &format!("/runs/{run}/approvals/{call}")).json(body)
}

#[tokio::test]
async fn an_approval_over_http_starts_the_next_run_and_a_repeat_finds_it() {
    let split = Split::start(2, 1, &[]).await;
    let (api, elsewhere) = (split.api(0), split.api(1));
    let Asked { run, thread, calls } = asked(&api, &format!("{SEND}\n{SEND}")).await;
    assert_eq!(api.read(&format!("/threads/{thread}")).await["awaitingRunId"], json!(run));
    let first = api.answer(decide(&api, &run, &calls[0], &json!({"approved": false, "reason": "no"}))).await;
    assert_eq!(first.body, json!({"toolCallId": calls[0], "approved": false, "pending": 1}));
    let last = elsewhere.answer(decide(&elsewhere, &run, &calls[1], &json!({"approved": true}))).await;
    let next = last.body["runId"].as_str().unwrap().to_owned();
    assert_eq!(last.body, json!({"toolCallId": calls[1], "approved": true, "pending": 0, "runId": next}));
    let record = api.run_is(&next, "completed").await;
    assert_eq!((&record["continues"], &record["threadId"]), (&json!(run), &json!(thread)));
    // Whoever answers later learns what holds.
    for (call, approved) in [(&calls[0], false), (&calls[1], true)] {
        let late = api.answer(decide(&api, &run, call, &json!({"approved": !approved}))).await;
        assert_eq!(late.body, json!({"toolCallId": call, "approved": approved, "pending": 0, "runId": next}));
    }
    let messages = api.read(&format!("/threads/{thread}/messages")).await;
    let parts = messages["items"][1]["parts"].as_array().unwrap().clone();
    let state = |call: &str| parts.iter().find(|part| part["toolCallId"] == call).unwrap()["state"].clone();
    assert_eq!([state(&calls[0]), state(&calls[1])], ["output-denied", "output-available"]);
}

#[tokio::test]
async fn what_cannot_be_an_answer_is_refused_with_the_reason() {
    let dev = Dev::start(&[]).await;
    let api = dev.api();
    let Asked { run, calls, .. } = asked(&api, SEND).await;
    let stranger = api.as_person("local.other");
    let refused = stranger.refusal(decide(&stranger, &run, &calls[0], &json!({"approved": true}))).await;
    assert_eq!(refused["code"], "not_found");
    for (call, body, code) in [
        ("call_unknown", json!({"approved": true}), "not_found"),
        (calls[0].as_str(), json!({}), "invalid_input"),
        (calls[0].as_str(), json!({"approved": "yes"}), "invalid_input"),
        (calls[0].as_str(), json!({"approved": true, "inptu": {}}), "invalid_input"),
        (calls[0].as_str(), json!({"approved": true, "input": {"to": "x"}}), "invalid_input"),
    ] {
        let problem = api.refusal(decide(&api, &run, call, &body)).await;
        assert_eq!(problem["code"], code, "{body}: {problem}");
    }
    let early = api.start(&json!({"message": "@wait 20s"})).await.run;
    let problem = api.refusal(decide(&api, &early, &calls[0], &json!({"approved": true}))).await;
    assert_eq!(problem["code"], "conflict");
    api.abort(&early).await;
    // Nothing of that counted.
    let answer = api.answer(decide(&api, &run, &calls[0], &json!({"approved": true}))).await;
    assert_eq!((answer.status, &answer.body["pending"]), (200, &json!(0)));
    api.run_is(answer.body["runId"].as_str().unwrap(), "completed").await;
}
