//! The router and what every route shares.

use std::sync::Arc;

use axum::Router;
use axum::extract::FromRef;
use axum::middleware::{from_fn, from_fn_with_state};
use tandem_auth::Authenticate;
use tandem_runs::Runtime;
use tokio::time::Instant;

use crate::{ApiError, Cors, Pages, pages, request, routes, sign_in};

/// What every route shares.
#[derive(Clone)]
pub struct App {
    pub runtime: Runtime,
    pub authenticate: Arc<dyn Authenticate>,
    pub hosts: Hosts,
    pub cors: Cors,
}

/// Which sides of the tandem this process serves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hosts {
    /// The endpoints for people.
    pub foreground: bool,
    /// The endpoint for signed dispatches.
    pub background: bool,
    /// Which web pages may call.
    pub pages: Pages,
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
    let (hosts, cors) = (app.hosts, app.cors.clone().layer());
    let served = routes::table().into_iter().filter(|route| route.is_on(hosts));
    let router = served.fold(Router::new(), |router, route| router.route(route.path, route.serves));
    let router = router
        .fallback(|| async { ApiError::not_found("There is no such path; GET /openapi.json lists those that are.") })
        .method_not_allowed_fallback(|| async { ApiError::method_not_allowed() })
        .layer(from_fn_with_state(hosts.pages, pages::check))
        .layer(from_fn_with_state(app.clone(), sign_in::point))
        .layer(from_fn(request::identify))
        .with_state(app);
    match cors {
        Some(cors) => router.layer(cors),
        None => router,
    }
}
