//! A small application with an action for each method, and for each way to fail.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tandem_actions::{ActionDef, ActionError, Approval, Context, Effect, Method, Registry, Scope, Surfaces, action};
use tokio::sync::Semaphore;

use crate::api::Api;

/// How often functions have run, by a name that each test chooses.
static RUNS: Mutex<BTreeMap<String, u32>> = Mutex::new(BTreeMap::new());

/// What functions wait for, by a name that each test chooses; nothing, where there is no gate.
static GATES: Mutex<BTreeMap<String, Arc<Semaphore>>> = Mutex::new(BTreeMap::new());

/// Names for which `call-out` stops its whole process, as a machine does that is put to sleep.
static FROZEN: Mutex<BTreeMap<String, mpsc::Receiver<()>>> = Mutex::new(BTreeMap::new());

pub(crate) async fn api() -> Api {
    Api::new(Registry::new(ACTIONS).unwrap()).await
}

/// The same where a death is noticed soon.
pub(crate) async fn alert_api() -> Api {
    Api::alert(Registry::new(ACTIONS).unwrap()).await
}

pub(crate) fn runs_of(name: &str) -> u32 {
    RUNS.lock().unwrap().get(name).copied().unwrap_or_default()
}

pub(crate) async fn until_run(name: &str, times: u32) {
    while runs_of(name) < times {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

/// From now on runs of this name wait until permits are added.
pub(crate) fn gate(name: &str) -> Arc<Semaphore> {
    let gate = Arc::new(Semaphore::new(0));
    GATES.lock().unwrap().insert(name.to_owned(), Arc::clone(&gate));
    gate
}

/// From now on the process that runs this name sleeps, until something is sent.
pub(crate) fn freeze(name: &str) -> mpsc::Sender<()> {
    let (wake, asleep) = mpsc::channel();
    FROZEN.lock().unwrap().insert(name.to_owned(), asleep);
    wake
}

async fn run_and_pass(name: &str) {
    *RUNS.lock().unwrap().entry(name.to_owned()).or_default() += 1;
    let asleep = FROZEN.lock().unwrap().remove(name);
    if let Some(asleep) = asleep {
        let _woken_or_killed = asleep.recv();
    }
    let gate = GATES.lock().unwrap().get(name).cloned();
    if let Some(gate) = gate {
        gate.acquire().await.unwrap().forget();
    }
}

const ACTIONS: &[ActionDef] = &[
    action("echo").effect(Effect::Read).method(Method::Get).run(&echo),
    action("echo-body").effect(Effect::Read).run(&echo),
    action("peek").effect(Effect::Read).method(Method::Get).run(&peek),
    action("add").effect(Effect::Transactional).run(&add),
    action("set").effect(Effect::Transactional).method(Method::Put).run(&set),
    action("clear").effect(Effect::Transactional).method(Method::Delete).run(&clear),
    action("fail").effect(Effect::Transactional).timeout(Duration::from_millis(300)).run(&fail),
    action("ring").effect(Effect::Keyed).run(&ring),
    action("call-out").effect(Effect::External).timeout(Duration::from_secs(20)).run(&call_out),
    // The same for agents, without a person in between.
    action("agent-out")
        .effect(Effect::External)
        .approval(Approval::Never)
        .timeout(Duration::from_secs(20))
        .run(&call_out),
    action("slow-out").effect(Effect::External).timeout(Duration::from_millis(300)).run(&call_out),
    action("for-admins").effect(Effect::Read).method(Method::Get).roles(&["admin"]).run(&peek),
    action("meet").effect(Effect::Read).timeout(Duration::from_secs(10)).run(&meet),
    action("take-turns").effect(Effect::Keyed).run(&take_turns),
    action("for-people").effect(Effect::Read).surfaces(Surfaces { mcp: false, ..Surfaces::ALL }).run(&peek),
    action("tally").effect(Effect::Checkpointed).run(&count),
    action("count-aloud").effect(Effect::Keyed).run(&count_aloud),
    action("for-agents").effect(Effect::Read).surfaces(Surfaces { http: false, ..Surfaces::ALL }).run(&peek),
];

fn scope() -> Scope {
    Scope::app("sample")
}

/// Says back what it was given.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Echo {
    /// A whole number.
    #[serde(skip_serializing_if = "Option::is_none")]
    n: Option<i64>,
    /// A number.
    #[serde(skip_serializing_if = "Option::is_none")]
    half: Option<f64>,
    /// Yes or no.
    #[serde(skip_serializing_if = "Option::is_none")]
    on: Option<bool>,
    /// A text.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    /// Numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    ids: Option<Vec<u32>>,
}

/// Which value.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Named {
    /// The value.
    name: String,
}

