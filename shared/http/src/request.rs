//! Every request has an id: in its log lines, in the header `x-request-id` and in problems. It is that of the trace that
//! the caller names (`traceparent`), or else of a new one.

use std::panic::AssertUnwindSafe;

use axum::body::Body;
use axum::extract::{MatchedPath, Request};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use futures::FutureExt;
use tandem_protocol::{Code, Problem, TraceId};
use tracing::Instrument;

use crate::ApiError;

/// The request's id, for routes that pass it on.
#[derive(Clone)]
pub(crate) struct RequestId(pub(crate) TraceId);

/// Names the request, turns a panic into a problem, and writes problems as JSON.
pub(crate) async fn identify(mut request: Request, next: Next) -> Response {
    let id = trace_of(request.headers());
    let traceparent = request.headers().get("traceparent").and_then(|value| value.to_str().ok());
    let caller = traceparent.and_then(TraceId::span_of_traceparent);
    let span = tracing::info_span!(
        "request",
        trace_id = %id,
        parent_span_id = caller,
        method = %request.method(),
        route = route_of(&request)
    );
    request.extensions_mut().insert(RequestId(id.clone()));
    let ran = AssertUnwindSafe(next.run(request).instrument(span.clone())).catch_unwind().await;
    let mut response = ran.unwrap_or_else(|_| {
        let _in = span.enter();
        tracing::error!("a route panicked");
        ApiError::new(Code::Internal, "Report the request id to the operator.").into_response()
    });
    if response.status().is_client_error() && response.extensions().get::<Box<Problem>>().is_none() {
        response = read_rejection(response).await;
    }
    if let Some(mut problem) = response.extensions_mut().remove::<Box<Problem>>() {
        problem.request_id = Some(id.to_string());
        let body = serde_json::to_vec(&problem).unwrap_or_default();
        response.headers_mut().remove(header::CONTENT_LENGTH);
        let kind = HeaderValue::from_static("application/problem+json");
        response.headers_mut().insert(header::CONTENT_TYPE, kind);
        *response.body_mut() = Body::from(body);
    }
    let headers = response.headers_mut();
    // What is somebody's own must not stay in a cache, and is never what a browser might guess.
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    if let Ok(id) = HeaderValue::from_str(id.as_str()) {
        response.headers_mut().insert("x-request-id", id);
    }
    response
}

/// The pattern of the route: a path may hold somebody's words, as the keys of documents do.
fn route_of(request: &Request) -> &str {
    request.extensions().get::<MatchedPath>().map_or("unknown", MatchedPath::as_str)
}

/// The trace that the caller names; a new one where there is none, or none that can be read.
fn trace_of(headers: &HeaderMap) -> TraceId {
    let named = headers.get("traceparent").and_then(|value| TraceId::of_traceparent(value.to_str().ok()?));
    named.unwrap_or_else(|| TraceId::new(tandem_store::new_id()).expect("a new id has 32 hexadecimal digits"))
}

/// What the framework's own extractors refuse, such as a query that cannot be read, is a problem too.
async fn read_rejection(response: Response) -> Response {
    let kind = response.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    if !kind.starts_with("text/plain") {
        return response;
    }
    let text = axum::body::to_bytes(response.into_body(), 4096).await.unwrap_or_default();
    ApiError::new(Code::InvalidRequest, String::from_utf8_lossy(&text)).into_response()
}
