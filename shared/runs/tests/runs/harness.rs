//! A runtime on an engine in memory, and dispatches that are recorded instead of sent.

use std::sync::{Arc, Mutex};

use aws_sdk_dynamodb::config::{BehaviorVersion, Credentials, Region};
use aws_sdk_dynamodb::types::AttributeValue;
use tandem_actions::Registry;
use tandem_agent::{Agent, Limits};
use tandem_auth::{DispatchKeys, SignedDispatch};
use tandem_embedded::Engine;
use tandem_model::Models;
use tandem_protocol::{AgentChat, AttemptReason, Chunk, HolderKind, Principal, Run, RunId, TenantId, UserId};
use tandem_runs::{Config, Dispatch, DispatchError, Runtime};
use tandem_store::Store;
use tandem_testkit::faults::Proxy;
use tokio::net::TcpListener;

/// A way to the background where nobody listens: every dispatch is accepted, and kept.
#[derive(Default)]
pub(crate) struct Mailbox(pub(crate) Mutex<Vec<SignedDispatch>>);

#[async_trait::async_trait]
impl Dispatch for Mailbox {
    async fn dispatch(&self, dispatch: &SignedDispatch) -> Result<(), DispatchError> {
        self.0.lock().unwrap().push(dispatch.clone());
        Ok(())
    }
}

/// Nobody is taken for dead, however slow the machine is: for what is not about recovery.
pub(crate) fn patient() -> Config {
    Config { lease: std::time::Duration::from_secs(60), ..quick() }
}

pub(crate) struct World {
    pub(crate) store: Store,
    pub(crate) mailbox: Arc<Mailbox>,
    pub(crate) runtime: Runtime,
    engine: Engine,
    /// Where emails go.
    outbox: Arc<tempfile::TempDir>,
}

/// Short times, so that nothing waits long; the order between them is that of production.
pub(crate) fn quick() -> Config {
    let config = Config::from_env(&|name| {
        let value = match name {
            "HEARTBEAT_MS" => "100",
            "LEASE_MS" => "1500",
            "CLAIM_GRACE_MS" => "200",
            "FOREGROUND_SOFT_TIMEOUT_MS" => "3000",
            "HAND_OVER_MARGIN_MS" => "1000",
            "FLUSH_INTERVAL_MS" => "5",
            _ => return None,
        };
        Some(value.to_owned())
    });
    config.unwrap()
}

impl World {
    pub(crate) async fn new(config: Config) -> Self {
        Self::with_models(config, Models::from_env(|_| None).unwrap()).await
    }

    pub(crate) async fn with_models(config: Config, models: Models) -> Self {
        let engine = Engine::in_memory().unwrap();
        let store = Store::new(engine.client(), "tandem");
        store.create_table().await.unwrap();
        let mailbox = Arc::new(Mailbox::default());
        let outbox = Arc::new(tempfile::tempdir().unwrap());
        let runtime = Self::runtime(store.clone(), config, models, Arc::clone(&mailbox), &outbox);
        World { store, mailbox, runtime, engine, outbox }
    }

    /// Another process on the same table: it shares nothing in memory.
    pub(crate) fn elsewhere(&self, config: Config) -> Runtime {
        let models = Models::from_env(|_| None).unwrap();
        Self::runtime(self.store.in_another_process(), config, models, Arc::clone(&self.mailbox), &self.outbox)
    }

    /// A way to the store that can break.
    pub(crate) async fn proxy(&self) -> Proxy {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let engine = self.engine.clone();
        tokio::spawn(async move { engine.serve(listener).await });
        Proxy::open(&url).await.unwrap()
    }

    /// Another process whose way to the store is this one.
    pub(crate) fn through(&self, proxy: &Proxy, config: Config, models: Models) -> Runtime {
        Self::runtime(store_through(proxy), config, models, Arc::clone(&self.mailbox), &self.outbox)
    }

    /// Makes every idempotency key a day old.
    pub(crate) async fn age_keys(&self) {
        let client = self.engine.client();
        for item in client.scan().table_name("tandem").send().await.unwrap().items() {
            if item["sk"].as_s().unwrap() == "INTENT" {
                let past = AttributeValue::N("1".into());
                let update = client.update_item().table_name("tandem").update_expression("SET expires_at = :past");
                let update = update.key("pk", item["pk"].clone()).key("sk", item["sk"].clone());
                update.expression_attribute_values(":past", past).send().await.unwrap();
            }
        }
    }

