//! One turn has one run, and one thread has one run at a time.

use futures::future::join_all;
use tandem_protocol::{AgentChat, Trigger};
use tandem_runs::StartError;

use crate::harness::{World, chat, quick, somebody};

#[tokio::test(flavor = "multi_thread")]
async fn the_same_turn_at_once_and_later_is_one_run() {
    let world = World::new(quick()).await;
    let starts = (0..16).map(|_| {
        let runtime = world.runtime.clone();
        tokio::spawn(async move { runtime.start(&somebody(), &chat("th", "m1", "hello")).await.unwrap() })
    });
    let started: Vec<_> = join_all(starts).await.into_iter().map(Result::unwrap).collect();
    assert_eq!(started.iter().filter(|started| started.fresh).count(), 1);
    assert!(started.iter().all(|s| s.run.run_id == started[0].run.run_id));
    world.runtime.abort(&somebody(), &started[0].run.run_id).await.unwrap();
    let later = world.runtime.start(&somebody(), &chat("th", "m1", "hello")).await.unwrap();
    assert_eq!((later.fresh, &later.run.run_id), (false, &started[0].run.run_id));
}

#[tokio::test(flavor = "multi_thread")]
async fn two_turns_of_one_thread_at_once_are_one_run_and_one_refusal() {
    let world = World::new(quick()).await;
    for round in 0..10 {
        let thread = format!("th{round}");
        let (one, two) = (chat(&thread, "m1", "one"), chat(&thread, "m2", "two"));
        let who = somebody();
        let both = tokio::join!(world.runtime.start(&who, &one), world.runtime.start(&who, &two));
        let (won, lost) = match both {
            (Ok(won), Err(lost)) | (Err(lost), Ok(won)) => (won, lost),
            other => panic!("{other:?}"),
        };
        assert!(matches!(lost, StartError::Busy { active } if active == won.run.run_id));
        let thread = world.store.any_thread(&who.tenant, won.run.thread_id.as_ref().unwrap()).await.unwrap().unwrap();
        assert_eq!(thread.length, 2, "the refused turn left nothing");
    }
}

#[tokio::test]
async fn an_edit_drops_what_came_after_and_a_regenerate_replaces_the_answer() {
    let world = World::new(quick()).await;
    let who = somebody();
    let mut runs = Vec::new();
    for (turn, text) in [("m1", "one"), ("m2", "two")] {
        let started = world.runtime.start(&who, &chat("th", turn, text)).await.unwrap();
        world.runtime.abort(&who, &started.run.run_id).await.unwrap();
        runs.push(started.run);
    }
    let regenerate = format!(
        r#"{{"id":"th","trigger":"regenerate-message","messageId":"{}","messages":[{{"id":"m2","role":"user","parts":[{{"type":"text","text":"two"}}]}}]}}"#,
        runs[1].message_id
    );
    let regenerate = AgentChat::parse(regenerate.as_bytes()).unwrap();
    let again = world.runtime.start(&who, &regenerate).await.unwrap();
    assert!(again.fresh && again.run.run_id != runs[1].run_id);
    let repeated = world.runtime.start(&who, &regenerate).await.unwrap();
    assert_eq!((repeated.fresh, &repeated.run.run_id), (false, &again.run.run_id));
    world.runtime.abort(&who, &again.run.run_id).await.unwrap();
    // Another text under a name that is taken is an edit only where it says so: all that came after it goes.
    let other = chat("th", "m1", "other");
    let taken = world.runtime.start(&who, &other).await;
    assert!(matches!(taken, Err(StartError::Taken)), "{taken:?}");
    let edited =
        world.runtime.start(&who, &AgentChat { trigger: Trigger::Edit { must_exist: true }, ..other }).await.unwrap();
    assert!(edited.fresh);
    let thread = world.store.thread(&who, edited.run.thread_id.as_ref().unwrap()).await.unwrap().unwrap();
    let messages = world.store.messages(&thread, 0, 100).await.unwrap();
    assert_eq!(messages.len(), 2, "{messages:?}");
    assert_eq!(messages[1].id, edited.run.message_id);
}
