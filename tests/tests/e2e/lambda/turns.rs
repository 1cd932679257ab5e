//! A turn from POST to `[DONE]`, and what becomes of runs that nobody watches.

use super::{BACKGROUND, Deployment, FOREGROUND, SOON, SWEEPER, message};
use serde_json::{Value, json};
use tandem_testkit::lambda::{Invoker, Outcome};
use tandem_tests::{End, Log, until};

#[tokio::test]
async fn a_turn_runs_in_the_background_function_and_streams_to_the_client_as_it_is_stored() {
    let deployment = Deployment::start(&[]).await;
    let host = &deployment.host;
    let mut stream = deployment.api().say("@say 30 every 30ms").await;
    let run = stream.run();
    let mut log = Log::default();
    until("the first words", async || {
        log.read(&mut stream, log.len() + 1).await;
        (!log.of_type("text-delta").is_empty()).then_some(())
    })
    .await;
    // The client reads while the other function is still at it, and both have an invocation open.
    assert_eq!((host.busy(FOREGROUND).len(), host.busy(BACKGROUND).len()), (1, 1));
    assert_eq!(log.read_all(&mut stream).await, End::Done);

    assert_eq!(log.attempts(), ["1 background claimed"]);
    log.finished(1);
    deployment.check_log(&run, &log, 30).await;
    for function in [FOREGROUND, BACKGROUND] {
        let lines = deployment.host.log(function).join("\n");
        assert!(lines.contains(&run) && !lines.contains("@say"), "ids are logged, and nothing that was said: {lines}");
    }
    let [dispatched] = &deployment.ended(BACKGROUND, 1).await[..] else { panic!("one invocation") };
    assert_eq!((dispatched.invoker, dispatched.outcome), (Invoker::Event, Some(Outcome::Answered)));
    assert_eq!(deployment.outcomes(FOREGROUND).await.first(), Some(&Outcome::Answered));
}

#[tokio::test]
async fn turns_in_a_row_use_the_same_processes_and_do_not_mix() {
    let deployment = Deployment::start(&[]).await;
    for words in [3, 7, 5] {
        let mut stream = deployment.api().say(&format!("@say {words} every 5ms")).await;
        let mut log = Log::default();
        assert_eq!(log.read_all(&mut stream).await, End::Done);
        log.finished(1);
        log.says_each_word_once(words);
        until("both to be free", async || {
            let host = &deployment.host;
            (host.busy(FOREGROUND).is_empty() && host.busy(BACKGROUND).is_empty()).then_some(())
        })
        .await;
    }
    for function in [FOREGROUND, BACKGROUND] {
        let mut pids: Vec<u32> = deployment.host.invocations(function).iter().map(|one| one.pid).collect();
        pids.dedup();
        assert_eq!(pids.len(), 1, "{function}");
    }
}

#[tokio::test]
async fn a_client_that_leaves_takes_nothing_with_it() {
    // Lambda does not tell a function that its client has gone; and here the foreground itself holds the run.
    for (durable, holder) in [("true", "background"), ("false", "foreground")] {
        let deployment = Deployment::start(&[("AGENT_CHAT_DURABLE_BACKGROUND", durable)]).await;
        let mut stream = deployment.api().say("@say 40 every 30ms").await;
        let (run, mut log) = (stream.run(), Log::default());
        log.read(&mut stream, 6).await;
        drop(stream);
        deployment.api().follow(&run, &mut log).await;
        assert_eq!(log.attempts(), [format!("1 {holder} claimed")]);
        deployment.check_log(&run, &log, 40).await;
    }
}

#[tokio::test]
async fn a_background_that_is_killed_is_replaced_and_the_client_does_not_notice() {
    let deployment = Deployment::start(SOON).await;
    // Whoever kills has time for it before the run ends.
    let mut stream = deployment.api().say("@say 10 every 10ms\n/list-emails {}\n\n@say 30 every 60ms").await;
    let run = stream.run();
    let mut log = Log::default();
    until("the second step to be under way", async || {
        log.read(&mut stream, log.len() + 1).await;
        (log.of_type("start-step").len() == 2 && log.types().last().unwrap() == "text-delta").then_some(())
    })
    .await;
    deployment.kill_background().await;
    assert_eq!(log.read_all(&mut stream).await, End::Done);

    assert_eq!(log.attempts(), ["1 background claimed", "2 background recovered"]);
    assert_eq!(log.of_type("data-call").len(), 1);
    log.finished(2);
    deployment.check_log(&run, &log, 40).await;
    assert_eq!(deployment.outcomes(BACKGROUND).await, [Outcome::Died, Outcome::Answered]);
}

#[tokio::test]
async fn the_sweeper_recovers_a_run_that_nobody_watches() {
    let deployment = Deployment::start(SOON).await;
    let api = deployment.api();
    let schedule: Value = serde_json::from_str(include_str!("../../../../events/sweeper.json")).unwrap();
    assert_eq!(deployment.invoke(SWEEPER, &schedule).await, json!({"due": 0, "recovered": 0, "failed": 0}));

    let run = api.start(&message("@say 30 every 60ms")).await.run;
    api.run_is(&run, "running").await;
    deployment.kill_background().await;
    let swept = until("the sweeper to find it", async || {
        let swept = deployment.invoke(SWEEPER, &schedule).await;
        (swept["recovered"] == 1).then_some(swept)
    })
    .await;
    assert_eq!(swept, json!({"due": 1, "recovered": 1, "failed": 0}));
    api.run_is(&run, "completed").await;
    let log = api.log(&run).await;
    assert_eq!(log.attempts(), ["1 background claimed", "2 background recovered"]);
    deployment.check_log(&run, &log, 30).await;
    assert_eq!(deployment.invoke(SWEEPER, &schedule).await, json!({"due": 0, "recovered": 0, "failed": 0}));
}
