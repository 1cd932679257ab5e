//! Threads: shared with the tenant, found by their title, and deleted with everything in them.

use reqwest::Method;
use serde_json::{Value, json};
use tandem_tests::{Api, Log, Split, Stream, Window, new_id, until};

async fn patch(api: &Api, thread: &str, body: Value) -> Value {
    let answer = api.answer(api.request(Method::PATCH, &format!("/threads/{thread}")).json(&body)).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.body
}

async fn status(api: &Api, method: Method, path: &str, body: &Value) -> u16 {
    let request = api.request(method, path).header("accept", "application/json");
    let request = if body.is_null() { request } else { request.json(body) };
    request.send().await.unwrap().status().as_u16()
}

async fn titles(api: &Api, query: &str) -> Vec<String> {
    let page = api.read(&format!("/threads{query}")).await;
    page["items"].as_array().unwrap().iter().map(|thread| thread["title"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn a_shared_thread_is_everybody_s_in_the_tenant_until_it_is_not() {
    let split = Split::start(2, 1, &[]).await;
    let (ann, bob) = (split.api(0).as_person("acme.ann"), split.api(1).as_person("acme.bob"));
    let eve = split.api(1).as_person("other.eve");
    let first = ann.start(&json!({"message": "@say 1 every 0"})).await;
    let (thread, run) = (&first.thread, &first.run);
    ann.run_is(run, "completed").await;
    let path = format!("/threads/{thread}");
    for other in [&bob, &eve] {
        assert_eq!(status(other, Method::GET, &path, &Value::Null).await, 404);
    }
    let mut mine = Window::open(&ann, &format!("thread={thread}")).await;
    assert_eq!(patch(&ann, thread, json!({"shared": true})).await["shared"], true);
    mine.until(|event| event["type"] == "thread" && event["thread"]["shared"] == true).await;

    // Another person reads, follows and speaks, at another process.
    assert_eq!(titles(&bob, "?shared=true").await, ["@say 1 every 0"]);
    assert!(titles(&bob, "").await.is_empty());
    let mut theirs = Window::open(&bob, &format!("thread={thread}")).await;
    let second = bob.start(&json!({"message": "@say 100 every 20ms", "threadId": thread})).await;
    mine.until(|event| event["type"] == "run" && event["runId"].is_null() && event["run"]["runId"] == *second.run)
        .await;
    let busy = ann.refusal(ann.chat(&json!({"message": "x", "threadId": thread}))).await;
    assert_eq!(json!([busy["status"], busy["activeRunId"]]), json!([409, second.run]));
    // Whoever gets at the thread may follow and stop its runs.
    let mut log = Log::default();
    log.read(&mut Stream::open(ann.events(&second.run, None)).await, 5).await;
    assert_eq!(ann.abort(&second.run).await.body["status"], "aborted");
    for window in [&mut mine, &mut theirs] {
        window.until_end_of(&second.run).await;
    }
    let messages = bob.read(&format!("{path}/messages")).await;
    let authors: Vec<&Value> = messages["items"].as_array().unwrap().iter().map(|m| &m["metadata"]["author"]).collect();
    assert_eq!([authors[0], authors[2]], ["ann", "bob"]);
    let doc = format!("/state/thread:{thread}/docs/draft");
    assert_eq!(status(&bob, Method::PUT, &doc, &json!({"value": "ours"})).await, 200);
    assert_eq!(ann.read(&doc).await["by"]["user"], "bob");

    // But not what is the owner's.
    assert_eq!(status(&bob, Method::PATCH, &path, &json!({"title": "mine"})).await, 403);
    assert_eq!(status(&bob, Method::DELETE, &path, &Value::Null).await, 403);
    assert_eq!(status(&eve, Method::PATCH, &path, &json!({"title": "mine"})).await, 404);
    assert_eq!(status(&eve, Method::GET, &format!("/runs/{run}"), &Value::Null).await, 404);

    patch(&ann, thread, json!({"shared": false})).await;
    theirs.until(|event| event["type"] == "gone").await;
    for path in [path.as_str(), &format!("/runs/{}", second.run), &doc, &format!("/events?thread={thread}")] {
        assert_eq!(status(&bob, Method::GET, path, &Value::Null).await, 404, "{path}");
    }
    assert!(titles(&bob, "?shared=true").await.is_empty());
}

#[tokio::test]
async fn threads_are_renamed_archived_and_found_by_their_title() {
    let split = Split::start(1, 1, &[]).await;
    let api = split.api(0);
    let mut ids = Vec::new();
    for n in 0..7 {
        let answer =
            api.answer(api.request(Method::POST, "/threads").json(&json!({"title": format!("Plan {n}")}))).await;
        ids.push(answer.body["threadId"].as_str().unwrap().to_owned());
    }
    let renamed = patch(&api, &ids[2], json!({"title": " Budget für Öl "})).await;
    assert_eq!(renamed["title"], "Budget für Öl");
    patch(&api, &ids[4], json!({"archived": true})).await;
    assert_eq!(titles(&api, "?q=öl").await, ["Budget für Öl"]);
    assert_eq!(titles(&api, "?q=plan").await, ["Plan 6", "Plan 5", "Plan 3", "Plan 1", "Plan 0"]);
    assert_eq!(titles(&api, "?q=plan%204").await, [""; 0]);
    assert_eq!(titles(&api, "?q=plan%204&archived=true").await, ["Plan 4"]);
    // Pages without a gap or a double.
    let (mut seen, mut query) = (Vec::new(), "?limit=2".to_owned());
    loop {
        let page = api.read(&format!("/threads{query}")).await;
        seen.extend(page["items"].as_array().unwrap().iter().map(|thread| thread["threadId"].clone()));
        match page["cursor"].as_str() {
            Some(cursor) => query = format!("?limit=2&cursor={}", cursor.replace('#', "%23")),
            None => break,
        }
    }
    assert_eq!(seen, [6, 5, 3, 2, 1, 0].map(|n: usize| json!(ids[n])));
    for (body, pointers) in [
        (json!({"title": "  "}), vec!["/title"]),
        (
            json!({"title": "x".repeat(201), "shared": 1, "archived": "no", "owner": "me"}),
            vec!["/title", "/shared", "/archived", "/owner"],
        ),
    ] {
        let refused = api.refusal(api.request(Method::PATCH, &format!("/threads/{}", ids[0])).json(&body)).await;
        let at: Vec<&str> =
            refused["errors"].as_array().unwrap().iter().map(|e| e["pointer"].as_str().unwrap()).collect();
        assert_eq!((refused["status"].as_u64(), at), (Some(400), pointers));
    }
}

#[tokio::test]
async fn a_deleted_thread_is_gone_at_once_and_leaves_nothing_behind() {
    let split = Split::start(2, 1, &[("DELETE_AFTER_MS", "6000")]).await;
    let (api, there) = (split.api(0), split.api(1));
    let clean = split.table().content().await;
    let first = api.start(&json!({"message": "/list-emails {}\n\n@say 2 every 0"})).await;
    let thread = first.thread.clone();
    api.run_is(&first.run, "completed").await;
    // An answer that was replaced: no message shows its run any more.
    let edited = json!({"message": "@say 3 every 0", "threadId": thread, "turnId": first.turn, "edit": true});
    let second = api.start(&edited).await;
    api.run_is(&second.run, "completed").await;
    patch(&api, &thread, json!({"shared": true})).await;
    let doc = format!("/state/thread:{thread}/docs/draft");
    assert_eq!(status(&api, Method::PUT, &doc, &json!({"value": 1})).await, 200);
    let here = json!({"client": "w", "activity": "reads"});
    assert_eq!(status(&api, Method::PUT, &format!("/presence/thread:{thread}"), &here).await, 204);
    let live = api.start(&json!({"message": "@say 2000 every 20ms", "threadId": thread})).await;
    let mut window = Window::open(&there, &format!("thread={thread}")).await;
    window.until(|event| event["type"] == "chunk" && event["seq"] == 5).await;

    assert_eq!(status(&there, Method::DELETE, &format!("/threads/{thread}"), &Value::Null).await, 204);
    window.until(|event| event["type"] == "gone").await;
    for (method, path) in [
        (Method::GET, format!("/threads/{thread}")),
        (Method::PATCH, format!("/threads/{thread}")),
        (Method::DELETE, format!("/threads/{thread}")),
        (Method::GET, format!("/threads/{thread}/messages")),
        (Method::GET, format!("/runs/{}", live.run)),
        (Method::GET, format!("/runs/{}/events", first.run)),
        (Method::POST, format!("/runs/{}/abort", live.run)),
        (Method::GET, format!("/runs?threadId={thread}")),
        (Method::GET, doc),
        (Method::GET, format!("/events?thread={thread}")),
        (Method::GET, format!("/presence/thread:{thread}")),
    ] {
        let body = if method == Method::PATCH { json!({"title": "x"}) } else { Value::Null };
        assert_eq!(status(&api, method.clone(), &path, &body).await, 404, "{method} {path}");
    }
    assert_eq!(status(&api, Method::POST, "/api/agent-chat", &json!({"message": "x", "threadId": thread})).await, 404);
    assert_eq!(titles(&api, "").await, [""; 0]);
    assert_eq!(titles(&api, "?shared=true").await, [""; 0]);

    // Nothing goes before its time, so that no holder finds an empty log to write to.
    split.sweep().await;
    assert!(split.table().content().await != clean);
    until("everything to be removed", async || {
        split.sweep().await;
        let left = split.table().content().await;
        (left == clean).then_some(())
    })
    .await;
    // The id is free again.
    let again = api.answer(api.request(Method::POST, "/threads").json(&json!({"threadId": thread}))).await;
    assert_eq!(again.status, 201);
    assert_eq!(api.read(&format!("/state/thread:{thread}")).await, json!({"rev": 0, "items": []}));
    assert_eq!(status(&api, Method::GET, &format!("/threads/{}", new_id()), &Value::Null).await, 404);
}
