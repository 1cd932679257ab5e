//! The calls of a step: each is made once, in the model's order, and none before the answer is whole.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tandem_protocol::{CallState, Chunk, EndReason, HolderKind, RunStatus, Transcript};
use tandem_runs::{Config, Driven, Processed};

use crate::harness::{Mailbox, World, assert_whole, attempts, patient, runtime_on, start_on};

const REPLY: &str = r#"/email {"emailId":"e-1","body":"Thanks!"}"#;
const READ: &str = r#"/read-email {"emailId":"e-1"}"#;

/// Drives a turn to its end; gives what the log says.
async fn turn(world: &World, script: &str) -> Transcript {
    let run = world.start(script).await;
    let claim = world.runtime.claim(&run.run_id, 1, HolderKind::Background, false, None).await.unwrap().unwrap();
    let driven = world.runtime.drive(claim, world.runtime.budget(HolderKind::Background, None)).await;
    let log = world.log(&run.run_id).await;
    assert!(matches!(driven, Driven::Ended(_)), "{driven:?} {log:#?}");
    assert_whole(&log);
    Transcript::fold(log.iter().map(|(_, chunk)| chunk))
}

/// Outputs of the calls of one action, in the model's order.
fn outputs<'a>(said: &'a Transcript, action: &str) -> Vec<&'a Value> {
    let output = |state: &'a CallState| match state {
        CallState::Done(output) => output,
        other => panic!("{other:?}"),
    };
    said.calls().filter(|call| call.name == action).map(|call| output(&call.state)).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn two_equal_calls_of_one_answer_are_two_calls() {
    let world = World::new(patient()).await;
    let said = turn(&world, &format!("{REPLY}\n{REPLY}\n\n{READ}")).await;
    let replies = outputs(&said, "email");
    assert_eq!(replies.len(), 2);
    assert_ne!(replies[0]["id"], replies[1]["id"]);
    assert_eq!(outputs(&said, "read-email")[0]["replies"].as_array().unwrap().len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_are_made_in_the_models_order_and_a_read_sees_the_write_before_it() {
    let world = World::new(patient()).await;
    // In one answer, and over answers.
    for between in ["\n", "\n\n"] {
        let script = [READ, REPLY, READ, REPLY, READ].join(between);
        let world = if between == "\n" { &world } else { &World::new(patient()).await };
        let said = turn(world, &script).await;
        let replies = |output: &&Value| output["replies"].as_array().unwrap().len();
        let seen: Vec<usize> = outputs(&said, "read-email").iter().map(replies).collect();
        assert_eq!(seen, [0, 1, 2], "{between:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_of_an_answer_that_broke_off_is_not_made() {
    for failure in ["mid-stream", "truncated"] {
        let world = World::new(patient()).await;
        // The first answer breaks off after the call's arguments, the second one is whole.
        let said = turn(&world, &format!("{REPLY}\n@fail {failure}\n\n{READ}")).await;
        assert_eq!(outputs(&said, "email").len(), 1, "{failure}: {said:#?}");
        assert_eq!(outputs(&said, "read-email")[0]["replies"].as_array().unwrap().len(), 1, "{failure}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_call_again_and_again_ends_at_the_limit_of_steps_over_all_attempts() {
    let world = World::new(patient()).await;
    let mailbox = Arc::new(Mailbox::default());
    let config = Config { background_soft_timeout: Duration::from_secs(3), ..patient() };
    let runtime = runtime_on(world.store.clone(), config, 5, mailbox.clone());
    let run = start_on(&runtime, &"@wait 800ms\n/list-emails {}\n\n".repeat(12)).await;
    let first = tandem_auth::DispatchKeys::development().sign(&run.run_id, 1, tandem_store::now_ms());
    let mut dispatch = Some(first);
    while let Some(next) = dispatch {
        let processed = runtime.process(&runtime.verify(&next).unwrap(), None).await.unwrap();
        assert!(matches!(processed, Processed::Driven(_)), "{processed:?}");
        dispatch = mailbox.0.lock().unwrap().pop();
    }
    let ended = world.store.run(&run.run_id).await.unwrap().unwrap();
    assert_eq!((ended.status, ended.end_reason), (RunStatus::Failed, Some(EndReason::TooManySteps)));
    let log = world.log(&run.run_id).await;
    assert_whole(&log);
    assert!(attempts(&log).len() >= 2, "{log:#?}");
    assert_eq!(log.iter().filter(|(_, chunk)| matches!(chunk, Chunk::FinishStep)).count(), 5);
}
