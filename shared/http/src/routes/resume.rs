//! `GET /api/agent-chat/{threadOrRunId}/stream`: what the stock AI SDK transports ask for when they come back.
//!
//! DefaultChatTransport asks with the thread and no `startIndex`, and resets its message at the first `start`:
//! it needs everything from the beginning. WorkflowChatTransport counts the chunks that it received. Both need a
//! turn that ended a moment ago to be still there, or a run that ends between two windows would lose its last words.

use axum::extract::{Path, State};
use axum::http::HeaderValue;
use axum::response::Response;
use schemars::JsonSchema;
use serde::Deserialize;
use tandem_protocol::{Chunk, Principal, Run, RunId, Seq, ThreadId};
use tandem_runs::Runtime;
use tandem_store::{MessageBody, now_ms};

use crate::caller::{Caller, Until};
use crate::description::{Operation, operation};
use crate::query::Query;
use crate::sse::{EventStream, FINISH, finished, no_content};
use crate::{ApiError, App};

/// How long the last turn of a thread can be resumed after its end.
const RESUMABLE_MS: i64 = 60_000;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Asked {
    /// The number of the first chunk to send; negative: so many before the last one, back to the start of their step.
    #[schemars(with = "Option<i64>")]
    start_index: Option<String>,
}

pub(crate) fn about() -> Operation {
    operation("resumeChat", "Chat", "Go on with a turn, for the AI SDK's transports")
        .note(
            "Of a thread: the run under way, or the one that ended within the last minute. `GET /runs/{run}/events` \
               is the same for everybody else.",
        )
        .query::<Asked>()
        .streams("The chunks from `startIndex` on; `finish` and `[DONE]` where there is nothing to resume.")
        .gives_nothing(204, "Without `startIndex`: there is nothing to resume.")
}

pub(crate) async fn stream(
    State(app): State<App>,
    Caller(principal): Caller,
    Path(id): Path<String>,
    Query(asked): Query<Asked>,
    Until(deadline): Until,
) -> Result<Response, ApiError> {
    let index: Option<i64> = match asked.start_index.as_deref() {
        None => None,
        Some(text) => Some(text.parse().map_err(|_| ApiError::invalid("?startIndex", "must be a whole number"))?),
    };
    let Some(run) = resumable(&app.runtime, &principal, &id).await? else {
        // A 204 makes WorkflowChatTransport throw; without a position it is DefaultChatTransport that asks.
        return Ok(if index.is_some() { finished() } else { no_content() });
    };
    let by_run = id == run.run_id.as_str();
    let before = if by_run { Vec::new() } else { said_before(&app.runtime, &run).await? };
    // The message as one sequence: what earlier runs said, then this one without its `start`.
    let skipped = Seq::from(!before.is_empty());
    let earlier = before.len() as Seq;
    let tail = app.runtime.store().tail(&run.run_id).await?;
    let end = earlier + tail.next - skipped;
    let at = match index {
        None => 0,
        Some(index) if index >= 0 => index.unsigned_abs(),
        Some(index) => step_before(&app.runtime, &run, &before, end.saturating_sub(index.unsigned_abs())).await?,
    };
    if run.status.is_terminal() && at >= end {
        return Ok(finished());
    }
    let from = at.saturating_sub(earlier) + skipped;
    let prelude = before.into_iter().skip(usize::try_from(at).unwrap_or(usize::MAX)).collect();
    // Stock clients go on after anything but a `finish`.
    let epilogue = (index.is_none() && may_end_without_finish(&run)).then_some(FINISH);
    let open = app.runtime.open_stream(&principal)?;
    let stream = EventStream { run, from, attended: None, came: None, deadline, prelude, epilogue, open };
    let mut response = stream.response(&app.runtime);
    if let Some(index) = index.filter(|index| *index < 0) {
        // The client computes its position as this + 1 + startIndex.
        let claimed = i128::from(at) - 1 - i128::from(index);
        if let Ok(value) = HeaderValue::from_str(&claimed.to_string()) {
            response.headers_mut().insert("x-workflow-stream-tail-index", value);
        }
    }
    Ok(response)
}

