//! What an answer to a call means, as a pure function of what is stored. The model checker runs this very function.

use tandem_actions::ActionError;
use tandem_protocol::{Run, RunStatus, ToolCallId};
use tandem_store::{Decision, PendingApproval, Thread, Turn};

use crate::DecideError;

/// Inputs that are approved instead of the model's, in bytes of JSON, all of a step: an item must hold them.
const MAX_INPUTS: usize = 190 * 1024;

/// What an answer leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Another run follows: it says what was decided.
    Answered,
    /// Somebody has answered this call; others still wait.
    Told { approved: bool, pending: usize },
    /// The decisions to write where the turn is still as it was read.
    Write { approvals: Vec<PendingApproval>, pending: usize },
    /// The last decision: the next run is started with all of them, where turn and thread are still as they were read.
    Start(Vec<PendingApproval>),
}

/// What the answer to `call` of `run` means. `decision` makes it, once it is known that it is needed.
pub fn weigh(
    run: &Run,
    thread: &Thread,
    turn: &Turn,
    call: &ToolCallId,
    decision: impl FnOnce() -> Result<Decision, DecideError>,
) -> Result<Verdict, DecideError> {
    if turn.run != run.run_id {
        return Ok(Verdict::Answered);
    }
    if run.status != RunStatus::AwaitingApproval {
        let text = "The run does not wait for an approval: it is under way, or it has ended otherwise.";
        return Err(DecideError::NotAsked(text));
    }
    if thread.awaiting.as_ref() != Some(&run.run_id) {
        return Err(DecideError::NotAsked("The conversation went on without an answer, so nothing was run."));
    }
    let asked = turn.approvals.iter().position(|asked| asked.call == *call).ok_or(DecideError::NotFound)?;
    if let Some(decision) = &turn.approvals[asked].decision {
        return Ok(Verdict::Told { approved: decision.approved, pending: pending(&turn.approvals) });
    }
    let mut approvals = turn.approvals.clone();
    approvals[asked].decision = Some(decision()?);
    let inputs = approvals.iter().filter_map(|asked| asked.decision.as_ref()?.input.as_ref()).map(String::len);
    if inputs.sum::<usize>() > MAX_INPUTS {
        let text = format!("the inputs that are approved take more than {MAX_INPUTS} bytes");
        return Err(DecideError::Input(ActionError::TooLarge(text)));
    }
    Ok(match pending(&approvals) {
        0 => Verdict::Start(approvals),
        pending => Verdict::Write { approvals, pending },
    })
}

fn pending(approvals: &[PendingApproval]) -> usize {
    approvals.iter().filter(|asked| asked.decision.is_none()).count()
}
