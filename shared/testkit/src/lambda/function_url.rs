//! The Function URL of one function: HTTP in, an event to the function, and its response out as it arrives.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{ConnectInfo, Request, State};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures::stream;
use time::OffsetDateTime;

use super::event::{self, Arrival};
use super::payload::{Chunks, Cut, Reply};
use super::pool::{Pool, Throttled};
use super::prelude::{self, Head, Prelude, Progress};
use super::records::Invoker;

/// Lambda's limit for a request.
const MAX_REQUEST_BYTES: usize = 6 * 1024 * 1024;
/// Where `WWW-Authenticate` goes.
const REMAPPED: &str = "x-amzn-remapped-www-authenticate";

pub(super) fn router(pool: Arc<Pool>) -> Router {
    Router::new().fallback(serve).with_state(pool)
}

async fn serve(
    State(pool): State<Arc<Pool>>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    request: Request,
) -> Response {
    let id = uuid::Uuid::new_v4().to_string();
    let arrival = Arrival { request_id: id.clone(), source_ip: peer.ip().to_string(), at: OffsetDateTime::now_utc() };
    let (parts, body) = request.into_parts();
    let Ok(body) = to_bytes(body, MAX_REQUEST_BYTES).await else {
        return problem(StatusCode::PAYLOAD_TOO_LARGE, "Request must be smaller than 6291456 bytes");
    };
    let request = event::Request {
        method: &parts.method,
        uri: &parts.uri,
        version: parts.version,
        headers: &parts.headers,
        body: &body,
    };
    let event = event::event(&request, &arrival).to_string();
    let mut response = match pool.invoke(id.clone(), Invoker::Url, event.into()).await {
        Ok(Reply::Response { content_type, body }) => respond(content_type, body).await,
        Ok(Reply::Fault(_)) => bad_gateway(),
        Err(Throttled) => problem(StatusCode::TOO_MANY_REQUESTS, "Rate Exceeded."),
    };
    if let Ok(id) = HeaderValue::try_from(id) {
        response.headers_mut().insert("x-amzn-requestid", id);
    }
    response
}

/// Without a prelude, what the function returned is the body.
async fn respond(content_type: Option<String>, body: Chunks) -> Response {
    if content_type.as_deref() == Some(prelude::CONTENT_TYPE) {
        return with_prelude(body).await;
    }
    let headers = [(header::CONTENT_TYPE, content_type.unwrap_or_else(|| "application/json".to_owned()))];
    (headers, rest_of(Bytes::new(), body)).into_response()
}

async fn with_prelude(mut body: Chunks) -> Response {
    let mut prelude = Prelude::default();
    loop {
        let Some(Ok(chunk)) = body.next().await else { return bad_gateway() };
        match prelude.push(&chunk) {
            Progress::Incomplete => {}
            Progress::Malformed => return bad_gateway(),
            Progress::Complete(head, first) => return with_head(head, rest_of(first.into(), body)),
        }
    }
}

fn with_head(head: Head, body: Body) -> Response {
    let mut response = Response::new(body);
    *response.status_mut() = head.status;
    for (name, value) in head.headers.into_iter().filter(|(name, _)| is_passed_on(name)) {
        response.headers_mut().append(renamed(name), value);
    }
    response
}

/// How the body is framed is this connection's business.
fn is_passed_on(name: &HeaderName) -> bool {
    ![header::CONTENT_LENGTH, header::TRANSFER_ENCODING, header::CONNECTION].contains(name)
}

/// Lambda keeps this name for itself, as API Gateway does: who calls finds what the function said under another.
fn renamed(name: HeaderName) -> HeaderName {
    if name == header::WWW_AUTHENTICATE { HeaderName::from_static(REMAPPED) } else { name }
}

/// A body that was cut off ends with an error, so that the client sees a broken connection and no clean end.
fn rest_of(first: Bytes, body: Chunks) -> Body {
    let first = (!first.is_empty()).then_some(first);
    Body::from_stream(stream::unfold((first, Some(body)), |(first, body)| async {
        if let Some(first) = first {
            return Some((Ok::<_, Cut>(first), (None, body)));
        }
        let mut body = body?;
        match body.next().await? {
            Ok(chunk) => Some((Ok(chunk), (None, Some(body)))),
            Err(cut) => Some((Err(cut), (None, None))),
        }
    }))
}

fn bad_gateway() -> Response {
    (StatusCode::BAD_GATEWAY, "Internal Server Error").into_response()
}

fn problem(status: StatusCode, message: &str) -> Response {
    let body = serde_json::json!({"Message": message}).to_string();
    (status, [(header::CONTENT_TYPE, "application/json")], body).into_response()
}
