//! One turn: history to model to tools to chunks.
//!
//! The agent knows nothing of claims and clocks of runs: it is given a log that it may write, a transcript of
//! what the log says so far, and a time until which it may begin new things.

mod action;
mod answer;
mod approvals;
mod ask;
mod calls;
mod digest;
mod history;
mod overflow;
mod prepared;
mod prompt;
mod recorder;
mod shortened;
mod spending;
mod turn;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use tandem_actions::Registry;
use tandem_model::Models;
use tandem_protocol::{EndReason, FinishReason, Run, Transcript};
use tandem_store::{AppendError, LogWriter, Store, StoreError};
use tokio::time::Instant;

pub use prepared::Prepared;
pub use spending::Budgets;

/// Bounds of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Requests to the model in one run.
    pub max_steps: u32,
    /// Output of one request, in tokens.
    pub max_output_tokens: u32,
    pub budgets: Budgets,
}

/// What every turn shares. Cheap to clone.
#[derive(Clone)]
pub struct Agent {
    store: Store,
    registry: Arc<Registry>,
    models: Arc<Models>,
    instructions: Arc<str>,
    limits: Limits,
}

/// One attempt at a turn.
pub struct Setup<'a> {
    pub run: Run,
    pub prepared: Prepared,
    /// What the log says so far.
    pub transcript: Transcript,
    /// From here on nothing new begins.
    pub soft: Instant,
    /// From here on nothing is waited for.
    pub hard: Instant,
    /// What a holder has in all that takes the run over.
    pub whole: Duration,
    /// Set whenever a step finishes, an outcome is stored or a call reports progress.
    pub progressed: &'a AtomicBool,
}

/// What became of an attempt, and what the log says now.
#[derive(Debug)]
pub struct Turned {
    pub end: TurnEnd,
    pub transcript: Transcript,
}

#[derive(Debug)]
pub enum TurnEnd {
    Finished(FinishReason),
    /// A person must agree to calls; all others of the step are settled.
    AwaitingApproval,
    /// The reason, and a text for people.
    Failed(EndReason, String),
    /// The time was up; what is open is closed and `data-continue` is stored.
    TimeUp,
    /// Another holder has the log.
    Displaced,
    StoreFailed(StoreError),
}

impl Agent {
    /// `instructions`: the application's part of the system prompt.
    pub fn new(
        store: Store,
        registry: Arc<Registry>,
        models: Arc<Models>,
        instructions: impl Into<Arc<str>>,
        limits: Limits,
    ) -> Self {
        Agent { store, registry, models, instructions: instructions.into(), limits }
    }

    pub fn models(&self) -> &Models {
        &self.models
    }

    pub fn registry(&self) -> &Arc<Registry> {
        &self.registry
    }

    /// Works on the turn until it is done or has to stop.
    pub async fn run(&self, setup: Setup<'_>, log: &LogWriter) -> Turned {
        turn::run(self, setup, log).await
    }
}

/// Why work on a turn stops before it is done.
#[derive(Debug)]
pub(crate) enum Stop {
    TimeUp,
    Failed(EndReason, String),
    Append(AppendError),
    Store(StoreError),
}

impl From<AppendError> for Stop {
    fn from(error: AppendError) -> Self {
        Stop::Append(error)
    }
}

impl From<StoreError> for Stop {
    fn from(error: StoreError) -> Self {
        Stop::Store(error)
    }
}
