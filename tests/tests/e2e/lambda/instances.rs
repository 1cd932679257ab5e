//! Lambda Managed Instances: one process of each function has several invocations at a time, and is never frozen.

use std::time::Duration;

use serde_json::Value;

use super::{BACKGROUND, Deployment, FOREGROUND, MS, steps};
use tandem_testkit::lambda::{Invocation, Outcome};
use tandem_tests::{End, Log, until};
use tokio::time::Instant;

/// Both functions on instances.
async fn instances(env: &[(&str, &str)]) -> Deployment {
    Deployment::with(env, &|function| function.concurrency = 8).await
}

/// The process that had all of them.
fn one_process(invocations: &[Invocation]) {
    let first = invocations.first().expect("an invocation").pid;
    assert!(invocations.iter().all(|one| one.pid == first), "{invocations:#?}");
}

#[tokio::test]
async fn turns_run_side_by_side_in_one_process_and_do_not_mix() {
    for (durable, holder) in [("true", "background"), ("false", "foreground")] {
        let deployment = instances(&[("AGENT_CHAT_DURABLE_BACKGROUND", durable)]).await;
        let api = deployment.api();
        // The first one is slower: both stream at the same time, and the second one ends in the midst of the first.
        let mut slow = api.say("@say 60 every 65ms").await;
        let (slow_run, mut slow_log) = (slow.run(), Log::default());
        until("the first words", async || {
            slow_log.read(&mut slow, slow_log.len() + 1).await;
            (!slow_log.of_type("text-delta").is_empty()).then_some(())
        })
        .await;
        let mut quick = api.say("@say 5 every 100ms").await;
        let (quick_run, mut quick_log) = (quick.run(), Log::default());
        assert_eq!(deployment.host.busy(FOREGROUND).len(), 2);
        assert_eq!(quick_log.read_all(&mut quick).await, End::Done);
        // Its answer is over, and so is its invocation: it does not wait for the run of the other.
        let left = async || (deployment.host.busy(FOREGROUND).len() == 1).then_some(());
        until("the second invocation to end", left).await;
        assert!(api.run(&slow_run).await["status"] == "running");
        assert_eq!(slow_log.read_all(&mut slow).await, End::Done);

        for (run, log, words) in [(&slow_run, &slow_log, 60), (&quick_run, &quick_log, 5)] {
            assert_eq!(log.attempts(), [format!("1 {holder} claimed")]);
            log.finished(1);
            deployment.check_log(run, log, words).await;
        }
        let functions: &[&str] = if durable == "true" { &[FOREGROUND, BACKGROUND] } else { &[FOREGROUND] };
        for function in functions {
            let outcomes = deployment.outcomes(function).await;
            assert!(outcomes.iter().all(|outcome| *outcome == Outcome::Answered), "{outcomes:?}");
            one_process(&deployment.host.invocations(function));
            let lines = deployment.host.log(function);
            let lines = lines.iter().filter_map(|line| serde_json::from_str::<Value>(line).ok());
            let of_runs: Vec<_> = lines.filter(|line| line["fields"]["run"].is_string()).collect();
            assert!(of_runs.iter().any(|line| line["spans"][0]["requestId"].is_string()), "{of_runs:#?}");
        }
    }
}

/// Nobody is killed at a deadline there: an invocation must end by itself, with what it holds handed over.
#[tokio::test]
async fn an_invocation_ends_in_time_by_itself_while_others_go_on() {
    let env = [
        ("CLAIM_GRACE_MS", "1000"),
        ("FOREGROUND_SOFT_TIMEOUT_MS", "1000"),
        ("BACKGROUND_SOFT_TIMEOUT_MS", "1500"),
        ("HAND_OVER_MARGIN_MS", "500"),
    ];
    let deployment = instances(&env).await;
    let mut stream = deployment.api().say(&steps(6, 10, "50ms")).await;
    let (run, mut log) = (stream.run(), Log::default());
    let began = Instant::now();
    assert_eq!(log.read_all(&mut stream).await, End::Done);
    assert!(began.elapsed() > MS(3000));
    assert!(log.attempts().len() > 1, "{:?}", log.attempts());
    deployment.check_log(&run, &log, 60).await;
    for one in deployment.ended(BACKGROUND, log.attempts().len()).await {
        let took = one.ended.unwrap().checked_sub(one.started).unwrap();
        assert!(took < Duration::from_secs(10), "{one:?}");
    }
    one_process(&deployment.host.invocations(BACKGROUND));
}

#[tokio::test]
async fn a_process_that_dies_takes_all_its_invocations_and_every_run_goes_on() {
    let deployment = instances(super::SOON).await;
    let api = deployment.api();
    let mut streams = [api.say("@say 40 every 50ms").await, api.say("@say 40 every 50ms").await];
    let runs = streams.each_ref().map(tandem_tests::Stream::run);
    let mut logs = [Log::default(), Log::default()];
    for (stream, log) in streams.iter_mut().zip(&mut logs) {
        while log.of_type("text-delta").is_empty() {
            let before = log.len();
            log.read(stream, before + 1).await;
            assert!(log.len() > before, "the stream ended: {:?}", stream.ended());
        }
    }
    assert_eq!(deployment.host.kill(BACKGROUND), 2);
    for ((stream, run), mut log) in streams.iter_mut().zip(&runs).zip(logs) {
        assert_eq!(log.read_all(stream).await, End::Done);
        deployment.check_log(run, &log, 40).await;
    }
}
