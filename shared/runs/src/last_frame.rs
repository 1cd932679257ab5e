//! What the last frame of a run says.

use tandem_actions::result_of;
use tandem_protocol::{CallState, Chunk, FinishReason, Run, ToolCall, ToolCallId, Transcript};
use tandem_store::{Append, Outcome, PendingApproval, StoreError};

use crate::end::{Ending, KnownLog};

/// The end of a log as it is to be written.
pub(crate) struct Last {
    pub(crate) terminal: Append,
    /// What the log says with its end.
    pub(crate) answer: Transcript,
    /// Calls that may still be under way.
    pub(crate) unsettled: Vec<ToolCallId>,
}

pub(crate) fn last_frame(
    run: &Run,
    log: &KnownLog,
    ending: &Ending,
    settled: &[(ToolCallId, Outcome)],
) -> Result<Last, StoreError> {
    let mut transcript = log.transcript.clone();
    let mut chunks = transcript.closing();
    let intended: Vec<&ToolCall> = transcript.calls().filter(|call| call.state == CallState::Intended).collect();
    let outcome = |call: &ToolCall| settled.iter().find(|(id, _)| *id == call.id).map(|(_, outcome)| outcome);
    let mut room = MAX_SHOWN;
    for call in &intended {
        chunks.extend(outcome(call).map(|outcome| shown_within(&call.id, outcome, &mut room)));
    }
    if !matches!(ending, Ending::Finish(_) | Ending::AwaitApproval) {
        // Clients would show it as under way for ever, and a stock client that has answered it would send its answer again
        // and again.
        let left = transcript.calls().filter(|call| outcome(call).is_none());
        chunks.extend(left.filter_map(|call| given_up(call, &mut room)));
    }
    let open = intended.iter().filter(|call| outcome(call).is_none());
    let unsettled = open.map(|call| call.id.clone()).collect();
    let finish = |finish_reason| Chunk::Finish {
        finish_reason,
        message_metadata: Some(metadata(run, &log.transcript, finish_reason)),
    };
    chunks.push(match ending {
        Ending::Finish(reason) => finish(*reason),
        Ending::AwaitApproval => finish(FinishReason::ToolCalls),
        Ending::Abort => Chunk::Abort { reason: None },
        Ending::Fail(reason, text) => Chunk::Error { error_text: format!("{text} [{}]", reason.code()) },
    });
    chunks.iter().for_each(|chunk| transcript.apply(chunk));
    let chunks = [&log.unstored[..], &chunks].concat();
    Ok(Last { terminal: Append::new(log.next, run.attempt, &chunks)?, answer: transcript, unsettled })
}

/// Outputs that the last frame shows, in bytes of JSON, all together: an item of the store must hold them.
const MAX_SHOWN: usize = 150 * 1024;

/// The chunk that shows an outcome; that there is one, where no room is left for it.
fn shown_within(call: &ToolCallId, outcome: &Outcome, room: &mut usize) -> Chunk {
    let chunk = shown(call, outcome);
    let size = serde_json::to_vec(&chunk).map_or(usize::MAX, |json| json.len());
    match (room.checked_sub(size), outcome) {
        (Some(left), _) => {
            *room = left;
            chunk
        }
        // Short, and not to be taken for something that was done.
        (None, Outcome::Failed(_) | Outcome::Unknown | Outcome::Closed) => chunk,
        (None, Outcome::Done(_)) => {
            let error_text = "It was done. The result is too long to be shown at the end of a run.".into();
            Chunk::ToolOutputError { tool_call_id: call.clone(), error_text }
        }
    }
}

/// What the end says of a call that has no outcome. Of one whose arguments are still arriving it shows what is there, where
/// there is room. Nothing of what is over, or waits for a person: going on without an answer refuses that.
fn given_up(call: &ToolCall, room: &mut usize) -> Option<Chunk> {
    let text = match &call.state {
        CallState::Streaming(json) => {
            let size = serde_json::to_vec(json).map_or(usize::MAX, |json| json.len());
            let left = room.checked_sub(size);
            *room = left.unwrap_or(*room);
            return Some(Chunk::ToolInputError {
                tool_call_id: call.id.clone(),
                tool_name: call.name.clone(),
                input: left.map(|_| json.as_str()).into(),
                error_text: NOT_BEGUN.into(),
            });
        }
        CallState::Ready | CallState::Approved => NOT_BEGUN,
        CallState::Intended => "The run ended while this was under way: it may or may not have happened.",
        CallState::AwaitingApproval | CallState::Done(_) | CallState::Failed(_) | CallState::Denied => return None,
    };
    Some(Chunk::ToolOutputError { tool_call_id: call.id.clone(), error_text: text.into() })
}

const NOT_BEGUN: &str = "The run ended before this began. Nothing was run.";

/// The chunk that shows an outcome.
fn shown(call: &ToolCallId, outcome: &Outcome) -> Chunk {
    match result_of(outcome.clone()) {
        Ok(output) => Chunk::ToolOutputAvailable { tool_call_id: call.clone(), output },
        Err(error) => Chunk::ToolOutputError { tool_call_id: call.clone(), error_text: error.to_string() },
    }
}

/// What a run that waits for a person asks.
pub(crate) fn asks(ending: &Ending, answer: &Transcript) -> Vec<PendingApproval> {
    match ending {
        Ending::AwaitApproval => {
            let ask =
                |call: &ToolCall| PendingApproval { call: call.id.clone(), name: call.name.clone(), decision: None };
            answer.awaiting().map(ask).collect()
        }
        Ending::Finish(_) | Ending::Abort | Ending::Fail(..) => Vec::new(),
    }
}

fn metadata(run: &Run, transcript: &Transcript, finish_reason: FinishReason) -> serde_json::Value {
    let mut metadata = serde_json::json!({
        "runId": run.run_id,
        "attempts": run.attempt,
        "finishReason": finish_reason,
    });
    if let Some(usage) = transcript.metadata.as_ref().and_then(|metadata| metadata.get("usage")) {
        metadata["usage"] = usage.clone();
    }
    metadata
}
