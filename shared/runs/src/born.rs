//! What every run is when it begins.

use sha2::{Digest, Sha256};
use tandem_protocol::{MessageId, Principal, Run, RunId, RunStatus};
use tandem_store::StoreError;

/// The id of a run, from a name that is unique.
pub(crate) fn run_id(name: &str) -> Result<RunId, StoreError> {
    RunId::new(format!("run_{name}")).map_err(|e| StoreError::Rejected(e.to_string()))
}

/// The name that a text always gets: 32 hex digits.
pub(crate) fn name_from(text: &str) -> String {
    Sha256::digest(text).iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

/// A run that was dispatched once and that nobody has claimed: outside any thread, until the caller says otherwise.
pub(crate) fn unclaimed(run_id: &RunId, owner: &Principal, now: i64, due_at: i64) -> Run {
    Run {
        message_id: MessageId::of_run(run_id),
        run_id: run_id.clone(),
        thread_id: None,
        turn_id: None,
        action: None,
        continues: None,
        owner: owner.clone(),
        trace: None,
        status: RunStatus::Dispatched,
        version: 1,
        attempt: 0,
        holder: None,
        dispatches: 1,
        dispatched_at: now,
        continuations: 0,
        handed_over: false,
        no_progress: 0,
        end_reason: None,
        counted_in: Vec::new(),
        created_at: now,
        ended_at: None,
        due_at: Some(due_at),
        expires_at: None,
    }
}
