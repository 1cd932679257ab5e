//! A run's life: start, claim, drive, hand over, recover, end, and the stream that clients follow.
//!
//! `state` decides, purely; everything else reads, asks it, and writes on condition.

mod abort;
mod action;
mod admission;
mod ahead;
mod approve;
mod background;
mod born;
mod claim;
mod config;
mod conversation;
mod dispatch;
mod displace;
mod drive;
mod end;
mod foreground;
mod heartbeat;
mod last_frame;
mod observe;
mod plan;
mod span;
mod start;
mod start_write;
mod state;
mod subscribe;
mod sweep;
mod take;
mod tell;
mod threads;
mod transition;
mod undelivered;
mod weigh;

pub use abort::AbortError;
pub use admission::{Most, NotAdmitted, OpenStream, TooMany};
pub use approve::{Answer, DecideError, Decided};
pub use background::Processed;
pub use claim::Claim;
pub use config::{Config, ConfigError};
pub use conversation::{Conversation, Happening, Position};
pub use dispatch::{Dispatch, DispatchError, HttpDispatch, LambdaDispatch};
pub use drive::{Budget, Driven};
pub use foreground::Attended;
pub use start::{StartError, Started};
pub use state::{EndBy, Event, Limits, Recovery, Refused, apply, recovery};
pub use subscribe::Follower;
pub use sweep::Swept;
pub use threads::{ThreadChange, ThreadError};
pub use transition::happened;
pub use weigh::{Verdict, weigh};

use std::collections::HashSet;
use std::sync::atomic::AtomicI64;
use std::sync::{Arc, Mutex};

use tandem_agent::Agent;
use tandem_auth::DispatchKeys;
use tandem_protocol::{RunId, TraceId};
use tandem_store::Store;
use tokio_util::task::TaskTracker;

/// Everything that a function or a local process needs to start, drive, watch and recover runs. Cheap to clone.
///
/// Its tasks drive runs; they are joined before the invocation, or the process, that they belong to ends.
#[derive(Clone)]
pub struct Runtime(Arc<Inner>, Option<TraceId>, TaskTracker);

struct Inner {
    store: Store,
    agent: Agent,
    config: Config,
    keys: DispatchKeys,
    /// The way to the background; `None` where there is none, and every run is driven here.
    dispatch: Option<Arc<dyn Dispatch>>,
    /// The runs that this process holds now.
    driven: Mutex<HashSet<RunId>>,
    /// Until when (milliseconds since 1970) the short grace holds, as a dispatch was claimed by nobody.
    short_grace_until: AtomicI64,
    /// What people do at the moment.
    seen: admission::Seen,
}

impl Runtime {
    pub fn new(
        store: Store,
        agent: Agent,
        config: Config,
        keys: DispatchKeys,
        dispatch: Option<Arc<dyn Dispatch>>,
    ) -> Self {
        let (driven, short_grace_until, seen) = (Mutex::default(), AtomicI64::new(0), admission::Seen::default());
        Runtime(
            Arc::new(Inner { store, agent, config, keys, dispatch, driven, short_grace_until, seen }),
            None,
            TaskTracker::new(),
        )
    }

    /// The same; the runs that it starts belong to this trace.
    #[must_use]
    pub fn in_trace(&self, trace: &TraceId) -> Self {
        Runtime(Arc::clone(&self.0), Some(trace.clone()), self.2.clone())
    }

    /// The same, with tasks of its own: where one process has several invocations at a time, none of them waits for
    /// the runs of another.
    #[must_use]
    pub fn apart(&self) -> Self {
        Runtime(Arc::clone(&self.0), self.1.clone(), TaskTracker::new())
    }

    pub fn store(&self) -> &Store {
        &self.0.store
    }

    /// The keys that this deployment shares.
    pub fn keys(&self) -> &DispatchKeys {
        &self.0.keys
    }

    pub fn agent(&self) -> &Agent {
        &self.0.agent
    }

    pub fn config(&self) -> &Config {
        &self.0.config
    }

    /// The tasks that drive runs here: in this process, or in this invocation where it has a runtime [`apart`](Self::apart).
    pub fn tasks(&self) -> &TaskTracker {
        &self.2
    }

    /// Waits until no run is driven here any more; an invocation does so before it returns. New tasks may begin
    /// afterwards.
    pub async fn tasks_done(&self) {
        self.2.close();
        self.2.wait().await;
        self.2.reopen();
    }
}
