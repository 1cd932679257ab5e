//! Requests of a stranger and of somebody who has signed in: the first byte chooses the route, the next ones how much of
//! the rest goes into the query, a header and the body.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::Request;
use tandem_agent::{Agent, Limits};
use tandem_auth::{DevPrincipals, DispatchKeys};
use tandem_catalog::Settings;
use tandem_embedded::Engine;
use tandem_http::{App, Cors, Hosts, Pages, router};
use tandem_model::Models;
use tandem_runs::{Config, Runtime};
use tandem_store::Store;
use tower::ServiceExt;

/// `*` is where a path takes something from outside.
const ROUTES: [&str; 20] = [
    "GET /events",
    "GET /threads",
    "POST /threads",
    "GET /threads/*",
    "PATCH /threads/t",
    "GET /threads/t/messages",
    "POST /threads/t/turns/*/abort",
    "GET /runs/active",
    "GET /runs/*",
    "GET /runs/*/events",
    "POST /runs/*/approvals/c",
    "GET /state/*",
    "GET /state/user/events",
    "PUT /state/user/docs/*",
    "PUT /presence/user",
    "GET /api/list-emails",
    "POST /api/remember",
    "POST /mcp",
    "GET /api/agent-chat/*/stream",
    "POST /_agent-native/agent-chat/_process-run",
];

async fn app() -> Router {
    let store = Store::new(Engine::in_memory().unwrap().client(), "tandem");
    store.create_table().await.unwrap();
    let registry = Arc::new(tandem_catalog::registry_with(&Settings::default()).unwrap());
    let models = Arc::new(Models::from_env(|_| None).unwrap());
    let agent = Agent::new(
        store.clone(),
        registry,
        models,
        "You are a test.",
        Limits { max_steps: 2, max_output_tokens: 100, budgets: Default::default() },
    );
    let config = Config::from_env(&|name| {
        let value = match name {
            "AGENT_CHAT_DURABLE_BACKGROUND" => "false",
            "STREAM_WINDOW_MS" => "4",
            _ => return None,
        };
        Some(value.to_owned())
    });
    let runtime = Runtime::new(store, agent, config.unwrap(), DispatchKeys::development(), None);
    let authenticate = Arc::new(DevPrincipals::new(Some("http://127.0.0.1:1"), false).unwrap());
    let hosts = Hosts { foreground: true, background: true, pages: Pages::Any };
    router(App { runtime, authenticate, hosts, cors: Cors::Everybody })
}

/// No request is a fault on our side, and every refusal is a problem.
pub(crate) fn check(bytes: &[u8]) {
    static APP: OnceLock<Router> = OnceLock::new();
    let [route, a, b, c, rest @ ..] = bytes else { return };
    let app = APP.get_or_init(|| crate::runtime().block_on(app()));
    let (method, path) = ROUTES[usize::from(*route) % ROUTES.len()].split_once(' ').unwrap();
    let (query, rest) = rest.split_at(usize::from(*a).min(rest.len()));
    let (header, body) = rest.split_at(usize::from(*b).min(rest.len()));
    let place = if query.is_empty() { "x".into() } else { escaped(query) };
    let uri = format!("{}?{}", path.replace('*', &place), String::from_utf8_lossy(query));
    let request = Request::builder().method(method).uri(uri).header("accept", "application/json, text/event-stream");
    let request = request.header("content-type", "application/json").header("last-event-id", header);
    let request = match c % 4 {
        0 => request.header("authorization", header),
        1 => request.header("idempotency-key", header),
        2 => request.header("mcp-protocol-version", header),
        _ => request,
    };
    // What no client can send.
    let Ok(request) = request.body(Body::from(body.to_vec())) else { return };
    let shown = format!("{method} {} {:?}", request.uri(), request.headers());
    crate::runtime().block_on(async {
        let answered = tokio::time::timeout(Duration::from_secs(20), app.clone().oneshot(request));
        let response = answered.await.unwrap_or_else(|_| panic!("{shown} is not answered")).unwrap();
        let (status, kind) = (response.status(), response.headers().get("content-type").cloned());
        let body = tokio::time::timeout(Duration::from_secs(20), to_bytes(response.into_body(), usize::MAX)).await;
        let body = body.unwrap_or_else(|_| panic!("{shown} does not end")).unwrap();
        let body = String::from_utf8_lossy(&body);
        assert!(status.as_u16() < 500, "{shown} {status} {body}");
        let is_problem = kind.is_some_and(|kind| kind == "application/problem+json");
        // MCP has errors of its own.
        assert!(!status.is_client_error() || is_problem || path == "/mcp", "{shown} {status} {body}");
    });
}

/// As a place in a path.
fn escaped(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("%{byte:02X}")).collect()
}

pub(crate) fn samples() -> Vec<Vec<u8>> {
    let sample = |route: &str, query: &str, header: &str, body: &str| {
        let at = ROUTES.iter().position(|known| *known == route).unwrap();
        let [at, a, b] = [at, query.len(), header.len()].map(|n| u8::try_from(n).unwrap());
        [&[at, a, b, 3], query.as_bytes(), header.as_bytes(), body.as_bytes()].concat()
    };
    // {"t":["t",{"r":1,"v":1,"n":2,"c":["run_1",7]}],"s":{"user":3}}
    let cursor = "eyJ0IjpbInQiLHsiciI6MSwidiI6MSwibiI6MiwiYyI6WyJydW5fMSIsN119XSwicyI6eyJ1c2VyIjozfX0";
    let mcp = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"recall","arguments":{}}}"#;
    vec![
        sample("GET /events", "scope=user@0&scope=app:inbox", cursor, ""),
        sample("GET /events", &format!("thread=t@1.1.0&cursor={cursor}"), "", ""),
        sample("GET /threads", "limit=2&q=a&archived=true&cursor=abc", "", ""),
        sample("POST /threads", "", "", "{\"threadId\":\"t\",\"title\":\"T\"}"),
        sample("PATCH /threads/t", "", "", "{\"title\":\"T\",\"shared\":true,\"archived\":false}"),
        sample("GET /threads/t/messages", "cursor=4&limit=10", "", ""),
        sample("GET /runs/active", "threadId=t", "", ""),
        sample("GET /runs/*/events", "after=4&wait=0", "4", ""),
        sample("POST /runs/*/approvals/c", "run_1", "", "{\"approved\":true,\"reason\":\"x\"}"),
        // 3/memory/a
        sample("GET /state/*", "user", "", ""),
        sample("GET /state/user/events", "after=0&wait=0", "0", ""),
        sample("PUT /state/user/docs/*", "a/b", "", "{\"value\":{\"x\":[1,2.5,null]},\"ifRev\":0}"),
        sample("PUT /presence/user", "", "", "{\"client\":\"w1\",\"activity\":{\"reads\":\"e-3\"}}"),
        sample("GET /api/list-emails", "limit=2&unread=true", "", ""),
        sample("POST /api/remember", "", "", "{\"name\":\"a\",\"text\":\"b\",\"scope\":\"tenant\"}"),
        sample("POST /mcp", "", "", mcp),
        sample("GET /api/agent-chat/*/stream", "run_1", "", ""),
        sample(
            "POST /_agent-native/agent-chat/_process-run",
            "",
            "",
            "{\"runId\":\"run_1\",\"version\":1,\"issuedAt\":1,\"kid\":\"development\",\"signature\":\"00\"}",
        ),
    ]
}
