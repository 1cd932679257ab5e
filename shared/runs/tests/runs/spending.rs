//! Budgets for models: held before each request, settled after it, and never passed.

use std::time::Duration;

use futures::future::join_all;
use serde_json::json;
use tandem_agent::Budgets;
use tandem_model::Models;
use tandem_protocol::{AgentChat, Chunk, EndReason, HolderKind, Run, RunStatus, Transcript};
use tandem_runs::{Config, Limits};
use tandem_store::{Account, now_ms};
use tandem_testkit::providers::{FakeProvider, Problem, Reply};

use crate::harness::{World, assert_whole, patient, quick, somebody};

/// Nano-dollars of a token, whichever.
pub(crate) const TOKEN: u64 = 1_000_000;

fn models(set: &[(&str, String)]) -> Models {
    Models::from_env(|name| set.iter().find(|(key, _)| *key == name).map(|(_, value)| value.clone())).unwrap()
}

fn scripted() -> Models {
    models(&[("MODEL_PRICES", "scripted=1000/1000".into())])
}

pub(crate) fn fake(provider: &FakeProvider) -> Models {
    let mut set = vec![("MODEL", "anthropic/fake".into()), ("MODEL_PRICES", "anthropic/fake=1000/1000".into())];
    set.extend(provider.environment().iter().map(|(key, value)| (*key, value.to_string())));
    models(&set)
}

pub(crate) fn tenant() -> Account {
    Account::tenant(&somebody().tenant)
}

fn user() -> Account {
    Account::user(&somebody().tenant, &somebody().user)
}

fn all(limit: u64) -> Budgets {
    Budgets { run: Some(limit), user: Some(limit), tenant: Some(limit) }
}

async fn said(world: &World, message: &str) -> Run {
    let run = world.start(message).await;
    let claim = world.runtime.claim(&run.run_id, 1, HolderKind::Background, false, None).await.unwrap().unwrap();
    world.runtime.drive(claim, world.runtime.budget(HolderKind::Background, None)).await;
    assert_whole(&world.log(&run.run_id).await);
    world.store.run(&run.run_id).await.unwrap().unwrap()
}

/// Tokens that a run used, as its log says.
pub(crate) async fn tokens(world: &World, run: &Run) -> u64 {
    let log = world.log(&run.run_id).await;
    let metadata = Transcript::fold(log.iter().map(|(_, chunk)| chunk)).metadata.unwrap_or_default();
    let of = |name: &str| metadata["usage"][name].as_u64().unwrap_or(0);
    of("inputTokens") + of("outputTokens")
}

