//! `POST /api/agent-chat`: start a turn and stream it.

use axum::Json;
use axum::body::Body;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;
use tandem_protocol::{AgentChat, AgentChatBody, Code, Problem, Run, RunId, RunStatus, ThreadChoice, ThreadId, TurnId};
use tandem_runs::StartError;
use tokio::time::Instant;

use crate::caller::{Caller, Traced, Until, WantsJson};
use crate::description::{Operation, operation};
use crate::sse::{EventStream, run_headers};
use crate::{ApiError, body};

/// Longest body; counted while it is read. The AI SDK sends the whole conversation.
const MAX_BODY: usize = 4 * 1024 * 1024;

/// A turn that was accepted.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Accepted {
    run_id: RunId,
    thread_id: Option<ThreadId>,
    turn_id: Option<TurnId>,
    status: RunStatus,
}

pub(crate) fn about() -> Operation {
    let ui_message = json!({"id": "m1", "role": "user", "parts": [{"type": "text", "text": "What is new?"}]});
    let ai_sdk = json!({"id": "chat-1", "messages": [ui_message], "trigger": "submit-message"});
    let accepted = json!({"runId": "run_01a2b3c4", "threadId": "chat-1", "turnId": "m1", "status": "dispatched"});
    operation("startTurn", "Chat", "Start a turn and stream it")
        .note(
            "The same turn twice is one run. Disconnecting does not stop it. The body is read as JSON, whatever its \
             content type.",
        )
        .body::<AgentChatBody>([("text", json!({"message": "What is new?"})), ("aiSdk", ai_sdk)])
        .streams("The run's chunks as they are stored.")
        .names_run()
        .gives::<Accepted>(202, "With `Accept: application/json`: follow the run with its id.", accepted)
        .names_run()
        .refuses([Code::NotFound, Code::Forbidden, Code::ThreadBusy, Code::Conflict, Code::Expired])
}

pub(crate) async fn start(
    Traced(runtime): Traced,
    Caller(principal): Caller,
    WantsJson(json): WantsJson,
    Until(deadline): Until,
    body: Body,
) -> Result<Response, ApiError> {
    let came = Instant::now();
    let body = body::read(body, MAX_BODY).await?;
    let chat = AgentChat::parse(&body)?;
    // Before there is a run that nobody would see.
    let open = if json { None } else { Some(runtime.open_stream(&principal)?) };
    let started = runtime.start(&principal, &chat).await.map_err(|error| refused(error, &chat.thread))?;
    let run = started.run;
    let Some(open) = open else {
        if started.fresh {
            runtime.see_off(&run, deadline).await;
        }
        return Ok(accepted(&run));
    };
    let attended = started.fresh.then(|| runtime.attend(run.clone(), deadline));
    let came = started.fresh.then_some(came);
    let stream = EventStream { run, from: 0, attended, came, deadline, prelude: Vec::new(), epilogue: None, open };
    Ok(stream.response(&runtime))
}

/// A thread that is not there is a fault of the field that named it.
fn refused(error: StartError, named: &ThreadChoice) -> ApiError {
    let gone =
        |detail: &str, at: &str, fault: &str| ApiError(Box::new(Problem::new(Code::NotFound, detail).at(at, fault)));
    match (error, named) {
        (StartError::ThreadNotFound, ThreadChoice::Named(_)) => {
            let detail = "There is no such thread, and its id is taken. Send an id of its own to begin a new one.";
            gone(detail, "/id", "is not a thread of yours")
        }
        (StartError::ThreadNotFound, ThreadChoice::New) => {
            let detail = "The thread that the turn began was deleted. Send an id of its own for a new message.";
            gone(detail, "/turnId", "is a turn of a deleted thread")
        }
        (error, _) => error.into(),
    }
}

fn accepted(run: &Run) -> Response {
    let body = Accepted {
        run_id: run.run_id.clone(),
        thread_id: run.thread_id.clone(),
        turn_id: run.turn_id.clone(),
        status: run.status,
    };
    let mut response = (StatusCode::ACCEPTED, Json(body)).into_response();
    run_headers(&mut response, run);
    response
}
