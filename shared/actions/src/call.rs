//! One call of an action: who calls, through which door, until when.

use std::sync::Arc;
use std::time::Duration;

use tandem_protocol::{Caller, Principal, ProgressData, RunId, ThreadId, ToolCallId, TurnId};
use tandem_store::{Slot, Store};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// Longest idempotency key, in characters.
const MAX_KEY: usize = 255;

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
    /// For a call that is no tool call: the outcome is stored once for this key, and the stored one is returned.
    /// Read actions take no notice of it.
    pub once: Option<Once>,
    /// The same for every run of this call. For a tool call `Call::key_of(run, tool_call)`; for others a new id, in
    /// whose place the one that belongs to `once` is put.
    pub idempotency_key: String,
    /// Milliseconds since 1970; what the action takes for now. Must be the same for every run of this call, so it
    /// is never read from a clock at the time of running: for a tool call it is the run's `created_at`, for others
    /// the time of arrival, in whose place the one that is stored for `once` is put.
    pub started_at: i64,
    /// When the holder's time is up. The action's own timeout is counted besides.
    pub deadline: Instant,
    pub cancel: CancellationToken,
    pub progress: Option<OnProgress>,
}

/// A call that has one effect and one outcome however often it is sent.
#[derive(Debug, Clone)]
pub struct Once {
    pub key: IdempotencyKey,
    /// How often whoever carries the call out gives a sign of life.
    pub heartbeat: Duration,
    /// Who has given none for so long, as one observer saw it, is taken for gone.
    pub lease: Duration,
}

/// What a client names a call by, so that it can send it again: 1 to 255 visible ASCII characters. It means the same
/// call for a day, for one person and one action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotencyKey(String);

impl IdempotencyKey {
    /// Checks the length and the characters; an error says what is allowed.
    pub fn new(text: impl Into<String>) -> Result<Self, String> {
        let text = text.into();
        let fits = (1..=MAX_KEY).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_graphic());
        if fits { Ok(Self(text)) } else { Err(format!("must be 1 to {MAX_KEY} visible ASCII characters")) }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Call {
    /// The idempotency key of a tool call.
    pub fn key_of(run: &RunId, call: &ToolCallId) -> String {
        format!("{run}/{call}")
    }

    /// Where the outcome of a tool call is stored, if this is one.
    pub(crate) fn tool_slot(&self) -> Option<Slot> {
        let tool = self.run.clone().zip(self.tool_call.clone());
        tool.map(|(run, call)| Slot::Call { run, call })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_visible_text_of_limited_length() {
        for text in ["1", "8e03978e-40d5-43dd-bc93-6894a57f9324", "\"quoted\"", &"k".repeat(255)] {
            assert_eq!(IdempotencyKey::new(text).unwrap().as_str(), text);
        }
        for text in ["", " ", "a b", "a\n", "ü", &"k".repeat(256)] {
            assert!(IdempotencyKey::new(text).is_err(), "{text:?}");
        }
    }
}
