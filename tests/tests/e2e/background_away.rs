//! A turn does not need the background: the foreground takes a run that nobody claims, and the client notices nothing.

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};
use tandem_tests::{Api, End, Env, FakeBackground, Log, Program, Split, until, within};

/// A port where nobody listens: one that was free a moment ago.
fn nobody() -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    format!("http://{}", listener.local_addr().unwrap())
}

/// One turn against a foreground whose background is `url`; gives the attempts.
async fn check(url: &str, more: Env<'_>) -> (Split, Log) {
    let env = [&[("BACKGROUND_URL", url)], more].concat();
    let split = Split::start(1, 0, &env).await;
    let mut stream = split.api(0).say("@say 10 every 10ms").await;
    let mut log = Log::default();
    assert_eq!(log.read_all(&mut stream).await, End::Done);
    log.says_each_word_once(10);
    log.finished(1);
    (split, log)
}

#[tokio::test]
async fn where_nobody_listens_the_foreground_takes_the_run_at_once() {
    let nobody = nobody();
    let work = check(&nobody, &[("CLAIM_GRACE_MS", "20000")]);
    let (_, log) = within(Duration::from_secs(15), "the end, well before the grace", work).await;
    assert_eq!(log.attempts(), ["1 foreground reclaimed"]);
}

#[tokio::test]
async fn where_dispatches_are_refused_the_foreground_takes_the_run_at_once() {
    let broken = FakeBackground::answering(500).await;
    let work = check(broken.url(), &[("CLAIM_GRACE_MS", "20000")]);
    let (_, log) = within(Duration::from_secs(15), "the end, well before the grace", work).await;
    assert_eq!(log.attempts(), ["1 foreground reclaimed"]);
    assert_eq!(broken.seen().len(), 1);
}

#[tokio::test]
async fn a_202_is_no_proof_the_foreground_takes_the_run_after_the_grace() {
    let liar = FakeBackground::answering(202).await;
    let (split, log) = check(liar.url(), &[("CLAIM_GRACE_MS", "700")]).await;
    assert_eq!(log.attempts(), ["1 foreground reclaimed"]);
    let run = log.of_type("finish")[0]["messageMetadata"]["runId"].clone();
    let record = split.api(0).run(run.as_str().unwrap()).await;
    assert_eq!(json!([record["status"], record["attempt"]]), json!(["completed", 1]));

    // What was sent: ids and a signature, and nothing that anybody said.
    let [dispatch] = &liar.seen()[..] else { panic!("{:?}", liar.seen()) };
    let names: Vec<&String> = dispatch.as_object().unwrap().keys().collect();
    assert_eq!(names, ["runId", "version", "issuedAt", "kid", "signature"]);
    assert_eq!(json!([dispatch["runId"], dispatch["version"]]), json!([run, 1]));
}

#[tokio::test]
async fn a_dispatch_that_arrives_late_or_twice_has_no_effect() {
    let liar = FakeBackground::answering(202).await;
    let mut split = Split::start(1, 0, &[("BACKGROUND_URL", liar.url()), ("CLAIM_GRACE_MS", "700")]).await;
    split.add_background().await;
    let background: &Program = &split.backgrounds[0];
    let deliver = async |times: usize| {
        let door = Api::new(background.url());
        let request = door.request(Method::POST, "/_agent-native/agent-chat/_process-run");
        let answer = door.answer(request.json(&liar.seen()[0])).await;
        // Its signature is good, and that is all that this says.
        assert_eq!((answer.status, answer.body), (202, json!({"accepted": true})));
        until("the dispatch to be looked at", async || {
            (background.log().matches("dispatch without effect").count() == times).then_some(())
        })
        .await;
    };

    let mut stream = split.api(0).say("@say 60 every 20ms").await;
    let mut log = Log::default();
    log.read(&mut stream, 8).await;
    // While the foreground has the run.
    deliver(1).await;
    assert_eq!(log.read_all(&mut stream).await, End::Done);
    assert_eq!(log.attempts(), ["1 foreground reclaimed"]);
    log.says_each_word_once(60);
    log.finished(1);
    // After the end.
    let before = split.table().content().await;
    deliver(2).await;
    split.table().is_still(&before).await;
}

#[tokio::test]
async fn without_durable_background_nothing_is_dispatched() {
    let background = FakeBackground::answering(202).await;
    let (_, log) = check(background.url(), &[("AGENT_CHAT_DURABLE_BACKGROUND", "false")]).await;
    assert_eq!(log.attempts(), ["1 foreground claimed"]);
    assert_eq!(background.seen(), [] as [Value; 0]);
}
