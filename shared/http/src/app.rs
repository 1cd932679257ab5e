//! The router and what every route shares.

use std::sync::Arc;

use axum::Router;
use axum::extract::FromRef;
use axum::http::{HeaderName, Method};
use axum::middleware::from_fn;
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
    let served = routes::table().into_iter().filter(|route| route.is_on(hosts));
    let router = served.fold(Router::new(), |router, route| router.route(route.path, route.serves));
    let router = router
        .fallback(|| async { ApiError::not_found("There is no such path; GET /openapi.json lists those that are.") })
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
