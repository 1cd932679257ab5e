//! Stopping a turn by its own name, which its client knows before there is a run.

use axum::Json;
use axum::extract::{Path, State};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;
use tandem_protocol::{RunId, RunStatus, ThreadId, TurnId};

use crate::caller::Stopping;
use crate::description::{Operation, operation};
use crate::{ApiError, App};

/// A turn that is stopped, or has ended.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "StoppedTurn")]
pub(crate) struct Stopped {
    turn_id: TurnId,
    /// Its run; none where it has not begun.
    #[serde(skip_serializing_if = "Option::is_none")]
    run_id: Option<RunId>,
    /// `aborted`, or how the run had ended before.
    status: RunStatus,
}

pub(crate) fn about_abort() -> Operation {
    operation("abortTurn", "Threads", "Stop a turn, also before its run exists")
        .note(
            "Idempotent. A turn that has not begun, also one whose request is still on its way, gets a run that was \
             aborted before it began. What is asked of a person stays unanswered.",
        )
        .always_open()
        .gives::<Stopped>(200, "It is stopped, or has ended.", json!({"turnId": "m1", "status": "aborted"}))
}

pub(crate) async fn abort(
    State(app): State<App>,
    Stopping(principal): Stopping,
    Path((thread, turn)): Path<(String, String)>,
) -> Result<Json<Stopped>, ApiError> {
    let thread = ThreadId::new(thread).map_err(|_| ApiError::no_thread())?;
    let turn_id = TurnId::new(turn).map_err(|_| ApiError::no_thread())?;
    let run = app.runtime.abort_turn(&principal, &thread, &turn_id).await?;
    let status = run.as_ref().map_or(RunStatus::Aborted, |run| run.status);
    Ok(Json(Stopped { turn_id, run_id: run.map(|run| run.run_id), status }))
}
