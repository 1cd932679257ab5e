//! A small application with an action of each effect, and of each way to fail.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tandem_actions::{
    ActionDef, ActionError, Call, Context, Effect, IdempotencyKey, Method, Once, Registry, Scope, action,
};
use tandem_embedded::Engine;
use tandem_protocol::{Caller, Principal, RunId, TenantId, ToolCallId, UserId};
use tandem_store::{Attached, Author, Commit, Outcome, Slot, Store, Unit};
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::elsewhere;

/// How often functions have run, by a name that each test chooses.
static RUNS: Mutex<BTreeMap<String, u32>> = Mutex::new(BTreeMap::new());

/// The idempotency keys with which `ring` has run, by a name that each test chooses.
static RINGS: Mutex<BTreeMap<String, Vec<String>>> = Mutex::new(BTreeMap::new());

/// What `call-out` and `ring` wait for, by a name that each test chooses; nothing, where there is no gate.
static GATES: Mutex<BTreeMap<String, Arc<Semaphore>>> = Mutex::new(BTreeMap::new());

/// A call that gets in the way of whoever has just read the value of this name, once.
pub(crate) static RIVALS: Mutex<BTreeMap<String, (Arc<Registry>, Call)>> = Mutex::new(BTreeMap::new());

pub(crate) fn runs_of(name: &str) -> u32 {
    RUNS.lock().unwrap().get(name).copied().unwrap_or_default()
}

pub(crate) fn rings_of(name: &str) -> Vec<String> {
    RINGS.lock().unwrap().get(name).cloned().unwrap_or_default()
}

/// From now on runs of this name wait until permits are added.
pub(crate) fn gate(name: &str) -> Arc<Semaphore> {
    let gate = Arc::new(Semaphore::new(0));
    GATES.lock().unwrap().insert(name.to_owned(), Arc::clone(&gate));
    gate
}

async fn pass(name: &str) {
    let gate = GATES.lock().unwrap().get(name).cloned();
    if let Some(gate) = gate {
        gate.acquire().await.unwrap().forget();
    }
}