    /// The emails that have left, in any order.
    pub(crate) fn outbox(&self) -> Vec<String> {
        let files = std::fs::read_dir(self.outbox.path()).unwrap();
        files.map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap()).collect()
    }

    fn runtime(
        store: Store,
        config: Config,
        models: Models,
        mailbox: Arc<Mailbox>,
        outbox: &tempfile::TempDir,
    ) -> Runtime {
        let outbox_dir = outbox.path().to_owned();
        let settings = tandem_catalog::Settings { outbox_dir, ..tandem_catalog::Settings::default() };
        let registry = Arc::new(tandem_catalog::registry_with(&settings).unwrap());
        let models = Arc::new(models);
        let limits = Limits { max_steps: 50, max_output_tokens: 1000, budgets: config.budgets };
        let agent = Agent::new(store.clone(), registry, models, "You are a test.", limits);
        Runtime::new(store, agent, config, DispatchKeys::development(), Some(mailbox))
    }

    pub(crate) async fn start(&self, message: &str) -> Run {
        let body = serde_json::json!({"message": message}).to_string();
        let chat = AgentChat::parse(body.as_bytes()).unwrap();
        self.runtime.start(&somebody(), &chat).await.unwrap().run
    }

    pub(crate) async fn log(&self, run: &RunId) -> Vec<(u32, Chunk)> {
        let frames = self.store.log_from(run, 0).await.unwrap();
        frames
            .iter()
            .flat_map(|frame| frame.parsed().unwrap().into_iter().map(|chunk| (frame.attempt, chunk)))
            .collect()
    }
}

/// A turn by name in a thread by name, as the AI SDK's transports send it.
pub(crate) fn chat(thread: &str, turn: &str, text: &str) -> AgentChat {
    let part = serde_json::json!({"type": "text", "text": text});
    let message = serde_json::json!({"id": turn, "role": "user", "parts": [part]});
    let body = serde_json::json!({"id": thread, "messages": [message]}).to_string();
    AgentChat::parse(body.as_bytes()).unwrap()
}

pub(crate) fn somebody() -> Principal {
    Principal { tenant: TenantId::new("t").unwrap(), user: UserId::new("u").unwrap(), roles: vec![] }
}

/// What holds of every log that has ended: attempts never decrease, and one terminal chunk is the last.
pub(crate) fn assert_whole(log: &[(u32, Chunk)]) {
    assert!(log.windows(2).all(|pair| pair[0].0 <= pair[1].0), "attempts never decrease: {log:#?}");
    let terminal = log.iter().filter(|(_, chunk)| chunk.is_terminal()).count();
    assert_eq!(terminal, 1, "one terminal chunk: {log:#?}");
    assert!(log.last().is_some_and(|(_, chunk)| chunk.is_terminal()), "and it is the last: {log:#?}");
}

/// A runtime on a store and with a way to the background of the test's own.
pub(crate) fn runtime_on(store: Store, config: Config, max_steps: u32, dispatch: Arc<dyn Dispatch>) -> Runtime {
    runtime_with(store, tandem_catalog::registry().unwrap(), config, max_steps, dispatch)
}

/// The same with other actions.
pub(crate) fn runtime_with(
    store: Store,
    registry: Registry,
    config: Config,
    max_steps: u32,
    dispatch: Arc<dyn Dispatch>,
) -> Runtime {
    let registry = Arc::new(registry);
    let models = Arc::new(Models::from_env(|_| None).unwrap());
    let limits = Limits { max_steps, max_output_tokens: 1000, budgets: config.budgets };
    let agent = Agent::new(store.clone(), registry, models, "You are a test.", limits);
    Runtime::new(store, agent, config, DispatchKeys::development(), Some(dispatch))
}

/// Who drove a run, and why, attempt by attempt.
pub(crate) fn attempts(log: &[(u32, Chunk)]) -> Vec<(u32, HolderKind, AttemptReason)> {
    let data = log.iter().filter_map(|(_, chunk)| match chunk {
        Chunk::DataAttempt { data, .. } => Some((data.attempt, data.holder, data.reason)),
        _ => None,
    });
    data.collect()
}

/// A turn of [`somebody`], in a thread of its own.
pub(crate) async fn start_on(runtime: &Runtime, message: &str) -> Run {
    let body = serde_json::json!({"message": message}).to_string();
    let chat = AgentChat::parse(body.as_bytes()).unwrap();
    runtime.start(&somebody(), &chat).await.unwrap().run
}

/// A store whose every call goes through a proxy.
pub(crate) fn store_through(proxy: &Proxy) -> Store {
    let client = aws_sdk_dynamodb::Config::builder()
        .behavior_version(BehaviorVersion::latest())
        .region(Region::from_static("us-east-1"))
        .credentials_provider(Credentials::new("local", "local", None, None, "local"))
        .endpoint_url(proxy.url());
    Store::new(aws_sdk_dynamodb::Client::from_conf(client.build()), "tandem")
}
