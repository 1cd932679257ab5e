//! Stopping a run: by the abort endpoint from anywhere, once, and by nothing else.

use std::time::Duration;

use serde_json::json;
use tandem_testkit::faults::Latency;
use tandem_tests::{Api, End, Log, Split, within};
use tokio::time::Instant;

use crate::window_cost::counted;

/// Far sooner than what is stopped would end by itself, and late enough for a busy machine.
const SOON: Duration = Duration::from_secs(8);

#[tokio::test]
async fn a_run_is_stopped_from_another_process() {
    let split = Split::start(2, 1, &[]).await;
    let (here, there) = (split.api(0), split.api(1));
    let mut stream = here.say("@say 2000 every 20ms").await;
    let run = stream.run();
    let mut log = Log::default();
    log.read(&mut stream, 10).await;

    let (answer, end) = within(SOON, "the stream to end", async {
        let answer = there.abort(&run).await;
        (answer, log.read_all(&mut stream).await)
    })
    .await;
    assert_eq!(answer.status, 200);
    assert_eq!(json!([answer.body["status"], answer.body["endReason"]]), json!(["aborted", "aborted"]));
    assert_eq!(end, End::Done);
    // What was open is closed before the end.
    let types = log.types();
    assert_eq!(types[types.len() - 3..], ["text-delta", "text-end", "abort"]);

    // Again: nothing changes, not even the record.
    assert_eq!(there.abort(&run).await, answer);
    assert_eq!(here.abort(&run).await, answer);
    assert_eq!(here.log(&run).await, log);
    // The thread is free.
    let thread = answer.body["threadId"].as_str().unwrap();
    assert_eq!(here.read(&format!("/runs/active?threadId={thread}")).await, json!({"active": false}));
    let next = here.start(&json!({"message": "@say 1 every 0", "threadId": thread})).await;
    here.run_is(&next.run, "completed").await;
}

/// Whoever stops a run races against its holder for the end of the log, and a long answer takes calls of its own.
#[tokio::test(flavor = "multi_thread")]
async fn a_holder_that_writes_without_a_pause_is_stopped_at_once_where_the_store_is_far_away() {
    const WORDS: usize = 80_000;
    let split = Split::start(0, 0, &[]).await;
    let (program, proxy) = counted(&split).await;
    let api = Api::new(program.url());
    let mut stream = api.say(&format!("@say {WORDS} every 0\n@say 100000 every 1ms")).await;
    let run = stream.run();
    let mut log = Log::default();
    // The first words share chunks, more or fewer as the machine is; the others come one by one.
    while log.chunks().iter().map(String::len).sum::<usize>() < 5 * WORDS {
        let before = log.len();
        log.read(&mut stream, before + 1).await;
        assert!(log.len() > before, "the stream ended: {:?}", stream.ended());
    }
    assert!(log.text().len() > 4 * WORDS, "{} characters", log.text().len());
    proxy.slow(Latency::new(Duration::from_millis(15), Duration::from_millis(60), 7));
    proxy.reset();
    let began = Instant::now();
    // Several at once get in each other's way, and not for long.
    for answer in futures::future::join_all((0..4).map(|_| api.abort(&run))).await {
        assert_eq!(answer.body["status"], "aborted");
    }
    let took = began.elapsed();
    let parts = proxy.trace().into_iter().flat_map(|call| call.operation.keys).filter(|key| key.contains(" ANSWER#"));
    let parts = parts.count();
    // Half a megabyte, four times, takes its time in debug builds; who loses race after race takes a minute.
    assert!(took < Duration::from_secs(15), "{took:?}, {parts} parts of the answer written");
    assert!(parts < 40, "{parts} parts of the answer written in {took:?}");
    assert_eq!(log.read_all(&mut stream).await, End::Done);
    // Nothing stands behind the end.
    let stored = api.log(&run).await;
    assert_eq!(stored.types().iter().position(|kind| kind == "abort"), Some(stored.types().len() - 1));
    let kept = split.table().content().await;
    let kept = kept.keys().filter(|key| key.contains(" ANSWER#")).count();
    // Each of the four has put its own, once.
    assert!(kept <= 12, "{kept} items hold one answer");
}

