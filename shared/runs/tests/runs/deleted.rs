//! A deleted thread is removed, whole and in time, whoever dies on the way.

use std::time::Duration;

use tandem_protocol::{Run, RunStatus};
use tandem_runs::Config;
use tandem_store::{Thread, now_ms};

use crate::harness::{World, assert_whole, quick, somebody};

const DELETE_AFTER: Duration = Duration::from_millis(1500);

async fn world(delete_after: Duration) -> World {
    World::new(Config { delete_after, ..quick() }).await
}

async fn thread_of(world: &World, run: &Run) -> Option<Thread> {
    world.store.any_thread(&run.owner.tenant, run.thread_id.as_ref().unwrap()).await.unwrap()
}

/// Nothing is left, and nothing is found to remove any more.
async fn assert_gone(world: &World, run: &Run) {
    assert_eq!(thread_of(world, run).await, None);
    assert_eq!(world.store.run(&run.run_id).await.unwrap(), None);
    assert!(world.log(&run.run_id).await.is_empty());
    assert_eq!(world.store.due_threads(i64::MAX / 2, 10).await.unwrap(), []);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_sweeper_goes_on_where_who_deleted_it_died() {
    // Two sweeps have room in it.
    let delete_after = 3 * DELETE_AFTER;
    let world = world(delete_after).await;
    let run = world.start("hello").await;
    // Marked, and dead before the run was stopped.
    let before = thread_of(&world, &run).await.unwrap();
    let (now, version) = (now_ms(), before.version + 1);
    let marked = Thread { deleted_at: Some(now), due_at: Some(now), version, ..before.clone() };
    assert!(world.store.change_thread(&before, &marked).await.unwrap());
    assert!(world.store.run_for(&somebody(), &run.run_id).await.unwrap().is_none());

    assert_eq!(world.runtime.sweep(None).await.unwrap().removed, 0);
    assert_eq!(world.store.run(&run.run_id).await.unwrap().unwrap().status, RunStatus::Aborted);
    assert_whole(&world.log(&run.run_id).await);
    // Not before its time.
    assert_eq!(world.runtime.sweep(None).await.unwrap().removed, 0);
    assert!(thread_of(&world, &run).await.is_some());
    tokio::time::sleep(delete_after).await;
    assert_eq!(world.runtime.sweep(None).await.unwrap().removed, 1);
    assert_gone(&world, &run).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_removal_that_is_cut_off_is_finished_by_the_next_one() {
    let world = world(DELETE_AFTER).await;
    let run = world.start("hello").await;
    world.runtime.delete_thread(&somebody(), run.thread_id.as_ref().unwrap()).await.unwrap();
    assert!(
        world.runtime.delete_thread(&somebody(), run.thread_id.as_ref().unwrap()).await.is_err(),
        "it is deleted already"
    );
    tokio::time::sleep(DELETE_AFTER).await;
    // Everything of the run is gone, and then the process.
    world.store.remove_run(&run.run_id).await.unwrap();
    assert!(thread_of(&world, &run).await.is_some());
    while world.runtime.sweep(None).await.unwrap().removed == 0 {}
    assert_gone(&world, &run).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_record_of_a_thread_that_uses_the_id_again_is_left_alone() {
    let world = world(DELETE_AFTER).await;
    let run = world.start("hello").await;
    world.runtime.delete_thread(&somebody(), run.thread_id.as_ref().unwrap()).await.unwrap();
    let deleted = thread_of(&world, &run).await.unwrap();
    tokio::time::sleep(DELETE_AFTER).await;
    while world.runtime.sweep(None).await.unwrap().removed == 0 {}
    let again = Thread::new(&somebody(), run.thread_id.clone().unwrap(), "again".into(), now_ms());
    assert!(world.store.create_thread(&again).await.unwrap());
    // A sweeper that was paused in the middle of the old one's removal.
    world.store.remove_thread(&deleted).await.unwrap();
    assert_eq!(thread_of(&world, &run).await, Some(again));
}