/// Waits until something has run so often.
pub(crate) async fn until_run(name: &str, times: u32) {
    while runs_of(name) < times {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

fn ran(name: &str) {
    *RUNS.lock().unwrap().entry(name.to_owned()).or_default() += 1;
}

/// Something that the application gives its actions.
struct Greeting(&'static str);

pub(crate) struct App {
    pub(crate) registry: Arc<Registry>,
    pub(crate) store: Store,
    pub(crate) engine: Engine,
}

impl App {
    pub(crate) async fn new() -> Self {
        let engine = Engine::in_memory().unwrap();
        let store = Store::new(engine.client(), "tandem");
        store.create_table().await.unwrap();
        let registry = Registry::new(ACTIONS).unwrap().with(Greeting("hello"));
        App { registry: Arc::new(registry), store, engine }
    }

    /// A call by a person.
    pub(crate) fn person(&self) -> Call {
        let (tenant, user) = (TenantId::new("acme").unwrap(), UserId::new("ann").unwrap());
        Call {
            store: self.store.clone(),
            principal: Principal { tenant, user, roles: Vec::new() },
            caller: Caller::Http,
            run: None,
            thread: None,
            turn: None,
            tool_call: None,
            once: None,
            idempotency_key: "key".into(),
            started_at: 1_700_000_000_000,
            deadline: Instant::now() + Duration::from_secs(100_000),
            cancel: CancellationToken::new(),
            progress: None,
        }
    }

    /// A call by a person that is sent with an idempotency key. Nobody who works on it is taken for dead, however
    /// slow the machine is.
    pub(crate) fn keyed(&self, key: &str) -> Call {
        self.given_up_after(Duration::from_secs(60), key)
    }

    /// The same, for what is about a caller that dies: what nobody works on for 300 ms is given up.
    pub(crate) fn hasty(&self, key: &str) -> Call {
        self.given_up_after(Duration::from_millis(300), key)
    }

    fn given_up_after(&self, lease: Duration, key: &str) -> Call {
        let once = Once { key: IdempotencyKey::new(key).unwrap(), heartbeat: Duration::from_millis(50), lease };
        Call { once: Some(once), idempotency_key: tandem_store::new_id(), ..self.person() }
    }

    /// A tool call of the agent.
    pub(crate) fn tool(&self, id: &str) -> Call {
        let (run, call) = (run(), ToolCallId::new(id).unwrap());
        let idempotency_key = Call::key_of(&run, &call);
        Call { caller: Caller::Agent, run: Some(run), tool_call: Some(call), idempotency_key, ..self.person() }
    }

    pub(crate) async fn call(&self, name: &str, input: Value, call: Call) -> Result<Value, ActionError> {
        self.registry.call(name, input, call).await
    }

    pub(crate) fn spawn(&self, name: &'static str, input: Value, call: Call) -> JoinHandle<Result<Value, ActionError>> {
        let registry = Arc::clone(&self.registry);
        tokio::spawn(async move { registry.call(name, input, call).await })
    }

    /// A stored value, as a person of the same tenant finds it.
    pub(crate) async fn value(&self, name: &str) -> Option<Value> {
        let read = self.call("peek", json!({"name": name}), self.person()).await.unwrap();
        (!read.is_null()).then_some(read)
    }

    pub(crate) async fn write(&self, name: &str, value: Value) {
        let mut unit = self.unit();
        unit.put(&scope(), name, &value).await.unwrap();
        assert!(matches!(unit.commit(&Attached::default()).await.unwrap(), Commit::Committed(_)));
    }

    pub(crate) async fn forget(&self, name: &str) {
        let mut unit = self.unit();
        unit.delete(&scope(), name).await.unwrap();
        assert!(matches!(unit.commit(&Attached::default()).await.unwrap(), Commit::Committed(_)));
    }

    fn unit(&self) -> Unit {
        let principal = self.person().principal;
        let by = Author { user: principal.user.clone(), caller: Caller::Http, run_id: None };
        self.store.unit(&principal, by)
    }

    pub(crate) async fn outcome(&self, id: &str) -> Option<Outcome> {
        self.store.outcome(&slot(id)).await.unwrap()
    }

    pub(crate) async fn put_outcome(&self, id: &str, outcome: Outcome) {
        self.store.put_outcome(&slot(id), &outcome).await.unwrap();
    }

    pub(crate) async fn late_result(&self, id: &str) -> Option<Outcome> {
        self.store.late_result(&slot(id)).await.unwrap()
    }
}

fn run() -> RunId {
    RunId::new("run_1").unwrap()
}

fn slot(id: &str) -> Slot {
    Slot::Call { run: run(), call: ToolCallId::new(id).unwrap() }
}

pub(crate) fn scope() -> Scope {
    Scope::app("sample")
}

const ACTIONS: &[ActionDef] = &[
    action("peek").effect(Effect::Read).method(Method::Get).run(&peek),
    action("peek-and-write").effect(Effect::Read).run(&peek_and_write),
    action("add").effect(Effect::Transactional).run(&add),
    action("overtaken").effect(Effect::Transactional).run(&overtaken),
    action("fail").effect(Effect::Transactional).run(&fail),
    action("sleep").effect(Effect::Transactional).run(&sleep),
    action("careless").effect(Effect::Transactional).run(&careless),
    action("derive").effect(Effect::Transactional).run(&derive),
    action("count-up").effect(Effect::Checkpointed).run(&count_up),
    action("deliver").effect(Effect::External).run(&fail),
    action("call-out").effect(Effect::External).run(&call_out),
    action("ring").effect(Effect::Keyed).run(&ring),
    elsewhere::KEYED,
    elsewhere::EXTERNAL,
    action("when").effect(Effect::Keyed).run(&when),
    action("greet").effect(Effect::Transactional).run(&greet),
    action("lack").effect(Effect::Transactional).run(&lack),
];

/// Nothing to say.
#[derive(Deserialize, JsonSchema)]
struct Nothing {}

/// Which value.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Named {
    /// The value.
    name: String,
}

/// Add to a value.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Add {
    /// The value.
    name: String,
    /// How much.
    by: i64,
}

/// What it is now.
#[derive(Serialize, JsonSchema)]
struct Sum {
    value: i64,
}

async fn peek(input: Named, ctx: &mut Context) -> Result<Option<Value>, ActionError> {
    ctx.state.get(&scope(), &input.name).await
}

async fn peek_and_write(_: Nothing, ctx: &mut Context) -> Result<(), ActionError> {
    ctx.state.put(&scope(), "n", &1).await
}

async fn add(input: Add, ctx: &mut Context) -> Result<Sum, ActionError> {
    let value = ctx.state.get::<i64>(&scope(), &input.name).await?.unwrap_or_default() + input.by;
    ctx.state.put(&scope(), &input.name, &value).await?;
    Ok(Sum { value })
}

async fn overtaken(input: Named, ctx: &mut Context) -> Result<Sum, ActionError> {
    let before = ctx.state.get::<i64>(&scope(), &input.name).await?.unwrap_or_default();
    overtake(&input.name).await?;
    ran(&input.name);
    ctx.state.put(&scope(), &input.name, &(before + 1)).await?;
    Ok(Sum { value: before + 1 })
}

/// Lets the rival in, if there is one: between what the action has read and its commit.
pub(crate) async fn overtake(name: &str) -> Result<(), ActionError> {
    let rival = RIVALS.lock().unwrap().remove(name);
    if let Some((registry, call)) = rival {
        registry.call("add", json!({"name": name, "by": 100}), call).await?;
    }
    Ok(())
}

/// Fail in some way.
#[derive(Deserialize, JsonSchema)]
struct Fail {
    /// The way.
    how: String,
}

async fn fail(input: Fail, ctx: &mut Context) -> Result<Value, ActionError> {
    ctx.state.put(&scope(), "n", &1).await?;
    match input.how.as_str() {
        "refuse" => return Err(ActionError::failed("no_luck", "not with sk-ant-0123456789 today")),
        "panic" => panic!("on purpose"),
        "conflict" => ctx.state.put_at(&scope(), "m", 7, &1).await?,
        "long-output" => return Ok(json!("x".repeat(181 * 1024))),
        "deep-output" => return Ok(deep()),
        "deep-value" => ctx.state.put(&scope(), "deep", &deep()).await?,
        "many-writes" => {
            for n in 0..90 {
                ctx.state.put(&scope(), &format!("k{n}"), &n).await?;
            }
        }
        "long-value" => ctx.state.put(&scope(), "long", &"x".repeat(201 * 1024)).await?,
        _ => {}
    }
    Ok(json!(""))
}

/// As deep as a value can be sent, and too deep to be read inside of another.
fn deep() -> Value {
    (0..120).fold(json!(1), |value, _| json!([value]))
}

/// Take long.
#[derive(Deserialize, JsonSchema)]
struct Sleep {
    /// How long.
    seconds: u64,
}

async fn sleep(input: Sleep, ctx: &mut Context) -> Result<(), ActionError> {
    ctx.state.put(&scope(), "n", &1).await?;
    tokio::time::sleep(Duration::from_secs(input.seconds)).await;
    Ok(())
}

async fn careless(_: Nothing, ctx: &mut Context) -> Result<Sum, ActionError> {
    let value = ctx.state.get::<i64>(&scope(), "n").await.unwrap_or_default().unwrap_or_default();
    Ok(Sum { value })
}

async fn derive(_: Nothing, ctx: &mut Context) -> Result<Value, ActionError> {
    Ok(json!({"now": ctx.now(), "ids": [ctx.new_id(), ctx.new_id()]}))
}

/// Add 1 again and again.
#[derive(Deserialize, JsonSchema)]
struct CountUp {
    /// The value.
    name: String,
    /// How often.
    by: i64,
    /// Time that each slice takes.
    #[serde(default)]
    seconds: u64,
}

async fn count_up(input: CountUp, ctx: &mut Context) -> Result<Sum, ActionError> {
    let mut done: i64 = ctx.cursor()?.unwrap_or_default();
    let ids_key = format!("{}-ids", input.name);
    while done < input.by {
        tokio::time::sleep(Duration::from_secs(input.seconds)).await;
        let value = ctx.state.get::<i64>(&scope(), &input.name).await?.unwrap_or_default() + 1;
        if done + 1 == input.by {
            overtake(&input.name).await?;
        }
        ctx.state.put(&scope(), &input.name, &value).await?;
        let mut ids: Vec<String> = ctx.state.get(&scope(), &ids_key).await?.unwrap_or_default();
        ids.push(ctx.new_id());
        ctx.state.put(&scope(), &ids_key, &ids).await?;
        done += 1;
        ctx.checkpoint(&done).await?;
    }
    Ok(Sum { value: done })
}

async fn call_out(input: Add, _: &mut Context) -> Result<Sum, ActionError> {
    ran(&input.name);
    pass(&input.name).await;
    match input.by {
        0 => Err(ActionError::failed("refused", "Nobody is there.")),
        -1 => Err(ActionError::Unknown),
        -2 => panic!("on purpose"),
        by => Ok(Sum { value: by }),
    }
}

async fn ring(input: Named, ctx: &mut Context) -> Result<String, ActionError> {
    RINGS.lock().unwrap().entry(input.name.clone()).or_default().push(ctx.idempotency_key().to_owned());
    ran(&input.name);
    pass(&input.name).await;
    Ok(ctx.idempotency_key().to_owned())
}

async fn when(input: Named, ctx: &mut Context) -> Result<Value, ActionError> {
    ran(&input.name);
    pass(&input.name).await;
    Ok(json!([ctx.now(), ctx.new_id()]))
}

async fn greet(_: Nothing, ctx: &mut Context) -> Result<&'static str, ActionError> {
    Ok(ctx.resource::<Greeting>()?.0)
}

async fn lack(_: Nothing, ctx: &mut Context) -> Result<String, ActionError> {
    Ok(ctx.resource::<String>()?.to_string())
}
