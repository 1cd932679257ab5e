//! An action that takes longer than a request answers at once, and its run survives whoever carries it out.

use reqwest::Method;
use serde_json::{Value, json};
use tandem_tests::{Api, Dev, Env, Log, Split, Stream, until};

/// A death is noticed soon, and a busy machine does not look like one.
const SOON: Env<'_> = &[("LEASE_MS", "2000"), ("HEARTBEAT_MS", "250"), ("DUE_AHEAD_MS", "300"), ("TANDEM_SEED", "0")];

const ROWS: usize = 10_000;

/// The number of emails in the inbox, and that each is there once.
async fn emails(api: &Api) -> usize {
    let mut ids = std::collections::BTreeSet::new();
    let mut count = 0;
    let mut cursor = String::new();
    loop {
        let page = api.read(&format!("/api/list-emails?limit=100{cursor}")).await;
        for email in page["emails"].as_array().unwrap() {
            ids.insert(email["id"].as_str().unwrap().to_owned());
            count += 1;
        }
        match page["cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    assert_eq!(ids.len(), count, "each email once");
    count
}

/// Reads until `done` rows are reported.
async fn reached(stream: &mut Stream, log: &mut Log, done: u64) {
    until("the import to be under way", async || {
        log.read(stream, log.len() + 1).await;
        let reported = |chunk: &Value| chunk["data"]["done"].as_u64() > Some(done);
        log.of_type("data-progress").iter().any(reported).then_some(())
    })
    .await;
}

#[tokio::test]
async fn an_import_of_10_000_rows_whose_holder_dies_twice_ends_with_exactly_10_000() {
    let mut split = Split::start(1, 3, SOON).await;
    let api = split.api(0);
    let post = || api.request(Method::POST, "/api/import-emails").json(&json!({"count": ROWS}));
    let answer = api.answer(post().header("idempotency-key", "the-import")).await;
    assert_eq!(answer.status, 202, "{answer:?}");
    let run = answer.body["runId"].as_str().unwrap().to_owned();

    let mut log = Log::default();
    let mut stream = Stream::come_back(api.events(&run, None)).await.unwrap();
    for (n, done) in [2_000, 5_000].into_iter().enumerate() {
        reached(&mut stream, &mut log, done).await;
        split.backgrounds[n].kill();
        // The same request again is the same run.
        let again = api.answer(post().header("idempotency-key", "the-import")).await;
        assert_eq!((again.status, &again.body["runId"]), (202, &json!(run)));
    }
    drop(stream);
    api.follow(&run, &mut log).await;

    let holders = ["1 background claimed", "2 background recovered", "3 background recovered"];
    assert_eq!(log.attempts(), holders);
    let output = &log.of_type("tool-output-available")[0]["output"];
    assert_eq!(output["imported"], ROWS);
    assert_eq!(log.of_type("data-call").len(), 1, "it was begun once");
    assert_eq!(api.run(&run).await["status"], "completed");
    assert_eq!(emails(&api).await, ROWS);
}

#[tokio::test]
async fn a_long_action_is_a_run_that_others_do_not_see() {
    let dev = Dev::start(&[]).await;
    let api = dev.api();
    let answer = api.answer(api.request(Method::POST, "/api/import-emails").json(&json!({"count": 5}))).await;
    assert_eq!(answer.status, 202, "{answer:?}");
    let run = answer.body["runId"].as_str().unwrap();
    let record = api.run_is(run, "completed").await;
    assert_eq!((&record["action"], record.get("threadId")), (&json!("import-emails"), None));
    let other = api.as_person("local.other");
    assert_eq!(other.refusal(other.get(&format!("/runs/{run}"))).await["code"], "not_found");
    assert_eq!(other.refusal(other.events(run, None)).await["code"], "not_found");
    // A refused input starts nothing.
    let bad = api.request(Method::POST, "/api/import-emails").json(&json!({"count": 0}));
    assert_eq!(api.refusal(bad).await["errors"][0]["pointer"], "/count");
}

#[tokio::test]
async fn a_failure_of_a_long_action_is_the_end_of_its_run() {
    let dev = Dev::start(&[]).await;
    let api = dev.api();
    let body = json!({"mbox": "this is no mbox"});
    let answer = api.answer(api.request(Method::POST, "/api/import-emails").json(&body)).await;
    assert_eq!(answer.status, 202, "{answer:?}");
    let run = answer.body["runId"].as_str().unwrap();
    let record = api.run_is(run, "failed").await;
    assert_eq!(record["endReason"], "action_failed");
    let log = api.log(run).await;
    assert!(log.of_type("error")[0]["errorText"].as_str().unwrap().ends_with("[action_failed]"));
}
