//! What belongs to somebody else is like what does not exist.

use reqwest::Method;
use serde_json::{Value, json};
use tandem_tests::{Api, Split, Started, new_id};

/// Somebody's finished turn.
async fn finished(split: &Split) -> Started {
    let started = split.api(0).start(&json!({"message": "@say 3 every 0"})).await;
    split.api(0).run_is(&started.run, "completed").await;
    started
}

#[tokio::test]
async fn what_belongs_to_somebody_else_is_unknown() {
    let split = Split::start(1, 1, &[]).await;
    let Started { run, thread, .. } = finished(&split).await;
    let (no_run, no_thread) = (format!("run_{}", new_id()), new_id());
    let before = split.table().content().await;
    for other in ["local.person", "other.person", "other.you"] {
        let api = split.api(0).as_person(other);
        for (method, path, foreign, unknown) in [
            (Method::GET, "/runs/ID", &run, &no_run),
            (Method::GET, "/runs/ID/events", &run, &no_run),
            (Method::GET, "/runs/ID/events?after=99", &run, &no_run),
            (Method::POST, "/runs/ID/abort", &run, &no_run),
            (Method::GET, "/runs?threadId=ID", &thread, &no_thread),
            (Method::GET, "/runs/active?threadId=ID", &thread, &no_thread),
            (Method::GET, "/threads/ID", &thread, &no_thread),
            (Method::GET, "/threads/ID/messages", &thread, &no_thread),
        ] {
            let ask = async |id: &str| api.refusal(api.request(method.clone(), &path.replace("ID", id))).await;
            let got = ask(foreign).await;
            assert_eq!((got["status"].as_u64(), &got), (Some(404), &ask(unknown).await), "{path} as {other}");
        }
        let start = async |thread: &str| api.refusal(api.chat(&json!({"message": "x", "threadId": thread}))).await;
        let got = start(&thread).await;
        assert_eq!((got["status"].as_u64(), &got), (Some(404), &start(&no_thread).await), "start as {other}");
        assert_eq!(api.read("/threads").await, json!({"items": []}));
    }
    // In its own tenant a thread's id is taken, and cannot be had by naming it either.
    let api = split.api(0).as_person("local.person");
    let body =
        json!({"id": thread, "messages": [{"id": "m", "role": "user", "parts": [{"type": "text", "text": "x"}]}]});
    assert_eq!(api.refusal(api.chat(&body)).await["status"], 404);
    split.table().is_still(&before).await;
}

/// The status and the text of an answer that may be a stream or nothing.
async fn resumed(api: &Api, id: &str, query: &str) -> (u16, String) {
    let response = api.get(&format!("/api/agent-chat/{id}/stream{query}")).send().await.unwrap();
    let status = response.status().as_u16();
    let text = response.text().await.unwrap();
    let mut body: Value = serde_json::from_str(&text).unwrap_or_else(|_| text.clone().into());
    if let Some(problem) = body.as_object_mut() {
        problem.remove("requestId");
    }
    (status, body.to_string())
}

#[tokio::test]
async fn resuming_tells_nobody_what_exists() {
    let split = Split::start(1, 1, &[]).await;
    let started = finished(&split).await;
    let unknown_run = format!("run_{}", new_id());
    for other in ["local.person", "other.you"] {
        let api = split.api(0).as_person(other);
        for query in ["", "?startIndex=0", "?startIndex=-1"] {
            for (foreign, unknown) in [(&started.thread, &new_id()), (&started.run, &unknown_run)] {
                let (got, want) = (resumed(&api, foreign, query).await, resumed(&api, unknown, query).await);
                assert_eq!(got, want, "{foreign} as {other} with {query:?}");
            }
        }
    }
}
