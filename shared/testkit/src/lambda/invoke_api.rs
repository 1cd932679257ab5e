//! Lambda's Invoke operation, as far as `aws-sdk-lambda` needs it.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use bytes::Bytes;
use serde_json::json;

use super::payload::{Fault, Reply};
use super::pool::{Pool, Throttled};
use super::process::function_arn;
use super::queue::EventQueue;
use super::records::Invoker;

/// Lambda's limits for a payload.
const MAX_EVENT_BYTES: usize = 1024 * 1024;
const MAX_REQUEST_BYTES: usize = 6 * 1024 * 1024;

/// What can be invoked, by name.
pub(super) type Targets = Arc<BTreeMap<String, Target>>;

#[derive(Debug)]
pub(super) struct Target {
    pub(super) pool: Arc<Pool>,
    pub(super) queue: EventQueue,
}

pub(super) fn router(targets: Targets) -> Router {
    Router::new().route("/2015-03-31/functions/{name}/invocations", post(invoke)).with_state(targets)
}

async fn invoke(State(targets): State<Targets>, Path(name): Path<String>, headers: HeaderMap, body: Body) -> Response {
    let Some(target) = targets.get(plain_name(&name)) else {
        let message = format!("Function not found: {}", function_arn(&name));
        return refused(StatusCode::NOT_FOUND, "ResourceNotFoundException", &message);
    };
    let Ok(payload) = to_bytes(body, MAX_REQUEST_BYTES).await else { return too_large(MAX_REQUEST_BYTES) };
    let id = uuid::Uuid::new_v4().to_string();
    let kind = headers.get("x-amz-invocation-type").and_then(|value| value.to_str().ok());
    let mut response = match kind.unwrap_or("RequestResponse") {
        "RequestResponse" => wait(target, &id, payload).await,
        "Event" if payload.len() > MAX_EVENT_BYTES => too_large(MAX_EVENT_BYTES),
        "Event" => match target.queue.accept(&id, &payload) {
            Ok(()) => StatusCode::ACCEPTED.into_response(),
            Err(Throttled) => throttled(),
        },
        "DryRun" => StatusCode::NO_CONTENT.into_response(),
        other => refused(StatusCode::BAD_REQUEST, "InvalidParameterValueException", other),
    };
    if let Ok(id) = id.parse() {
        response.headers_mut().insert("x-amzn-requestid", id);
    }
    response
}

/// A function's error is an answer with status 200, told apart by a header.
async fn wait(target: &Target, id: &str, payload: Bytes) -> Response {
    let fault = match target.pool.invoke(id.to_owned(), Invoker::RequestResponse, payload).await {
        Err(Throttled) => return throttled(),
        Ok(Reply::Fault(fault)) => fault,
        Ok(Reply::Response { body, .. }) => match body.collect().await {
            Ok(payload) => return ([("x-amz-executed-version", "$LATEST")], payload).into_response(),
            Err(cut) => Fault::new("Runtime.StreamError", cut.to_string()),
        },
    };
    ([("x-amz-executed-version", "$LATEST"), ("x-amz-function-error", "Unhandled")], fault.to_json()).into_response()
}

/// Functions are invoked by name or by ARN.
fn plain_name(name: &str) -> &str {
    let name = name.rsplit_once(":function:").map_or(name, |(_, name)| name);
    name.split(':').next().unwrap_or(name)
}

fn throttled() -> Response {
    refused(StatusCode::TOO_MANY_REQUESTS, "TooManyRequestsException", "Rate Exceeded.")
}

fn too_large(limit: usize) -> Response {
    let message = format!("Request must be smaller than {limit} bytes for the InvokeFunction operation");
    refused(StatusCode::PAYLOAD_TOO_LARGE, "RequestTooLargeException", &message)
}

fn refused(status: StatusCode, kind: &str, message: &str) -> Response {
    let headers = [("x-amzn-errortype", kind), (header::CONTENT_TYPE.as_str(), "application/json")];
    (status, headers, json!({"Type": "User", "message": message}).to_string()).into_response()
}
