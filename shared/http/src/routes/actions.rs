//! The actions: `GET`, `POST`, `PUT` or `DELETE /api/{action}`, as each one declares.
//!
//! This only brings the input and carries the result: everything else is `Registry::call`, the same for all doors.

use std::time::Duration;

use axum::Json;
use axum::body::Body;
use axum::extract::{Path, Query, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};
use tandem_actions::{ActionError, Call, Effect, Entry, IdempotencyKey, Method as Declared, Once};
use tandem_protocol::{Caller as Door, Code, Principal, Problem, Run, RunId, RunStatus};
use tandem_runs::{Runtime, TooMany};
use tandem_store::{new_id, now_ms};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use crate::caller::{Caller, Through, Traced, Until};
use crate::query::is_added;
use crate::sse::run_headers;
use crate::{ApiError, App};

/// Longest body; counted while it is read.
pub(crate) const MAX_BODY: usize = 1024 * 1024;
/// Left to answer with, before an invocation is killed.
const MARGIN: Duration = Duration::from_secs(2);
/// Beyond the action's own time: to read and to store.
const OVERHEAD: Duration = Duration::from_secs(5);
const KEY_HEADER: &str = "idempotency-key";

pub(crate) async fn call(
    State(app): State<App>,
    Traced(runtime): Traced,
    Caller(principal): Caller,
    Through(door): Through,
    Until(killed_at): Until,
    Path(name): Path<String>,
    request: Request,
) -> Result<Response, Refusal> {
    let (Parts { method, uri, headers, .. }, body) = request.into_parts();
    let registry = app.runtime.agent().registry();
    let Some(entry) = registry.get(&name).filter(|entry| entry.is_on(door)) else {
        // The registry says which names are near.
        let unknown = registry.check(&name, Value::Null, &principal, door);
        return Err(unknown.err().unwrap_or(ActionError::Forbidden).into());
    };
    if !fits(entry.method(), &method) {
        return Err(Refusal::Method(entry.method()));
    }
    let input = match entry.method() {
        Declared::Get => registry.read_text(&name, &arguments(&uri, entry)?),
        Declared::Post | Declared::Put | Declared::Delete => read(body).await?,
    };
    if entry.effect() == Effect::Checkpointed {
        let asking = Asking { principal: &principal, door, key: key(&headers)?, killed_at };
        return Ok(accepted(&start(&runtime, &name, input, asking).await?, &name));
    }
    let call = new_call(&app, entry, principal, door, killed_at, key(&headers)?);
    // In a task of its own: disconnecting is not stopping, and must not cut an effect in half.
    let registry = registry.clone();
    let work = async move { registry.call(&name, input, call).await };
    let output = app.runtime.tasks().spawn(work.in_current_span()).await.map_err(|error| {
        tracing::error!(%error, "a call broke down");
        ApiError::new(Code::Internal, "Report the request id to the operator.")
    })??;
    let mut response = Json(output).into_response();
    if method == Method::HEAD {
        *response.body_mut() = Body::empty();
    }
    Ok(response)
}

/// A call of a person through one of the doors, from now on.
pub(crate) fn new_call(
    app: &App,
    entry: &Entry,
    principal: Principal,
    caller: Door,
    killed_at: Option<Instant>,
    key: Option<IdempotencyKey>,
) -> Call {
    let config = app.runtime.config();
    // Waiting for another request with the same key, and then its own time.
    let deadline = Instant::now() + entry.timeout() + config.lease + OVERHEAD;
    Call {
        store: app.runtime.store().clone(),
        principal,
        caller,
        run: None,
        thread: None,
        turn: None,
        tool_call: None,
        once: key.map(|key| Once { key, heartbeat: config.heartbeat, lease: config.lease }),
        idempotency_key: new_id(),
        started_at: now_ms(),
        deadline: killed_at.map_or(deadline, |killed| deadline.min(killed.checked_sub(MARGIN).unwrap_or(killed))),
        cancel: CancellationToken::new(),
        progress: None,
    }
}

/// The run that carries out an action which takes longer than a request: follow it for what comes of it.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct UnderWay {
    run_id: RunId,
    action: String,
    status: RunStatus,
}

impl UnderWay {
    pub(crate) fn of(run: &Run, action: &str) -> Self {
        UnderWay { run_id: run.run_id.clone(), action: action.to_owned(), status: run.status }
    }
}

/// Who asks for a long action, through which door.
pub(crate) struct Asking<'a> {
    pub(crate) principal: &'a Principal,
    pub(crate) door: Door,
    pub(crate) key: Option<IdempotencyKey>,
    pub(crate) killed_at: Option<Instant>,
}

/// Starts the run that carries out an action which takes longer than a request; with the key of an earlier call it is
/// that call's run.
pub(crate) async fn start(runtime: &Runtime, name: &str, input: Value, asking: Asking<'_>) -> Result<Run, ActionError> {
    let Asking { principal, door, key, killed_at } = asking;
    let started = runtime.start_action(principal, door, name, input, key.as_ref()).await?;
    if started.fresh {
        runtime.see_off(&started.run, killed_at).await;
    }
    Ok(started.run)
}

