//! `POST /api/agent-chat`: start a turn and stream it.

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::json;
use tandem_protocol::{AgentChat, Run};

use crate::caller::{Caller, Until, WantsJson};
use crate::sse::{EventStream, run_headers};
use crate::{ApiError, App, body};

/// Longest body; counted while it is read. The AI SDK sends the whole conversation.
const MAX_BODY: usize = 4 * 1024 * 1024;

pub(crate) async fn start(
    State(app): State<App>,
    Caller(principal): Caller,
    WantsJson(json): WantsJson,
    Until(deadline): Until,
    body: Body,
) -> Result<Response, ApiError> {
    let body = body::read(body, MAX_BODY).await?;
    let chat = AgentChat::parse(&body)?;
    let started = app.runtime.start(&principal, &chat).await?;
    let run = started.run;
    if json {
        if started.fresh {
            app.runtime.see_off(&run, deadline).await;
        }
        return Ok(accepted(&run));
    }
    let attended = started.fresh.then(|| app.runtime.attend(run.clone(), deadline));
    Ok(EventStream { run, from: 0, attended, deadline, epilogue: None }.response(&app.runtime))
}

fn accepted(run: &Run) -> Response {
    let body = json!({
        "runId": run.run_id,
        "threadId": run.thread_id,
        "turnId": run.turn_id,
        "status": run.status,
    });
    let mut response = (StatusCode::ACCEPTED, Json(body)).into_response();
    run_headers(&mut response, run);
    response
}
