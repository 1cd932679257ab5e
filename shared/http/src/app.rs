//! The router and what every route shares.

use std::sync::Arc;

use axum::Router;
use axum::extract::FromRef;
use axum::http::{HeaderName, Method};
use axum::middleware::from_fn;
use axum::routing::{any, get, post};
use tandem_auth::Authenticate;
use tandem_runs::Runtime;
use tokio::time::Instant;
use tower_http::cors::{AllowHeaders, Any, CorsLayer};

use crate::{ApiError, request, routes};

/// What every route shares.
#[derive(Clone)]
pub struct App {
    pub runtime: Runtime,
    pub authenticate: Arc<dyn Authenticate>,
    pub hosts: Hosts,
}

/// Which sides of the tandem this process serves, and whether it answers CORS itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hosts {
    /// The endpoints for people.
    pub foreground: bool,
    /// The endpoint for signed dispatches.
    pub background: bool,
    /// On Lambda the Function URL answers CORS; a second answer would be refused by browsers.
    pub cors: bool,
}

/// When the invocation that serves a request is killed; an extension of the request on Lambda, absent elsewhere.
#[derive(Debug, Clone, Copy)]
pub struct Deadline(pub Instant);

impl FromRef<App> for Runtime {
    fn from_ref(app: &App) -> Self {
        app.runtime.clone()
    }
}

/// All routes of this process.
pub fn router(app: App) -> Router {
    let hosts = app.hosts;
    let mut router = Router::new().route("/healthz", get(routes::healthz::show));
    if hosts.foreground {
        router = router
            .route("/api/agent-chat", post(routes::agent_chat::start))
            .route("/api/agent-chat/{id}/stream", get(routes::resume::stream))
            .route("/api/{action}", any(routes::actions::call))
            .route("/mcp", post(routes::mcp::serve))
            .route("/runs", get(routes::runs::list))
            .route("/runs/active", get(routes::runs::active))
            .route("/runs/{run}", get(routes::runs::show))
            .route("/runs/{run}/events", get(routes::events::follow))
            .route("/runs/{run}/abort", post(routes::runs::abort))
            .route("/events", get(routes::window::events))
            .route("/state/{scope}", get(routes::state::snapshot))
            .route("/state/{scope}/events", get(routes::state_events::changes))
            .route(
                "/state/{scope}/docs/{*key}",
                get(routes::state::show).put(routes::state::put).delete(routes::state::delete),
            )
            .route("/presence/{scope}", get(routes::presence::show).put(routes::presence::put))
            .route("/threads", get(routes::threads::list).post(routes::threads::create))
            .route(
                "/threads/{thread}",
                get(routes::threads::show).patch(routes::threads::change).delete(routes::threads::delete),
            )
            .route("/threads/{thread}/messages", get(routes::threads::messages));
    }
    if hosts.background {
        router = router.route("/_agent-native/agent-chat/_process-run", post(routes::process_run::process));
    }
    let router = router
        .fallback(|| async { ApiError::not_found("There is no such path; the README lists those that are.") })
        .method_not_allowed_fallback(|| async { ApiError::method_not_allowed() })
        .layer(from_fn(request::identify))
        .with_state(app);
    if hosts.cors { router.layer(cors()) } else { router }
}

/// Tokens travel in a header and never in cookies, so any origin may call.
fn cors() -> CorsLayer {
    let shown = ["x-run-id", "x-thread-id", "x-workflow-run-id", "x-workflow-stream-tail-index", "x-request-id"];
    CorsLayer::new()
        .allow_origin(Any)
        .allow_methods([Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE])
        // Not "*": that would leave out Authorization.
        .allow_headers(AllowHeaders::mirror_request())
        .expose_headers(shown.map(HeaderName::from_static))
        .max_age(std::time::Duration::from_secs(3600))
}
