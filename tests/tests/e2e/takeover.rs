//! A process that dies takes nothing with it: what was seen stays, and somebody else ends the run.

use futures::future::join;
use serde_json::{Value, json};
use tandem_tests::{Api, Dev, End, Env, FakeBackground, Log, Split, Stream, until};

/// A death is noticed soon, and a busy machine does not look like one.
const SOON: Env<'_> = &[("LEASE_MS", "2500"), ("HEARTBEAT_MS", "250"), ("DUE_AHEAD_MS", "300")];

/// 300 emails in slices, for about two seconds.
const IMPORT: &str = "/import-emails {\"count\":300,\"delayMs\":80}";

/// The number of emails that somebody's inbox holds.
async fn emails(api: &Api) -> usize {
    let mut count = 0;
    let mut cursor = String::new();
    loop {
        let run = api.start(&json!({"message": format!("/list-emails {{\"limit\":100{cursor}}}")})).await.run;
        let output = api.log(&run).await.of_type("tool-output-available")[0]["output"].clone();
        count += output["emails"].as_array().unwrap().len();
        match &output["cursor"] {
            Value::Null => return count,
            next => cursor = format!(",\"cursor\":{next}"),
        }
    }
}

/// Reads until some slices are imported.
async fn importing(stream: &mut Stream, log: &mut Log) {
    until("the import to be under way", async || {
        log.read(stream, log.len() + 1).await;
        log.of_type("data-progress").iter().any(|chunk| chunk["data"]["done"].as_u64() > Some(60)).then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_background_dies_and_another_one_ends_the_run() {
    let mut split = Split::start(2, 2, SOON).await;
    let mut stream = split.api(0).say("@say 10 every 10ms\n/list-emails {}\n\n@say 30 every 50ms").await;
    let run = stream.run();
    let mut log = Log::default();
    until("the second step to be under way", async || {
        log.read(&mut stream, log.len() + 1).await;
        (log.of_type("start-step").len() == 2 && log.types().last().unwrap() == "text-delta").then_some(())
    })
    .await;
    split.backgrounds[0].kill();
    let seen = log.clone();
    assert_eq!(log.read_all(&mut stream).await, End::Done);

    assert!(log.begins_with(&seen));
    assert_eq!(log.attempts(), ["1 background claimed", "2 background recovered"]);
    log.says_each_word_once(40);
    log.finished(2);
    // The finished step was not done again.
    assert_eq!(log.of_type("data-call").len(), 1);
    assert_eq!(log.of_type("reset-step").len(), 1);
    assert_eq!(split.api(1).log(&run).await, log);
}

#[tokio::test]
async fn the_whole_system_dies_and_is_started_again() {
    let mut dev = Dev::start(SOON).await;
    let mut stream = dev.api().say("@say 60 every 30ms").await;
    let run = stream.run();
    let mut log = Log::default();
    log.read(&mut stream, 8).await;
    let (seen, api) = (log.clone(), dev.api());
    let client = async {
        assert_eq!(log.read_all(&mut stream).await, End::Cut);
        api.follow(&run, &mut log).await
    };
    join(client, dev.restart()).await;

    assert!(log.begins_with(&seen));
    assert_eq!(log.attempts(), ["1 background claimed", "2 background recovered"]);
    log.says_each_word_once(60);
    log.finished(2);
}

#[tokio::test]
async fn a_run_that_nobody_watches_is_found_by_the_sweeper() {
    let mut split = Split::start(1, 2, SOON).await;
    let api = split.api(0);
    let run = api.start(&json!({"message": "@say 40 every 40ms"})).await.run;
    // Looked at for a moment, and left alone.
    until("the run to be under way", async || {
        let page = api.answer(api.events(&run, None)).await;
        (page.body["events"].as_array().unwrap().len() > 5).then_some(())
    })
    .await;
    split.backgrounds[0].kill();
    let swept = until("the sweeper to find it", async || {
        let swept = split.sweep().await;
        assert_eq!(swept.code, Some(0), "{swept:?}");
        let result: Value = serde_json::from_str(&swept.stdout).unwrap();
        (result["recovered"] == 1).then_some(result)
    })
    .await;
    assert_eq!(swept, json!({"due": 1, "recovered": 1, "failed": 0}));
    api.run_is(&run, "completed").await;
    let log = api.log(&run).await;
    assert_eq!(log.attempts(), ["1 background claimed", "2 background recovered"]);
    log.says_each_word_once(40);
}

#[tokio::test]
async fn a_foreground_that_drives_dies_and_the_background_ends_the_run() {
    let mut split = Split::start(2, 1, &[SOON, &[("AGENT_CHAT_DURABLE_BACKGROUND", "false")]].concat()).await;
    let mut stream = split.api(0).say("@say 40 every 40ms").await;
    let run = stream.run();
    let mut log = Log::default();
    log.read(&mut stream, 8).await;
    split.foregrounds[0].kill();
    assert_eq!(log.read_all(&mut stream).await, End::Cut);
    let seen = log.clone();
    split.api(1).follow(&run, &mut log).await;

    assert!(log.begins_with(&seen));
    assert_eq!(log.attempts(), ["1 foreground claimed", "2 background recovered"]);
    log.says_each_word_once(40);
    log.finished(2);
}

#[tokio::test]
async fn a_foreground_that_only_streams_dies_and_the_run_does_not_notice() {
    let mut split = Split::start(2, 1, &[]).await;
    let mut stream = split.api(0).say("@say 50 every 40ms").await;
    let run = stream.run();
    let mut log = Log::default();
    log.read(&mut stream, 8).await;
    split.foregrounds[0].kill();
    assert_eq!(log.read_all(&mut stream).await, End::Cut);
    split.api(1).follow(&run, &mut log).await;
    assert_eq!(log.attempts(), ["1 background claimed"]);
    log.says_each_word_once(50);
    log.finished(1);
}

#[tokio::test]
async fn an_import_is_interrupted_by_a_death_and_still_imports_each_email_once() {
    let mut split = Split::start(1, 2, &[SOON, &[("TANDEM_SEED", "0")]].concat()).await;
    let api = split.api(0);
    let mut stream = api.say(IMPORT).await;
    let mut log = Log::default();
    importing(&mut stream, &mut log).await;
    split.backgrounds[0].kill();
    let seen = log.clone();
    assert_eq!(log.read_all(&mut stream).await, End::Done);

    assert!(log.begins_with(&seen));
    assert_eq!(log.attempts(), ["1 background claimed", "2 background recovered"]);
    log.finished(2);
    // The step had its intent, so it was not asked again: the same call went on where it stood.
    assert_eq!(log.of_type("reset-step").len(), 0);
    let [outcome] = &log.of_type("tool-output-available")[..] else { panic!("{:?}", log.types()) };
    assert_eq!(outcome["output"]["imported"], 300, "{outcome}");
    assert_eq!(emails(&api).await, 300);
}

/// Freezes the holder, lets another one take the run, and wakes the first one up while the other is at it.
async fn sleep_through_the_takeover(split: &Split, stream: &mut Stream, log: &mut Log) {
    let sleeper = &split.backgrounds[0];
    split.road.lead_only_to(split.backgrounds[1].url());
    sleeper.freeze();
    until("somebody else to take the run", async || {
        log.read(stream, log.len() + 1).await;
        (log.attempts().len() == 2).then_some(())
    })
    .await;
    sleeper.thaw();
    assert_eq!(log.read_all(stream).await, End::Done);
    until("the sleeper to notice", async || sleeper.log().contains("holder stopped").then_some(())).await;

    assert_eq!(log.attempts(), ["1 background claimed", "2 background recovered"]);
    log.finished(2);
    // What it still had in its hands is nowhere.
    assert_eq!(split.api(0).log(&stream.run()).await, *log);
}

#[tokio::test]
async fn a_holder_that_wakes_up_after_it_was_replaced_writes_nothing_more() {
    let split = Split::start(1, 2, &[SOON, &[("FLUSH_INTERVAL_MS", "0")]].concat()).await;
    let mut stream = split.api(0).say("@say 300 every 5ms").await;
    let mut log = Log::default();
    log.read(&mut stream, 30).await;
    sleep_through_the_takeover(&split, &mut stream, &mut log).await;
    log.says_each_word_once(300);
}

#[tokio::test]
async fn a_holder_that_wakes_up_after_it_was_replaced_does_nothing_more() {
    let split = Split::start(1, 2, &[SOON, &[("TANDEM_SEED", "0")]].concat()).await;
    let mut stream = split.api(0).say(IMPORT).await;
    let mut log = Log::default();
    importing(&mut stream, &mut log).await;
    sleep_through_the_takeover(&split, &mut stream, &mut log).await;
    let [outcome] = &log.of_type("tool-output-available")[..] else { panic!("{:?}", log.types()) };
    assert_eq!(outcome["output"]["imported"], 300, "{outcome}");
    assert_eq!(emails(&split.api(0)).await, 300);
}

#[tokio::test]
async fn a_run_that_nobody_ever_takes_ends_with_the_true_reason() {
    let liar = FakeBackground::answering(202).await;
    let quick = [("CLAIM_GRACE_MS", "300"), ("LEASE_MS", "600"), ("HEARTBEAT_MS", "200"), ("NEVER_CLAIMED_MS", "2000")];
    let split = Split::start(1, 0, &[&[("BACKGROUND_URL", liar.url())], &quick[..]].concat()).await;
    // It dies long before its own grace is over, so that nobody is left to take the run back.
    let mut dying = split.serve_with("foreground", &[("CLAIM_GRACE_MS", "30000")]).await;
    let run = Api::new(dying.url()).start(&json!({"message": "@say 1 every 0"})).await.run;
    dying.kill();
    let mut log = Log::default();
    split.api(0).follow(&run, &mut log).await;
    assert_eq!(log.types(), ["start", "error"]);
    let text = log.of_type("error")[0]["errorText"].clone();
    assert!(text.as_str().unwrap().ends_with(" [never_claimed]"), "{text}");
    // Each dispatch voids the one before. The first may have died with its sender.
    let versions: Vec<u64> = liar.seen().iter().filter_map(|dispatch| dispatch["version"].as_u64()).collect();
    assert!(versions == [1, 2, 3, 4, 5] || versions == [2, 3, 4, 5], "{versions:?}");
}
