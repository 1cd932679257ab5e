//! `POST /tickets`: leave to read one stream for a minute, for `EventSource`, which can send no header.

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tandem_auth::TICKET_TTL_MS;
use tandem_store::now_ms;

use crate::caller::Caller;
use crate::description::{Operation, operation};
use crate::{ApiError, App, body};

const MAX_BODY: usize = 4 * 1024;
/// What a ticket may be for, besides `/events`: the segment before what is named, and the one after it.
const STREAMS: [(&str, &str); 3] = [("/runs/", "/events"), ("/state/", "/events"), ("/api/agent-chat/", "/stream")];

/// What shall be read.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "TicketRequest")]
struct Asked {
    /// The path of a stream, without its query.
    #[schemars(extend("pattern" = "^/(events|(runs|state)/[^/?]{1,200}/events|api/agent-chat/[^/?]{1,200}/stream)$"))]
    path: String,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Ticket {
    /// Put it into the query of that path, as `ticket`.
    ticket: String,
    /// Milliseconds since 1970.
    expires_at: i64,
}

pub(crate) fn about() -> Operation {
    operation("createTicket", "Chat", "A ticket for one stream, for EventSource")
        .note(
            "`EventSource` can send no token: `GET {path}?ticket=...` stands for the caller's for a minute. A stream that has \
             begun goes on; whoever comes back later asks for another ticket.",
        )
        .body::<Asked>([("window", json!({"path": "/events"}))])
        .gives::<Ticket>(200, "The ticket.", json!({"ticket": "eyJ0...", "expiresAt": 1_756_900_060_000_i64}))
}

pub(crate) async fn create(
    State(app): State<App>,
    Caller(principal): Caller,
    body: Body,
) -> Result<Json<Ticket>, ApiError> {
    let Asked { path } = body::object(&body::read(body, MAX_BODY).await?)?;
    if !is_stream(&path) {
        let fault = "must be the path of a stream, without a query: /events, /runs/{run}/events, /state/{scope}/events or \
                     /api/agent-chat/{threadOrRun}/stream";
        return Err(ApiError::invalid("/path", fault));
    }
    let now = now_ms();
    let ticket = app.runtime.keys().ticket(&principal, &path, now);
    Ok(Json(Ticket { ticket, expires_at: now + TICKET_TTL_MS }))
}

/// Whether tickets are given, and taken, for a path.
pub(crate) fn is_stream(path: &str) -> bool {
    let named = |(before, after): &(&str, &str)| path.strip_prefix(before).and_then(|rest| rest.strip_suffix(after));
    path == "/events"
        || STREAMS.iter().filter_map(named).any(|name| (1..=200).contains(&name.len()) && !name.contains(['/', '?']))
}
