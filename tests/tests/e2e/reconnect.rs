//! A client that went away anywhere comes back with its cursor, to any process, and receives every chunk once.

use futures::StreamExt;
use futures::future::{join, join_all};
use futures::stream::iter;
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};
use tandem_tests::{Api, End, Env, Event, Log, Split, Stream};
use tokio::sync::watch;

/// As many chunks as possible: each word is one where the machine keeps up.
const FINE: Env<'_> = &[("FLUSH_INTERVAL_MS", "0")];
/// Chunks that the long turn has at least.
const AT_LEAST: u64 = 200;
/// Requests at a time.
const AT_ONCE: usize = 8;

/// Steps of eleven chunks or more each, however deltas are merged.
fn long(words: usize, every: &str) -> String {
    let step = format!("@say {words} every {every}\n/no-such-action {{}}\n\n");
    step.repeat(19)
}

/// The four ways to ask for what follows chunk `after`.
#[derive(Debug, Clone, Copy)]
enum Way {
    After,
    LastEventId,
    StartIndex,
    Json,
}

const WAYS: [Way; 4] = [Way::After, Way::LastEventId, Way::StartIndex, Way::Json];

fn ask(api: &Api, run: &str, way: Way, after: u64) -> RequestBuilder {
    match way {
        Way::After | Way::Json => api.events(run, Some(after)),
        // It wins over the parameter.
        Way::LastEventId => api.events(run, Some(0)).header("last-event-id", after),
        Way::StartIndex => api.get(&format!("/api/agent-chat/{run}/stream?startIndex={}", after + 1)),
    }
}

/// What a client gets that has chunk `after` of a run with more.
async fn rest(api: &Api, run: &str, way: Way, after: u64) -> Log {
    let mut log = Log::from(after + 1);
    if let Way::Json = way {
        while !page(api, run, &mut log).await {}
        return log;
    }
    loop {
        let mut stream = Stream::open(ask(api, run, way, log.next() - 1)).await;
        assert_eq!(stream.run(), run);
        if log.read_all(&mut stream).await == End::Done {
            return log;
        }
    }
}

/// One page of JSON of a run that has ended and has more: never an empty one. Says whether it was the last.
async fn page(api: &Api, run: &str, log: &mut Log) -> bool {
    let page = api.answer(ask(api, run, Way::Json, log.next() - 1)).await;
    let events = page.body["events"].as_array().unwrap();
    assert!(page.status == 200 && !events.is_empty(), "after {:?}: {page:?}", log.after());
    events.iter().for_each(|event| log.add_json(event));
    assert_eq!(json!([page.body["next"], page.body["status"]]), json!([log.after(), "completed"]));
    page.body["done"] == true
}

#[tokio::test]
async fn after_the_end_every_cursor_gives_the_rest_to_everybody() {
    let split = Split::start(2, 1, &[]).await;
    let (here, there) = (split.api(0), split.api(1));
    let mut stream = here.say(&long(1, "0")).await;
    let run = stream.run();
    let mut log = Log::default();
    assert_eq!(log.read_all(&mut stream).await, End::Done);
    assert!(log.next() >= AT_LEAST, "{}", log.next());

    // Whole, by each form.
    assert_eq!(there.log(&run).await, log);
    let mut again = Log::default();
    assert_eq!(there.follow(&run, &mut again).await, 1);
    assert_eq!(again, log);
    // From each chunk on, in each way; the last chunk has nothing behind it and is a case of its own.
    let cases = (0..log.next() - 1).flat_map(|after| WAYS.map(|way| (way, after)));
    let (there, log, run) = (&there, &log, run.as_str());
    let check = async |(way, after)| assert_eq!(rest(there, run, way, after).await, log.after_chunk(after));
    iter(cases).map(check).buffer_unordered(AT_ONCE).for_each(async |()| {}).await;
}

#[tokio::test]
async fn while_it_is_written_every_cursor_gives_the_rest_to_everybody() {
    let split = Split::start(2, 1, FINE).await;
    let (here, there) = (split.api(0), split.api(1));
    let mut stream = here.say(&long(5, "30ms")).await;
    let run = &stream.run();
    let (written, _) = watch::channel(0);
    // A client for every cursor, in the ways that wait for the next chunk; each comes when its chunk is about to be
    // written or just was.
    let clients = (0..AT_LEAST).map(|after| {
        let (there, way) = (there.clone(), WAYS[usize::try_from(after).unwrap() % 3]);
        let mut written = written.subscribe();
        async move {
            written.wait_for(|next| next + 3 >= after).await.unwrap();
            (after, rest(&there, run, way, after).await)
        }
    });
    let writing = async {
        let mut log = Log::default();
        while let Some(event) = stream.next().await {
            log.add(event);
            written.send_replace(log.next());
        }
        assert_eq!(stream.ended(), End::Done);
        log
    };
    let (log, rests) = join(writing, join_all(clients)).await;
    for (after, rest) in rests {
        assert_eq!(rest, log.after_chunk(after), "{after}");
    }
}

