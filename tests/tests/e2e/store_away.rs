//! The store can be away for a moment: nothing is lost, and callers learn that they may try again.

use std::time::Duration;

use futures::future::join_all;
use serde_json::{Value, json};
use tandem_tests::{Env, Log, Split};

/// A holder that cannot write is replaced soon.
const SOON: Env<'_> = &[("LEASE_MS", "1500"), ("HEARTBEAT_MS", "300")];

#[tokio::test]
async fn while_the_store_is_away_the_answer_is_503() {
    let mut split = Split::start(1, 1, &[]).await;
    let api = split.api(0);
    let started = api.start(&json!({"message": "@say 1 every 0"})).await;
    api.run_is(&started.run, "completed").await;
    split.kill_database();
    let requests = [
        api.chat(&json!({"message": "@say 1 every 0"})),
        api.get("/threads"),
        api.get(&format!("/runs/{}", started.run)),
        api.get(&format!("/api/agent-chat/{}/stream", started.thread)),
    ];
    for answer in join_all(requests.map(|request| api.refusal(request))).await {
        let want = json!({"status": 503, "code": "store_unavailable", "retryAfter": 1, "errors": null});
        let got = ["status", "code", "retryAfter", "errors"].map(|name| (name.to_owned(), answer[name].clone()));
        assert_eq!(Value::from_iter(got), want);
    }
    // It is alive all the same.
    assert_eq!(api.read("/healthz").await["status"], "ok");
    split.restart_database().await;
    assert_eq!(api.run(&started.run).await["status"], "completed");
}

#[tokio::test]
async fn a_run_goes_on_when_the_store_is_back() {
    let mut split = Split::start(2, 1, SOON).await;
    let mut stream = split.api(0).say("@say 10 every 10ms\n/list-emails {}\n\n@say 60 every 20ms").await;
    let run = stream.run();
    let mut log = Log::default();
    log.read(&mut stream, 12).await;
    let seen = log.clone();
    split.kill_database();
    // Long enough for writes to fail for good.
    tokio::time::sleep(Duration::from_secs(3)).await;
    split.restart_database().await;
    log.read_all(&mut stream).await;
    split.api(1).follow(&run, &mut log).await;

    assert!(log.begins_with(&seen));
    log.says_each_word_once(70);
    assert_eq!(log.of_type("finish").len(), 1);
    assert_eq!(split.api(1).log(&run).await, log);
}
