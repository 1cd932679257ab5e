//! A turn that takes longer than its holder may: the next holder goes on, and the client's stream does not notice.

use serde_json::json;
use tandem_tests::{End, Env, Log, Split, Stream};

const SMALL: Env<'_> = &[
    ("AGENT_CHAT_DURABLE_BACKGROUND", "false"),
    ("FOREGROUND_SOFT_TIMEOUT_MS", "1000"),
    ("CLAIM_GRACE_MS", "1000"),
    ("HAND_OVER_MARGIN_MS", "1000"),
];

/// Steps that each say words and end with a call, and a last one that says the rest.
fn steps(count: usize, words: usize, every: &str) -> String {
    let step = format!("@say {words} every {every}\n/list-emails {{\"limit\":1}}\n\n");
    step.repeat(count - 1) + &format!("@say {words} every {every}")
}

/// One POST, one response, to `[DONE]`.
async fn whole(split: &Split, script: &str) -> Log {
    let mut stream = split.api(0).say(script).await;
    let mut log = Log::default();
    assert_eq!(log.read_all(&mut stream).await, End::Done);
    log
}

#[tokio::test]
async fn a_step_that_is_too_long_for_the_foreground_is_said_by_the_background() {
    let split = Split::start(1, 1, SMALL).await;
    let log = whole(&split, "@say 75 every 20ms").await;
    assert_eq!(log.attempts(), ["1 foreground claimed", "2 background continued"]);
    log.says_each_word_once(75);
    log.finished(2);
    let delta = "text-delta";
    assert_eq!(
        log.types(),
        [
            "start",
            "data-attempt",
            "start-step",
            "text-start",
            delta,
            "text-end",
            "data-continue",
            "data-attempt",
            "reset-step",
            "text-start",
            delta,
            "text-end",
            "message-metadata",
            "finish-step",
            "finish",
        ]
    );
    let data: Vec<_> = log.of_type("data-continue").into_iter().map(|chunk| chunk["data"].clone()).collect();
    assert_eq!(data, [json!({"reason": "soft_timeout"})]);
}

#[tokio::test]
async fn steps_that_are_finished_are_never_done_again() {
    let split = Split::start(1, 1, SMALL).await;
    let log = whole(&split, &steps(4, 20, "25ms")).await;
    assert_eq!(log.attempts(), ["1 foreground claimed", "2 background continued"]);
    log.says_each_word_once(80);
    // Three calls, each with one intent and one outcome, whoever made it.
    assert_eq!(log.of_type("data-call").len(), 3);
    assert_eq!(log.of_type("tool-output-available").len(), 3);
    assert_eq!(log.of_type("finish-step").len(), 4);
}

#[tokio::test]
async fn a_long_turn_passes_through_many_holders() {
    let short = [("FOREGROUND_SOFT_TIMEOUT_MS", "1500"), ("BACKGROUND_SOFT_TIMEOUT_MS", "1500")];
    let split = Split::start(1, 2, &[SMALL, &short, &[("MAX_CONTINUATIONS", "90")]].concat()).await;
    // Short steps: however slow the machine, each holder finishes some.
    let log = whole(&split, &steps(40, 5, "20ms")).await;
    log.says_each_word_once(200);
    let attempts = log.attempts();
    assert!(attempts.len() >= 3, "{attempts:?}");
    assert_eq!(attempts[0], "1 foreground claimed");
    for (n, attempt) in attempts.iter().enumerate().skip(1) {
        assert_eq!(attempt, &format!("{} background continued", n + 1));
    }
    log.finished(u32::try_from(attempts.len()).unwrap());
}

#[tokio::test]
async fn a_run_that_was_taken_back_is_handed_over_once_there_is_a_background() {
    let more = [("AGENT_CHAT_DURABLE_BACKGROUND", "true")];
    let mut split = Split::start(1, 0, &[SMALL, &more].concat()).await;
    let mut stream = split.api(0).say(&steps(4, 20, "25ms")).await;
    let mut log = Log::default();
    log.read(&mut stream, 5).await;
    split.add_background().await;
    assert_eq!(log.read_all(&mut stream).await, End::Done);
    assert_eq!(log.attempts(), ["1 foreground reclaimed", "2 background continued"]);
    log.says_each_word_once(80);
    log.finished(2);
}

#[tokio::test]
async fn without_any_background_the_foreground_goes_on_by_itself() {
    let quick = [("CLAIM_GRACE_MS", "300"), ("LEASE_MS", "900"), ("HEARTBEAT_MS", "200")];
    let longer = [("FOREGROUND_SOFT_TIMEOUT_MS", "1500")];
    let split = Split::start(1, 0, &[SMALL, &quick, &longer].concat()).await;
    let log = whole(&split, &steps(20, 5, "20ms")).await;
    log.says_each_word_once(100);
    let attempts = log.attempts();
    assert!(attempts.len() >= 2, "{attempts:?}");
    assert!(attempts.iter().all(|attempt| attempt.contains("foreground")), "{attempts:?}");
}

#[tokio::test]
async fn a_step_that_fits_nowhere_ends_with_the_true_reason() {
    let env = [SMALL, &[("BACKGROUND_SOFT_TIMEOUT_MS", "1000")]].concat();
    let split = Split::start(1, 1, &env).await;
    let log = whole(&split, "hello\n/list-emails {}\n\n@say 200 every 20ms").await;
    let last = log.values().last().unwrap();
    assert_eq!(last["type"], "error", "{last}");
    assert!(last["errorText"].as_str().unwrap().ends_with(" [no_progress]"), "{last}");
    // An attempt that finished a step, and three in a row that finished none.
    assert!(log.attempts().len() >= 4, "{:?}", log.attempts());
    // What was completed is kept.
    assert_eq!(log.parts()[1], json!({"type": "text", "text": "hello", "state": "done"}));
}

#[tokio::test]
async fn a_window_that_ends_in_the_process_that_drives_stops_nothing() {
    let more = [("STREAM_WINDOW_MS", "500"), ("FOREGROUND_SOFT_TIMEOUT_MS", "20000")];
    let split = Split::start(1, 0, &[SMALL, &more].concat()).await;
    let mut stream = split.api(0).say("@say 60 every 20ms").await;
    let run = stream.run();
    let mut log = Log::default();
    assert_eq!(log.read_all(&mut stream).await, End::Window);
    split.api(0).follow(&run, &mut log).await;
    assert_eq!(log.attempts(), ["1 foreground claimed"]);
    log.says_each_word_once(60);
}

/// With the constants of production.
#[tokio::test]
#[ignore = "takes two minutes: cargo test --workspace --test e2e seventy_seconds -- --ignored"]
async fn seventy_seconds_with_the_real_constants() {
    let split = Split::start(2, 1, &[("AGENT_CHAT_DURABLE_BACKGROUND", "false")]).await;
    let mut stream: Stream = split.api(0).say(&steps(7, 50, "220ms")).await;
    let run = stream.run();
    let mut log = Log::default();
    // The window ends after 55 s; the client comes back, to another process.
    assert_eq!(log.read_all(&mut stream).await, End::Window);
    assert_eq!(split.api(1).follow(&run, &mut log).await, 1);
    assert_eq!(log.attempts(), ["1 foreground claimed", "2 background continued"]);
    log.says_each_word_once(350);
    log.finished(2);
}
