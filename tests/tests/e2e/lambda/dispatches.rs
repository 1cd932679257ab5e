//! Dispatches that come late, twice, never, or are refused: one execution each time, and one stream for the client.

use super::{BACKGROUND, Deployment, FOREGROUND, MS, SECONDS};
use tandem_testkit::lambda::{Delivery, Outcome};
use tandem_tests::{End, Env, Log, within};

const GRACE: Env<'_> = &[("CLAIM_GRACE_MS", "700")];

/// One turn in one response, after the next dispatches were scripted.
async fn turn(deployment: &Deployment, script: impl IntoIterator<Item = Delivery>, words: usize) -> (String, Log) {
    deployment.host.script(BACKGROUND, script);
    let mut stream = deployment.api().say(&format!("@say {words} every 20ms")).await;
    let run = stream.run();
    let mut log = Log::default();
    assert_eq!(log.read_all(&mut stream).await, End::Done);
    log.finished(1);
    (run, log)
}

#[tokio::test]
async fn a_dispatch_that_is_delivered_twice_is_carried_out_once() {
    let deployment = Deployment::start(&[]).await;
    // Again while the first one is at it, and again when the run is over.
    for (apart, words) in [(MS(200), 50), (SECONDS(3), 5)] {
        let before = deployment.host.invocations(BACKGROUND).len();
        let (run, log) = turn(&deployment, [Delivery::Twice(apart)], words).await;
        assert_eq!(log.attempts(), ["1 background claimed"]);
        let content = deployment.table().content().await;
        let invocations = deployment.ended(BACKGROUND, before + 2).await;
        let [first, second] = &invocations[before..] else { panic!("{invocations:?}") };
        assert_eq!((&first.id, second.outcome), (&second.id, Some(Outcome::Answered)));
        deployment.table().is_still(&content).await;
        deployment.check_log(&run, &log, words).await;
    }
    assert!(deployment.host.log(BACKGROUND).iter().any(|line| line.contains("dispatch without effect")));
}

#[tokio::test]
async fn a_dispatch_that_comes_after_the_foreground_took_the_run_has_no_effect() {
    let deployment = Deployment::start(GRACE).await;
    // While the foreground is at it, and when the run is over.
    for (late, words) in [(MS(2_500), 150), (SECONDS(6), 5)] {
        let before = deployment.host.invocations(BACKGROUND).len();
        let (run, log) = turn(&deployment, [Delivery::Late(late)], words).await;
        assert_eq!(log.attempts(), ["1 foreground reclaimed"]);
        let content = deployment.table().content().await;
        assert_eq!(deployment.ended(BACKGROUND, before + 1).await[before].outcome, Some(Outcome::Answered));
        deployment.table().is_still(&content).await;
        deployment.check_log(&run, &log, words).await;
    }
}

#[tokio::test]
async fn a_dispatch_that_is_lost_leaves_the_run_to_the_foreground_after_the_grace() {
    // Nobody is late for it, also the background's first start, which is that of the second turn.
    let deployment = Deployment::start(&[("CLAIM_GRACE_MS", "3500")]).await;
    let (run, log) = turn(&deployment, [Delivery::Lost], 10).await;
    assert_eq!(log.attempts(), ["1 foreground reclaimed"]);
    assert_eq!(deployment.outcomes(FOREGROUND).await, [Outcome::Answered]);
    assert_eq!(deployment.host.invocations(BACKGROUND), []);
    deployment.check_log(&run, &log, 10).await;
    // The background is back, and has its turns again.
    let (_, log) = turn(&deployment, [], 10).await;
    assert_eq!(log.attempts(), ["1 background claimed"]);
}

#[tokio::test]
async fn a_dispatch_that_is_refused_leaves_the_run_to_the_foreground_at_once() {
    let deployment = Deployment::start(&[("CLAIM_GRACE_MS", "25000")]).await;
    let refusals = [Delivery::Throttled; 4];
    let (_, log) = within(SECONDS(15), "the end, well before the grace", turn(&deployment, refusals, 10)).await;
    assert_eq!(log.attempts(), ["1 foreground reclaimed"]);
}

#[tokio::test]
async fn one_process_for_the_background_is_enough_for_many_turns() {
    // As with a new account's ten concurrent invocations: most dispatches wait until somebody is free, and some
    // of their runs are taken by the foreground in the meantime.
    let deployment = Deployment::with(GRACE, &|function| {
        if function.name == BACKGROUND {
            function.max_processes = 1;
        }
    })
    .await;
    let turns = (0..4).map(|_| turn(&deployment, [], 25));
    for (run, log) in futures::future::join_all(turns).await {
        assert_eq!(log.attempts().len(), 1, "{:?}", log.attempts());
        deployment.check_log(&run, &log, 25).await;
    }
}
