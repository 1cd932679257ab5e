//! Stopping in every state: before a turn has begun, for another turn, and while a person is asked.

use futures::future::join_all;
use serde_json::json;
use tandem_protocol::{
    AgentChat, CallState, Caller, Chunk, HolderKind, Principal, Run, RunId, RunStatus, ThreadId, ToolCallId, TurnId,
    UserId,
};
use tandem_runs::{Answer, DecideError, Driven, Runtime, StartError};
use tandem_store::{Append, Author, Outcome, Scope, Slot, Thread};

use crate::harness::{World, assert_whole, chat, patient, quick, somebody};

fn interrupting(thread: &str, turn: &str, text: &str) -> AgentChat {
    AgentChat { interrupts: true, ..chat(thread, turn, text) }
}

async fn start(runtime: &Runtime, chat: &AgentChat) -> Run {
    runtime.start(&somebody(), chat).await.unwrap().run
}

/// Drives a run that was just started, beside the test.
async fn driven(runtime: &Runtime, run: &Run) -> tokio::task::JoinHandle<Driven> {
    let claim = runtime.claim(&run.run_id, run.version, HolderKind::Background, false, None).await.unwrap().unwrap();
    let runtime = runtime.clone();
    tokio::spawn(async move { runtime.drive(claim, runtime.budget(HolderKind::Background, None)).await })
}

async fn thread(world: &World, id: &str) -> Thread {
    let id = ThreadId::new(id).unwrap();
    world.store.any_thread(&somebody().tenant, &id).await.unwrap().unwrap()
}

async fn record(world: &World, run: &RunId) -> Run {
    world.store.run(run).await.unwrap().unwrap()
}

/// The chunks of a log after which nothing comes.
async fn whole(world: &World, run: &RunId) -> Vec<Chunk> {
    let log = world.log(run).await;
    assert_whole(&log);
    log.into_iter().map(|(_, chunk)| chunk).collect()
}

