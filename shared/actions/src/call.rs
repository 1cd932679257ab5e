//! One call of an action: who calls, through which door, until when.

use std::sync::Arc;

use tandem_protocol::{Caller, Principal, ProgressData, RunId, ThreadId, ToolCallId, TurnId};
use tandem_store::{Slot, Store};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// Receives the progress of a call; must not block.
pub type OnProgress = Arc<dyn Fn(ProgressData) + Send + Sync>;

/// Everything a call needs besides its name and its input. There is no default: a caller is never assumed.
#[derive(Clone)]
pub struct Call {
    pub store: Store,
    pub principal: Principal,
    pub caller: Caller,
    /// With `tool_call`: the outcome is stored once, and the stored one is returned.
    pub run: Option<RunId>,
    pub thread: Option<ThreadId>,
    pub turn: Option<TurnId>,
    pub tool_call: Option<ToolCallId>,
    /// The same for every run of this call. For a tool call `Call::key_of(run, tool_call)`; for others the
    /// `Idempotency-Key` header together with who sent it, or a new id.
    pub idempotency_key: String,
    /// Milliseconds since 1970; what the action takes for now. Must be the same for every run of this call, so it
    /// is never read from a clock at the time of running: for a tool call it is the run's `created_at`, for others
    /// the time of arrival that is stored with the idempotency key.
    pub started_at: i64,
    /// When the holder's time is up. The action's own timeout is counted besides.
    pub deadline: Instant,
    pub cancel: CancellationToken,
    pub progress: Option<OnProgress>,
}

impl Call {
    /// The idempotency key of a tool call.
    pub fn key_of(run: &RunId, call: &ToolCallId) -> String {
        format!("{run}/{call}")
    }

    /// The tool call whose outcome is stored, if this is one.
    pub(crate) fn slot(&self) -> Option<Slot> {
        let tool = self.run.clone().zip(self.tool_call.clone());
        tool.map(|(run, call)| Slot::Call { run, call })
    }
}
