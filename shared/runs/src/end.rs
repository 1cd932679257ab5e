//! The one end: finish, fail, abort and give up all end a run here, in one transaction.

use tandem_actions::result_of;
use tandem_protocol::{
    CallState, Chunk, EndReason, FinishReason, Principal, Run, RunId, Seq, ToolCall, ToolCallId, Transcript,
};
use tandem_store::{Append, EndWrite, Outcome, PendingApproval, RunEnd, Slot, StoreError, now_ms};

use crate::Runtime;
use crate::state::{EndBy, Event, Refused, apply};

/// How a run ends, as its last chunk says it.
#[derive(Debug, Clone)]
pub(crate) enum Ending {
    Finish(FinishReason),
    /// A person must agree to calls of the last step.
    AwaitApproval,
    Abort,
    /// A text for people; the code of the reason is added in brackets.
    Fail(EndReason, String),
}

impl Ending {
    fn reason(&self) -> EndReason {
        match self {
            Ending::Finish(_) => EndReason::Completed,
            Ending::AwaitApproval => EndReason::AwaitingApproval,
            Ending::Abort => EndReason::Aborted,
            Ending::Fail(reason, _) => *reason,
        }
    }
}

/// A log up to a position. A holder knows its own; anybody else reads it.
pub(crate) struct KnownLog {
    pub(crate) next: Seq,
    pub(crate) transcript: Transcript,
}

/// Why a run cannot be aborted.
#[derive(Debug, thiserror::Error)]
pub enum AbortError {
    /// There is no such run, or it is not the caller's.
    #[error("there is no such run")]
    NotFound,
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Runtime {
    /// Stops a run for somebody who gets at it. Idempotent: a run that has ended stays as it is.
    pub async fn abort(&self, principal: &Principal, id: &RunId) -> Result<Run, AbortError> {
        let run = self.0.store.run_for(principal, id).await?.ok_or(AbortError::NotFound)?;
        match self.end(&run, EndBy::Anyone, &Ending::Abort, None).await? {
            Ok(run) => Ok(run),
            Err(_) => Ok(self.0.store.run(id).await?.unwrap_or(run)),
        }
    }

    /// Ends a run that nobody holds any more, if it still is as observed.
    pub(crate) async fn give_up(&self, observed: &Run, reason: EndReason) -> Result<Result<Run, Refused>, StoreError> {
        let by = EndBy::Observer { observed: observed.version };
        self.end(observed, by, &Ending::Fail(reason, explain(reason).into()), None).await
    }

    /// Writes the end: everything or nothing. The log is read unless its holder passes what it knows.
    pub(crate) async fn end(
        &self,
        run: &Run,
        by: EndBy,
        ending: &Ending,
        known: Option<KnownLog>,
    ) -> Result<Result<Run, Refused>, StoreError> {
        let store = &self.0.store;
        let mut current = run.clone();
        let mut frees_thread = true;
        let mut log = match known {
            Some(log) => log,
            None => {
                let (transcript, next) = store.said(run).await?;
                KnownLog { next, transcript }
            }
        };
        let mut settled = Vec::new();
        loop {
            let event = Event::End { by, reason: ending.reason() };
            let mut next = match apply(&current, &event, now_ms(), &self.0.config.limits) {
                Ok(next) => next,
                Err(refused) => return Ok(Err(refused)),
            };
            next.expires_at = Some(store.run_expiry());
            let Last { terminal, answer, unsettled } = last_frame(&next, &log, ending, &settled)?;
            let end = RunEnd {
                next: &next,
                version: current.version,
                terminal: &terminal,
                frees_thread,
                unsettled: &unsettled,
                asks: &asks(ending, &answer),
                answer: &answer,
            };
            match store.end_run(&end).await? {
                EndWrite::Committed => {
                    tracing::info!(run = %run.run_id, reason = next.end_reason.map(EndReason::code), "ended");
                    return Ok(Ok(next));
                }
                EndWrite::Refused { thread_changed, settled: more, .. } => {
                    frees_thread &= !thread_changed;
                    for call in more {
                        let slot = Slot::Call { run: run.run_id.clone(), call: call.clone() };
                        // An outcome that nobody has shown yet: the end does.
                        settled.extend(store.outcome(&slot).await?.map(|outcome| (call, outcome)));
                    }
                }
            }
            // Only what is new, and both at once: a holder that streams must not be faster for ever.
            let (now, more) = tokio::try_join!(store.run(&run.run_id), store.log_from(&run.run_id, log.next))?;
            for frame in more {
                frame.parsed()?.iter().for_each(|chunk| log.transcript.apply(chunk));
                log.next = frame.next();
            }
            let Some(now) = now else { return Ok(Err(Refused::Missing)) };
            current = now;
        }
    }
}

/// The end of a log as it is to be written.
struct Last {
    terminal: Append,
    /// What the log says with its end.
    answer: Transcript,
    /// Calls that may still be under way.
    unsettled: Vec<ToolCallId>,
}

fn last_frame(
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
        // A stock client sends its answer again for as long as it shows a call as answered and open.
        let left = transcript.calls().filter(|call| call.approval.is_some() && outcome(call).is_none());
        chunks.extend(left.filter_map(given_up));
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
    Ok(Last { terminal: Append::new(log.next, run.attempt, &chunks)?, answer: transcript, unsettled })
}

/// Outputs that the last frame shows, in bytes of JSON, all together: an item of the store must hold them.
const MAX_SHOWN: usize = 150 * 1024;

/// The chunk that shows an outcome; that there is one, where no room is left for it.
fn shown_within(call: &ToolCallId, outcome: &Outcome, room: &mut usize) -> Chunk {
    let chunk = shown(call, outcome);
    let size = serde_json::to_vec(&chunk).map_or(usize::MAX, |json| json.len());
    match room.checked_sub(size) {
        Some(left) => {
            *room = left;
            chunk
        }
        None => {
            let error_text = "It was done. The result is too long to be shown at the end of a run.".into();
            Chunk::ToolOutputError { tool_call_id: call.clone(), error_text }
        }
    }
}

/// What the end says of an approved call that has no outcome.
fn given_up(call: &ToolCall) -> Option<Chunk> {
    let text = match call.state {
        CallState::Approved => "The run ended before this began. Nothing was run.",
        CallState::Intended => "The run ended while this was under way: it may or may not have happened.",
        _ => return None,
    };
    Some(Chunk::ToolOutputError { tool_call_id: call.id.clone(), error_text: text.into() })
}

/// The chunk that shows an outcome.
fn shown(call: &ToolCallId, outcome: &Outcome) -> Chunk {
    match result_of(outcome.clone()) {
        Ok(output) => Chunk::ToolOutputAvailable { tool_call_id: call.clone(), output },
        Err(error) => Chunk::ToolOutputError { tool_call_id: call.clone(), error_text: error.to_string() },
    }
}

/// What a run that waits for a person asks.
fn asks(ending: &Ending, answer: &Transcript) -> Vec<PendingApproval> {
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

fn explain(reason: EndReason) -> &'static str {
    match reason {
        EndReason::NeverClaimed => {
            "No worker took the run, although it was dispatched several times. Please try again."
        }
        EndReason::NoProgress => {
            "The run was stopped, as several attempts in a row got no further. What was completed before is kept."
        }
        EndReason::RunBudgetExhausted => "The run was stopped, as it took too long. What was completed before is kept.",
        _ => "The run failed.",
    }
}
