//! `GET /runs/{run}/events`: the chunks after a cursor, as a stream or as JSON.

use std::time::Duration;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use serde_json::value::RawValue;
use tandem_protocol::{Chunk, Code, Principal, Run, RunId, RunStatus, Seq};
use tandem_runs::{Follower, Runtime};
use tokio::time::Instant;

use crate::caller::{Caller, Until, WantsJson};
use crate::description::{Operation, operation};
use crate::query::Query;
use crate::sse::{EventStream, no_content};
use crate::{ApiError, App};

/// Longest wait of a JSON request, in seconds.
const MAX_WAIT: f64 = 25.0;
/// Bytes of chunks in one JSON answer, roughly: whole frames are given.
const MAX_BYTES: usize = 2 * 1024 * 1024;

/// The pattern of a position in a header.
pub(crate) const NUMBER: &str = "^[0-9]{0,18}$";

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Asked {
    /// Only chunks after this number; from the start if absent. A header `Last-Event-ID` wins over it.
    #[schemars(with = "Option<Seq>")]
    pub(crate) after: Option<String>,
    /// With `Accept: application/json`: how long to wait for a chunk, in seconds.
    #[schemars(with = "Option<f64>", range(min = 0, max = 25))]
    pub(crate) wait: Option<String>,
}

pub(crate) fn about() -> Operation {
    let chunk = json!({"type": "start", "messageId": "msg_01a2b3c4"});
    let page = json!({"events": [{"seq": 0, "chunk": chunk}], "next": 0, "status": "running", "done": false});
    operation("followRun", "Runs", "The chunks of a run after a cursor")
        .note("A stream, or JSON with `Accept: application/json`. A cursor past the last chunk waits while the run lives.")
        .query::<Asked>()
        .header(
            "Last-Event-ID",
            "What EventSource sends when it comes back: the number of the last chunk that it has.",
            NUMBER,
        )
        .streams("The chunks as they are stored.")
        .names_run()
        .gives::<Page>(200, "With `Accept: application/json`: the chunks that are there.", page)
        .gives_nothing(204, "The run has ended and there is nothing after the cursor.")
        .refuses([Code::Expired])
}

pub(crate) async fn follow(
    State(app): State<App>,
    Caller(principal): Caller,
    Path(run): Path<String>,
    Query(asked): Query<Asked>,
    WantsJson(json): WantsJson,
    Until(deadline): Until,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let run = own_run(&app.runtime, &principal, &run).await?;
    let seen = seen(&headers, asked.after.as_deref(), "must be the number of a chunk: 0 or more")?;
    let from: Seq = seen.map_or(0, |seen| seen.saturating_add(1));
    let wait = if json { wait(asked.wait.as_deref())? } else { Duration::ZERO };
    let mut follower = app.runtime.follow(&run.run_id, from, deadline);
    let past_end = run.status.is_terminal() && follower.is_past_end().await?;
    if json {
        // Who waits holds a stream, however it is called.
        let waits = !past_end && !wait.is_zero();
        let _open = waits.then(|| app.runtime.open_stream(&principal)).transpose()?;
        return page(&app.runtime, run, follower, from, past_end, wait, deadline).await;
    }
    if past_end {
        // EventSource stops coming back at this.
        return Ok(no_content());
    }
    let open = app.runtime.open_stream(&principal)?;
    let stream =
        EventStream { run, from, attended: None, came: None, deadline, prelude: Vec::new(), epilogue: None, open };
    Ok(stream.response_of(&app.runtime, follower))
}

/// A run that the caller gets at. A foreign one answers like an unknown one; one whose log is deleted says so.
pub(crate) async fn own_run(runtime: &Runtime, principal: &Principal, id: &str) -> Result<Run, ApiError> {
    let unknown = || ApiError::not_found("There is no such run, or it is not yours.");
    let id = RunId::new(id).map_err(|_| unknown())?;
    let run = runtime.store().run_for(principal, &id).await?.ok_or_else(unknown)?;
    let now = tandem_store::now_ms() / 1000;
    if run.expires_at.is_some_and(|expires| expires <= now) {
        return Err(ApiError::new(Code::Expired, "The log has been deleted; read GET /threads/{thread}/messages."));
    }
    Ok(run)
}

/// The last position that the client has seen. `Last-Event-ID` is what a reconnecting EventSource sends, and wins over
/// `after`. `fault` says what a position must be.
pub(crate) fn seen(headers: &HeaderMap, after: Option<&str>, fault: &str) -> Result<Option<u64>, ApiError> {
    let header = headers.get("last-event-id").map(|value| value.to_str().unwrap_or("?"));
    let (pointer, text) = match (header.filter(|id| !id.is_empty()), after) {
        (Some(id), _) => ("header Last-Event-ID", id),
        (None, Some(after)) => ("?after", after),
        (None, None) => return Ok(None),
    };
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    let seen = text.parse().ok().filter(|_| digits).ok_or_else(|| ApiError::invalid(pointer, fault))?;
    Ok(Some(seen))
}

/// How long a JSON request may wait for something to come.
pub(crate) fn wait(text: Option<&str>) -> Result<Duration, ApiError> {
    let Some(text) = text else { return Ok(Duration::ZERO) };
    match text.parse::<f64>() {
        Ok(seconds) if (0.0..=MAX_WAIT).contains(&seconds) => Ok(Duration::from_secs_f64(seconds)),
        _ => Err(ApiError::invalid("?wait", format!("must be seconds from 0 to {MAX_WAIT}"))),
    }
}

/// Chunks of a run.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Events")]
struct Page {
    events: Vec<Event>,
    /// The cursor for the next request's `after`; absent before the first chunk.
    next: Option<Seq>,
    status: RunStatus,
    /// The run has ended, and this is all.
    done: bool,
}

#[derive(Serialize, JsonSchema)]
struct Event {
    seq: Seq,
    #[schemars(with = "Chunk")]
    chunk: Box<RawValue>,
}

async fn page(
    runtime: &Runtime,
    run: Run,
    mut follower: Follower,
    from: Seq,
    past_end: bool,
    wait: Duration,
    deadline: Option<Instant>,
) -> Result<Response, ApiError> {
    let mut page = Page { events: Vec::new(), next: from.checked_sub(1), status: run.status, done: past_end };
    if past_end {
        return Ok(Json(page).into_response());
    }
    let until = Instant::now() + wait;
    let (mut cursor, mut bytes) = (from, 0);
    loop {
        while bytes < MAX_BYTES
            && let Some(frame) = follower.ready().await?
        {
            for chunk in frame.chunks_from(cursor) {
                let json = RawValue::from_string(chunk.json.to_owned());
                let json = json.map_err(|e| tandem_store::StoreError::Rejected(e.to_string()))?;
                page.events.push(Event { seq: chunk.seq, chunk: json });
                page.next = Some(chunk.seq);
            }
            cursor = cursor.max(frame.next());
            bytes += frame.bytes();
            page.done = frame.is_terminal();
        }
        // What is there already is given without waiting for more.
        if !page.events.is_empty() || follower.has_ended() {
            break;
        }
        if tokio::time::timeout_at(until, follower.wait()).await.is_err() {
            break;
        }
    }
    if deadline.is_some() {
        // On Lambda a run that was recovered here must end, or be handed over, before the response does.
        runtime.tasks_done().await;
    }
    if page.done && !page.status.is_terminal() {
        page.status = runtime.store().run(&run.run_id).await?.map_or(page.status, |run| run.status);
    }
    Ok(Json(page).into_response())
}
