//! A turn runs in the background, streams to the client, and what it did is still there after a restart.

use std::collections::BTreeMap;

use reqwest::Method;
use serde_json::{Value, json};
use tandem_tests::{Dev, End, Log, Split};

/// What a new user types first.
const FIRST: &str = "/list-emails {}\n\n/email {\"emailId\":\"e-1\",\"body\":\"Thanks!\"}";

/// The outputs of the calls, in order.
fn outputs(log: &Log) -> Vec<Value> {
    log.of_type("tool-output-available").into_iter().map(|chunk| chunk["output"].clone()).collect()
}

/// The parts of a message without what is different in every run.
fn shown(parts: &[Value]) -> Vec<Value> {
    let mut parts = parts.to_vec();
    for part in &mut parts {
        part.as_object_mut().unwrap().retain(|name, _| name != "toolCallId" && name != "output");
    }
    parts
}

#[tokio::test]
async fn a_turn_streams_to_its_end_and_outlives_a_restart() {
    let mut dev = Dev::start(&[]).await;
    let mut stream = dev.api().say(FIRST).await;
    let (run, thread) = (stream.run(), stream.thread());
    let mut log = Log::default();
    assert_eq!(log.read_all(&mut stream).await, End::Done);

    let call =
        |output| ["start-step", "tool-input-start", "tool-input-delta", "tool-input-available", "data-call", output];
    let done = ["message-metadata", "finish-step"];
    let said = ["start-step", "text-start", "text-delta", "text-end"];
    let output = "tool-output-available";
    // The reply changes documents, and the log tells which scope to look at.
    let changed = [&call("data-state")[..], &[output]].concat();
    let steps = [&call(output)[..], &done, &changed, &done, &said, &done].concat();
    assert_eq!(log.types(), [&["start", "data-attempt"][..], &steps, &["finish"]].concat());
    assert_eq!(log.attempts(), ["1 background claimed"]);
    let state = &log.of_type("data-state")[0];
    assert_eq!(*state, json!({"type": "data-state", "data": {"scope": "app:inbox", "rev": 1}, "transient": true}));
    log.finished(1);

    let [listed, reply] = &outputs(&log)[..] else { panic!("{:?}", log.types()) };
    let ids: Vec<&Value> = listed["emails"].as_array().unwrap().iter().map(|email| &email["id"]).collect();
    assert!(ids.contains(&&json!("e-1")), "{ids:?}");
    assert_eq!(json!([reply["emailId"], reply["body"], reply["by"]]), json!(["e-1", "Thanks!", "you"]));
    let input = json!({"emailId": "e-1", "body": "Thanks!"});
    let step = json!({"type": "step-start"});
    let want = [
        step.clone(),
        json!({"type": "tool-list-emails", "state": "output-available", "input": {}}),
        step.clone(),
        json!({"type": "tool-email", "state": "output-available", "input": input}),
        step,
        json!({"type": "text", "text": "done", "state": "done"}),
    ];
    assert_eq!(shown(&log.parts()), want);

    dev.restart().await;
    let api = dev.api();
    // The conversation, as the client saw it.
    let messages = api.read(&format!("/threads/{thread}/messages")).await;
    let finish = &log.of_type("finish")[0];
    let want = json!({"items": [
        {"id": messages["items"][0]["id"], "role": "user", "parts": [{"type": "text", "text": FIRST}],
         "metadata": {"author": "you", "createdAt": messages["items"][0]["metadata"]["createdAt"]}},
        {"id": log.of_type("start")[0]["messageId"], "role": "assistant", "parts": log.parts(),
         "metadata": finish["messageMetadata"], "runId": run},
    ], "position": messages["position"]});
    assert_eq!(messages, want);
    // The log, byte for byte.
    assert_eq!(api.log(&run).await, log);
    // The reply.
    let next = json!({"message": "/read-email {\"emailId\":\"e-1\"}", "threadId": thread});
    let next = api.start(&next).await;
    let read = &outputs(&api.log(&next.run).await)[0];
    assert_eq!(json!([read["id"], read["answered"], read["replies"]]), json!(["e-1", true, [reply]]));
}

