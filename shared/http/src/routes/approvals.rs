//! `POST /runs/{run}/approvals/{toolCallId}`: what a person says to a call that a run asked about.

use axum::Json;
use axum::body::Body;
use axum::extract::Path;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tandem_actions::ActionError;
use tandem_protocol::{Code, Problem, RunId, ToolCallId};
use tandem_runs::{Answer, DecideError};

use crate::caller::{Caller, Traced, Until};
use crate::description::{Operation, operation};
use crate::routes::events::own_run;
use crate::{ApiError, body};

/// Longest body; counted while it is read.
const MAX_BODY: usize = 512 * 1024;

/// What a person says to a call.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ApprovalAnswer")]
struct Said {
    approved: bool,
    /// What the call runs with instead of the model's input.
    input: Option<Value>,
    /// For the model and for people; the first 2,000 bytes are kept.
    reason: Option<String>,
}

/// What holds for a call now.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ApprovalDecided")]
pub(crate) struct Shown {
    tool_call_id: ToolCallId,
    /// What holds, whoever said it first.
    approved: bool,
    /// Calls of the run that still wait for an answer.
    pending: usize,
    /// The run that goes on.
    #[serde(skip_serializing_if = "Option::is_none")]
    run_id: Option<RunId>,
}

pub(crate) fn about() -> Operation {
    let decided = json!({"toolCallId": "call_1", "approved": true, "pending": 0, "runId": "run_01a2b3c4"});
    operation("answerApproval", "Runs", "Answer what a run asked about a call")
        .note(
            "The first answer to a call stays; whoever answers later is told what holds. The answer to the last call \
             starts the run that goes on with the same message.",
        )
        .body::<Said>([
            ("approve", json!({"approved": true})),
            ("deny", json!({"approved": false, "reason": "Not today."})),
        ])
        .gives::<Shown>(200, "What holds for the call, whoever said it.", decided)
        .refuses([Code::InvalidInput, Code::Forbidden, Code::Conflict, Code::Expired, Code::TooLarge])
}

pub(crate) async fn decide(
    Traced(runtime): Traced,
    Caller(principal): Caller,
    Path((run, call)): Path<(String, String)>,
    Until(deadline): Until,
    body: Body,
) -> Result<Json<Shown>, ApiError> {
    let run = own_run(&runtime, &principal, &run).await?;
    let call = ToolCallId::new(call).map_err(|_| unknown())?;
    let body = body::read(body, MAX_BODY).await?;
    let Said { approved, input, reason } = body::object(&body)?;
    let answer = Answer { approved, input, reason };
    let decided = runtime.decide(&principal, &run, &call, &answer).await?;
    if let Some(next) = decided.next.as_ref().filter(|next| next.fresh) {
        runtime.see_off(&next.run, deadline).await;
    }
    let run_id = decided.next.map(|next| next.run.run_id);
    Ok(Json(Shown { tool_call_id: call, approved: decided.approved, pending: decided.pending, run_id }))
}

fn unknown() -> ApiError {
    ApiError::not_found("The run asked nothing about such a call, or it is not yours.")
}

impl From<DecideError> for ApiError {
    fn from(error: DecideError) -> Self {
        match error {
            DecideError::NotFound => unknown(),
            DecideError::NotYours => {
                let detail = "Only who asked the agent may agree to what it does for them; you may refuse it.";
                Self::new(Code::Forbidden, detail)
            }
            DecideError::NotAsked(text) => Self::new(Code::Conflict, text),
            DecideError::Input(ActionError::Invalid(faults)) => {
                let mut problem = Problem::new(Code::InvalidInput, "The input does not fit the action.");
                problem.errors = faults;
                for fault in &mut problem.errors {
                    fault.pointer.insert_str(0, "/input");
                }
                ApiError(Box::new(problem))
            }
            DecideError::Input(ActionError::TooLarge(text)) => Self::new(Code::TooLarge, text),
            DecideError::Input(other) => Self::new(Code::Conflict, other.to_string()),
            DecideError::TooMany(too_many) => too_many.into(),
            DecideError::Store(error) => error.into(),
        }
    }
}
