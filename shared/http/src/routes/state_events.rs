//! `GET /state/{scope}/events`: the changes of a scope after a position, as a stream or as JSON.

use axum::Json;
use axum::extract::{Path, State};
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use bytes::{BufMut, Bytes, BytesMut};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;
use serde_json::value::RawValue;
use tandem_protocol::Code;
use tandem_store::{Change, ScopeFollower, StateFrame, StoreError};
use tokio::time::Instant;

use crate::caller::{Caller, Until, WantsJson};
use crate::description::{Operation, operation};
use crate::query::Query;
use crate::routes::events::{Asked, NUMBER, seen, wait};
use crate::routes::state::scope_of;
use crate::stream::{BATCH, Source, Stop, follow};
use crate::{ApiError, App};

/// Bytes of changes in one JSON answer, roughly: whole commits are given.
const MAX_BYTES: usize = 2 * 1024 * 1024;

/// A stream of changes, as it looks.
const STREAM: &str = ": stream-open\nretry: 250\n\nid: 7\ndata: {\"rev\":7,\"key\":\"view\",\"deleted\":true,\
                      \"by\":{\"user\":\"ann\",\"caller\":\"http\"}}\n\n";

pub(crate) fn about() -> Operation {
    let change = json!({"rev": 7, "key": "view", "value": {"view": "inbox"}, "by": {"user": "ann", "caller": "http"}});
    operation("followScope", "State", "The changes of a scope after a position")
        .note("A stream, or JSON with `Accept: application/json`. The changes of one commit have the same `rev`.")
        .query::<Asked>()
        .header("Last-Event-ID", "What EventSource sends when it comes back: the last position that it has.", NUMBER)
        .streams_of::<Change>(
            "The changes as they are committed.",
            "ChangeEvent",
            "The scope's position; only on the last change of a commit.",
            STREAM,
        )
        .gives::<Page>(
            200,
            "With `Accept: application/json`: the changes that are there.",
            json!({"events": [change], "next": 7}),
        )
        .refuses([Code::Expired])
}

pub(crate) async fn changes(
    State(app): State<App>,
    Caller(principal): Caller,
    Path(scope): Path<String>,
    Query(asked): Query<Asked>,
    WantsJson(json): WantsJson,
    Until(deadline): Until,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let scope = scope_of(&scope)?;
    let after = seen(&headers, asked.after.as_deref(), "must be a position of the scope: 0 or more")?;
    let open = app.runtime.open_stream(&principal)?;
    let follower = app.runtime.store().follow_scope(&principal, &scope, Some(after.unwrap_or(0))).await?;
    if json {
        let until = Instant::now() + wait(asked.wait.as_deref())?;
        return Ok(Json(page(follower, until).await?).into_response());
    }
    Ok(follow(&app.runtime, deadline, ScopeEvents(follower), open))
}

/// Changes of a scope.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Changes")]
struct Page {
    #[schemars(with = "Vec<Change>")]
    events: Vec<Box<RawValue>>,
    /// The cursor for the next request's `after`.
    next: u64,
}

async fn page(mut follower: ScopeFollower, until: Instant) -> Result<Page, ApiError> {
    let (mut events, mut bytes) = (Vec::new(), 0);
    loop {
        while bytes < MAX_BYTES
            && let Some(frame) = follower.ready().await?
        {
            bytes += frame.bytes();
            events.extend(frame.json()?);
        }
        let waiting = events.is_empty() && Instant::now() < until;
        if !waiting || tokio::time::timeout_at(until, follower.wait()).await.is_err() {
            return Ok(Page { events, next: follower.position() });
        }
    }
}

struct ScopeEvents(ScopeFollower);

impl Source for ScopeEvents {
    async fn ready(&mut self) -> Result<Bytes, Stop> {
        let mut bytes = BytesMut::new();
        while bytes.len() < BATCH {
            match self.0.ready().await {
                Ok(Some(frame)) => encode(&frame, &mut bytes)?,
                Ok(None) => break,
                Err(error) if bytes.is_empty() => return Err(error.into()),
                // First what there is.
                Err(_) => break,
            }
        }
        Ok(bytes.freeze())
    }

    async fn wait(&mut self) {
        self.0.wait().await;
    }
}

/// The changes of one commit. Only the last one has the number: who is cut off before it gets the commit again, whole.
fn encode(frame: &StateFrame, bytes: &mut BytesMut) -> Result<(), Stop> {
    let changes = frame.json().map_err(Stop::Failed)?;
    let last = changes.len().saturating_sub(1);
    for (at, change) in changes.iter().enumerate() {
        if at == last {
            bytes.put_slice(format!("id: {}\n", frame.rev).as_bytes());
        }
        bytes.put_slice(b"data: ");
        bytes.put_slice(change.get().as_bytes());
        bytes.put_slice(b"\n\n");
    }
    Ok(())
}

impl From<StoreError> for Stop {
    fn from(error: StoreError) -> Self {
        Stop::Failed(error)
    }
}
