//! People, agents and programs write into one scope at the same time: no change is lost and none is there twice.
//!
//! `TANDEM_REAL_TIMES=1` makes 2,000 changes with 32 writers, which takes a minute; otherwise it is a tenth of that.
#![allow(clippy::print_stdout)]

use std::collections::BTreeSet;
use std::time::Duration;

use futures::future::{join_all, try_join_all};
use reqwest::Method;
use serde_json::{Value, json};
use tandem_tests::{Api, Split, Window, run_to_end, within};
use tokio::time::Instant;

const PATIENCE: Duration = Duration::from_secs(300);
/// Writers of each kind: people who call an action, people who count with `ifRev`, agent runs, programs.
const WRITERS: [usize; 4] = [14, 4, 10, 4];

/// The document that is written when everybody is done.
const LAST: &str = "zz-last";

/// How often each writer of a kind writes.
fn times() -> [usize; 4] {
    match std::env::var_os("TANDEM_REAL_TIMES").is_some() {
        true => [80, 25, 74, 10],
        false => [8, 3, 7, 1],
    }
}

async fn calls(api: Api, name: String, times: usize) {
    for k in 0..times {
        let body = json!({"emailId": format!("e-{}", k % 5 + 1), "body": format!("{name} {k}")});
        let answer = api.answer(api.request(Method::POST, "/api/email").json(&body)).await;
        assert_eq!(answer.status, 200, "{name}: {answer:?}");
    }
}

/// Adds one to a counter that others add to: with `ifRev`, and again with what it has become.
async fn counts(api: Api, times: usize) {
    let path = "/state/app:inbox/docs/counter";
    let (mut value, mut rev) = (0, 0);
    for _ in 0..times {
        loop {
            let put = api.request(Method::PUT, path).json(&json!({"value": value + 1, "ifRev": rev}));
            let answer = api.answer(put).await;
            let current = match answer.status {
                200 => &answer.body,
                409 => &answer.body["current"],
                other => panic!("{other}: {answer:?}"),
            };
            (value, rev) = (current["value"].as_u64().unwrap_or(0), current["rev"].as_u64().unwrap_or(0));
            if answer.status == 200 {
                break;
            }
        }
    }
}

/// Steps of four calls.
async fn agent(api: Api, name: String, times: usize) {
    let call = |k: usize| format!("/email {}", json!({"emailId": "e-2", "body": format!("{name} {k}")}));
    let steps: Vec<String> = (0..times)
        .collect::<Vec<_>>()
        .chunks(4)
        .map(|step| step.iter().map(|k| call(*k)).collect::<Vec<_>>().join("\n"))
        .collect();
    let run = api.start(&json!({"message": steps.join("\n\n")})).await.run;
    let mut log = tandem_tests::Log::default();
    api.follow(&run, &mut log).await;
    assert_eq!(api.run(&run).await["status"], "completed", "{:?}", log.types().last());
}