async fn chunks_until(world: &World, run: &RunId, count: usize) {
    while world.log(run).await.len() < count {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interruption_ends_the_run_under_way_and_starts_the_new_one() {
    let world = World::new(patient()).await;
    for round in 0..5 {
        let id = format!("th{round}");
        let first = start(&world.runtime, &chat(&id, "m1", "@say 100000 every 1ms")).await;
        let holder = driven(&world.runtime, &first).await;
        chunks_until(&world, &first.run_id, 10).await;
        assert!(matches!(
            world.runtime.start(&somebody(), &chat(&id, "m2", "x")).await,
            Err(StartError::Busy { active }) if active == first.run_id
        ));
        let second = start(&world.elsewhere(patient()), &interrupting(&id, "m2", "@say 2 every 0")).await;
        assert_eq!(holder.await.unwrap(), Driven::Displaced, "its holder stops");
        let log = whole(&world, &first.run_id).await;
        assert!(matches!(log.last(), Some(Chunk::Abort { .. })), "{log:?}");
        assert_eq!(record(&world, &first.run_id).await.status, RunStatus::Aborted);
        let now = thread(&world, &id).await;
        assert_eq!((now.active.as_ref(), now.length), (Some(&second.run_id), 4));
        // The same again finds the run, and stops nothing.
        let again = world.runtime.start(&somebody(), &interrupting(&id, "m2", "@say 2 every 0")).await.unwrap();
        assert_eq!((again.fresh, &again.run.run_id), (false, &second.run_id));
        let ended = driven(&world.runtime, &second).await.await.unwrap();
        assert!(matches!(ended, Driven::Ended(run) if run.status == RunStatus::Completed));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_was_under_way_is_closed_by_the_interruption() {
    let world = World::new(patient()).await;
    // `import-emails` writes slice by slice, each with a condition that the run has not ended.
    let first = start(&world.runtime, &chat("th", "m1", r#"/import-emails {"count":20000}"#)).await;
    let holder = driven(&world.runtime, &first).await;
    let imported = async || {
        let author = Author { user: somebody().user, caller: Caller::Http, run_id: None };
        let mut unit = world.store.unit(&somebody(), author);
        let list = tandem_store::List::prefix("emails/").limit(1000);
        unit.list(&Scope::app("inbox"), &list).await.unwrap().items.len()
    };
    while imported().await < 400 {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    let second = start(&world.runtime, &interrupting("th", "m2", "hi")).await;
    holder.await.unwrap();
    let log = whole(&world, &first.run_id).await;
    assert!(matches!(log.last(), Some(Chunk::Abort { .. })), "{log:?}");
    let before = imported().await;
    tokio::time::sleep(std::time::Duration::from_millis(300)).await;
    assert_eq!(imported().await, before, "nothing is written for a run that has ended");
    assert_eq!(thread(&world, "th").await.active, Some(second.run_id));
}

/// What the log says of a run that ends while calls stand in every state.
async fn ended_with_open_calls(end: impl AsyncFn(&World, &Run)) {
    let mut config = quick();
    config.limits.due_ahead_ms = -1_000;
    let world = World::new(config).await;
    let run = start(&world.runtime, &chat("th", "m1", "hello")).await;
    let id = |call: &str| ToolCallId::new(call).unwrap();
    let read = |chunk: serde_json::Value| serde_json::from_value::<Chunk>(chunk).unwrap();
    let call = |call: &str| {
        let (tool_call_id, tool_name, input) = (id(call), "list-emails".into(), json!({}));
        Chunk::ToolInputAvailable { tool_call_id, tool_name, input }
    };
    let calls = [
        Chunk::StartStep,
        call("done"),
        call("begun"),
        call("whole"),
        Chunk::ToolInputStart { tool_call_id: id("arriving"), tool_name: "list-emails".into() },
        read(json!({"type": "tool-input-delta", "toolCallId": "arriving", "inputTextDelta": "{\"lim"})),
        Chunk::calls(vec![id("done"), id("begun")]),
        Chunk::ToolOutputAvailable { tool_call_id: id("done"), output: json!([]) },
    ];
    assert!(world.store.append(&run.run_id, &Append::new(1, 0, &calls).unwrap()).await.unwrap());
    end(&world, &run).await;
    whole(&world, &run.run_id).await;
    let said = world.store.said(&run).await.unwrap().0;
    let state = |call: &str| &said.calls().find(|known| known.id.as_str() == call).unwrap().state;
    assert_eq!(*state("done"), CallState::Done(json!([])));
    let failed = |call: &str, words: &str| match state(call) {
        CallState::Failed(text) => assert!(text.contains(words), "{call}: {text}"),
        open => panic!("{call} is left {open:?}"),
    };
    failed("begun", "may or may not have happened");
    failed("whole", "Nothing was run");
    failed("arriving", "Nothing was run");
    let shown = said.ui_parts();
    assert!(
        !shown.iter().any(|part| part["state"].as_str().is_some_and(|state| state.starts_with("input"))),
        "{shown:?}"
    );
    assert_eq!(shown[4]["input"], "{\"lim", "what had arrived is shown");
    // What had begun can come to nothing more, and what had not has no outcome.
    let outcome = async |call: &str| {
        let slot = Slot::Call { run: run.run_id.clone(), call: id(call) };
        world.store.outcome(&slot).await.unwrap()
    };
    assert_eq!(outcome("begun").await, Some(Outcome::Closed));
    assert_eq!((outcome("whole").await, outcome("arriving").await), (None, None));
}

#[tokio::test(flavor = "multi_thread")]
async fn no_call_is_left_open_by_an_end() {
    ended_with_open_calls(async |world, run| {
        world.runtime.abort(&somebody(), &run.run_id).await.unwrap();
    })
    .await;
    ended_with_open_calls(async |world, _| {
        start(&world.runtime, &interrupting("th", "m2", "hi")).await;
    })
    .await;
    // Given up, as its holders disappear.
    ended_with_open_calls(async |world, run| {
        while !record(world, &run.run_id).await.status.is_terminal() {
            let version = record(world, &run.run_id).await.version;
            let claim = world.runtime.claim(&run.run_id, version, HolderKind::Background, false, None).await;
            claim.unwrap().unwrap();
            world.runtime.sweep(None).await.unwrap();
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn of_people_who_interrupt_at_once_one_run_is_left() {
    let world = World::new(patient()).await;
    start(&world.runtime, &chat("th", "m0", "hello")).await;
    let starts = (1..=4).map(|n| {
        let runtime = world.elsewhere(patient());
        async move { start(&runtime, &interrupting("th", &format!("m{n}"), "hello")).await }
    });
    let started = join_all(starts).await;
    let active = thread(&world, "th").await.active.unwrap();
    for run in &started {
        let aborted = record(&world, &run.run_id).await.status == RunStatus::Aborted;
        assert_eq!(aborted, run.run_id != active, "{}", run.run_id);
    }
    assert_eq!(thread(&world, "th").await.length, 10, "everybody's message stands");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_that_is_stopped_before_it_begins_is_born_aborted() {
    let world = World::new(patient()).await;
    let stop = async |id: &str, turn: &str| {
        let (thread, turn) = (ThreadId::new(id).unwrap(), TurnId::new(turn).unwrap());
        world.runtime.abort_turn(&somebody(), &thread, &turn).await.unwrap()
    };
    // In a thread that is not there yet, and in one that is; told twice.
    for (turn, length) in [("m1", 2), ("m2", 4)] {
        assert_eq!(stop("th", turn).await, None);
        assert_eq!(stop("th", turn).await, None);
        let started = world.runtime.start(&somebody(), &chat("th", turn, "hello")).await.unwrap();
        assert!(!started.fresh, "nobody is to see to it");
        let run = started.run;
        assert_eq!((run.status, run.due_at), (RunStatus::Aborted, None));
        let log = whole(&world, &run.run_id).await;
        assert!(matches!(log[..], [Chunk::Start { .. }, Chunk::Abort { .. }]), "{log:?}");
        let now = thread(&world, "th").await;
        assert_eq!((now.active, now.length), (None, length), "the thread is free");
        // The same request again, and the same stop: the same run.
        let again = world.runtime.start(&somebody(), &chat("th", turn, "hello")).await.unwrap();
        assert_eq!((again.fresh, &again.run), (false, &run));
        assert_eq!(stop("th", turn).await.map(|run| run.run_id), Some(run.run_id));
    }
    assert_eq!(world.mailbox.0.lock().unwrap().len(), 0, "nothing was dispatched");
    let next = start(&world.runtime, &chat("th", "m3", "hello")).await;
    let ended = driven(&world.runtime, &next).await.await.unwrap();
    assert!(matches!(ended, Driven::Ended(run) if run.status == RunStatus::Completed));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_and_a_start_at_once_leave_nothing_under_way() {
    let world = World::new(patient()).await;
    let other = world.elsewhere(patient());
    for round in 0..20 {
        let (id, turn) = (format!("th{round}"), TurnId::new("m1").unwrap());
        let (thread_id, who, chat) = (ThreadId::new(&id).unwrap(), somebody(), chat(&id, "m1", "hello"));
        let (started, _) = tokio::join!(world.runtime.start(&who, &chat), other.abort_turn(&who, &thread_id, &turn));
        let run = record(&world, &started.unwrap().run.run_id).await;
        assert_eq!(run.status, RunStatus::Aborted, "round {round}");
        assert!(matches!(whole(&world, &run.run_id).await.last(), Some(Chunk::Abort { .. })));
        assert_eq!(thread(&world, &id).await.active, None);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_stops_what_is_not_theirs() {
    let world = World::new(patient()).await;
    let eve = Principal { user: UserId::new("eve").unwrap(), ..somebody() };
    let (id, turn) = (ThreadId::new("th").unwrap(), TurnId::new("m1").unwrap());
    // A thread that is not there yet: the stop is eve's own.
    assert_eq!(world.runtime.abort_turn(&eve, &id, &turn).await.unwrap(), None);
    let run = start(&world.runtime, &chat("th", "m1", "hello")).await;
    assert_eq!(run.status, RunStatus::Dispatched);
    // Now it is, and answers the same.
    assert_eq!(world.runtime.abort_turn(&eve, &id, &turn).await.unwrap(), None);
    assert_eq!(record(&world, &run.run_id).await, run);
    let unborn = TurnId::new("m2").unwrap();
    assert_eq!(world.runtime.abort_turn(&eve, &id, &unborn).await.unwrap(), None);
    world.runtime.abort(&somebody(), &run.run_id).await.unwrap();
    assert_eq!(start(&world.runtime, &chat("th", "m2", "hello")).await.status, RunStatus::Dispatched);
}

#[tokio::test(flavor = "multi_thread")]
async fn to_stop_a_run_that_asks_a_person_leaves_it_unanswered() {
    const SEND: &str = r#"/send-email {"to":"ann@example.com","subject":"Hello","body":"From the agent"}"#;
    let world = World::new(patient()).await;
    let run = start(&world.runtime, &chat("th", "m1", SEND)).await;
    driven(&world.runtime, &run).await.await.unwrap();
    let (log, run) = (whole(&world, &run.run_id).await, record(&world, &run.run_id).await);
    let call = log.iter().find_map(|chunk| match chunk {
        Chunk::ToolApprovalRequest { tool_call_id, .. } => Some(tool_call_id.clone()),
        _ => None,
    });
    let stopped = world.runtime.abort(&somebody(), &run.run_id).await.unwrap();
    assert_eq!(stopped, run, "it had ended");
    assert_eq!(thread(&world, "th").await.awaiting, None);
    let yes = Answer { approved: true, input: None, reason: None };
    let late = world.runtime.decide(&somebody(), &run, &call.unwrap(), &yes).await;
    assert!(matches!(late, Err(DecideError::NotAsked(_))), "{late:?}");
    assert_eq!((whole(&world, &run.run_id).await, world.outbox().len()), (log, 0));
}
