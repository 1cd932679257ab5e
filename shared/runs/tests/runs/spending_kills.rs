//! Budgets when holders die at every call that they make to the store: nobody spends more than the limit, and the account
//! says what was asked.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use futures::StreamExt;
use futures::future::join_all;
use futures::stream::iter;
use tandem_agent::Budgets;
use tandem_protocol::{EndReason, HolderKind, Run};
use tandem_runs::{Config, Limits, Runtime};
use tandem_testkit::faults::{At, Fault, Moment, Plan, Proxy, Then};
use tandem_testkit::providers::FakeProvider;
use tokio::task::AbortHandle;

use crate::harness::{World, assert_whole, quick};
use crate::spending::{TOKEN, fake, not_at_midnight, tenant, tokens};

const RUNS: u64 = 200;
const MESSAGE: &str = "@say 5 every 10ms";
/// Runs that one process goes on with at a time: more would keep each other from showing that they are alive.
const AT_ONCE: usize = 8;

/// A holder in a process of its own, with its own way to the store.
struct Holder {
    runtime: Runtime,
    proxy: Arc<Proxy>,
    /// What is killed.
    task: Arc<OnceLock<AbortHandle>>,
}

impl Holder {
    /// It dies at its call number `k`, when the store has not seen it, or has done it.
    async fn new(world: &World, config: Config, provider: &FakeProvider, k: u64, moment: Moment) -> Self {
        let proxy = Arc::new(world.proxy().await);
        let runtime = world.through(&proxy, config, fake(provider));
        let task = Arc::new(OnceLock::<AbortHandle>::new());
        let (kill, way) = (Arc::clone(&task), Arc::downgrade(&proxy));
        proxy.on_hook(move |_| {
            if let (Some(task), Some(way)) = (kill.get(), way.upgrade()) {
                task.abort();
                // The dead say nothing more.
                way.break_for(Fault::LoseRequest, Duration::from_secs(600));
            }
            async { Then::Close }
        });
        proxy.plan(Plan::once(At::Call(k), Fault::Hook(moment)));
        Holder { runtime, proxy, task }
    }

    /// Claims and drives; whether it died.
    async fn hold(&self, run: &Run) -> bool {
        let (runtime, id) = (self.runtime.clone(), run.run_id.clone());
        let (go, may_go) = tokio::sync::oneshot::channel::<()>();
        let holder = tokio::spawn(async move {
            let _ = may_go.await;
            if let Ok(Ok(claim)) = runtime.claim(&id, 1, HolderKind::Background, false, None).await {
                runtime.drive(claim, runtime.budget(HolderKind::Background, None)).await;
            }
        });
        self.task.set(holder.abort_handle()).unwrap();
        let _ = go.send(());
        let _ = holder.await;
        self.proxy.has_struck()
    }
}

/// Goes on with all runs until they have ended.
async fn recover(world: &World, runs: &[Run]) -> Vec<Run> {
    loop {
        world.runtime.sweep(None).await.unwrap();
        let dispatches = std::mem::take(&mut *world.mailbox.0.lock().unwrap());
        let going_on = dispatches.iter().map(|dispatch| async {
            world.runtime.process(&world.runtime.verify(dispatch).unwrap(), None).await.unwrap();
        });
        iter(going_on).buffer_unordered(AT_ONCE).for_each(async |()| {}).await;
        let now = join_all(runs.iter().map(|run| world.store.run(&run.run_id))).await;
        let now: Vec<Run> = now.into_iter().map(|run| run.unwrap().unwrap()).collect();
        if now.iter().all(|run| run.status.is_terminal()) {
            return now;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn holders_that_die_at_every_call_to_the_store_never_spend_more_than_the_limit() {
    not_at_midnight().await;
    let provider = FakeProvider::echo();
    let config = |limit| {
        // The sweeper looks soon; and holders that are slow, as all of them are at first, are no reason to give up.
        let limits = Limits { due_ahead_ms: 300, max_no_progress: 50, ..quick().limits };
        Config { budgets: Budgets { tenant: Some(limit), ..Budgets::default() }, limits, ..quick() }
    };

    // What a holder asks the store, and what an answer costs, where nobody dies.
    let calm = World::with_models(config(1 << 50), fake(&provider)).await;
    let run = calm.start(MESSAGE).await;
    let holder = Holder::new(&calm, config(1 << 50), &provider, u64::MAX, Moment::Before).await;
    assert!(!holder.hold(&run).await);
    let calls = holder.proxy.trace().len() as u64;
    let answer = tokens(&calm, &run).await * TOKEN;
    assert_eq!((provider.asked(), calm.store.used(&tenant()).await.unwrap()), (1, answer));

    // More than all could spend if nobody died, and less than the dead leave of it.
    let limit = RUNS * answer;
    let provider = FakeProvider::echo();
    let world = World::with_models(config(limit), fake(&provider)).await;
    let runs = join_all((0..RUNS).map(|_| world.start(MESSAGE))).await;
    let watch = tokio::spawn({
        let store = world.store.clone();
        async move {
            loop {
                let used = store.used(&tenant()).await.unwrap();
                assert!(used <= limit, "{used} of {limit}");
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        }
    });
    let holders = runs.iter().zip(0..).map(|(run, n)| {
        let (world, provider) = (&world, &provider);
        // Each call twice: before the store sees it, and when it has done it. Some calls come more often than in calm.
        let (k, moment) = (n / 2 % calls + 1, if n % 2 == 0 { Moment::Before } else { Moment::After });
        async move { Holder::new(world, config(limit), provider, k, moment).await.hold(run).await }
    });
    let died: Vec<bool> = join_all(holders).await;
    assert!(RUNS >= 2 * calls, "{calls} calls are not all struck");
    let ended = recover(&world, &runs).await;
    assert!(!watch.is_finished(), "{:?}", watch.await);
    watch.abort();

    let (mut completed, mut limited) = (0, 0);
    for run in &ended {
        assert_whole(&world.log(&run.run_id).await);
        match run.end_reason {
            Some(EndReason::Completed) => completed += 1,
            Some(EndReason::SpendingLimit) => limited += 1,
            other => panic!("{other:?} {run:?}"),
        }
    }
    let used = world.store.used(&tenant()).await.unwrap();
    let holds = world.store.holds(&tenant()).await.unwrap();
    let (asked, held) = (provider.asked() as u64, holds.values().sum::<u64>());
    let told = format!(
        "{calls} calls, {} died, {completed} completed, {limited} limited, {asked} asked, {} held",
        died.iter().filter(|died| **died).count(),
        holds.len()
    );
    assert!(completed > 0 && limited > 0, "the limit shows nothing: {told}");
    // What was asked never cost more than the limit, and the account has all of it.
    assert!(asked * answer <= used && used <= limit, "{told}");
    // The account is the answers that were settled, each at its price, and the requests whose holder died.
    assert_eq!((used - held) % answer, 0, "{told}");
    let settled = (used - held) / answer;
    assert!(settled <= asked && asked <= settled + holds.len() as u64, "{settled} settled: {told}");
    // Whoever lived, and was not so slow that others took the run, holds nothing.
    for (run, _) in ended.iter().zip(&died).filter(|(run, died)| !**died && run.attempt == 1) {
        assert!(!holds.keys().any(|name| name.starts_with(run.run_id.as_str())), "{holds:?} {run:?}: {told}");
    }
    println!("{told}");
}
