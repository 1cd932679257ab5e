//! A run always ends, whoever disappears, and says truthfully how.

use std::time::Duration;

use tandem_protocol::{AttemptReason, Chunk, EndReason, HolderKind, RunStatus, Transcript};
use tandem_runs::Driven;

use crate::harness::{World, assert_whole, attempts, quick};

#[tokio::test(flavor = "multi_thread")]
async fn a_dispatch_that_nobody_claims_is_taken_back_by_the_foreground() {
    let world = World::new(quick()).await;
    let run = world.start("hello").await;
    world.runtime.attend(run.clone(), None).join().await;
    assert_eq!(world.mailbox.0.lock().unwrap().len(), 1, "it was dispatched first");
    let log = world.log(&run.run_id).await;
    assert_whole(&log);
    assert_eq!(attempts(&log), [(1, HolderKind::Foreground, AttemptReason::Reclaimed)]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_soft_timeout_hands_over_and_the_next_attempt_goes_on() {
    let config = tandem_runs::Config { foreground_soft_timeout: Duration::from_millis(400), ..quick() };
    let world = World::new(tandem_runs::Config { durable_background: false, ..config }).await;
    let run = world.start("/list-emails {}\n\n@say 30 every 30ms").await;
    world.runtime.attend(run.clone(), None).join().await;
    let dispatch = world.mailbox.0.lock().unwrap().pop().expect("the hand-over dispatches");
    let verified = world.runtime.verify(&dispatch).unwrap();
    world.runtime.process(&verified, None).await.unwrap();
    let log = world.log(&run.run_id).await;
    assert_whole(&log);
    assert_eq!(
        attempts(&log),
        [(1, HolderKind::Foreground, AttemptReason::Claimed), (2, HolderKind::Background, AttemptReason::Continued)]
    );
    assert!(log.iter().any(|(_, chunk)| matches!(chunk, Chunk::DataContinue { .. })));
    let transcript = Transcript::fold(log.iter().map(|(_, chunk)| chunk));
    assert_eq!(transcript.calls().count(), 1, "the finished call is not made again");
    let text = serde_json::to_string(&transcript.ui_parts()).unwrap();
    for n in 1..=30 {
        assert_eq!(text.matches(&format!("w{n} ")).count(), 1, "w{n} once: {text}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_holder_that_disappears_is_noticed_by_a_follower_and_the_run_ends() {
    // The next holder is not taken for dead too, as one that is slow.
    let config = || tandem_runs::Config { lease: Duration::from_secs(4), ..quick() };
    let world = World::new(config()).await;
    let run = world.start("/list-emails {}\n\n@say 20 every 10ms").await;
    // Claimed, and never seen again.
    let claim = world.runtime.claim(&run.run_id, 1, HolderKind::Background, false, None).await.unwrap().unwrap();
    let other = world.elsewhere(config());
    let mut follower = other.follow(&run.run_id, 0, None);
    let following = async { while follower.next().await.unwrap().is_some() {} };
    // The background that gets the recovery's dispatch.
    let worker = async {
        loop {
            tokio::time::sleep(Duration::from_millis(20)).await;
            let Some(dispatch) = world.mailbox.0.lock().unwrap().pop() else { continue };
            let verified = world.runtime.verify(&dispatch).unwrap();
            world.runtime.process(&verified, None).await.unwrap();
        }
    };
    tokio::select! { () = following => {}, () = worker => {} }
    let log = world.log(&run.run_id).await;
    assert_whole(&log);
    assert_eq!(attempts(&log), [(2, HolderKind::Background, AttemptReason::Recovered)]);
    // The one that was gone comes back: it can write nothing.
    let late = world.runtime.drive(claim, world.runtime.budget(HolderKind::Background, None)).await;
    assert_eq!(late, Driven::Displaced);
    assert_eq!(world.log(&run.run_id).await, log);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sweep_finds_a_run_that_nobody_watches() {
    let mut config = quick();
    config.limits.due_ahead_ms = -1_000;
    let world = World::new(config).await;
    let run = world.start("hello").await;
    let _gone = world.runtime.claim(&run.run_id, 1, HolderKind::Background, false, None).await.unwrap().unwrap();
    let swept = world.runtime.sweep(None).await.unwrap();
    assert_eq!((swept.due, swept.recovered, swept.failed), (1, 1, 0));
    let run = world.store.run(&run.run_id).await.unwrap().unwrap();
    assert_eq!((run.status, run.dispatches), (RunStatus::Dispatched, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_always_dies_ends_with_the_true_reason() {
    let mut config = quick();
    config.limits.due_ahead_ms = -1_000;
    let world = World::new(config).await;
    let run = world.start("hello").await;
    let mut version = 1;
    for _ in 0..3 {
        world.runtime.claim(&run.run_id, version, HolderKind::Background, false, None).await.unwrap().unwrap();
        world.runtime.sweep(None).await.unwrap();
        version = world.store.run(&run.run_id).await.unwrap().unwrap().version;
    }
    let run = world.store.run(&run.run_id).await.unwrap().unwrap();
    assert_eq!((run.status, run.end_reason), (RunStatus::Failed, Some(EndReason::NoProgress)));
    assert_whole(&world.log(&run.run_id).await);
    let thread = world.store.any_thread(&run.owner.tenant, run.thread_id.as_ref().unwrap()).await.unwrap().unwrap();
    assert_eq!(thread.active, None, "the thread is free again");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_abort_wins_in_every_state_and_nothing_follows_it() {
    let world = World::new(quick()).await;
    // Before anybody claimed it.
    let run = world.start("hello").await;
    let ended = world.runtime.abort(&run.owner, &run.run_id).await.unwrap();
    assert_eq!(ended.status, RunStatus::Aborted);
    assert_whole(&world.log(&run.run_id).await);
    let refused = world.runtime.claim(&run.run_id, run.version, HolderKind::Background, false, None).await.unwrap();
    assert!(refused.is_err());
    // While the model streams.
    let run = world.start("@say 2000 every 5ms").await;
    let claim = world.runtime.claim(&run.run_id, 1, HolderKind::Background, false, None).await.unwrap().unwrap();
    let driving = {
        let runtime = world.runtime.clone();
        tokio::spawn(async move { runtime.drive(claim, runtime.budget(HolderKind::Background, None)).await })
    };
    let mut follower = world.runtime.follow(&run.run_id, 0, None);
    while follower.next().await.unwrap().is_some_and(|frame| frame.next() < 20) {}
    let asked = std::time::Instant::now();
    world.elsewhere(quick()).abort(&run.owner, &run.run_id).await.unwrap();
    assert_eq!(driving.await.unwrap(), Driven::Displaced);
    assert!(asked.elapsed() < Duration::from_millis(2500), "{:?}", asked.elapsed());
    let log = world.log(&run.run_id).await;
    assert_whole(&log);
    assert!(matches!(log.last(), Some((_, Chunk::Abort { .. }))));
    let again = world.runtime.abort(&run.owner, &run.run_id).await.unwrap();
    assert_eq!(again.status, RunStatus::Aborted);
    assert_eq!(world.log(&run.run_id).await, log);
}
