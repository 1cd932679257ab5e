//! What an action's code knows of its call.

use tandem_protocol::{Caller, Principal, ProgressData, RunId, ThreadId, ToolCallId, TurnId};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::Call;

/// One run of one call.
pub struct Context {
    call: Call,
}

impl Context {
    pub fn principal(&self) -> &Principal {
        &self.call.principal
    }

    pub fn caller(&self) -> Caller {
        self.call.caller
    }

    pub fn run(&self) -> Option<&RunId> {
        self.call.run.as_ref()
    }

    pub fn thread(&self) -> Option<&ThreadId> {
        self.call.thread.as_ref()
    }

    pub fn turn(&self) -> Option<&TurnId> {
        self.call.turn.as_ref()
    }

    pub fn tool_call(&self) -> Option<&ToolCallId> {
        self.call.tool_call.as_ref()
    }

    /// The same for every run of this call.
    pub fn idempotency_key(&self) -> &str {
        &self.call.idempotency_key
    }

    pub fn deadline(&self) -> Instant {
        self.call.deadline
    }

    pub fn cancellation(&self) -> &CancellationToken {
        &self.call.cancel
    }

    /// Tells watchers how far the call is.
    pub fn progress(&self, label: impl Into<String>, done: u64, total: Option<u64>) {
        if let Some(report) = &self.call.progress {
            report(ProgressData { label: label.into(), done, total });
        }
    }
}