/// Reads `stride` chunks, goes away, and comes back to the other process, again and again.
async fn hop(apis: &[Api; 2], run: &str, stride: usize) -> Log {
    let mut log = Log::default();
    for n in 0.. {
        let api = &apis[n % 2];
        let Some(mut stream) = Stream::come_back(api.events(run, log.after())).await else { break };
        let upto = log.len() + stride;
        log.read(&mut stream, upto).await;
        if log.len() < upto && stream.ended() == End::Done {
            break;
        }
    }
    log
}

#[tokio::test]
async fn going_away_again_and_again_loses_nothing() {
    let split = Split::start(2, 1, FINE).await;
    let apis = [split.api(0), split.api(1)];
    let mut stream = apis[0].say(&long(5, "15ms")).await;
    let run = stream.run();
    let hoppers = [2, 5, 11, 40].map(|stride| hop(&apis, &run, stride));
    let mut log = Log::default();
    let (end, hopped) = join(log.read_all(&mut stream), join_all(hoppers)).await;
    assert_eq!(end, End::Done);
    for got in hopped {
        assert_eq!(got, log);
    }
}

#[tokio::test]
async fn a_window_that_ends_is_no_end() {
    let split = Split::start(2, 1, &[("STREAM_WINDOW_MS", "300"), ("KEEP_ALIVE_MS", "100")]).await;
    let mut stream = split.api(0).say("@say 100 every 20ms\n@wait 350ms\n@say 20 every 20ms").await;
    let run = stream.run();
    let mut log = Log::default();
    assert_eq!(log.read_all(&mut stream).await, End::Window);
    let times = split.api(1).follow(&run, &mut log).await;
    assert!(times >= 3, "{times}");
    assert_eq!(log.attempts(), ["1 background claimed"]);
    log.says_each_word_once(120);
    log.finished(1);
    assert_eq!(split.api(0).log(&run).await, log);
}

#[tokio::test]
async fn silence_is_filled_with_comments() {
    let split = Split::start(1, 1, &[("KEEP_ALIVE_MS", "150")]).await;
    let mut stream = split.api(0).say("hello\n@wait 1s").await;
    let mut log = Log::default();
    assert_eq!(log.read_all(&mut stream).await, End::Done);
    assert_eq!(stream.comments[0], "stream-open");
    let keep_alive = stream.comments.iter().filter(|comment| *comment == "keep-alive").count();
    assert!(keep_alive >= 2, "{keep_alive}");
}

/// What the cursor in `query`, or in the header, is answered with.
async fn cursor(api: &Api, run: &str, query: &str, header: Option<&str>) -> (u16, Vec<Event>) {
    let mut request = api.request(Method::GET, &format!("/runs/{run}/events{query}"));
    if let Some(header) = header {
        request = request.header("last-event-id", header);
    }
    let response = request.send().await.unwrap();
    match response.status().as_u16() {
        200 => (200, Stream::of(response).await.rest().await.0),
        status => (status, Vec::new()),
    }
}