/// The chunks of the runs that `run` continues, as JSON: the first one's without its end, the others' also without
/// their `start`.
async fn said_before(runtime: &Runtime, run: &Run) -> Result<Vec<String>, ApiError> {
    let mut runs = Vec::new();
    let mut before = run.continues.clone();
    while let Some(id) = before {
        let earlier = runtime.store().run(&id).await?;
        before = earlier.and_then(|run| run.continues);
        runs.push(id);
    }
    let mut said = Vec::new();
    for id in runs.iter().rev() {
        let log = runtime.store().log_from(id, 0).await?;
        let chunks: Vec<String> =
            log.iter().flat_map(|frame| frame.chunks_from(0)).map(|chunk| chunk.json.to_owned()).collect();
        let start = usize::from(!said.is_empty());
        let end = chunks.len().saturating_sub(1);
        said.extend(chunks.into_iter().take(end).skip(start));
    }
    Ok(said)
}

/// A run that ended otherwise than by `finish`.
fn may_end_without_finish(run: &Run) -> bool {
    use tandem_protocol::RunStatus::{Aborted, AwaitingApproval, Completed, Dispatched, Failed, Running};
    match run.status {
        Aborted | Failed => true,
        Completed | AwaitingApproval | Dispatched | Running => false,
    }
}

/// The run that an id means: a run itself, or of a thread the one under way or just ended.
async fn resumable(runtime: &Runtime, principal: &Principal, id: &str) -> Result<Option<Run>, ApiError> {
    let store = runtime.store();
    if id.starts_with("run_")
        && let Ok(run) = RunId::new(id)
        && let Some(run) = store.run_for(principal, &run).await?
    {
        let gone = run.expires_at.is_some_and(|expires| expires <= now_ms() / 1000);
        return Ok(Some(run).filter(|_| !gone));
    }
    // A foreign run or a deleted one answers like an unknown one: as a thread that does not exist.
    let thread = ThreadId::new(id).map_err(|_| unknown())?;
    // A new chat asks before it has said anything: nothing to resume, and no error.
    let Some(thread) = store.thread(principal, &thread).await? else { return Ok(None) };
    if let Some(active) = &thread.active {
        return Ok(store.run(active).await?);
    }
    let Some(last) = thread.length.checked_sub(1) else { return Ok(None) };
    let Some(MessageBody::Assistant { run }) = store.message(&thread, last).await?.map(|message| message.body) else {
        return Ok(None);
    };
    let run = store.run(&run).await?;
    let recent = |run: &Run| run.ended_at.is_some_and(|ended| now_ms() - ended < RESUMABLE_MS);
    Ok(run.filter(recent))
}

fn unknown() -> ApiError {
    ApiError::not_found("There is no such thread or run, or it is not yours.")
}

/// The place of the `start-step` at or before `seq` of the message, so that no part is resumed in its middle.
async fn step_before(runtime: &Runtime, run: &Run, before: &[String], seq: Seq) -> Result<Seq, ApiError> {
    let earlier = before.len() as Seq;
    let skipped = Seq::from(earlier > 0);
    if seq >= earlier
        && let Some(step) = step_in(runtime, run, seq - earlier + skipped).await?
    {
        return Ok(earlier + step - skipped);
    }
    let upto = usize::try_from(seq + 1).unwrap_or(usize::MAX).min(before.len());
    let step = before[..upto].iter().rposition(|chunk| *chunk == START_STEP);
    Ok(step.map_or(0, |step| step as Seq))
}

const START_STEP: &str = r#"{"type":"start-step"}"#;

/// The `start-step` at or before chunk `seq` of a run.
async fn step_in(runtime: &Runtime, run: &Run, seq: Seq) -> Result<Option<Seq>, ApiError> {
    let mut at = seq;
    while let Some(frame) = runtime.store().frame_at(&run.run_id, at, false).await? {
        let chunks = frame.parsed()?;
        let upto = usize::try_from((seq + 1).saturating_sub(frame.first)).unwrap_or(usize::MAX);
        let step = chunks.iter().take(upto).rposition(|chunk| matches!(chunk, Chunk::StartStep));
        if let Some(step) = step {
            return Ok(Some(frame.first + step as Seq));
        }
        match frame.first.checked_sub(1) {
            Some(before) => at = before,
            None => break,
        }
    }
    Ok(None)
}
