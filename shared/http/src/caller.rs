//! Who calls, and what the request says about itself.

use axum::extract::FromRequestParts;
use axum::http::Method;
use axum::http::header::{ACCEPT, AUTHORIZATION};
use axum::http::request::Parts;
use tandem_auth::AuthError;
use tandem_protocol::{Caller as Door, Code, Principal, Problem};
use tandem_runs::Runtime;
use tandem_store::now_ms;
use tokio::time::Instant;

use crate::request::RequestId;
use crate::routes::tickets;
use crate::tally::Tally;
use crate::{ApiError, App, Deadline};

static REFUSED: Tally = Tally::new();

/// Nobody was let in.
fn tell_refused() {
    if let Some(count) = REFUSED.add(Instant::now().into_std()) {
        tracing::info!(count, "sign-ins refused");
    }
}

/// The authenticated caller, whose requests are counted; the first thing that a route asks for.
pub(crate) struct Caller(pub(crate) Principal);

impl FromRequestParts<App> for Caller {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        let Stopping(principal) = Stopping::from_request_parts(parts, app).await?;
        app.runtime.admit(&principal).await?;
        Ok(Caller(principal))
    }
}

/// The authenticated caller of a route that stops something: no limit of requests keeps people from that.
pub(crate) struct Stopping(pub(crate) Principal);

impl FromRequestParts<App> for Stopping {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        let mut values = parts.headers.get_all(AUTHORIZATION).iter();
        let header = match (values.next(), values.next()) {
            (None, _) => None,
            (Some(value), None) => Some(value.to_str().unwrap_or("")),
            // Twice is not absent, and not a choice.
            (Some(_), Some(_)) => Some(""),
        };
        if header.is_none()
            && let Some(ticket) = ticket_of(parts)
        {
            let principal = app.runtime.keys().open_ticket(&ticket, parts.uri.path(), now_ms());
            return principal.map(Stopping).ok_or_else(|| {
                tell_refused();
                let detail =
                    "The ticket is older than a minute, or not for this path: ask for another with POST /tickets.";
                ApiError::new(Code::Unauthenticated, detail)
            });
        }
        let principal = app.authenticate.authenticate(header).await;
        let principal = principal.map_err(|error| {
            if matches!(error, AuthError::Unauthenticated { .. }) {
                tell_refused();
            }
            ApiError(Box::new(Problem::from(error)))
        })?;
        Ok(Stopping(principal))
    }
}

/// The ticket of a request for a stream. Anywhere else `ticket` means nothing.
fn ticket_of(parts: &Parts) -> Option<String> {
    if parts.method != Method::GET || !tickets::is_stream(parts.uri.path()) {
        return None;
    }
    let query = form_urlencoded::parse(parts.uri.query()?.as_bytes());
    query.into_iter().find(|(name, _)| name == "ticket").map(|(_, ticket)| ticket.into_owned())
}

/// The door through which an action is called over HTTP. The command line says that it is one: the same person may do the
/// same either way, and what was done shows how.
pub(crate) struct Through(pub(crate) Door);

impl<S: Send + Sync> FromRequestParts<S> for Through {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Self::Rejection> {
        let is_cli = parts.headers.get("tandem-caller").is_some_and(|name| name == "cli");
        Ok(Through(if is_cli { Door::Cli } else { Door::Http }))
    }
}

/// A runtime whose new runs belong to the request's trace.
pub(crate) struct Traced(pub(crate) Runtime);

impl FromRequestParts<App> for Traced {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Self::Rejection> {
        let trace = parts.extensions.get::<RequestId>();
        Ok(Traced(trace.map_or_else(|| app.runtime.clone(), |RequestId(trace)| app.runtime.in_trace(trace))))
    }
}

/// Whether the caller wants JSON instead of a stream.
pub(crate) struct WantsJson(pub(crate) bool);

impl<S: Send + Sync> FromRequestParts<S> for WantsJson {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Self::Rejection> {
        let accept = parts.headers.get(ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or("");
        let names = |kind: &str| accept.split(',').any(|part| part.trim().split(';').next() == Some(kind));
        Ok(WantsJson(names("application/json") && !names("text/event-stream")))
    }
}

/// When this invocation is killed, if it is one.
pub(crate) struct Until(pub(crate) Option<Instant>);

impl<S: Send + Sync> FromRequestParts<S> for Until {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Self::Rejection> {
        Ok(Until(parts.extensions.get::<Deadline>().map(|deadline| deadline.0)))
    }
}
