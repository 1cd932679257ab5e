//! Resuming as the stock AI SDK transports ask for it: by thread or run, with `startIndex` or without.

use serde_json::{Value, json};
use tandem_tests::{Api, End, Event, Log, Split, Stream, new_id};

/// What ends a stock client's stream without touching its message.
const BARE: &str = r#"{"type":"finish","finishReason":"other"}"#;

async fn resume(api: &Api, id: &str, query: &str) -> Stream {
    Stream::open(api.get(&format!("/api/agent-chat/{id}/stream{query}"))).await
}

async fn status(api: &Api, id: &str, query: &str) -> u16 {
    api.get(&format!("/api/agent-chat/{id}/stream{query}")).send().await.unwrap().status().as_u16()
}

/// A stream that says only that it is over.
async fn is_bare(api: &Api, id: &str, query: &str) {
    let bare = Event { id: None, data: BARE.into() };
    assert_eq!(resume(api, id, query).await.rest().await, (vec![bare], End::Done), "{id} {query}");
}

#[tokio::test]
async fn an_active_run_is_resumed_by_its_thread_or_itself() {
    let split = Split::start(2, 1, &[]).await;
    let (here, there) = (split.api(0), split.api(1));
    let mut stream = here.say("@say 60 every 20ms").await;
    let (run, thread) = (stream.run(), stream.thread());
    let mut log = Log::default();
    log.read(&mut stream, 8).await;

    let check = async |id: &str, query: &str, from: u64| {
        let mut stream = resume(&there, id, query).await;
        let told = ["x-run-id", "x-workflow-run-id", "x-thread-id"].map(|name| stream.header(name));
        assert_eq!(told, [run.clone(), run.clone(), thread.clone()]);
        let mut got = Log::from(from);
        assert_eq!(got.read_all(&mut stream).await, End::Done);
        got
    };
    let (end, whole, by_run, zero, five, ahead) = futures::join!(
        log.read_all(&mut stream),
        check(&thread, "", 0),
        check(&run, "", 0),
        check(&thread, "?startIndex=0", 0),
        check(&run, "?startIndex=5", 5),
        // Beyond what there is: it waits, and never answers an empty window.
        check(&run, "?startIndex=12", 12),
    );
    assert_eq!(end, End::Done);
    assert_eq!([&whole, &by_run, &zero], [&log, &log, &log]);
    assert_eq!([five, ahead], [log.after_chunk(4), log.after_chunk(11)]);
}

#[tokio::test]
async fn a_turn_that_ended_a_moment_ago_is_still_there() {
    let split = Split::start(1, 1, &[]).await;
    let api = split.api(0);
    let mut stream = api.say("@say 3 every 0").await;
    let (run, thread) = (stream.run(), stream.thread());
    let mut log = Log::default();
    log.read_all(&mut stream).await;
    for (id, query, from) in
        [(&thread, "", 0), (&run, "", 0), (&thread, "?startIndex=2", 2), (&run, "?startIndex=2", 2)]
    {
        let mut got = Log::from(from);
        assert_eq!(got.read_all(&mut resume(&api, id, query).await).await, End::Done, "{query}");
        assert_eq!(got.chunks(), &log.chunks()[usize::try_from(from).unwrap()..], "{query}");
    }
    for id in [&thread, &run] {
        is_bare(&api, id, &format!("?startIndex={}", log.len())).await;
        is_bare(&api, id, "?startIndex=999999").await;
    }

    // A minute later the thread has nothing to resume; the run's own log stays.
    let record = api.run(&run).await;
    split.table().age(&run, record["endedAt"].as_i64().unwrap() - 61_000).await;
    assert_eq!(status(&api, &thread, "").await, 204);
    is_bare(&api, &thread, "?startIndex=0").await;
    let mut got = Log::default();
    got.read_all(&mut resume(&api, &run, "?startIndex=0").await).await;
    assert_eq!(got, log);
}