fn accepted(run: &Run, action: &str) -> Response {
    let mut response = (StatusCode::ACCEPTED, Json(UnderWay::of(run, action))).into_response();
    run_headers(&mut response, run);
    if let Ok(place) = HeaderValue::from_str(&format!("/runs/{}", run.run_id)) {
        response.headers_mut().insert(header::LOCATION, place);
    }
    response
}

/// Whether a request with this method may run the action: nothing but what it declares, and HEAD where that is GET.
fn fits(declared: Declared, method: &Method) -> bool {
    match declared {
        Declared::Get => method == Method::GET || method == Method::HEAD,
        Declared::Post => method == Method::POST,
        Declared::Put => method == Method::PUT,
        Declared::Delete => method == Method::DELETE,
    }
}

/// What the query says, without what caches and newsletters have added to it.
fn arguments(uri: &Uri, entry: &Entry) -> Result<Vec<(String, String)>, ApiError> {
    let is_own = |name: &str| !is_added(name) || entry.input_schema()["properties"].get(name).is_some();
    match Query::<Vec<(String, String)>>::try_from_uri(uri) {
        Ok(Query(arguments)) => Ok(arguments.into_iter().filter(|(name, _)| is_own(name)).collect()),
        Err(error) => Err(unreadable("The query cannot be read.", error)),
    }
}

/// The body as JSON, whatever its content type says; no body is an empty object.
async fn read(body: Body) -> Result<Value, ApiError> {
    let body = crate::body::read(body, MAX_BODY).await?;
    if body.iter().all(u8::is_ascii_whitespace) {
        return Ok(Value::Object(Map::new()));
    }
    serde_json::from_slice(&body).map_err(|error| unreadable("The body must be JSON.", error))
}

fn key(headers: &HeaderMap) -> Result<Option<IdempotencyKey>, ApiError> {
    let mut values = headers.get_all(KEY_HEADER).iter();
    let key = match (values.next(), values.next()) {
        (None, _) => return Ok(None),
        (Some(value), None) => IdempotencyKey::new(value.to_str().unwrap_or_default()),
        (Some(_), Some(_)) => Err("must be sent once".to_owned()),
    };
    key.map(Some).map_err(|fault| ApiError::invalid("header Idempotency-Key", fault))
}

fn unreadable(detail: &str, cause: impl ToString) -> ApiError {
    ApiError(Box::new(Problem::new(Code::InvalidRequest, detail).at("", cause.to_string())))
}

/// Why there is no result.
pub(crate) enum Refusal {
    Problem(ApiError),
    /// The action is called with this method and no other.
    Method(Declared),
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        match self {
            Refusal::Problem(problem) => problem.into_response(),
            Refusal::Method(declared) => {
                let allow = match declared {
                    Declared::Get => "GET, HEAD",
                    Declared::Post => "POST",
                    Declared::Put => "PUT",
                    Declared::Delete => "DELETE",
                };
                ([(header::ALLOW, allow)], ApiError::method_not_allowed()).into_response()
            }
        }
    }
}

impl From<ApiError> for Refusal {
    fn from(problem: ApiError) -> Self {
        Refusal::Problem(problem)
    }
}

impl From<ActionError> for Refusal {
    fn from(error: ActionError) -> Self {
        Refusal::Problem(problem(error))
    }
}

/// What went wrong with an action, as a problem. A stored failure reads the same as a fresh one.
pub(crate) fn problem(error: ActionError) -> ApiError {
    let detail = sentence(&error.to_string());
    let (code, detail) = match error {
        ActionError::NotFound { .. } => (Code::NotFound, detail),
        ActionError::Forbidden => (Code::Forbidden, detail),
        ActionError::Invalid(errors) => {
            let mut problem = Problem::new(Code::InvalidInput, "The input has faults; all of them are in `errors`.");
            problem.errors = errors;
            return ApiError(Box::new(problem));
        }
        ActionError::Failed { code, message } => match code.as_str() {
            "timeout" => (Code::Timeout, detail),
            "conflict" => (Code::Conflict, detail),
            "too_large" => (Code::TooLarge, detail),
            "internal" => (Code::Internal, format!("{} Report the request id to the operator.", sentence(&message))),
            _ => (Code::ActionFailed, detail),
        },
        ActionError::Timeout(_) => (Code::Timeout, detail),
        ActionError::Conflict => (Code::Conflict, detail),
        ActionError::TooLarge(_) => (Code::TooLarge, detail),
        ActionError::Closed => (Code::Conflict, detail),
        ActionError::Unknown => (Code::OutcomeUnknown, detail),
        ActionError::InProgress => {
            let mut problem = Problem::new(Code::InProgress, detail);
            problem.retry_after = Some(1);
            return ApiError(Box::new(problem));
        }
        ActionError::KeyReused => (Code::KeyReused, detail),
        ActionError::TooMany { text, retry_after } => return TooMany { text, retry_after }.into(),
        ActionError::Cancelled => {
            (Code::Timeout, "Time was up before it was done: send the same again, with the same key, to go on.".into())
        }
        ActionError::Store(error) => return error.into(),
    };
    ApiError::new(code, detail)
}

fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(char::to_uppercase).into_iter().flatten();
    let end = if text.ends_with(['.', '?', '!', ']']) { "" } else { "." };
    first.chain(letters).chain(end.chars()).collect()
}