async fn program(url: String, name: String, times: usize) {
    for k in 0..times {
        let body = format!("{name} {k}");
        let args = ["action", "email", "--email-id", "e-3", "--body", &body, "--url", &url];
        let done = run_to_end(&args, &[]).await;
        assert_eq!(done.code, Some(0), "{done:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn of_the_changes_of_32_writers_none_is_lost_and_none_is_there_twice() {
    let split = Split::start(2, 1, &[("STREAM_WINDOW_MS", "3000")]).await;
    let times = times();
    let total: usize = times.iter().zip(WRITERS).map(|(times, writers)| times * writers).sum();
    let api = |n: usize| split.api(n % 2);

    let followers = (0..8).map(|n| {
        let apis = [split.api(0), split.api(1)];
        async move {
            let mut window = Window::open(&apis[n % 2], "scope=app:inbox@0").await;
            while window.next().await["key"] != LAST {
                if (window.events.len() * 13 + n * 5).is_multiple_of(61) {
                    window.move_to(&apis[(window.events.len() + n) % 2]);
                }
            }
            window
        }
    });
    let followers: Vec<_> = followers.map(|follower| tokio::spawn(follower)).collect();

    let mut writers = Vec::new();
    for n in 0..WRITERS[0] {
        writers.push(tokio::spawn(calls(api(n), format!("person {n}"), times[0])));
    }
    for n in 0..WRITERS[1] {
        writers.push(tokio::spawn(counts(api(n), times[1])));
    }
    for n in 0..WRITERS[2] {
        writers.push(tokio::spawn(agent(api(n), format!("agent {n}"), times[2])));
    }
    for n in 0..WRITERS[3] {
        writers.push(tokio::spawn(program(api(n).url().to_owned(), format!("program {n}"), times[3])));
    }
    let began = Instant::now();
    within(PATIENCE, "everybody to have written", try_join_all(writers)).await.unwrap();
    println!("{total} changes by {} writers in {:.1?}", WRITERS.iter().sum::<usize>(), began.elapsed());
    let last = json!({"value": total, "ifRev": 0});
    let last = api(0).answer(api(0).request(Method::PUT, &format!("/state/app:inbox/docs/{LAST}")).json(&last)).await;
    assert_eq!(last.body["rev"], json!(total + 1), "each change is one commit: {last:?}");
    let windows = within(PATIENCE, "everybody to have seen everything", join_all(followers)).await;

    let stored = stored(&api(0)).await;
    assert_eq!(stored.rev, total as u64 + 1);
    let want =
        |kind: &str, n: usize, times: usize| (0..times).map(move |k| format!("{kind} {n} {k}")).collect::<Vec<_>>();
    let kinds = [("person", 0), ("agent", 2), ("program", 3)];
    let want: BTreeSet<String> =
        kinds.into_iter().flat_map(|(kind, at)| (0..WRITERS[at]).flat_map(move |n| want(kind, n, times[at]))).collect();
    let replies: Vec<String> = stored
        .docs
        .iter()
        .filter_map(|(_, value)| Some(value["body"].as_str()?.to_owned()))
        .filter(|body| want.contains(body))
        .collect();
    assert_eq!(replies.len(), want.len(), "each reply is there once");
    assert_eq!(replies.into_iter().collect::<BTreeSet<_>>(), want);
    let counter = stored.docs.iter().find(|(key, _)| key == "counter").map(|(_, value)| value.as_u64().unwrap());
    assert_eq!(counter, Some((WRITERS[1] * times[1]) as u64));

    for window in windows {
        let window = window.unwrap();
        let mut revs = window.revs_of("app:inbox");
        assert!(revs.windows(2).all(|pair| pair[0] <= pair[1]), "in order");
        revs.dedup();
        assert_eq!(revs, (1..=total as u64 + 1).collect::<Vec<_>>(), "every commit once");
        assert_eq!(folded(&window), stored.docs, "what was told is what is stored");
    }
}

struct Stored {
    rev: u64,
    docs: Vec<(String, Value)>,
}

/// All documents of the scope.
async fn stored(api: &Api) -> Stored {
    let (mut docs, mut query) = (Vec::new(), String::new());
    loop {
        let page = api.read(&format!("/state/app:inbox?limit=500{query}")).await;
        let items = page["items"].as_array().unwrap();
        docs.extend(items.iter().map(|item| (item["key"].as_str().unwrap().to_owned(), item["value"].clone())));
        match page["cursor"].as_str() {
            Some(cursor) => query = format!("&cursor={cursor}"),
            None => return Stored { rev: page["rev"].as_u64().unwrap(), docs },
        }
    }
}

/// The documents as a window knows them.
fn folded(window: &Window) -> Vec<(String, Value)> {
    let mut docs = std::collections::BTreeMap::new();
    for event in window.of_type("state") {
        let key = event["key"].as_str().unwrap().to_owned();
        match event["deleted"] == true {
            true => docs.remove(&key),
            false => docs.insert(key, event["value"].clone()),
        };
    }
    docs.into_iter().collect()
}
