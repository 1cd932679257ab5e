//! A process is frozen when its invocation is over, and wakes up in another one: nothing of the first one goes on.

use super::{BACKGROUND, Deployment, FOREGROUND, SECONDS, SOON, SWEEPER, message, steps};
use serde_json::json;
use tandem_testkit::lambda::{Delivery, Outcome};
use tandem_tests::{Api, Content, End, Log, Stream, until};

/// What the table holds of a run.
async fn records(deployment: &Deployment, run: &str) -> Content {
    let mut content = deployment.table().content().await;
    content.retain(|key, _| key.starts_with(&format!("RUN#{run} ")));
    content
}

/// A short turn of somebody else.
async fn another_turn(api: &Api) {
    let api = api.as_person("other.one");
    let mut stream = api.say("@say 20 every 20ms").await;
    let (run, mut log) = (stream.run(), Log::default());
    if log.read_all(&mut stream).await == End::Window {
        api.follow(&run, &mut log).await;
    }
    log.finished(1);
    log.says_each_word_once(20);
}

#[tokio::test]
async fn a_background_that_handed_over_and_thaws_for_another_run_writes_nothing_to_the_first() {
    // Two seconds to work, and three to hand over.
    let deployment = Deployment::with(&[("HAND_OVER_MARGIN_MS", "3000")], &|function| {
        if function.name == BACKGROUND {
            function.timeout = SECONDS(5);
        }
    })
    .await;
    let mut stream = deployment.api().say(&steps(6, 20, "40ms")).await;
    let run = stream.run();
    let mut log = Log::default();
    until("the second holder", async || {
        log.read(&mut stream, log.len() + 1).await;
        (log.attempts().len() == 2).then_some(())
    })
    .await;
    // The first process is frozen by now, and gets somebody else's run while its own is still under way.
    deployment.ended(BACKGROUND, 1).await;
    another_turn(&deployment.api()).await;
    assert_eq!(log.read_all(&mut stream).await, End::Done);
    deployment.check_log(&run, &log, 120).await;

    let before = records(&deployment, &run).await;
    another_turn(&deployment.api()).await;
    assert_eq!(records(&deployment, &run).await, before);
    let invocations = deployment.host.invocations(BACKGROUND);
    assert!(invocations[1..].iter().any(|later| later.pid == invocations[0].pid), "{invocations:?}");
}

#[tokio::test]
async fn a_background_that_is_stopped_in_mid_run_and_wakes_up_replaced_writes_nothing_more() {
    let deployment = Deployment::start(SOON).await;
    let mut stream = deployment.api().say("@say 80 every 30ms").await;
    let run = stream.run();
    let mut log = Log::default();
    until("the run to be under way", async || {
        log.read(&mut stream, log.len() + 1).await;
        (log.of_type("text-delta").len() > 5).then_some(())
    })
    .await;
    assert_eq!(deployment.host.pause(BACKGROUND), 1);
    until("somebody else to take the run", async || {
        log.read(&mut stream, log.len() + 1).await;
        (log.attempts().len() == 2).then_some(())
    })
    .await;
    deployment.host.resume(BACKGROUND);
    assert_eq!(log.read_all(&mut stream).await, End::Done);

    assert_eq!(log.attempts(), ["1 background claimed", "2 background recovered"]);
    deployment.check_log(&run, &log, 80).await;
    // Being displaced is no error of the function: an error would have the dispatch delivered again.
    assert_eq!(deployment.outcomes(BACKGROUND).await, [Outcome::Answered; 2]);
}

#[tokio::test]
async fn a_foreground_whose_window_ended_does_not_take_the_run_when_it_thaws() {
    let env = [SOON, &[("STREAM_WINDOW_MS", "600"), ("CLAIM_GRACE_MS", "3000")]].concat();
    let deployment = Deployment::start(&env).await;
    deployment.host.script(BACKGROUND, [Delivery::Lost]);
    let api = deployment.api();
    let mut stream = api.say("@say 10 every 10ms").await;
    let run = stream.run();
    let mut log = Log::default();
    // The window ends before the grace does.
    assert_eq!(log.read_all(&mut stream).await, End::Window);
    deployment.ended(FOREGROUND, 1).await;
    let before = records(&deployment, &run).await;
    tokio::time::sleep(SECONDS(4)).await;
    // The process wakes up for others when the grace has long passed.
    another_turn(&api).await;
    assert_eq!(records(&deployment, &run).await, before);
    let invocations = deployment.host.invocations(FOREGROUND);
    assert_eq!(invocations[1].pid, invocations[0].pid);

    // Nobody watches for long enough to see that nobody took it: the sweeper does.
    let swept = deployment.invoke(SWEEPER, &json!({})).await;
    assert_eq!(swept, json!({"due": 1, "recovered": 1, "failed": 0}));
    api.follow(&run, &mut log).await;
    assert_eq!(log.attempts(), ["1 background claimed"]);
    deployment.check_log(&run, &log, 10).await;
}

#[tokio::test]
async fn a_start_without_a_stream_leaves_nothing_behind() {
    let deployment = Deployment::start(&[("CLAIM_GRACE_MS", "500")]).await;
    deployment.host.script(BACKGROUND, [Delivery::Lost]);
    let api = deployment.api();
    let run = api.start(&message("@say 10 every 10ms")).await.run;
    deployment.ended(FOREGROUND, 1).await;
    let before = records(&deployment, &run).await;
    tokio::time::sleep(SECONDS(1)).await;
    another_turn(&api).await;
    assert_eq!(records(&deployment, &run).await, before);
}

#[tokio::test]
async fn a_reader_that_takes_a_run_over_stays_until_it_has_let_go() {
    // Nobody can be dispatched any more: the reader takes the run itself, for longer than its window lasts.
    let env = [SOON, &[("CLAIM_GRACE_MS", "500"), ("STREAM_WINDOW_MS", "4000")]].concat();
    let deployment = Deployment::start(&env).await;
    let api = deployment.api();
    let run = api.start(&message("@say 60 every 50ms")).await.run;
    api.run_is(&run, "running").await;
    deployment.kill_background().await;
    deployment.host.script(BACKGROUND, [Delivery::Throttled; 20]);
    let mut log = Log::default();
    while log.read_all(&mut Stream::open(api.events(&run, log.after())).await).await == End::Window {
        // A window may end before the reader has noticed, and not while it holds the run.
        assert_eq!(log.attempts().len(), 1, "{:?}", log.attempts());
    }
    assert_eq!(log.attempts(), ["1 background claimed", "2 foreground recovered"]);
    deployment.check_log(&run, &log, 60).await;
    let outcomes = deployment.outcomes(FOREGROUND).await;
    assert!(outcomes.iter().all(|outcome| *outcome == Outcome::Answered), "{outcomes:?}");
}
