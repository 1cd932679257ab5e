//! `POST /mcp`: the actions as tools for MCP clients. Streamable HTTP without sessions: every request stands for itself,
//! so that any process can serve it.
//!
//! The official SDK speaks the protocol, in the revision of 2026-07-28 and in the older ones that begin with
//! `initialize`. Here are only the doors of HTTP: who calls, which pages may, and how much is read.

mod approval;
mod server;
mod tools;

use std::sync::Arc;

use axum::Json;
use axum::body::{Body, to_bytes};
use axum::extract::{Extension, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http_body_util::Full;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::{Value, json};
use tandem_protocol::{Code, Problem};

use self::server::Server;
use crate::caller::{Caller, Traced, Until};
use crate::description::{Operation, operation};
use crate::request::RequestId;
use crate::{ApiError, App};

/// Longest body; counted while it is read. What surrounds the input of an action is small.
const MAX_BODY: usize = super::actions::MAX_BODY + 64 * 1024;
/// Pages of this machine, such as the MCP Inspector. Other pages only by `MCP_ALLOWED_ORIGINS`: a page that has made its
/// own name lead here would otherwise speak to a server on the loopback.
const OWN_MACHINE: [&str; 3] = ["http://localhost:*", "http://127.0.0.1:*", "http://[::1]:*"];

pub(crate) fn about() -> Operation {
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    operation("mcp", "Actions", "The actions as tools for MCP clients")
        .note(
            "Streamable HTTP of the Model Context Protocol, without sessions, in the revision 2026-07-28 and in older ones. \
             A request must accept `application/json` and `text/event-stream`.",
        )
        .body::<Value>([("ping", call)])
        .gives::<Value>(200, "The answer to a request.", json!({"jsonrpc": "2.0", "id": 1, "result": {}}))
        .gives_nothing(202, "A notification was taken.")
        .gives_otherwise("The protocol refuses the message: a problem, or JSON-RPC's own error.")
}

pub(crate) async fn serve(
    State(app): State<App>,
    Traced(runtime): Traced,
    Caller(principal): Caller,
    Until(killed_at): Until,
    Extension(RequestId(request_id)): Extension<RequestId>,
    request: Request,
) -> Result<Response, ApiError> {
    let (parts, body) = request.into_parts();
    let body = crate::body::read(body, MAX_BODY).await?;
    // As it will be read: a number that no float holds is none.
    let is_json = serde_json::from_slice::<Value>(&body).is_ok();
    let says_json = says_json(&parts.headers);
    let mut config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_max_request_body_bytes(MAX_BODY)
        .with_sse_keep_alive(Some(app.runtime.config().keep_alive))
        // Browsers name the page's origin, which is checked; what else is sent to a host was meant for it.
        .disable_allowed_hosts()
        .enforce_origin_validation();
    let own = OWN_MACHINE.iter().map(|origin| (*origin).to_owned());
    config.allowed_origins = own.chain(app.runtime.config().mcp_origins.iter().cloned()).collect();
    let app = App { runtime, ..app };
    let server = Server::new(app, principal, killed_at, request_id.to_string());
    let service =
        StreamableHttpService::new(move || Ok(server.clone()), Arc::new(NeverSessionManager::default()), config);
    let response = service.handle(Request::from_parts(parts, Full::<Bytes>::new(body))).await;
    let response = response.map(Body::new);
    match response.status() {
        // The SDK's answer to a body that it cannot read.
        StatusCode::UNSUPPORTED_MEDIA_TYPE if says_json && !is_json => Ok(refused(-32700, "The body must be JSON.")),
        StatusCode::UNSUPPORTED_MEDIA_TYPE if says_json => {
            Ok(refused(-32600, "The body must be one JSON-RPC message of the Model Context Protocol."))
        }
        status if status.is_success() => Ok(response),
        _ => Ok(readable(response).await),
    }
}

fn says_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default();
    kind.trim().eq_ignore_ascii_case("application/json")
}

/// A message that cannot be answered, as it has no id.
fn refused(code: i32, message: &str) -> Response {
    let error = json!({"jsonrpc": "2.0", "id": null, "error": {"code": code, "message": message}});
    (StatusCode::BAD_REQUEST, Json(error)).into_response()
}

/// What the SDK refuses before there is a message comes as bare text: it becomes a problem with the same status.
async fn readable(response: Response) -> Response {
    if response.headers().contains_key(header::CONTENT_TYPE) {
        return response;
    }
    let status = response.status();
    let text = to_bytes(response.into_body(), 4096).await.unwrap_or_default();
    let code = match status {
        StatusCode::FORBIDDEN => Code::Forbidden,
        StatusCode::PAYLOAD_TOO_LARGE => Code::TooLarge,
        status if status.is_server_error() => Code::Internal,
        _ => Code::InvalidRequest,
    };
    let mut problem = Problem::new(code, String::from_utf8_lossy(&text));
    problem.status = status.as_u16();
    ApiError(Box::new(problem)).into_response()
}
