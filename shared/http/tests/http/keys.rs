//! `Idempotency-Key`: one effect and one answer, however often a request is sent and whatever dies.

use std::time::{Duration, Instant};

use axum::http::Method;
use futures::future::join_all;
use serde_json::{Value, json};
use tandem_catalog::Settings;

use crate::api::{Answer, Api, request};
use crate::sample::{alert_api, api, gate, runs_of, until_run};
use crate::webhook::Webhook;

async fn catalog(settings: &Settings) -> Api {
    Api::new(tandem_catalog::registry_with(settings).unwrap()).await
}

/// Sends a request from a process of its own, and kills it when `what` has begun to run.
async fn killed(api: &Api, path: &'static str, body: &Value, what: &str) {
    let process = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let (api, body, runs) = (api.another(), body.clone(), runs_of(what));
    process.spawn(async move { api.post_once(path, "k", &body).await });
    until_run(what, runs + 1).await;
    process.shutdown_background();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sixteen_callers_with_one_key_have_one_effect_and_the_same_answer() {
    let webhook = Webhook::start().await;
    let settings = Settings { webhook_url: Some(webhook.url.clone()), ..Settings::default() };
    let api = catalog(&settings).await;
    let text = json!({"text": "The import is done."});
    let calls = (0..16).map(|n| {
        // Half of them reach another process.
        let (api, text) = (if n % 2 == 0 { api.clone() } else { api.another() }, text.clone());
        tokio::spawn(async move { api.post_once("/api/notify-webhook", "k", &text).await })
    });
    for answer in join_all(calls).await {
        let answer = answer.unwrap();
        assert_eq!((answer.status, answer.body), (200, json!({"status": 200})));
    }
    assert_eq!(webhook.counts(), (1, 1));
    // Another key, and none, are other calls.
    assert_eq!(api.post_once("/api/notify-webhook", "l", &text).await.status, 200);
    assert_eq!(api.post("/api/notify-webhook", &text).await.status, 200);
    assert_eq!(webhook.counts(), (3, 3));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sixteen_senders_of_one_mail_send_it_once() {
    let outbox = tempfile::tempdir().unwrap();
    let api = catalog(&Settings { outbox_dir: outbox.path().into(), ..Settings::default() }).await;
    let mail = json!({"to": "ann@example.com", "subject": "Hello", "body": "All is well."});
    let calls = (0..16).map(|_| {
        let (api, mail) = (api.clone(), mail.clone());
        tokio::spawn(async move { api.post_once("/api/send-email", "k", &mail).await })
    });
    let answers: Vec<Answer> = join_all(calls).await.into_iter().map(Result::unwrap).collect();
    assert!(answers.iter().all(|answer| (answer.status, &answer.body) == (200, &answers[0].body)), "{answers:?}");
    assert_eq!(std::fs::read_dir(outbox.path()).unwrap().count(), 1);
}

#[tokio::test]
async fn writes_and_the_answer_exist_once() {
    let api = api().await;
    let body = json!({"name": "n", "by": 5});
    for _ in 0..3 {
        assert_eq!(api.post_once("/api/add", "k", &body).await.body, json!(5));
    }
    assert_eq!(api.get("/api/peek?name=n").await.body, json!(5));
    assert_eq!(api.post("/api/add", &body).await.body, json!(10));
}

#[tokio::test]
async fn a_key_belongs_to_one_input() {
    let api = api().await;
    assert_eq!(api.post_once("/api/add", "k", &json!({"name": "n", "by": 5})).await.status, 200);
    let other = api.post_once("/api/add", "k", &json!({"name": "n", "by": 6})).await;
    assert_eq!(other.problem(), (422, "key_reused"));
    assert_eq!(api.get("/api/peek?name=n").await.body, json!(5));
    // A request that was refused has not used it up.
    assert_eq!(api.post_once("/api/add", "l", &json!({"name": "n"})).await.problem(), (400, "invalid_input"));
    assert_eq!(api.post_once("/api/add", "l", &json!({"name": "n", "by": 6})).await.body, json!(11));
}

#[tokio::test]
async fn a_key_that_is_none_is_refused_and_nothing_happens() {
    let api = api().await;
    let long = "k".repeat(256);
    for keys in [vec![""], vec!["a b"], vec![&*long], vec!["a", "a"]] {
        let headers: Vec<_> = keys.iter().map(|key| ("idempotency-key", *key)).collect();
        let body = json!({"name": "n", "by": 5}).to_string();
        let answer = api.send(request(Method::POST, "/api/add", &headers, &body)).await;
        assert_eq!(answer.problem(), (400, "invalid_input"), "{keys:?}");
        assert_eq!(answer.pointers(), ["header Idempotency-Key"], "{keys:?}");
    }
    assert_eq!(api.get("/api/peek?name=n").await.body, Value::Null);
}

#[tokio::test]
async fn after_a_crash_a_keyed_call_runs_again_under_the_same_key() {
    let api = alert_api().await;
    let (body, gate) = (json!({"name": "http-ring"}), gate("http-ring"));
    killed(&api, "/api/ring", &body, "http-ring").await;
    gate.add_permits(10);
    let answer = api.post_once("/api/ring", "k", &body).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    assert_eq!(runs_of("http-ring"), 2);
    assert_eq!(api.another().post_once("/api/ring", "k", &body).await.body, answer.body);
    assert_eq!(runs_of("http-ring"), 2);
}

#[tokio::test]
async fn after_a_crash_an_external_call_is_unknown_and_does_not_run_again() {
    let api = alert_api().await;
    let (body, gate) = (json!({"name": "http-out", "by": 1}), gate("http-out"));
    killed(&api, "/api/call-out", &body, "http-out").await;
    gate.add_permits(10);
    for api in [&api, &api.another()] {
        let answer = api.post_once("/api/call-out", "k", &body).await;
        assert_eq!(answer.problem(), (409, "outcome_unknown"));
    }
    assert_eq!(runs_of("http-out"), 1);
    // By hand it can be tried again.
    assert_eq!(api.post_once("/api/call-out", "l", &body).await.body, json!(1));
}

#[tokio::test]
async fn an_external_call_that_takes_too_long_is_told_the_same_way_every_time() {
    let api = api().await;
    let (body, _never_opened) = (json!({"name": "http-slow", "by": 1}), gate("http-slow"));
    for _ in 0..2 {
        assert_eq!(api.post_once("/api/slow-out", "k", &body).await.problem(), (409, "outcome_unknown"));
    }
    assert_eq!(runs_of("http-slow"), 1);
    let fresh = api.post("/api/slow-out", &body).await;
    assert_eq!(fresh.problem(), (504, "timeout"));
    assert!(fresh.body["detail"].as_str().unwrap().contains("may have happened"), "{fresh:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_waits_longer_than_the_call_may_take_is_told_to_come_back() {
    let api = api().await;
    let (body, gate) = (json!({"name": "http-under-way"}), gate("http-under-way"));
    let first = {
        let (api, body) = (api.clone(), body.clone());
        tokio::spawn(async move { api.post_once("/api/ring", "k", &body).await })
    };
    until_run("http-under-way", 1).await;
    // An invocation that ends soon.
    let mut second = request(Method::POST, "/api/ring", &[("idempotency-key", "k")], &body.to_string());
    let soon = tokio::time::Instant::now() + Duration::from_millis(2500);
    second.extensions_mut().insert(tandem_http::Deadline(soon));
    let second = api.send(second).await;
    assert_eq!((second.problem(), second.header("retry-after")), ((409, "in_progress"), Some("1")));
    gate.add_permits(1);
    let first = first.await.unwrap();
    assert_eq!((first.status, runs_of("http-under-way")), (200, 1));
    assert_eq!(api.post_once("/api/ring", "k", &body).await.body, first.body);
}

#[tokio::test]
async fn an_invocation_that_ends_hands_the_call_to_the_next_request() {
    let api = api().await;
    let (body, gate) = (json!({"name": "http-handed-on"}), gate("http-handed-on"));
    let mut first = request(Method::POST, "/api/ring", &[("idempotency-key", "k")], &body.to_string());
    let soon = tokio::time::Instant::now() + Duration::from_millis(2300);
    first.extensions_mut().insert(tandem_http::Deadline(soon));
    let first = api.send(first).await;
    assert_eq!(first.problem(), (504, "timeout"));
    assert!(first.body["detail"].as_str().unwrap().contains("the same key"), "{first:?}");
    gate.add_permits(1);
    let begun = Instant::now();
    assert_eq!(api.post_once("/api/ring", "k", &body).await.status, 200);
    // Before the lease is over.
    assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());
}

#[tokio::test]
async fn who_hangs_up_stops_nothing() {
    let api = api().await;
    let (body, gate) = (json!({"name": "http-hung-up", "by": 1}), gate("http-hung-up"));
    tokio::select! {
        _ = api.post_once("/api/call-out", "k", &body) => panic!("the gate is closed"),
        () = until_run("http-hung-up", 1) => {}
    }
    gate.add_permits(1);
    let answer = api.post_once("/api/call-out", "k", &body).await;
    assert_eq!((answer.body, runs_of("http-hung-up")), (json!(1), 1));
}

#[tokio::test]
async fn a_long_import_is_repeated_by_its_key_without_importing_twice() {
    let api = catalog(&Settings::default()).await;
    let want = json!({"imported": 250, "firstId": "e-9", "lastId": "e-258"});
    let mut runs = Vec::new();
    for _ in 0..2 {
        let answer = api.post_once("/api/import-emails", "k", &json!({"count": 250})).await;
        assert_eq!(answer.status, 202, "{answer:?}");
        let run = answer.body["runId"].as_str().unwrap().to_owned();
        assert_eq!(output(&api, &run).await, want);
        runs.push(run);
    }
    assert_eq!(runs[0], runs[1], "one key is one run");
    let other = api.post_once("/api/import-emails", "k", &json!({"count": 251})).await;
    assert_eq!((other.status, &other.body["code"]), (422, &json!("key_reused")));
    let page = api.get("/api/list-emails?limit=1").await;
    assert_eq!(page.body["emails"][0]["id"], "e-258");
}

/// Follows a run to its end and gives what its call returned.
async fn output(api: &Api, run: &str) -> Value {
    let mut after = String::new();
    loop {
        let path = format!("/runs/{run}/events?wait=20{after}");
        let page = api.send(request(Method::GET, &path, &[("accept", "application/json")], "")).await;
        let events = page.body["events"].as_array().unwrap();
        let output = events.iter().find(|event| event["chunk"]["type"] == "tool-output-available");
        if let Some(output) = output {
            return output["chunk"]["output"].clone();
        }
        assert_eq!(page.body["done"], false, "{page:?}");
        after = format!("&after={}", page.body["next"]);
    }
}
