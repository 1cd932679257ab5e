//! What is to go wrong, and when.

use std::time::Duration;

use super::Refusal;

/// A fault at one place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plan {
    pub at: At,
    pub what: Fault,
    /// From the place on, every call, reads included, meets the fault for this long. Zero: that call alone.
    pub lasts: Duration,
}

/// A place in what one process asks of the store; counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum At {
    /// The k-th call of any kind.
    Call(u64),
    /// The k-th call that writes.
    Write(u64),
}

/// What happens to a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The connection is closed, and the store never sees the call.
    LoseRequest,
    /// The store does it, and the connection is closed without an answer.
    LoseReply,
    /// The store sees it later.
    Delay(Duration),
    /// Answered with an error of DynamoDB; the store never sees the call.
    Refuse(Refusal),
    /// The proxy's hook is called, and says what becomes of the call.
    Hook(Moment),
}

/// When a hook is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// The call has arrived, and the store has not seen it.
    Before,
    /// The store has done it, and the process has no answer.
    After,
}

impl Plan {
    /// One call.
    pub fn once(at: At, what: Fault) -> Self {
        Plan { at, what, lasts: Duration::ZERO }
    }

    /// Everything from some call on, for a while.
    pub fn during(at: At, what: Fault, lasts: Duration) -> Self {
        Plan { at, what, lasts }
    }
}
