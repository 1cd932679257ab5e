//! One stream for a window: whatever happens, in whichever process and by whomever, comes once and in order.

use std::collections::BTreeMap;
use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};
use tandem_tests::{Api, Dev, PATIENCE, Split, Stream, Window, within};

async fn put(api: &Api, path: &str, body: Value) -> Value {
    let answer = api.answer(api.request(Method::PUT, path).json(&body)).await;
    assert_eq!(answer.status, 200, "{path}: {answer:?}");
    answer.body
}

async fn thread(api: &Api) -> String {
    let answer = api.answer(api.request(Method::POST, "/threads")).await;
    answer.body["threadId"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_window_sees_what_others_say_and_what_answers_them() {
    let split = Split::start(2, 1, &[]).await;
    let (here, there) = (split.api(0), split.api(1));
    let thread = thread(&here).await;
    // Two windows of one person, at two processes.
    let mut near = Window::open(&here, &format!("thread={thread}")).await;
    let mut far = Window::open(&there, &format!("thread={thread}")).await;
    let first = here.start(&json!({"message": "@say 5 every 20ms", "threadId": thread})).await;
    for window in [&mut near, &mut far] {
        window.until_end_of(&first.run).await;
    }
    let second = there.start(&json!({"message": "/archive-email {\"emailId\":\"e-1\"}", "threadId": thread})).await;
    for window in [&mut near, &mut far] {
        window.until_end_of(&second.run).await;
        let said: Vec<Value> =
            window.of_type("message").iter().map(|m| json!([m["n"], m["message"]["parts"][0]["text"]])).collect();
        assert_eq!(said, [json!([0, "@say 5 every 20ms"]), json!([2, "/archive-email {\"emailId\":\"e-1\"}"])]);
        let runs: Vec<Value> = window.of_type("run").iter().map(|r| json!([r["n"], r["run"]["runId"]])).collect();
        assert_eq!(runs, [json!([1, first.run]), json!([3, second.run])]);
        for run in [&first.run, &second.run] {
            let log = here.log(run).await;
            assert_eq!(window.chunks_of(run), (0..log.next()).collect::<Vec<u64>>(), "each once and in order");
        }
        let author = &window.of_type("message")[0]["message"]["metadata"]["author"];
        assert_eq!(author, "you");
    }
}

#[tokio::test]
async fn a_window_that_opens_in_the_middle_reads_and_follows_without_a_gap() {
    let split = Split::start(2, 1, &[]).await;
    let (here, there) = (split.api(0), split.api(1));
    let ended = here.start(&json!({"message": "@say 1 every 0"})).await;
    here.run_is(&ended.run, "completed").await;
    let running = here.start(&json!({"message": "@say 60 every 20ms", "threadId": ended.thread})).await;
    here.run_is(&running.run, "running").await;

    let read = there.read(&format!("/threads/{}/messages", ended.thread)).await;
    assert_eq!(read["items"].as_array().unwrap().len(), 3, "{read}");
    let query = format!("thread={}@{}", ended.thread, read["position"].as_str().unwrap());
    // It was over before the window came to follow it: the position knows nothing of it.
    let mut late = {
        let mut window = Window::open(&there, &query).await;
        window.until_end_of(&running.run).await;
        Window::open(&there, &query).await
    };
    late.until_end_of(&running.run).await;
    assert_eq!(late.chunks_of(&running.run), (0..here.log(&running.run).await.next()).collect::<Vec<u64>>());
    assert!(late.chunks_of(&ended.run).is_empty());
    assert_eq!((late.of_type("message").len(), late.of_type("run").len()), (0, 1));
}

#[tokio::test]
async fn every_cursor_goes_on_where_it_was_given() {
    let split = Split::start(2, 1, &[]).await;
    let (here, there) = (split.api(0), split.api(1));
    let thread = thread(&here).await;
    let query = format!("thread={thread}&scope=app:notes&scope=user");
    let mut whole = Window::open(&here, &query).await;
    let mut cursors = vec![(whole.cursor().to_owned(), whole.events.len())];
    let work = async {
        for n in 0..3 {
            put(&there, "/state/app:notes/docs/a", json!({"value": n})).await;
            let run = there.start(&json!({"message": "/label-email {\"emailId\":\"e-2\",\"add\":[\"x\"]}\n\n@say 3 every 5ms", "threadId": thread})).await.run;
            put(&here, "/state/user/docs/view", json!({"value": n})).await;
            there.run_is(&run, "completed").await;
        }
        put(&there, "/state/user/docs/end", json!({"value": true})).await;
    };
    let read = async {
        loop {
            let before = whole.cursor().to_owned();
            let event = whole.next().await;
            if whole.cursor() != before {
                cursors.push((whole.cursor().to_owned(), whole.events.len()));
            }
            if event["key"] == "end" {
                return;
            }
        }
    };
    tokio::join!(work, read);
    // Scopes and the thread have no order among each other; each of them has one.
    let lanes = |events: &[Value]| {
        let mut lanes: BTreeMap<String, Vec<Value>> = BTreeMap::new();
        for event in events {
            let lane = match event["type"].as_str().unwrap() {
                "state" => event["scope"].to_string(),
                "message" | "run" | "chunk" => "thread".to_owned(),
                // The record is told as it is, not how it came to be; presence has no cursor.
                _ => continue,
            };
            // The record of a run is told as it is at that moment.
            let told = match event["type"] == "run" {
                true => json!(["run", event["n"], event["run"]["runId"]]),
                false => event.clone(),
            };
            lanes.entry(lane).or_default().push(told);
        }
        lanes
    };
    assert!(cursors.len() > 60, "{}", cursors.len());
    for (n, (cursor, seen)) in cursors.iter().enumerate() {
        let api = if n % 2 == 0 { &here } else { &there };
        let want = lanes(&whole.events[*seen..]);
        let count: usize = want.values().map(Vec::len).sum();
        let mut window = Window::open(api, &format!("{query}&cursor={cursor}")).await;
        while lanes(&window.events).values().map(Vec::len).sum::<usize>() < count {
            window.next().await;
        }
        assert_eq!(lanes(&window.events), want, "from event {seen} on");
    }
}

#[tokio::test]
async fn whoever_is_cut_off_at_any_moment_misses_nothing_and_sees_nothing_twice() {
    let split = Split::start(2, 1, &[("STREAM_WINDOW_MS", "700")]).await;
    let apis = [split.api(0), split.api(1)];
    let writes = 40_u64;
    let followers = (0..6_usize).map(|n| {
        let apis = apis.clone();
        async move {
            // From the first change on: the writers may be faster than who opens a window.
            let mut window = Window::open(&apis[n % 2], "scope=app:race@0&scope=tenant@0").await;
            let mut seen = 0;
            loop {
                let event = window.next().await;
                seen += usize::from(event["type"] == "state");
                if seen as u64 == 2 * writes {
                    return window;
                }
                // Not all at the same places.
                if (window.events.len() * 7 + n).is_multiple_of(11) {
                    window.move_to(&apis[(window.events.len() + n) % 2]);
                }
            }
        }
    });
    let writers = (0..4_usize).map(|n| {
        let api = apis[n % 2].clone();
        async move {
            for k in 0..writes / 4 {
                for scope in ["app:race", "tenant"] {
                    let path = format!("/state/{scope}/docs/{n}-{k}");
                    put(&api, &path, json!({"value": k})).await;
                }
            }
        }
    });
    let both = async { tokio::join!(futures::future::join_all(followers), futures::future::join_all(writers)) };
    let (windows, _) = within(2 * PATIENCE, "everybody to have seen everything", both).await;
    for window in windows {
        for scope in ["app:race", "tenant"] {
            assert_eq!(window.revs_of(scope), (1..=writes).collect::<Vec<u64>>(), "{scope}");
        }
    }
}

#[tokio::test]
async fn who_is_here_is_seen_and_who_crashed_is_gone() {
    let split = Split::start(2, 1, &[]).await;
    let (ann, bob) = (split.api(0).as_person("acme.ann"), split.api(1).as_person("acme.bob"));
    let show = async |api: &Api, client: &str, activity: Value| {
        let body = json!({"client": client, "activity": activity});
        let sent = api.request(Method::PUT, "/presence/tenant").json(&body).send().await.unwrap();
        assert_eq!(sent.status(), 204);
    };
    let mut watcher = Window::open(&bob, "scope=tenant").await;
    // A keep-alive, or the next window, would take ten seconds or more.
    let soon = Duration::from_secs(5);
    show(&ann, "w1", json!("reads")).await;
    show(&ann, "w2", json!("types")).await;
    let here = |window: &Window, want: &[&str]| window.present_in("tenant") == want;
    within(soon, "two windows to be seen", async {
        while !here(&watcher, &[r#"ann w1 "reads""#, r#"ann w2 "types""#]) {
            watcher.next().await;
        }
    })
    .await;
    show(&ann, "w2", Value::Null).await;
    within(soon, "a goodbye to be seen", async {
        while !here(&watcher, &[r#"ann w1 "reads""#]) {
            watcher.next().await;
        }
    })
    .await;
    // The other one never says anything again.
    within(Duration::from_secs(25), "who crashed to be gone", async {
        while !here(&watcher, &[]) {
            watcher.next().await;
        }
    })
    .await;
}

#[tokio::test]
async fn the_agent_is_a_participant_while_it_works() {
    let split = Split::start(2, 1, &[]).await;
    let (here, there) = (split.api(0), split.api(1));
    let thread = thread(&here).await;
    let scope = format!("thread:{thread}");
    let mut window = Window::open(&there, &format!("thread={thread}")).await;
    let run = here.start(&json!({"message": "@say 20 every 20ms", "threadId": thread})).await.run;
    while window.present_in(&scope) != ["agent"] {
        window.next().await;
    }
    while !window.present_in(&scope).is_empty() {
        window.next().await;
    }
    here.run_is(&run, "completed").await;
}

#[tokio::test]
async fn foreign_things_cannot_be_followed() {
    let split = Split::start(1, 1, &[]).await;
    let owner = split.api(0);
    let thread = thread(&owner).await;
    let unknown = tandem_tests::new_id();
    for person in ["local.other", "acme.you"] {
        let api = owner.as_person(person);
        for query in ["thread=ID", "scope=thread:ID", "scope=user&scope=thread:ID", "thread=ID@1.1.0"] {
            let foreign = api.refusal(api.get(&format!("/events?{}", query.replace("ID", &thread)))).await;
            let missing = api.refusal(api.get(&format!("/events?{}", query.replace("ID", &unknown)))).await;
            assert_eq!((foreign["status"].as_u64(), &foreign), (Some(404), &missing), "{query} as {person}");
        }
    }
    for query in ["", "thread=a&thread=b", "scope=user@x", "scope=user&cursor=no"] {
        let refused = owner.refusal(owner.get(&format!("/events?{query}"))).await;
        assert_eq!(refused["status"], 400, "{query}");
    }
}

#[tokio::test]
async fn the_agent_takes_one_of_a_person_s_windows_somewhere() {
    let split = Split::start(2, 1, &[]).await;
    let apis = [split.api(0), split.api(1)];
    let mut windows = [Window::open(&apis[0], "scope=user").await, Window::open(&apis[1], "scope=user").await];
    let run = apis[0].start(&json!({"message": "/navigate {\"view\":\"email\",\"emailId\":\"e-3\"}"})).await.run;
    let mut went = 0;
    for (window, api) in windows.iter_mut().zip(&apis) {
        let command = window.until(|event| event["type"] == "state" && event["key"] == "navigate").await;
        assert_eq!(json!([command["value"]["to"]["emailId"], command["by"]["runId"]]), json!(["e-3", run]));
        // Both know of it; the one that takes it goes.
        let mut taken = command["value"].clone();
        taken["taken"] = true.into();
        let put = api.request(Method::PUT, "/state/user/docs/navigate");
        let answer = api.answer(put.json(&json!({"value": taken, "ifRev": command["rev"]}))).await;
        went += usize::from(answer.status == 200);
        assert!(answer.status == 200 || answer.body["current"]["value"]["taken"] == true, "{answer:?}");
    }
    assert_eq!(went, 1);
    apis[1].run_is(&run, "completed").await;
    let log = apis[1].log(&run).await;
    assert_eq!(log.of_type("data-state")[0]["data"]["scope"], "user");
}

#[tokio::test]
async fn after_an_approval_a_window_is_told_the_whole_message() {
    let dev = Dev::start(&[]).await;
    let api = dev.api();
    let script = "@say 3 every 0\n/send-email {\"to\":\"ann@example.com\",\"subject\":\"Hi\",\"body\":\"Hello\"}\n\n\
                  @say 2 every 0";
    let first = api.start(&json!({"message": script})).await;
    api.run_is(&first.run, "awaiting_approval").await;
    let asked = api.log(&first.run).await;
    let call = asked.of_type("tool-approval-request")[0]["toolCallId"].as_str().unwrap().to_owned();
    let mut live = Window::open(&api, &format!("thread={}", first.thread)).await;
    let answer = api.answer(
        api.request(reqwest::Method::POST, &format!("/runs/{}/approvals/{call}", first.run))
            .json(&json!({"approved": true})),
    );
    let next = answer.await.body["runId"].as_str().unwrap().to_owned();
    live.until_end_of(&next).await;
    // What the AI SDK's clients get as one message is the truth here.
    let whole = Stream::open(api.get(&format!("/api/agent-chat/{}/stream", first.thread))).await.rest().await.0;
    let whole: Vec<Value> = whole.iter().map(|event| serde_json::from_str(&event.data).unwrap()).collect();
    let told = |window: &Window| -> Vec<Value> {
        let at = window.events.iter().rposition(|event| event["type"] == "run").unwrap();
        assert_eq!(window.events[at]["run"]["runId"], json!(next));
        let chunks = window.events[at..].iter().filter(|event| event["type"] == "chunk");
        chunks.map(|event| event["chunk"].clone()).collect()
    };
    assert_eq!(told(&live), whole);
    // Cut off after each chunk, also in the middle of what the first run said.
    let position = "1.1.0";
    let mut cut = Window::open(&api, &format!("thread={}@{position}", first.thread)).await;
    loop {
        let event = cut.next().await;
        if event["runId"] == json!(next) && event["chunk"]["type"] == "finish" {
            break;
        }
        if event["type"] == "chunk" {
            cut.cut();
        }
    }
    assert_eq!(told(&cut), whole);
}
