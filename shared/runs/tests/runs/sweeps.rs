//! Sweeps: what one cannot deal with does not keep it from the rest, and several at once do no more than one.

use std::collections::BTreeSet;

use aws_sdk_dynamodb::types::AttributeValue;
use futures::future::join_all;
use tandem_embedded::Engine;
use tandem_protocol::{HolderKind, RunStatus};
use tandem_runs::{Config, Processed};
use tandem_store::Store;

use crate::harness::{Mailbox, World, assert_whole, quick, runtime_on, start_on};

/// Every run is due at once.
fn due_at_once() -> Config {
    let mut config = quick();
    config.limits.due_ahead_ms = -1_000;
    config
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_cannot_be_read_does_not_stop_the_sweep() {
    let engine = Engine::in_memory().unwrap();
    let store = Store::new(engine.client(), "tandem");
    store.create_table().await.unwrap();
    let (db, s, n) =
        (engine.client(), |text: &str| AttributeValue::S(text.into()), |n: u32| AttributeValue::N(n.to_string()));
    let broken = db.put_item().table_name("tandem").item("pk", s("RUN#run_broken")).item("sk", s("RUN"));
    // Due before all others.
    broken.item("due_shard", n(0)).item("due_at", n(1)).item("version", s("none")).send().await.unwrap();
    let runtime = runtime_on(store.clone(), due_at_once(), 50, std::sync::Arc::new(Mailbox::default()));
    let mut runs = Vec::new();
    for _ in 0..10 {
        let run = start_on(&runtime, "hello").await;
        runtime.claim(&run.run_id, 1, HolderKind::Background, false, None).await.unwrap().unwrap();
        runs.push(run);
    }
    let swept = runtime.sweep(None).await.unwrap();
    assert_eq!((swept.due, swept.recovered, swept.failed), (11, 10, 1));
    for run in runs {
        let run = store.run(&run.run_id).await.unwrap().unwrap();
        assert_eq!((run.status, run.dispatches), (RunStatus::Dispatched, 1));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn ten_sweeps_at_once_recover_a_run_once() {
    // Long enough for all to read before the first one acts: who reads later rightly dispatches again.
    let config = || Config { lease: std::time::Duration::from_secs(6), ..due_at_once() };
    let world = World::new(config()).await;
    let run = world.start("hello").await;
    world.runtime.claim(&run.run_id, 1, HolderKind::Background, false, None).await.unwrap().unwrap();
    let sweepers: Vec<_> = (0..10).map(|_| world.elsewhere(config())).collect();
    join_all(sweepers.iter().map(|sweeper| sweeper.sweep(None)))
        .await
        .into_iter()
        .for_each(|swept| assert!(swept.is_ok()));
    let stored = world.store.run(&run.run_id).await.unwrap().unwrap();
    assert_eq!((stored.status, stored.version, stored.dispatches), (RunStatus::Dispatched, 3, 1));
    // Two that wrote the very same thing in the same millisecond may both have sent it: it is one dispatch.
    let mail: Vec<_> = world.mailbox.0.lock().unwrap().drain(..).collect();
    assert_eq!(mail.iter().map(|dispatch| dispatch.version).collect::<BTreeSet<_>>(), BTreeSet::from([3]));
    let delivered = sweepers
        .iter()
        .zip(mail.iter().cycle())
        .map(|(worker, dispatch)| async { worker.process(&worker.verify(dispatch).unwrap(), None).await.unwrap() });
    let driven = join_all(delivered).await.into_iter().filter(|done| matches!(done, Processed::Driven(_))).count();
    assert_eq!(driven, 1);
    assert_whole(&world.log(&run.run_id).await);
}
