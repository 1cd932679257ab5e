//! A foreground on an engine in memory, without a socket.

use std::sync::Arc;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, Method, Request};
use axum::response::Response;
use serde_json::Value;
use tandem_actions::Registry;
use tandem_agent::{Agent, Limits};
use tandem_auth::{Authenticate, DevPrincipals, DispatchKeys};
use tandem_embedded::Engine;
use tandem_http::{App, Cors, Hosts, Pages, router};
use tandem_model::Models;
use tandem_runs::{Config, Runtime};
use tandem_store::Store;
use tower::ServiceExt;

const TABLE: &str = "tandem";
/// A holder that is alive is not taken for dead, however slow the machine is.
const LEASE_MS: &str = "5000";
/// For what is about a holder that dies: it is noticed soon.
const SHORT_LEASE_MS: &str = "600";

/// Of the environment, before what is set for all tests: names and values.
pub(crate) type Settings = &'static [(&'static str, &'static str)];

#[derive(Clone)]
pub(crate) struct Api {
    engine: Engine,
    registry: Arc<Registry>,
    settings: Settings,
    router: Router,
    pub(crate) store: Store,
}

/// An answer as a client sees it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    /// Null where there is no body.
    pub(crate) body: Value,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    /// Status and code of a problem.
    pub(crate) fn problem(&self) -> (u16, &str) {
        (self.status, self.body["code"].as_str().unwrap_or_default())
    }

    /// Where the faults are.
    pub(crate) fn pointers(&self) -> Vec<&str> {
        let faults = self.body["errors"].as_array().into_iter().flatten();
        faults.map(|fault| fault["pointer"].as_str().unwrap()).collect()
    }
}

impl Api {
    pub(crate) async fn new(registry: Registry) -> Self {
        Api::set(registry, &[]).await
    }

    /// The same where a death is noticed soon.
    pub(crate) async fn alert(registry: Registry) -> Self {
        Api::set(registry, &[("LEASE_MS", SHORT_LEASE_MS)]).await
    }

    pub(crate) async fn set(registry: Registry, settings: Settings) -> Self {
        let engine = Engine::in_memory().unwrap();
        Store::new(engine.client(), TABLE).create_table().await.unwrap();
        Api::on(engine, TABLE, Arc::new(registry), settings, models(), None)
    }

    fn again(&self, table: &str, models: Models, door: Option<Arc<dyn Authenticate>>) -> Self {
        Api::on(self.engine.clone(), table, Arc::clone(&self.registry), self.settings, models, door)
    }

    /// The same, and turns ask other models.
    pub(crate) fn asking(&self, models: Models) -> Self {
        self.again(TABLE, models, None)
    }

    /// Another process on the same table.
    pub(crate) fn another(&self) -> Self {
        self.again(TABLE, models(), None)
    }

    /// Another process on the same table, behind another door, which takes dispatches as well.
    pub(crate) fn behind(&self, door: Arc<dyn Authenticate>) -> Self {
        self.again(TABLE, models(), Some(door))
    }

    /// The same behind a door, without a table: whatever reaches for the store fails.
    pub(crate) fn without_store(&self, door: Arc<dyn Authenticate>) -> Self {
        self.again("nothing", models(), Some(door))
    }

    fn on(
        engine: Engine,
        table: &str,
        registry: Arc<Registry>,
        settings: Settings,
        models: Models,
        door: Option<Arc<dyn Authenticate>>,
    ) -> Self {
        let config = Config::from_env(&|name| {
            if let Some((_, value)) = settings.iter().find(|(known, _)| *known == name) {
                return Some((*value).to_owned());
            }
            let value = match name {
                "AGENT_CHAT_DURABLE_BACKGROUND" => "false",
                "LEASE_MS" => LEASE_MS,
                "HEARTBEAT_MS" => "100",
                "CLAIM_GRACE_MS" => "200",
                "MCP_ALLOWED_ORIGINS" => "https://app.example.com",
                // Those who only look at how a stream begins need not wait for its end.
                "STREAM_WINDOW_MS" if door.is_some() => "1000",
                _ => return None,
            };
            Some(value.to_owned())
        });
        let store = Store::new(engine.client(), table);
        let limits = Limits { max_steps: 10, max_output_tokens: 1000, budgets: Default::default() };
        let agent = Agent::new(store.clone(), Arc::clone(&registry), Arc::new(models), "You are a test.", limits);
        let runtime = Runtime::new(store.clone(), agent, config.unwrap(), DispatchKeys::development(), None);
        let hosts = Hosts { foreground: true, background: door.is_some(), pages: Pages::Any };
        let authenticate =
            door.unwrap_or_else(|| Arc::new(DevPrincipals::new(Some("http://127.0.0.1:1"), false).unwrap()));
        let router = router(App { runtime, authenticate, hosts, cors: Cors::Elsewhere });
        Api { engine, registry, settings, router, store }
    }

    pub(crate) async fn raw(&self, request: Request<Body>) -> Response {
        self.router.clone().oneshot(request).await.unwrap()
    }

    pub(crate) async fn send(&self, request: Request<Body>) -> Answer {
        let response = self.raw(request).await;
        let (parts, body) = response.into_parts();
        let bytes = to_bytes(body, usize::MAX).await.unwrap();
        let body = if bytes.is_empty() { Value::Null } else { serde_json::from_slice(&bytes).unwrap() };
        Answer { status: parts.status.as_u16(), headers: parts.headers, body }
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.send(request(Method::GET, path, &[], "")).await
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> Answer {
        self.send(request(Method::POST, path, &[], &body.to_string())).await
    }

    /// Starts a turn and gives its chunks, to the end.
    pub(crate) async fn turn(&self, body: &Value) -> Vec<Value> {
        let request = request(Method::POST, "/api/agent-chat", &[], &body.to_string());
        let response = self.router.clone().oneshot(request).await.unwrap();
        let bytes = to_bytes(response.into_body(), usize::MAX).await.unwrap();
        let text = std::str::from_utf8(&bytes).unwrap();
        let data = text.lines().filter_map(|line| line.strip_prefix("data: ")).filter(|data| *data != "[DONE]");
        data.map(|json| serde_json::from_str(json).unwrap()).collect()
    }

    /// With an idempotency key.
    pub(crate) async fn post_once(&self, path: &str, key: &str, body: &Value) -> Answer {
        self.send(request(Method::POST, path, &[("idempotency-key", key)], &body.to_string())).await
    }
}

fn models() -> Models {
    Models::from_env(|name| (name == "MODELS").then(|| "openai/other".to_owned())).unwrap()
}

pub(crate) fn request(method: Method, path: &str, headers: &[(&str, &str)], body: &str) -> Request<Body> {
    let request = Request::builder().method(method).uri(path);
    let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
    request.body(Body::from(body.to_owned())).unwrap()
}
