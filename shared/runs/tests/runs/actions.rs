//! An action that takes longer than a request runs as a run of its own, and its effect is there once.

use std::time::Duration;

use serde_json::json;
use tandem_actions::{ActionError, IdempotencyKey};
use tandem_protocol::{CallState, Caller, Chunk, EndReason, HolderKind, Run, RunStatus};
use tandem_runs::{Driven, Started};
use tandem_store::{List, Scope};

use crate::harness::{World, assert_whole, patient, somebody};

async fn import(world: &World, input: serde_json::Value, key: Option<&str>) -> Result<Started, ActionError> {
    let key = key.map(|key| IdempotencyKey::new(key).unwrap());
    world.runtime.start_action(&somebody(), Caller::Http, "import-emails", input, key.as_ref()).await
}

async fn imported(world: &World) -> usize {
    let author = tandem_store::Author { user: somebody().user, caller: Caller::Http, run_id: None };
    let mut count = 0;
    let mut after = None;
    loop {
        let mut unit = world.store.unit(&somebody(), author.clone());
        let mut list = List::prefix("emails/").limit(100);
        if let Some(after) = &after {
            list = list.after(after);
        }
        let page = unit.list(&Scope::app("inbox"), &list).await.unwrap();
        count += page.items.len();
        match page.cursor {
            Some(cursor) => after = Some(cursor),
            None => return count,
        }
    }
}

/// Everybody who is dispatched drives for a moment only: the run is handed over again and again. The moment suffices for a
/// slice on a machine that is busy, as three holders in a row that finish none are the end.
async fn hand_over_until_done(world: &World, mut run: Run) -> Run {
    for _ in 0..40 {
        let claimed = world.runtime.claim(&run.run_id, run.version, HolderKind::Background, false, None).await.unwrap();
        let mut budget = world.runtime.budget(HolderKind::Background, None);
        budget.soft = tokio::time::Instant::now() + Duration::from_secs(3);
        budget.hard = budget.soft + Duration::from_secs(1);
        match world.runtime.drive(claimed.unwrap(), budget).await {
            Driven::Ended(ended) => return *ended,
            Driven::HandedOver => run = world.store.run(&run.run_id).await.unwrap().unwrap(),
            other => panic!("{other:?}"),
        }
    }
    panic!("it never ends: {run:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_import_that_is_handed_over_ends_with_every_row_once() {
    let world = World::new(patient()).await;
    let samples = {
        let other = World::new(patient()).await;
        let started = import(&other, json!({"count": 1}), None).await.unwrap();
        hand_over_until_done(&other, started.run).await;
        imported(&other).await - 1
    };
    // Twenty slices and the pauses between them take more than two of these moments.
    let started = import(&world, json!({"count": 400, "delayMs": 400}), None).await.unwrap();
    let run = hand_over_until_done(&world, started.run).await;
    assert_eq!((run.status, run.end_reason), (RunStatus::Completed, Some(EndReason::Completed)));
    assert!(run.attempt > 1, "{run:?}");
    let log = world.log(&run.run_id).await;
    assert_whole(&log);
    let said = world.store.said(&run).await.unwrap().0;
    let call = said.calls().next().unwrap();
    assert!(matches!(&call.state, CallState::Done(output) if output["imported"] == 400), "{call:?}");
    let progress = log.iter().filter(|(_, chunk)| matches!(chunk, Chunk::DataProgress { .. })).count();
    assert!(progress > 2, "{progress}");
    assert_eq!(imported(&world).await, samples + 400);
}

#[tokio::test(flavor = "multi_thread")]
async fn one_key_is_one_run_and_another_input_is_refused() {
    let world = World::new(patient()).await;
    let first = import(&world, json!({"count": 3}), Some("k")).await.unwrap();
    let again = import(&world, json!({"count": 3}), Some("k")).await.unwrap();
    assert_eq!((first.fresh, again.fresh, &first.run.run_id), (true, false, &again.run.run_id));
    let other = import(&world, json!({"count": 4}), Some("k")).await;
    assert!(matches!(other, Err(ActionError::KeyReused)), "{other:?}");
    let free = import(&world, json!({"count": 3}), None).await.unwrap();
    assert_ne!(free.run.run_id, first.run.run_id);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_is_another_call_after_a_day() {
    let world = World::new(patient()).await;
    let first = import(&world, json!({"count": 3}), Some("nightly")).await.unwrap();
    world.age_keys().await;
    // Other inputs are other calls by then, and the run of the day before is still there.
    let next = import(&world, json!({"count": 4}), Some("nightly")).await.unwrap();
    assert!(next.fresh && next.run.run_id != first.run.run_id, "{next:?}");
    let again = import(&world, json!({"count": 4}), Some("nightly")).await.unwrap();
    assert_eq!((again.fresh, again.run.run_id), (false, next.run.run_id));
    assert!(world.store.run(&first.run.run_id).await.unwrap().is_some());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_input_that_does_not_fit_starts_nothing() {
    let world = World::new(patient()).await;
    let refused = import(&world, json!({"count": "many", "x": 1}), None).await;
    assert!(matches!(&refused, Err(ActionError::Invalid(faults)) if faults.len() == 2), "{refused:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_of_an_action_can_be_stopped() {
    let world = World::new(patient()).await;
    let run = import(&world, json!({"count": 4000, "delayMs": 100}), None).await.unwrap().run;
    let claim = world.runtime.claim(&run.run_id, 1, HolderKind::Background, false, None).await.unwrap().unwrap();
    let driving = {
        let runtime = world.runtime.clone();
        tokio::spawn(async move { runtime.drive(claim, runtime.budget(HolderKind::Background, None)).await })
    };
    let mut follower = world.runtime.follow(&run.run_id, 0, None);
    while follower.next().await.unwrap().is_some_and(|frame| frame.next() < 6) {}
    let ended = world.elsewhere(patient()).abort(&somebody(), &run.run_id).await.unwrap();
    assert_eq!(ended.status, RunStatus::Aborted);
    assert_eq!(driving.await.unwrap(), Driven::Displaced);
    assert_whole(&world.log(&run.run_id).await);
    let found = imported(&world).await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(imported(&world).await, found, "no slice is committed after the end");
}
