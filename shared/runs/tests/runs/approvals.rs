//! What a person must agree to runs once, with what was approved, whoever answers and however often.

use std::collections::BTreeSet;

use serde_json::json;
use tandem_protocol::{AgentChat, CallState, Chunk, HolderKind, Run, RunStatus, ToolCallId, Transcript};
use tandem_runs::{Answer, DecideError, Decided, Driven, Runtime};
use tandem_store::AnsweredCall;

use crate::harness::{World, assert_whole, patient, somebody};

const SEND: &str = r#"/send-email {"to":"ann@example.com","subject":"Hello","body":"From the agent"}"#;

fn yes() -> Answer {
    Answer { approved: true, input: None, reason: None }
}

fn no(reason: &str) -> Answer {
    Answer { approved: false, input: None, reason: Some(reason.into()) }
}

/// Claims a run that was just started, and drives it here.
async fn drive(runtime: &Runtime, run: &Run) -> Run {
    let claim = runtime.claim(&run.run_id, run.version, HolderKind::Background, false, None).await.unwrap().unwrap();
    match runtime.drive(claim, runtime.budget(HolderKind::Background, None)).await {
        Driven::Ended(run) => *run,
        other => panic!("{other:?}"),
    }
}

/// A turn that asks about every call of its one step.
async fn asked(world: &World, script: &str) -> (Run, Vec<ToolCallId>) {
    let run = drive(&world.runtime, &world.start(script).await).await;
    assert_eq!(run.status, RunStatus::AwaitingApproval);
    let said = said(world, &run).await;
    let calls = said.awaiting().map(|call| call.id.clone()).collect();
    (run, calls)
}

/// The message of a run, from the logs alone.
async fn said(world: &World, run: &Run) -> Transcript {
    world.store.said(run).await.unwrap().0
}

