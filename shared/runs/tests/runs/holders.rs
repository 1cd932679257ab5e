//! A holder shows that it is alive, notices that it should stop, and says why it could not begin.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use futures::future::join_all;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tandem_actions::{ActionDef, ActionError, Approval, Context, Effect, Registry, action};
use tandem_embedded::Engine;
use tandem_model::Models;
use tandem_protocol::{AgentChat, AttemptReason, Chunk, EndReason, HolderKind, RunStatus};
use tandem_runs::{Budget, Config, Driven};
use tandem_store::Store;
use tandem_testkit::faults::{Fault, Moment, Proxy, Then};
use tandem_testkit::providers::FakeProvider;
use tokio::net::TcpListener;

use crate::harness::{
    Mailbox, World, assert_whole, attempts, patient, quick, runtime_on, runtime_with, somebody, start_on, store_through,
};

#[tokio::test(flavor = "multi_thread")]
async fn a_holder_that_cannot_show_that_it_is_alive_stops_before_its_lease_is_over() {
    // Heartbeats hang in the store; everything else is done.
    let engine = Engine::in_memory().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let proxy = Proxy::open(&format!("http://{}", listener.local_addr().unwrap())).await.unwrap();
    let served = engine.clone();
    tokio::spawn(async move { served.serve(listener).await });
    let direct = Store::new(engine.client(), "tandem");
    direct.create_table().await.unwrap();
    let store = store_through(&proxy);
    let lease = Duration::from_secs(6);
    let config = Config { lease, heartbeat: Duration::from_secs(1), ..quick() };
    let runtime = runtime_on(store, config, 50, Arc::new(Mailbox::default()));
    let run = start_on(&runtime, &"@say 5 every 20ms\n/list-emails {\"limit\":1}\n\n".repeat(400)).await;
    let claim = runtime.claim(&run.run_id, 1, HolderKind::Background, false, None).await.unwrap().unwrap();
    let claimed = Instant::now();
    proxy.on_hook(|call| async move {
        if call.operation.name == "PutItem" && call.operation.keys.iter().any(|key| key.ends_with(" RUN")) {
            tokio::time::sleep(Duration::from_secs(60)).await;
        }
        Then::GoOn
    });
    proxy.break_for(Fault::Hook(Moment::Before), Duration::from_secs(60));
    let driven = runtime.drive(claim, runtime.budget(HolderKind::Background, None)).await;
    let held = claimed.elapsed();
    assert_eq!(driven, Driven::Displaced);
    assert!(held <= lease, "it worked for {held:?}");
    // It had worked, and nothing more of it comes.
    let log = direct.log_from(&run.run_id, 0).await.unwrap();
    assert!(log.len() > 5, "{log:?}");
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert_eq!(direct.log_from(&run.run_id, 0).await.unwrap(), log);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_call_and_a_silent_model_are_not_taken_for_a_dead_holder() {
    let config =
        || Config { lease: Duration::from_secs(3), foreground_soft_timeout: Duration::from_secs(60), ..quick() };
    let world = World::new(config()).await;
    // Each takes much longer than a lease, and stores nothing meanwhile.
    let scripts = ["/import-emails {\"count\":2,\"delayMs\":5000}", "@wait 5s\n@say 1 every 0"];
    let turns = scripts.map(|script| {
        let (world, watching) = (&world, world.elsewhere(config()));
        async move {
            let run = world.start(script).await;
            let claim =
                world.runtime.claim(&run.run_id, 1, HolderKind::Background, false, None).await.unwrap().unwrap();
            let mut follower = watching.follow(&run.run_id, 0, None);
            let following = async { while follower.next().await.unwrap().is_some() {} };
            let driving = world.runtime.drive(claim, world.runtime.budget(HolderKind::Background, None));
            let ((), driven) = tokio::join!(following, driving);
            let log = world.log(&run.run_id).await;
            assert!(matches!(driven, Driven::Ended(run) if run.status == RunStatus::Completed), "{log:#?}");
            assert_eq!(attempts(&log), [(1, HolderKind::Background, AttemptReason::Claimed)]);
        }
    });
    join_all(turns).await;
    assert_eq!(world.mailbox.0.lock().unwrap().len(), 0, "nobody dispatched again");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_says_nothing_notices_that_it_is_stopped() {
    for script in ["@wait 60s", "/import-emails {\"count\":800,\"delayMs\":5000}"] {
        let world = World::new(patient()).await;
        let run = world.start(script).await;
        let claim = world.runtime.claim(&run.run_id, 1, HolderKind::Background, false, None).await.unwrap().unwrap();
        let driving = {
            let runtime = world.runtime.clone();
            let budget = runtime.budget(HolderKind::Background, None);
            tokio::spawn(async move { runtime.drive(claim, budget).await })
        };
        let begun = if script.starts_with('@') { "start-step" } else { "data-progress" };
        let stopped_by = world.elsewhere(patient());
        let mut follower = stopped_by.follow(&run.run_id, 0, None);
        while let Some(frame) = follower.next().await.unwrap() {
            if frame.chunks().any(|chunk| chunk.json.contains(begun)) {
                break;
            }
        }
        let asked = Instant::now();
        stopped_by.abort(&run.owner, &run.run_id).await.unwrap();
        assert_eq!(driving.await.unwrap(), Driven::Displaced);
        assert!(asked.elapsed() < Duration::from_millis(2_500), "{script}: {:?}", asked.elapsed());
        let log = world.log(&run.run_id).await;
        assert_whole(&log);
        assert!(matches!(log.last(), Some((_, Chunk::Abort { .. }))));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failure_before_the_first_step_ends_the_run_at_once_with_its_reason() {
    let provider = FakeProvider::echo();
    let environment = provider.environment();
    let models = Models::from_env(|name| match name {
        "MODEL" => Some("scripted".into()),
        "MODELS" => Some("anthropic/fake".into()),
        name => environment.iter().find(|(key, _)| *key == name).map(|(_, value)| value.to_string()),
    });
    let world = World::with_models(patient(), models.unwrap()).await;
    let chat = AgentChat::parse(br#"{"message": "hello", "model": "anthropic/fake"}"#).unwrap();
    let run = world.runtime.start(&somebody(), &chat).await.unwrap().run;
    // A worker that is set up otherwise.
    let worker = world.elsewhere(patient());
    let claim = worker.claim(&run.run_id, 1, HolderKind::Background, false, None).await.unwrap().unwrap();
    let claimed = Instant::now();
    let Driven::Ended(ended) = worker.drive(claim, worker.budget(HolderKind::Background, None)).await else { panic!() };
    assert!(claimed.elapsed() < Duration::from_secs(2), "{:?}", claimed.elapsed());
    assert_eq!((ended.status, ended.end_reason), (RunStatus::Failed, Some(EndReason::SetupFailed)));
    let log = world.log(&run.run_id).await;
    assert_whole(&log);
    let Some((_, Chunk::Error { error_text })) = log.last() else { panic!("{log:#?}") };
    assert!(error_text.contains("anthropic/fake") && error_text.ends_with(" [setup_failed]"), "{error_text}");
}

/// Nothing to say.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Nothing {}

/// How often it was done in this process.
#[derive(Serialize, JsonSchema)]
struct Times {
    /// So often.
    times: u32,
}

static TIMES: AtomicU32 = AtomicU32::new(0);

async fn once(_: Nothing, _: &mut Context) -> Result<Times, ActionError> {
    Ok(Times { times: TIMES.fetch_add(1, Ordering::SeqCst) + 1 })
}

/// Nobody may do it again, and it may take 20 s.
const ONCE: ActionDef =
    action("do-once").effect(Effect::External).approval(Approval::Never).timeout(Duration::from_secs(20)).run(&once);

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_cannot_be_repeated_begins_with_its_time_or_at_the_beginning_of_a_holder() {
    // Where the next holder has enough for it, and where nobody ever has.
    for (whole, want) in [(Duration::from_secs(60), [1, 2, 3]), (Duration::from_secs(10), [1, 2, 2])] {
        let engine = Engine::in_memory().unwrap();
        let store = Store::new(engine.client(), "tandem");
        store.create_table().await.unwrap();
        let registry = Registry::new(&[tandem_catalog::ACTIONS, &[ONCE]].concat()).unwrap();
        let config = Config { background_soft_timeout: whole, ..patient() };
        let runtime = runtime_with(store.clone(), registry, config, 50, Arc::new(Mailbox::default()));
        let mut run = start_on(&runtime, "@say 1 every 0\n/view-screen {}\n\n/do-once {}\n\n@say 1 every 0").await;
        let before = TIMES.load(Ordering::SeqCst);
        let mut begun = Vec::new();
        let mut seconds = [0, 5, 5].into_iter();
        while !run.status.is_terminal() {
            let claim = runtime.claim(&run.run_id, run.version, HolderKind::Background, false, None).await;
            let soft = tokio::time::Instant::now() + Duration::from_secs(seconds.next().expect("it never ends"));
            runtime.drive(claim.unwrap().unwrap(), Budget { soft, hard: soft + Duration::from_secs(1) }).await;
            run = store.run(&run.run_id).await.unwrap().unwrap();
            begun.push(run.attempt);
        }
        assert_eq!(run.status, RunStatus::Completed);
        assert_eq!(TIMES.load(Ordering::SeqCst), before + 1);
        let log = store.log_from(&run.run_id, 0).await.unwrap();
        let calls = |frame: &&tandem_store::Frame| frame.chunks().any(|chunk| chunk.json.contains("data-call"));
        let by: Vec<u32> = log.iter().filter(calls).map(|frame| frame.attempt).collect();
        assert_eq!([1, by[0], by[1]], want, "{begun:?}");
    }
}
