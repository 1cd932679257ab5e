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
    let env = [SMALL, &[("BACKGROUND_SOFT_TIMEOUT_MS", "1000")]].concat();
    let split = Split::start(1, 2, &env).await;
    let log = whole(&split, &steps(5, 25, "25ms")).await;
    log.says_each_word_once(125);
    let attempts = log.attempts();
    assert!(attempts.len() >= 3, "{attempts:?}");
    assert_eq!(attempts[0], "1 foreground claimed");
    for (n, attempt) in attempts.iter().enumerate().skip(1) {
        assert_eq!(attempt, &format!("{} background continued", n + 1));
    }
    log.finished(u32::try_from(attempts.len()).unwrap());
}

/// With the constants of production: set TANDEM_REAL_TIMES=1, and have two minutes.
#[tokio::test]
async fn seventy_seconds_with_the_real_constants() {
    if std::env::var_os("TANDEM_REAL_TIMES").is_none() {
        return;
    }
    let split = Split::start(2, 1, &[("AGENT_CHAT_DURABLE_BACKGROUND", "false")]).await;
    let mut stream: Stream = split.api(0).say(&steps(7, 50, "200ms")).await;
    let run = stream.run();
    let mut log = Log::default();
    // The window ends after 55 s; the client comes back, to another process.
    assert_eq!(log.read_all(&mut stream).await, End::Window);
    assert_eq!(split.api(1).follow(&run, &mut log).await, 1);
    assert_eq!(log.attempts(), ["1 foreground claimed", "2 background continued"]);
    log.says_each_word_once(350);
    log.finished(2);
}