/// A value and a number.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Numbered {
    /// The value.
    name: String,
    /// The number.
    by: i64,
}

async fn echo(input: Echo, _: &mut Context) -> Result<Echo, ActionError> {
    Ok(input)
}

async fn peek(input: Named, ctx: &mut Context) -> Result<Option<Value>, ActionError> {
    ctx.state.get(&scope(), &input.name).await
}

async fn add(input: Numbered, ctx: &mut Context) -> Result<i64, ActionError> {
    let value = ctx.state.get::<i64>(&scope(), &input.name).await?.unwrap_or_default() + input.by;
    ctx.state.put(&scope(), &input.name, &value).await?;
    Ok(value)
}

async fn set(input: Numbered, ctx: &mut Context) -> Result<i64, ActionError> {
    ctx.state.put(&scope(), &input.name, &input.by).await?;
    Ok(input.by)
}

async fn clear(input: Named, ctx: &mut Context) -> Result<(), ActionError> {
    ctx.state.delete(&scope(), &input.name).await
}

async fn fail(input: Named, ctx: &mut Context) -> Result<String, ActionError> {
    match input.name.as_str() {
        "refuse" => return Err(ActionError::failed("no_luck", "Not with sk-ant-0123456789 today.")),
        "panic" => panic!("on purpose"),
        "conflict" => ctx.state.put_at(&scope(), "m", 7, &1).await?,
        "long-value" => ctx.state.put(&scope(), "long", &"x".repeat(201 * 1024)).await?,
        "sleep" => tokio::time::sleep(Duration::from_secs(60)).await,
        _ => {}
    }
    Ok(String::new())
}

async fn ring(input: Named, ctx: &mut Context) -> Result<String, ActionError> {
    run_and_pass(&input.name).await;
    Ok(ctx.idempotency_key().to_owned())
}

async fn call_out(input: Numbered, _: &mut Context) -> Result<i64, ActionError> {
    run_and_pass(&input.name).await;
    Ok(input.by)
}

async fn count(input: Numbered, ctx: &mut Context) -> Result<i64, ActionError> {
    run_and_pass(&input.name).await;
    for done in 1..=input.by {
        ctx.progress("Counting", u64::try_from(done).unwrap(), u64::try_from(input.by).ok());
        ctx.checkpoint(&done).await?;
    }
    Ok(input.by)
}

/// The same within a request.
async fn count_aloud(input: Numbered, ctx: &mut Context) -> Result<i64, ActionError> {
    for done in 1..=input.by {
        ctx.progress("Counting", u64::try_from(done).unwrap(), u64::try_from(input.by).ok());
    }
    Ok(input.by)
}

/// Ends when another call of the same name is under way.
async fn meet(input: Named, _: &mut Context) -> Result<u32, ActionError> {
    run_and_pass(&input.name).await;
    until_run(&input.name, 2).await;
    Ok(runs_of(&input.name))
}

/// How many calls of this name have begun by the time that this one ends.
async fn take_turns(input: Named, _: &mut Context) -> Result<u32, ActionError> {
    run_and_pass(&input.name).await;
    tokio::time::sleep(Duration::from_millis(100)).await;
    Ok(runs_of(&input.name))
}