#[tokio::test]
async fn a_run_that_has_ended_stays_as_it_is() {
    let split = Split::start(1, 1, &[]).await;
    let api = split.api(0);
    let started = api.start(&json!({"message": "@say 1 every 0"})).await;
    let record = api.run_is(&started.run, "completed").await;
    let log = api.log(&started.run).await;
    let answer = api.abort(&started.run).await;
    assert_eq!((answer.status, answer.body), (200, record));
    assert_eq!(api.log(&started.run).await, log);
}

#[tokio::test]
async fn a_run_that_nobody_has_claimed_can_be_stopped() {
    let liar = tandem_tests::FakeBackground::answering(202).await;
    let split = Split::start(1, 0, &[("BACKGROUND_URL", liar.url()), ("CLAIM_GRACE_MS", "3000")]).await;
    let api = split.api(0);
    let mut stream = api.say("@say 1 every 0").await;
    let run = stream.run();
    assert_eq!(api.abort(&run).await.body["status"], "aborted");
    let mut log = Log::default();
    assert_eq!(log.read_all(&mut stream).await, End::Done);
    assert_eq!(log.types(), ["start", "abort"]);
    // That nothing happens when the grace is over can only be waited for.
    tokio::time::sleep(Duration::from_millis(3100)).await;
    assert_eq!(api.log(&run).await, log);
}

#[tokio::test]
async fn going_away_does_not_stop_a_run() {
    let split = Split::start(2, 1, &[]).await;
    let mut stream = split.api(0).say("@say 50 every 20ms").await;
    let run = stream.run();
    let mut log = Log::default();
    log.read(&mut stream, 5).await;
    drop(stream);
    // Nobody follows; it completes all the same.
    split.api(1).run_is(&run, "completed").await;
    let whole = split.api(1).log(&run).await;
    assert!(whole.begins_with(&log));
    whole.says_each_word_once(50);
    whole.finished(1);
}

#[tokio::test]
async fn a_turn_is_stopped_before_it_begins_and_a_run_for_another_turn() {
    let split = Split::start(2, 1, &[]).await;
    let (here, there) = (split.api(0), split.api(1));
    let stop = async |thread: &str, turn: &str| {
        let path = format!("/threads/{thread}/turns/{turn}/abort");
        there.answer(there.request(reqwest::Method::POST, &path)).await
    };
    let say = |thread: &str, turn: &str, text: &str, when_busy: &str| {
        let message = json!({"id": turn, "role": "user", "parts": [{"type": "text", "text": text}]});
        here.chat(&json!({"id": thread, "messages": [message], "whenBusy": when_busy}))
    };
    let thread = tandem_tests::new_id();
    let stopped = stop(&thread, "m1").await;
    assert_eq!((stopped.status, stopped.body), (200, json!({"turnId": "m1", "status": "aborted"})));
    let mut stream = tandem_tests::Stream::open(say(&thread, "m1", "@say 5 every 0", "reject")).await;
    let mut log = Log::default();
    assert_eq!(log.read_all(&mut stream).await, End::Done);
    assert_eq!(log.types(), ["start", "abort"]);

    // During a call, and then by name.
    let mut stream = tandem_tests::Stream::open(say(&thread, "m2", "/import-emails {\"count\":50000}", "reject")).await;
    let first = stream.run();
    let mut log = Log::default();
    log.read(&mut stream, 6).await;
    let refused = here.refusal(say(&thread, "m3", "@say 500 every 20ms", "reject")).await;
    assert_eq!(json!([refused["code"], refused["activeRunId"]]), json!(["thread_busy", first]));
    let second = within(SOON, "the interruption", async {
        let second = tandem_tests::Stream::open(say(&thread, "m3", "@say 500 every 20ms", "interrupt")).await;
        assert_eq!(log.read_all(&mut stream).await, End::Done);
        second
    })
    .await;
    assert_eq!(log.types().last().map(String::as_str), Some("abort"));
    here.run_is(&first, "aborted").await;
    assert_eq!(here.read(&format!("/threads/{thread}")).await["activeRunId"], json!(second.run()));
    let stopped = stop(&thread, "m3").await;
    assert_eq!(stopped.body, json!({"turnId": "m3", "runId": second.run(), "status": "aborted"}));
    assert_eq!(here.read(&format!("/runs/active?threadId={thread}")).await, json!({"active": false}));
}