#[tokio::test]
async fn a_cursor_is_a_number_of_a_chunk() {
    let split = Split::start(1, 1, &[]).await;
    let api = split.api(0);
    let run = api.start(&json!({"message": "@say 3 every 0"})).await.run;
    let log = api.log(&run).await;
    let last = log.after().unwrap();
    let tail = &log.chunks()[log.len() - 1..];
    let all = log.chunks();
    for (query, header, status, want) in [
        (String::new(), None, 200, all),
        (format!("?after={}", last - 1), None, 200, tail),
        // EventSource sends an empty one before it has seen an event.
        (String::new(), Some(""), 200, all),
        (format!("?after={}", last - 1), Some(""), 200, tail),
        ("?after=0".into(), Some(&*(last - 1).to_string()), 200, tail),
        ("?after=abc".into(), Some(&*(last - 1).to_string()), 400, &[]),
        (format!("?after={last}"), None, 204, &[]),
        (String::new(), Some(&*last.to_string()), 204, &[]),
        ("?after=999999999999999".into(), None, 204, &[]),
        ("?after=9223372036854775808".into(), None, 204, &[]),
        ("?after=18446744073709551615".into(), None, 204, &[]),
        ("?after=18446744073709551616".into(), None, 400, &[]),
        ("?after=-1".into(), None, 400, &[]),
        ("?after=%2B1".into(), None, 400, &[]),
        ("?after=1.5".into(), None, 400, &[]),
        ("?after=abc".into(), None, 400, &[]),
        ("?after=".into(), None, 400, &[]),
        ("?after=%C2%B2".into(), None, 400, &[]),
        (String::new(), Some("abc"), 400, &[]),
        ("?after=0".into(), Some("-1"), 400, &[]),
    ] {
        let (got, events) = cursor(&api, &run, &query, header).await;
        let chunks: Vec<&str> = events.iter().map(|event| event.data.as_str()).collect();
        assert_eq!((got, chunks), (status, want.iter().map(String::as_str).collect()), "{query} {header:?}");
    }
    for query in [format!("?after={last}"), "?after=9223372036854775808".into()] {
        let page = api.answer(api.get(&format!("/runs/{run}/events{query}"))).await;
        let next: u64 = query[7..].parse().unwrap();
        let want = json!({"events": [], "next": next, "status": "completed", "done": true});
        assert_eq!((page.status, page.body), (200, want));
    }
}

#[tokio::test]
async fn a_cursor_past_the_end_waits_while_the_run_lives() {
    let split = Split::start(1, 1, &[]).await;
    let api = split.api(0);
    let mut stream = api.say("hello\n@wait 3s\n@say 1 every 0").await;
    let run = stream.run();
    let mut log = Log::default();
    log.read(&mut stream, 5).await;
    let at = log.after().unwrap();

    // Asked without waiting, and with a wait that the next chunk ends.
    let page = api.answer(api.get(&format!("/runs/{run}/events?after={at}"))).await;
    let want = json!({"events": [], "next": at, "status": "running", "done": false});
    assert_eq!((page.status, page.body), (200, want));
    let page = api.answer(api.get(&format!("/runs/{run}/events?after={at}&wait=20"))).await;
    let first: &Value = &page.body["events"][0];
    assert_eq!((page.status, first["seq"].as_u64()), (200, Some(at + 1)));

    assert_eq!(log.read_all(&mut stream).await, End::Done);
    assert_eq!(first["chunk"].to_string(), log.chunks()[usize::try_from(at).unwrap() + 1]);
    let beyond = 9_223_372_036_854_775_808_u64;
    let run = api.start(&json!({"message": "@wait 2s"})).await.run;
    let (events, end) = Stream::open(api.events(&run, Some(beyond))).await.rest().await;
    assert_eq!((events, end), (vec![], End::Done));
    api.run_is(&run, "completed").await;
}

#[tokio::test]
async fn a_wait_is_a_number_of_seconds() {
    let split = Split::start(1, 1, &[]).await;
    let api = split.api(0);
    let run = api.start(&json!({"message": "@say 1 every 0"})).await.run;
    api.run_is(&run, "completed").await;
    for (wait, status) in [("0", 200), ("25", 200), ("0.5", 200), ("26", 400), ("-1", 400), ("x", 400), ("NaN", 400)] {
        let page = api.answer(api.get(&format!("/runs/{run}/events?wait={wait}"))).await;
        assert_eq!(page.status, status, "{wait}: {page:?}");
    }
}

#[tokio::test]
async fn a_log_that_has_expired_is_gone_at_every_cursor_and_its_message_stays() {
    let split = Split::start(1, 1, &[("RUN_RETENTION_DAYS", "0")]).await;
    let api = split.api(0);
    let mut stream = api.say("@say 3 every 0").await;
    let (run, thread) = (stream.run(), stream.thread());
    let mut log = Log::default();
    assert_eq!(log.read_all(&mut stream).await, End::Done);
    // The store has not cleaned up yet.
    let items = split.table().content().await;
    assert!(items.keys().any(|key| key.starts_with(&format!("RUN#{run} LOG#"))));
    for query in ["", "?after=0", "?after=3", "?after=99"] {
        let gone = api.refusal(api.get(&format!("/runs/{run}/events{query}"))).await;
        assert_eq!(json!([gone["status"], gone["code"]]), json!([410, "expired"]), "{query}");
    }
    let messages = api.read(&format!("/threads/{thread}/messages")).await;
    assert_eq!(messages["items"][1]["parts"], json!(log.parts()));
}