fn next(decided: &Decided) -> Run {
    decided.next.as_ref().expect("the next run").run.clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_needs_approval_ends_the_run_and_runs_in_the_next_one() {
    let world = World::new(patient()).await;
    let script = format!("/list-emails {{}}\n{SEND}\n\n@say 3 every 0");
    let (run, calls) = asked(&world, &script).await;
    assert_whole(&world.log(&run.run_id).await);
    assert_eq!(world.outbox().len(), 0, "nothing is sent before somebody agrees");
    let thread = run.thread_id.clone().unwrap();
    let stored = world.store.any_thread(&run.owner.tenant, &thread).await.unwrap().unwrap();
    assert_eq!((stored.active, stored.awaiting), (None, Some(run.run_id.clone())), "the thread is free");

    let decided = world.runtime.decide(&somebody(), &run, &calls[0], &yes()).await.unwrap();
    assert_eq!((decided.approved, decided.pending), (true, 0));
    let second = drive(&world.runtime, &next(&decided)).await;
    assert_eq!((second.status, &second.message_id), (RunStatus::Completed, &run.message_id));
    assert_eq!(world.outbox().len(), 1);
    let log = world.log(&second.run_id).await;
    assert_whole(&log);
    let kinds: Vec<String> = log.iter().map(|(_, chunk)| kind(chunk)).collect();
    let decided = ["tool-input-available", "tool-approval-request", "tool-approval-response", "message-metadata"];
    assert_eq!(kinds[..2], ["start", "data-attempt"]);
    assert_eq!(kinds[2..6], decided, "{kinds:?}");
    assert_eq!(kinds[6..8], ["data-call", "tool-output-available"], "{kinds:?}");
    // The message is one: what both runs said, kept as such.
    let kept = world.store.answer(&run.owner.tenant, &thread, &second.run_id).await.unwrap();
    assert_eq!(kept, said(&world, &second).await);
    assert!(kept.calls().all(|call| matches!(call.state, CallState::Done(_))), "{kept:#?}");
    assert_eq!(kept.calls().count(), 2);
    assert_eq!(kept.calls().filter_map(|call| call.approval.as_ref()?.approved).collect::<Vec<_>>(), [true]);
    // A turn with nothing left to ask answers repeats with what happened.
    let again = world.runtime.decide(&somebody(), &run, &calls[0], &no("too late")).await.unwrap();
    assert_eq!((again.approved, next(&again).run_id), (true, second.run_id));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_runs_with_exactly_the_input_that_was_approved() {
    let world = World::new(patient()).await;
    let (run, calls) = asked(&world, SEND).await;
    let bad = Answer { input: Some(json!({"to": "nobody", "body": 3})), ..yes() };
    let refused = world.runtime.decide(&somebody(), &run, &calls[0], &bad).await;
    assert!(matches!(refused, Err(DecideError::Input(_))), "{refused:?}");
    let edited = json!({"to": "ben@example.com", "subject": "Edited", "body": "By a person"});
    let answer = Answer { input: Some(edited.clone()), ..yes() };
    let decided = world.runtime.decide(&somebody(), &run, &calls[0], &answer).await.unwrap();
    let second = drive(&world.runtime, &next(&decided)).await;
    assert_eq!(said(&world, &second).await.calls().next().unwrap().input, edited);
    let mails = world.outbox();
    assert_eq!(mails.len(), 1);
    assert!(mails[0].contains("To: ben@example.com") && mails[0].contains("By a person"), "{}", mails[0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_denied_call_never_runs_and_the_model_goes_on() {
    let world = World::new(patient()).await;
    let (run, calls) = asked(&world, &format!("{SEND}\n\n@say 2 every 0")).await;
    let decided = world.runtime.decide(&somebody(), &run, &calls[0], &no("wrong person")).await.unwrap();
    let second = drive(&world.runtime, &next(&decided)).await;
    assert_eq!((second.status, world.outbox().len()), (RunStatus::Completed, 0));
    let said = said(&world, &second).await;
    let call = said.calls().next().unwrap();
    assert_eq!(
        (&call.state, call.approval.as_ref().unwrap().reason.as_deref()),
        (&CallState::Denied, Some("wrong person"))
    );
    assert_eq!(said.steps.len(), 2, "the model was asked again: {said:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn of_any_number_of_people_who_answer_at_once_one_wins() {
    let world = World::new(patient()).await;
    for round in 0..6 {
        let script = format!("{SEND}\n{SEND}");
        let (run, calls) = asked(&world, &script).await;
        let elsewhere = world.elsewhere(patient());
        let answers = (0..16).map(|n| {
            let (runtime, run) = (if n % 2 == 0 { &world.runtime } else { &elsewhere }, &run);
            let (call, answer) = (&calls[n / 8], if n % 3 == 0 { yes() } else { no("no") });
            async move { (n / 8, runtime.decide(&somebody(), run, call, &answer).await.unwrap()) }
        });
        let decided = futures::future::join_all(answers).await;
        for call in 0..2 {
            let said: BTreeSet<bool> = decided.iter().filter(|(of, _)| *of == call).map(|(_, d)| d.approved).collect();
            assert_eq!(said.len(), 1, "round {round}: everybody is told the same: {decided:?}");
        }
        let started: Vec<&Decided> = decided.iter().map(|(_, d)| d).filter(|d| d.next.is_some()).collect();
        let fresh = started.iter().filter(|d| d.next.as_ref().unwrap().fresh).count();
        assert_eq!(fresh, 1, "one starts the next run: {decided:?}");
        let runs: BTreeSet<String> = started.iter().map(|d| next(d).run_id.to_string()).collect();
        assert_eq!(runs.len(), 1, "and it is one run");
        let before = world.outbox().len();
        let second =
            drive(&world.runtime, &next(started.iter().find(|d| d.next.as_ref().unwrap().fresh).unwrap())).await;
        let said = said(&world, &second).await;
        let approved = said.calls().filter(|call| matches!(call.state, CallState::Done(_))).count();
        assert_eq!(world.outbox().len() - before, approved);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn going_on_without_an_answer_refuses_what_was_asked() {
    let world = World::new(patient()).await;
    let (run, calls) = asked(&world, SEND).await;
    let thread = run.thread_id.clone().unwrap();
    let body = json!({"message": "never mind", "threadId": thread});
    let chat = AgentChat::parse(body.to_string().as_bytes()).unwrap();
    let other = world.runtime.start(&somebody(), &chat).await.unwrap().run;
    let late = world.runtime.decide(&somebody(), &run, &calls[0], &yes()).await;
    assert!(matches!(late, Err(DecideError::NotAsked(_))), "{late:?}");
    assert_eq!(drive(&world.runtime, &other).await.status, RunStatus::Completed);
    assert_eq!(world.outbox().len(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stock_client_s_message_answers_and_its_repeat_finds_the_same_run() {
    let world = World::new(patient()).await;
    let (run, calls) = asked(&world, &format!("{SEND}\n{SEND}")).await;
    let part = |call: &ToolCallId, approved: bool| {
        json!({"type": "tool-send-email", "toolCallId": call, "state": "approval-responded",
               "approval": {"id": call, "approved": approved}})
    };
    let chat = |parts: Vec<serde_json::Value>| {
        let body = json!({"id": run.thread_id, "trigger": "submit-message", "messageId": run.message_id, "messages": [
            {"id": "m", "role": "user", "parts": [{"type": "text", "text": "send"}]},
            {"id": run.message_id, "role": "assistant", "parts": parts},
        ]});
        AgentChat::parse(body.to_string().as_bytes()).unwrap()
    };
    let one = world.runtime.start(&somebody(), &chat(vec![part(&calls[0], true)])).await;
    assert!(one.is_err(), "the other call still waits");
    let both = chat(vec![part(&calls[0], false), part(&calls[1], false)]);
    let started = world.runtime.start(&somebody(), &both).await.unwrap();
    assert!(started.fresh);
    let repeated = world.runtime.start(&somebody(), &both).await.unwrap();
    assert_eq!((repeated.fresh, &repeated.run.run_id), (false, &started.run.run_id));
    drive(&world.runtime, &started.run).await;
    assert_eq!(world.outbox().len(), 1, "what was said first counts");
    let after_end = world.runtime.start(&somebody(), &both).await.unwrap();
    assert_eq!((after_end.fresh, after_end.run.run_id), (false, started.run.run_id));
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_else_s_call_can_be_answered() {
    let world = World::new(patient()).await;
    let (run, _) = asked(&world, SEND).await;
    let unknown = ToolCallId::new("call_x").unwrap();
    let answer = world.runtime.decide(&somebody(), &run, &unknown, &yes()).await;
    assert!(matches!(answer, Err(DecideError::NotFound)), "{answer:?}");
    let early = world.start("hello").await;
    let answer = world.runtime.decide(&somebody(), &early, &unknown, &yes()).await;
    assert!(matches!(answer, Err(DecideError::NotAsked(_))), "{answer:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn in_a_shared_thread_only_who_asked_may_agree_and_others_may_refuse() {
    let world = World::new(patient()).await;
    let (run, calls) = asked(&world, SEND).await;
    let other = tandem_protocol::Principal { user: "other".parse().unwrap(), ..somebody() };
    let stranger = world.runtime.decide(&other, &run, &calls[0], &no("no")).await;
    assert!(matches!(stranger, Err(DecideError::NotFound)), "{stranger:?}");
    let thread = run.thread_id.clone().unwrap();
    let sharing = tandem_runs::ThreadChange { title: None, shared: Some(true), archived: None };
    world.runtime.change_thread(&somebody(), &thread, &sharing).await.unwrap();
    let agreed = world.runtime.decide(&other, &run, &calls[0], &yes()).await;
    assert!(matches!(agreed, Err(DecideError::NotYours)), "{agreed:?}");
    let refused = world.runtime.decide(&other, &run, &calls[0], &no("not like this")).await.unwrap();
    let second = drive(&world.runtime, &next(&refused)).await;
    assert_eq!((&second.owner, world.outbox().len()), (&run.owner, 0));
    assert_eq!(decided_by(&said(&world, &second).await), json!({(calls[0].as_str()): other.user}));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_tells_who_answered_each_of_its_calls() {
    let world = World::new(patient()).await;
    let (run, first) = asked(&world, &format!("{SEND}\n\n{SEND}\n{SEND}")).await;
    let decided = world.runtime.decide(&somebody(), &run, &first[0], &yes()).await.unwrap();
    let second = drive(&world.runtime, &next(&decided)).await;
    assert_eq!(second.status, RunStatus::AwaitingApproval);
    let calls: Vec<ToolCallId> = said(&world, &second).await.awaiting().map(|call| call.id.clone()).collect();
    let mut by = serde_json::Map::from_iter([(first[0].to_string(), json!("u"))]);
    let thread = run.thread_id.as_ref().unwrap();
    let stored = async || world.store.any_thread(&run.owner.tenant, thread).await.unwrap().unwrap();
    let before = stored().await;
    assert_eq!(before.answered, [], "what was said to the first run is in the message");
    for call in &calls {
        world.runtime.decide(&somebody(), &second, call, &no("enough")).await.unwrap();
        by.insert(call.to_string(), json!("u"));
        if *call == calls[0] {
            let told = stored().await;
            let answered = AnsweredCall { call: call.clone(), approved: false, by: somebody().user };
            assert_eq!((&*told.answered, told.version), (&[answered][..], before.version + 1));
        }
    }
    let stored = stored().await;
    assert_eq!(stored.answered, [], "nothing is asked any more");
    let third = stored.active.unwrap();
    let third = drive(&world.runtime, &world.store.run(&third).await.unwrap().unwrap()).await;
    let kept = world.store.answer(&run.owner.tenant, thread, &third.run_id).await.unwrap();
    assert_eq!(decided_by(&kept), json!(by));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deleted_thread_takes_no_answer() {
    let world = World::new(patient()).await;
    let (run, calls) = asked(&world, SEND).await;
    world.runtime.delete_thread(&somebody(), run.thread_id.as_ref().unwrap()).await.unwrap();
    let late = world.runtime.decide(&somebody(), &run, &calls[0], &yes()).await;
    assert!(matches!(late, Err(DecideError::NotFound)), "{late:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_is_stopped_leaves_no_answered_call_open() {
    let world = World::new(patient()).await;
    let (run, calls) = asked(&world, SEND).await;
    let decided = world.runtime.decide(&somebody(), &run, &calls[0], &yes()).await.unwrap();
    let second = next(&decided);
    // As if its holder had said what was decided, and died before the call.
    let said = |chunk: serde_json::Value| serde_json::from_value::<Chunk>(chunk).unwrap();
    let id = &calls[0];
    let chunks = [
        said(json!({"type": "tool-approval-request", "approvalId": id, "toolCallId": id})),
        said(json!({"type": "tool-approval-response", "approvalId": id, "approved": true})),
    ];
    let append = tandem_store::Append::new(1, 0, &chunks).unwrap();
    assert!(world.store.append(&second.run_id, &append).await.unwrap());
    let ended = world.runtime.abort(&somebody(), &second.run_id).await.unwrap();
    let answer = world.store.answer(&run.owner.tenant, run.thread_id.as_ref().unwrap(), &ended.run_id).await.unwrap();
    assert!(
        matches!(&answer.calls().next().unwrap().state, CallState::Failed(text) if text.contains("Nothing was run"))
    );
    assert_eq!(world.outbox().len(), 0);
}

fn decided_by(message: &Transcript) -> serde_json::Value {
    message.metadata.as_ref().unwrap()["decidedBy"].clone()
}

fn kind(chunk: &Chunk) -> String {
    serde_json::to_value(chunk).unwrap()["type"].as_str().unwrap().to_owned()
}