/// Tests count by the day, and this one would begin on one and end on the next.
pub(crate) async fn not_at_midnight() {
    const DAY: i64 = 24 * 3600 * 1000;
    let left = DAY - now_ms() % DAY;
    if left < 120_000 {
        tokio::time::sleep(Duration::from_millis(left.unsigned_abs())).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_costs_what_its_steps_used_with_everybody_who_pays() {
    not_at_midnight().await;
    let world = World::with_models(Config { budgets: all(1 << 50), ..patient() }, scripted()).await;
    let run = said(&world, "Look.\n/list-emails {\"limit\":1}\n\nThat is all.").await;
    assert_eq!(run.end_reason, Some(EndReason::Completed));
    let cost = tokens(&world, &run).await * TOKEN;
    assert!(cost > 0);
    for account in [Account::run(&run.run_id), user(), tenant()] {
        let (used, held) = (world.store.used(&account).await.unwrap(), world.store.held(&account).await.unwrap());
        assert_eq!((used, held), (cost, 0), "{account:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_budget_nothing_is_counted_and_without_a_price_nothing_is_asked() {
    let world = World::with_models(patient(), scripted()).await;
    assert_eq!(said(&world, "hello").await.status, RunStatus::Completed);
    assert_eq!(world.store.used(&tenant()).await.unwrap(), 0);

    let world = World::new(Config { budgets: all(1 << 50), ..patient() }).await;
    assert_eq!(said(&world, "hello").await.end_reason, Some(EndReason::SetupFailed));
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_has_nothing_left_is_told_whose_budget_it_is_and_no_model_is_asked() {
    not_at_midnight().await;
    for (budgets, whose) in [
        (Budgets { run: Some(5), ..Budgets::default() }, "one answer may cost"),
        (Budgets { user: Some(5), tenant: Some(1 << 50), ..Budgets::default() }, "Your budget"),
        (Budgets { tenant: Some(5), user: Some(1 << 50), ..Budgets::default() }, "your team"),
    ] {
        let provider = FakeProvider::echo();
        let world = World::with_models(Config { budgets, ..patient() }, fake(&provider)).await;
        let run = said(&world, "hello").await;
        assert_eq!(run.end_reason, Some(EndReason::SpendingLimit));
        let log = world.log(&run.run_id).await;
        let Some((_, Chunk::Error { error_text })) = log.last() else { panic!("{log:#?}") };
        assert!(error_text.contains(whose) && error_text.ends_with(" [spending_limit]"), "{error_text}");
        assert_eq!(provider.asked(), 0);
        // Who could have paid has paid nothing.
        for account in [Account::run(&run.run_id), user(), tenant()] {
            assert_eq!(world.store.used(&account).await.unwrap(), 0, "{account:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_a_provider_refuses_costs_nothing() {
    not_at_midnight().await;
    let provider = FakeProvider::start();
    provider.serve(vec![Reply::problem(Problem::Overloaded { after: None }); 9]);
    let world = World::with_models(Config { budgets: all(1 << 50), ..patient() }, fake(&provider)).await;
    assert_eq!(said(&world, "hello").await.end_reason, Some(EndReason::ModelOverloaded));
    assert!(provider.asked() > 1);
    assert_eq!(world.store.used(&tenant()).await.unwrap(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn two_hundred_runs_at_once_never_spend_more_than_the_limit() {
    not_at_midnight().await;
    // Each request may cost up to about 10,000 tokens, so some twenty are under way at a time.
    let limit = 200_000 * TOKEN;
    let budgets = Budgets { tenant: Some(limit), ..Budgets::default() };
    let world = World::with_models(Config { budgets, ..patient() }, scripted()).await;
    let ended = join_all((0..200).map(|_| said(&world, "@say 20 every 5ms"))).await;
    let (mut cost, mut completed) = (0, 0);
    for run in &ended {
        match run.end_reason {
            Some(EndReason::Completed) => completed += 1,
            Some(EndReason::SpendingLimit) => {}
            other => panic!("{other:?}"),
        }
        cost += tokens(&world, run).await * TOKEN;
    }
    assert!(completed > 0 && completed < 200, "{completed} completed: the limit shows nothing");
    assert!(cost <= limit);
    assert_eq!(world.store.used(&tenant()).await.unwrap(), cost, "the account is the sum of the requests");
    assert_eq!(world.store.held(&tenant()).await.unwrap(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn holders_that_die_anywhere_never_make_a_request_cheaper_than_it_was() {
    not_at_midnight().await;
    const RUNS: u64 = 40;
    let provider = FakeProvider::echo();
    // The sweeper looks soon.
    let limits = Limits { due_ahead_ms: 300, ..quick().limits };
    let config = Config { budgets: all(1 << 50), limits, ..quick() };
    let world = World::with_models(config, fake(&provider)).await;
    let died = join_all((0..RUNS).map(|n| {
        let world = &world;
        async move {
            let body = json!({"message": "@say 5 every 20ms"}).to_string();
            let run = world.runtime.start(&somebody(), &AgentChat::parse(body.as_bytes()).unwrap()).await.unwrap().run;
            let claim =
                world.runtime.claim(&run.run_id, 1, HolderKind::Background, false, None).await.unwrap().unwrap();
            let runtime = world.runtime.clone();
            let budget = runtime.budget(HolderKind::Background, None);
            let holder = tokio::spawn(async move { runtime.drive(claim, budget).await });
            tokio::time::sleep(Duration::from_millis(n * 10)).await;
            holder.abort();
            (run, u64::from(holder.await.is_err()))
        }
    }))
    .await;
    let killed: u64 = died.iter().map(|(_, killed)| killed).sum();
    assert!(killed > 5, "{killed} of {RUNS} died under way");

    // Others go on.
    loop {
        world.runtime.sweep(None).await.unwrap();
        let dispatches = std::mem::take(&mut *world.mailbox.0.lock().unwrap());
        for dispatch in dispatches {
            world.runtime.process(&world.runtime.verify(&dispatch).unwrap(), None).await.unwrap();
        }
        let runs = join_all(died.iter().map(|(run, _)| world.store.run(&run.run_id))).await;
        let runs: Vec<Run> = runs.into_iter().map(|run| run.unwrap().unwrap()).collect();
        if runs.iter().all(|run| run.status.is_terminal()) {
            assert!(runs.iter().all(|run| run.end_reason == Some(EndReason::Completed)), "{runs:#?}");
            break;
        }
    }
    // Who did not die holds nothing.
    for (run, killed) in &died {
        let held = world.store.held(&Account::run(&run.run_id)).await.unwrap();
        assert!(*killed == 1 || held == 0, "{held}");
    }
    // Every answer costs the same.
    let answer = tokens(&world, &died[0].0).await * TOKEN;
    let asked = provider.asked() as u64;
    for account in [user(), tenant()] {
        let (used, held) = (world.store.used(&account).await.unwrap(), world.store.held(&account).await.unwrap());
        let paid = used - held;
        assert_eq!(paid % answer, 0, "paid is a whole number of answers");
        assert!(paid / answer >= RUNS && paid / answer <= asked, "{} answers of {asked} requests", paid / answer);
        assert!(used >= asked * answer, "{asked} requests, and {used} is less than they cost");
    }
}
