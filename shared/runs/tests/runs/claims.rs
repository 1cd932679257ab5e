//! Of any number of claimants exactly one gets a run.

use std::time::Duration;

use futures::future::join_all;
use tandem_protocol::{Chunk, HolderKind};
use tandem_runs::{Driven, Processed};

use crate::harness::{World, assert_whole, patient, quick};

const ROUNDS: u32 = 50;
/// How much the head start changes from round to round: at first the foreground has one and wins, at last the background,
/// and between they meet.
const STEP: Duration = Duration::from_micros(500);

#[tokio::test(flavor = "multi_thread")]
async fn of_64_claims_at_once_one_wins() {
    let world = World::new(quick()).await;
    let run = world.start("hello").await;
    let claims = (0..64).map(|_| {
        let (runtime, run) = (world.runtime.clone(), run.clone());
        tokio::spawn(async move {
            runtime.claim(&run.run_id, run.version, HolderKind::Background, false, None).await.unwrap()
        })
    });
    let won = join_all(claims).await.into_iter().filter(|claim| claim.as_ref().unwrap().is_ok()).count();
    assert_eq!(won, 1);
    let run = world.store.run(&run.run_id).await.unwrap().unwrap();
    assert_eq!((run.attempt, run.version), (1, 2));
}

#[tokio::test(flavor = "multi_thread")]
async fn foreground_reclaim_and_background_claim_never_both_hold_a_run() {
    let world = World::new(patient()).await;
    let mut foregrounds = 0;
    for round in 0..ROUNDS {
        let run = world.start("one\n\n/list-emails {}\n\ntwo").await;
        let other = world.elsewhere(patient());
        let dispatch = tandem_auth::DispatchKeys::development().sign(&run.run_id, run.version, tandem_store::now_ms());
        let verified = other.verify(&dispatch).unwrap();
        let background = tokio::spawn(async move {
            tokio::time::sleep(STEP * (ROUNDS / 2).saturating_sub(round)).await;
            other.process(&verified, None).await.unwrap()
        });
        let foreground = {
            let (runtime, run) = (world.runtime.clone(), run.clone());
            tokio::spawn(async move {
                tokio::time::sleep(STEP * round.saturating_sub(ROUNDS / 2)).await;
                let claimed =
                    runtime.claim(&run.run_id, run.version, HolderKind::Foreground, true, None).await.unwrap();
                match claimed {
                    Ok(claim) => Some(runtime.drive(claim, runtime.budget(HolderKind::Foreground, None)).await),
                    Err(_) => None,
                }
            })
        };
        let (background, foreground) = (background.await.unwrap(), foreground.await.unwrap());
        let by_background = matches!(background, Processed::Driven(Driven::Ended(_)));
        let by_foreground = matches!(foreground, Some(Driven::Ended(_)));
        assert!(by_background != by_foreground, "one holder: {background:?} {foreground:?}");
        foregrounds += u32::from(by_foreground);
        let log = world.log(&run.run_id).await;
        assert_whole(&log);
        let attempts = log.iter().filter(|(_, chunk)| matches!(chunk, Chunk::DataAttempt { .. })).count();
        assert_eq!(attempts, 1, "{log:#?}");
    }
    println!("the foreground won {foregrounds} of {ROUNDS}");
    assert!((1..ROUNDS).contains(&foregrounds), "only one side ever won: {foregrounds} of {ROUNDS}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dispatch_that_is_delivered_twice_or_late_has_one_effect() {
    let world = World::new(quick()).await;
    let run = world.start("hello").await;
    let dispatch = tandem_auth::DispatchKeys::development().sign(&run.run_id, run.version, tandem_store::now_ms());
    let verified = world.runtime.verify(&dispatch).unwrap();
    let both = tokio::join!(world.runtime.process(&verified, None), world.runtime.process(&verified, None));
    let driven = [both.0.unwrap(), both.1.unwrap()].into_iter().filter(|p| matches!(p, Processed::Driven(_))).count();
    assert_eq!(driven, 1);
    let before = world.log(&run.run_id).await;
    let late = world.runtime.process(&verified, None).await.unwrap();
    assert!(matches!(late, Processed::NotMine(_)), "{late:?}");
    assert_eq!(world.log(&run.run_id).await, before);
}

#[tokio::test]
async fn a_claim_of_a_run_that_is_not_there_creates_nothing() {
    let world = World::new(quick()).await;
    let ghost = tandem_protocol::RunId::new("run_ghost").unwrap();
    let claimed = world.runtime.claim(&ghost, 1, HolderKind::Background, false, None).await.unwrap();
    assert_eq!(claimed.unwrap_err(), tandem_runs::Refused::Missing);
    assert_eq!(world.store.run(&ghost).await.unwrap(), None);
}
