//! `/presence/{scope}`: who is here, and what they do.

use axum::Json;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};
use tandem_protocol::{Code, Problem, pointer};
use tandem_store::{MAX_ACTIVITY_BYTES, Present};

use crate::caller::Caller;
use crate::description::{Operation, operation};
use crate::routes::state::scope_of;
use crate::{ApiError, App, body};

const MAX_BODY: usize = 16 * 1024;
/// Longest name of a client.
const MAX_CLIENT: usize = 64;

/// A sign of life, for the description.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[allow(dead_code)]
struct PutView {
    /// Names this window.
    #[schemars(extend("pattern" = "^[A-Za-z0-9_.:~-]{1,64}$"))]
    client: String,
    /// What the person does here, at most 2 KB of JSON; null when the window is closed.
    activity: Value,
}

pub(crate) fn about_put() -> Operation {
    operation("putPresence", "State", "Say that you are here")
        .note("Others see it for 20 seconds. One person has 32 windows in a scope at most: another one takes the place of the oldest.")
        .body::<PutView>([("here", json!({"client": "w1", "activity": {"reads": "e-3"}}))])
        .gives_nothing(204, "Others see it.")
}

pub(crate) fn about_show() -> Operation {
    let present = json!({"user": "ann", "client": "w1", "activity": {"reads": "e-3"}});
    operation("getPresence", "State", "Who is here").gives::<PresenceView>(
        200,
        "Everybody's windows.",
        json!({"present": [present]}),
    )
}

/// `PUT /presence/{scope}`: I am here. Without an activity: I have left.
pub(crate) async fn put(
    State(app): State<App>,
    Caller(principal): Caller,
    Path(scope): Path<String>,
    body: Body,
) -> Result<StatusCode, ApiError> {
    let scope = scope_of(&scope)?;
    let (client, activity) = parse(&body::read(body, MAX_BODY).await?)?;
    app.runtime.store().show_presence(&principal, &scope, &client, activity.as_ref()).await?;
    Ok(StatusCode::NO_CONTENT)
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Presence")]
pub(crate) struct PresenceView {
    present: Vec<Present>,
}

/// `GET /presence/{scope}`: who is here now.
pub(crate) async fn show(
    State(app): State<App>,
    Caller(principal): Caller,
    Path(scope): Path<String>,
) -> Result<Json<PresenceView>, ApiError> {
    let present = app.runtime.store().presence(&principal, &scope_of(&scope)?).await?;
    Ok(Json(PresenceView { present }))
}

fn parse(bytes: &[u8]) -> Result<(String, Option<Value>), ApiError> {
    let body: Value = serde_json::from_slice(bytes).map_err(|e| {
        ApiError(Box::new(Problem::new(Code::InvalidRequest, "The body must be JSON.").at("", e.to_string())))
    })?;
    let mut problem = Problem::new(Code::InvalidInput, "The request has faults; all of them are in `errors`.");
    let allowed = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b':' | b'~' | b'-');
    let client = body["client"].as_str().unwrap_or_default();
    if !(1..=MAX_CLIENT).contains(&client.len()) || !client.bytes().all(allowed) {
        let text = format!("must name this window: 1 to {MAX_CLIENT} letters, digits and _ . : ~ -");
        problem = problem.at("/client", text);
    }
    let activity = body.get("activity").filter(|activity| !activity.is_null());
    if activity.is_some_and(|activity| activity.to_string().len() > MAX_ACTIVITY_BYTES) {
        problem = problem.at("/activity", format!("must be at most {MAX_ACTIVITY_BYTES} bytes of JSON"));
    }
    if body.get("activity").is_none() {
        problem = problem.at("/activity", "is missing: what the person does here, or null when the window is closed");
    }
    let names = body.as_object().into_iter().flat_map(|fields| fields.keys());
    for name in names.filter(|name| !["client", "activity"].contains(&name.as_str())) {
        problem = problem.at(pointer::of(name), "is unknown: there are client and activity");
    }
    if problem.errors.is_empty() {
        Ok((client.to_owned(), activity.cloned()))
    } else {
        Err(ApiError(Box::new(problem)))
    }
}