#[tokio::test]
async fn the_headers_are_those_of_the_protocol() {
    let dev = Dev::start(&[]).await;
    let stream = dev.api().say("@say 1 every 0").await;
    let (run, thread) = (stream.run(), stream.thread());
    let mut headers: BTreeMap<&str, &str> =
        stream.headers().iter().map(|(name, value)| (name.as_str(), value.to_str().unwrap())).collect();
    for name in ["date", "x-request-id"] {
        assert!(headers.remove(name).is_some_and(|value| !value.is_empty()), "{name}");
    }
    let exposed = headers.remove("access-control-expose-headers").unwrap_or_default();
    for name in ["x-run-id", "x-thread-id", "x-workflow-run-id"] {
        assert!(exposed.split(',').any(|shown| shown.trim() == name), "{name} is not in {exposed}");
    }
    let want = BTreeMap::from([
        ("access-control-allow-origin", "*"),
        ("cache-control", "no-store, no-transform"),
        ("content-type", "text/event-stream"),
        ("transfer-encoding", "chunked"),
        ("vary", "origin, access-control-request-method, access-control-request-headers"),
        ("x-accel-buffering", "no"),
        ("x-content-type-options", "nosniff"),
        ("x-run-id", run.as_str()),
        ("x-thread-id", thread.as_str()),
        ("x-vercel-ai-ui-message-stream", "v1"),
        ("x-workflow-run-id", run.as_str()),
    ]);
    assert_eq!(headers, want);
}

#[tokio::test]
async fn a_browser_of_any_origin_may_send_its_headers() {
    let dev = Dev::start(&[]).await;
    for (path, method) in [("/api/agent-chat", "POST"), ("/runs/run_1/events", "GET"), ("/threads/t", "DELETE")] {
        let request = dev.api().request(Method::OPTIONS, path).header("origin", "https://app.example");
        let asked = "authorization,content-type,last-event-id";
        let request = request.header("access-control-request-method", method);
        let answer = request.header("access-control-request-headers", asked).send().await.unwrap();
        let header = |name: &str| answer.headers()[name].to_str().unwrap();
        let told = ["access-control-allow-origin", "access-control-allow-headers"].map(header);
        assert_eq!((answer.status().as_u16(), told), (200, ["*", asked]));
        let methods = header("access-control-allow-methods");
        assert!(methods.split(',').any(|allowed| allowed == method), "{methods}");
    }
}

#[tokio::test]
async fn who_asks_for_json_gets_the_ids_and_need_not_stay() {
    let dev = Dev::start(&[]).await;
    let api = dev.api();
    let body = json!({"message": "@say 5 every 10ms", "turnId": "t-1"});
    let response = api.chat(&body).header("accept", "application/json").send().await.unwrap();
    let header = |name: &str| response.headers()[name].to_str().unwrap().to_owned();
    let (status, run, thread) = (response.status(), header("x-run-id"), header("x-thread-id"));
    let body: Value = response.json().await.unwrap();
    let want = json!({"runId": run, "threadId": thread, "turnId": "t-1", "status": "dispatched"});
    assert_eq!((status.as_u16(), body), (202, want));
    let record = api.run_is(&run, "completed").await;
    let told = json!([record["runId"], record["threadId"], record["turnId"], record["attempt"], record["endReason"]]);
    assert_eq!(told, json!([run, thread, "t-1", 1, "completed"]));
    api.log(&run).await.says_each_word_once(5);
}

#[tokio::test]
async fn a_message_in_parallel_calls_and_several_turns_is_one_conversation() {
    let split = Split::start(2, 1, &[]).await;
    let api = split.api(0);
    let first =
        api.start(&json!({"message": "/read-email {\"emailId\":\"e-1\"}\n/read-email {\"emailId\":\"e-2\"}"})).await;
    let log = api.log(&first.run).await;
    // One intent for both, and their outcomes beside it.
    let [intent] = &log.of_type("data-call")[..] else { panic!("{:?}", log.types()) };
    assert_eq!(intent["data"]["toolCallIds"].as_array().unwrap().len(), 2);
    let mut read: Vec<String> = outputs(&log).iter().map(|output| output["id"].to_string()).collect();
    read.sort();
    assert_eq!(read, ["\"e-1\"", "\"e-2\""]);
    // Each turn continues the thread, on whichever process.
    for n in 1..4 {
        let next =
            split.api(n % 2).start(&json!({"message": format!("@say {n} every 0"), "threadId": first.thread})).await;
        assert_eq!(next.thread, first.thread);
        split.api(n % 2).run_is(&next.run, "completed").await;
    }
    let messages = api.read(&format!("/threads/{}/messages", first.thread)).await;
    let texts: Vec<&Value> = messages["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| message["parts"].as_array().unwrap().last().unwrap())
        .map(|part| &part["text"])
        .collect();
    assert_eq!(
        json!(texts[2..]),
        json!(["@say 1 every 0", "w1 done", "@say 2 every 0", "w1 w2 done", "@say 3 every 0", "w1 w2 w3 done"])
    );
}