#[tokio::test]
async fn where_nothing_is_active_there_is_nothing() {
    let split = Split::start(1, 1, &[]).await;
    let api = split.api(0);
    let empty = api.answer(api.request(reqwest::Method::POST, "/threads")).await;
    assert_eq!(empty.status, 201, "{empty:?}");
    let unknown = new_id();
    for thread in [empty.body["threadId"].as_str().unwrap(), &unknown] {
        assert_eq!(status(&api, thread, "").await, 204);
        is_bare(&api, thread, "?startIndex=0").await;
        is_bare(&api, thread, "?startIndex=7").await;
        is_bare(&api, thread, "?startIndex=-3").await;
    }
    assert_eq!(status(&api, &unknown, "?startIndex=x").await, 400);
    assert_eq!(status(&api, &unknown, "?startIndex=").await, 400);
}

#[tokio::test]
async fn a_negative_index_counts_from_the_tail_and_goes_back_to_a_step() {
    let split = Split::start(1, 1, &[]).await;
    let api = split.api(0);
    let mut stream = api.say("@say 2 every 0\n/no-such-action {}\n\n@say 2 every 0").await;
    let run = stream.run();
    let mut log = Log::default();
    log.read_all(&mut stream).await;
    let steps: Vec<u64> =
        (0..).zip(log.values()).filter(|(_, chunk)| chunk["type"] == "start-step").map(|(n, _)| n).collect();
    let [first, second] = steps[..] else { panic!("{:?}", log.types()) };
    let length = i64::try_from(log.len()).unwrap();
    for (index, from) in [
        (-1, second),
        (second.cast_signed() - length, second),
        (second.cast_signed() - 1 - length, first),
        (first.cast_signed() - 1 - length, 0),
        (-length, 0),
        (-99999, 0),
        (i64::MIN, 0),
    ] {
        let mut stream = resume(&api, &run, &format!("?startIndex={index}")).await;
        // The client computes its position as this + 1 + startIndex.
        let tail: i128 = stream.header("x-workflow-stream-tail-index").parse().unwrap();
        assert_eq!(tail + 1 + i128::from(index), i128::from(from), "{index}");
        let mut got = Log::from(from);
        assert_eq!(got.read_all(&mut stream).await, End::Done);
        assert_eq!(got.chunks(), &log.chunks()[usize::try_from(from).unwrap()..], "{index}");
    }
}

/// The types and whether each is numbered.
fn shape(events: &[Event]) -> Vec<(bool, Value)> {
    let kind = |event: &Event| serde_json::from_str::<Value>(&event.data).unwrap()["type"].clone();
    events.iter().map(|event| (event.id.is_some(), kind(event))).collect()
}

#[tokio::test]
async fn a_run_that_ended_badly_is_over_for_a_stock_client() {
    let split = Split::start(1, 1, &[]).await;
    let api = split.api(0);
    for (script, terminal) in [("@wait 60s", "abort"), ("@fail context", "error")] {
        let started = api.start(&json!({"message": script})).await;
        if terminal == "abort" {
            api.run_is(&started.run, "running").await;
            assert_eq!(api.abort(&started.run).await.status, 200);
        }
        let log = api.log(&started.run).await;
        // Without a position everything comes again, and the client needs a `finish` to stop asking.
        let (events, end) = resume(&api, &started.thread, "").await.rest().await;
        let last = &shape(&events)[events.len() - 2..];
        assert_eq!((last, end), (&[(true, json!(terminal)), (false, json!("finish"))][..], End::Done));
        // With one, it has counted.
        is_bare(&api, &started.run, &format!("?startIndex={}", log.len())).await;
        is_bare(&api, &started.thread, &format!("?startIndex={}", log.len())).await;
        let (events, end) = resume(&api, &started.run, &format!("?startIndex={}", log.len() - 1)).await.rest().await;
        assert_eq!((shape(&events), end), (vec![(true, json!(terminal))], End::Done));
    }
}
