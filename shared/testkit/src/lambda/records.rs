//! What happened, for tests to look at.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;

/// One invocation of a function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invocation {
    /// The request id. An event that is delivered twice or tried again keeps its id.
    pub id: String,
    pub invoker: Invoker,
    /// The process that got it.
    pub pid: u32,
    /// When it was handed over, since the host started.
    pub started: Duration,
    /// When the process was free again or gone.
    pub ended: Option<Duration>,
    pub outcome: Option<Outcome>,
}

/// Which door an invocation came through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Invoker {
    Url,
    RequestResponse,
    Event,
    /// The failure queue of another function.
    Queue,
}

/// How an invocation ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    Answered,
    /// The function reported an error.
    Failed,
    /// Killed at its deadline.
    TimedOut,
    /// The process was gone before it asked for more.
    Died,
}

/// An event that would be in the failure queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedEvent {
    pub id: String,
    pub payload: Bytes,
    /// Lambda's words: `RetriesExhausted` or `EventAgeExceeded`.
    pub condition: &'static str,
}

/// The books of one function.
#[derive(Debug)]
pub(super) struct Records {
    epoch: Instant,
    invocations: Mutex<Vec<Invocation>>,
    failed: Mutex<Vec<FailedEvent>>,
    log: Mutex<Vec<String>>,
}

impl Records {
    pub(super) fn new(epoch: Instant) -> Self {
        Self { epoch, invocations: Mutex::default(), failed: Mutex::default(), log: Mutex::default() }
    }

    /// Returns the index that [`Records::end`] wants.
    pub(super) fn start(&self, id: &str, invoker: Invoker, pid: u32) -> usize {
        let started = self.epoch.elapsed();
        let mut invocations = locked(&self.invocations);
        invocations.push(Invocation { id: id.to_owned(), invoker, pid, started, ended: None, outcome: None });
        invocations.len() - 1
    }

    pub(super) fn end(&self, index: usize, outcome: Outcome) {
        let ended = self.epoch.elapsed();
        if let Some(invocation) = locked(&self.invocations).get_mut(index) {
            invocation.ended = Some(ended);
            invocation.outcome = Some(outcome);
        }
    }

    pub(super) fn fail(&self, event: FailedEvent) {
        locked(&self.failed).push(event);
    }

    pub(super) fn write(&self, line: String) {
        locked(&self.log).push(line);
    }

    pub(super) fn invocations(&self) -> Vec<Invocation> {
        locked(&self.invocations).clone()
    }

    pub(super) fn failed(&self) -> Vec<FailedEvent> {
        locked(&self.failed).clone()
    }

    pub(super) fn log(&self) -> Vec<String> {
        locked(&self.log).clone()
    }
}

/// A panic of a holder leaves these lists as good as they were.
pub(super) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
