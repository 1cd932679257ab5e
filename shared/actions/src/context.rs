//! What an action's code knows of its call.

use std::any::Any;
use std::sync::Arc;

use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use sha2::{Digest, Sha256};
use tandem_protocol::{Caller, Principal, ProgressData, RunId, ThreadId, ToolCallId, TurnId};
use tandem_store::{Attached, CallPart, Commit, Outcome, ProgressPart, Slot, StoreError};
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::resources::Resources;
use crate::run::Job;
use crate::state::State;
use crate::{ActionError, Call, Effect};

/// One run of one call. A call may run more than once; `now` and `new_id` are then the same again.
pub struct Context {
    /// Documents: one unit of work.
    pub state: State,
    call: Call,
    effect: Effect,
    /// Where the outcome is stored, if anywhere.
    outcome: Option<Slot>,
    resources: Resources,
    /// Slices that are committed.
    pub(crate) step: u64,
    cursor: Option<Value>,
    /// Ids made in this slice.
    ids: u64,
    /// When the last checkpoint was.
    pub(crate) checkpointed: watch::Sender<Instant>,
    /// A slice lost its race, or the call has an outcome: whatever this run returns does not count.
    pub(crate) stopped: Option<Stopped>,
}

/// Why a run of a checkpointed action does not count.
#[derive(Debug)]
pub(crate) enum Stopped {
    Lost,
    Settled(Outcome),
}

impl Context {
    /// Begins a run; a checkpointed call goes on from its stored cursor.
    pub(crate) async fn begin(job: &Job) -> Result<Self, StoreError> {
        let (call, effect) = (&job.call, job.effect());
        let mut ctx = Context {
            state: State::new(call, effect != Effect::Read),
            call: call.clone(),
            effect,
            outcome: job.slot.clone(),
            resources: job.resources.clone(),
            step: 0,
            cursor: None,
            ids: 0,
            checkpointed: watch::Sender::new(Instant::now()),
            stopped: None,
        };
        if effect == Effect::Checkpointed
            && let Some(stored) = call.store.progress(&ctx.progress_slot()).await?
        {
            (ctx.step, ctx.cursor) = (stored.step, Some(stored.cursor));
        }
        Ok(ctx)
    }

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

    /// What the application gave its actions with [`Registry::with`](crate::Registry::with).
    pub fn resource<T: Any + Send + Sync>(&self) -> Result<Arc<T>, ActionError> {
        self.resources.get().ok_or_else(|| {
            tracing::error!(resource = std::any::type_name::<T>(), "the registry was not given a resource");
            ActionError::failed("not_configured", "What this action needs is not set up: a fault on our side.")
        })
    }

    /// Milliseconds since 1970, the same for every run of this call.
    pub fn now(&self) -> i64 {
        self.call.started_at
    }

    /// A new id, 32 hex digits. The same sequence for every run of this call.
    pub fn new_id(&mut self) -> String {
        self.ids += 1;
        let id = format!("{}\n{}\n{}", self.call.idempotency_key, self.step, self.ids);
        hex::encode(&Sha256::digest(id)[..16])
    }

    /// Tells watchers how far the call is.
    pub fn progress(&self, label: impl Into<String>, done: u64, total: Option<u64>) {
        if let Some(report) = &self.call.progress {
            report(ProgressData { label: label.into(), done, total });
        }
    }

    /// Where a checkpointed action goes on: the cursor of the last committed slice; none at the start.
    pub fn cursor<T: DeserializeOwned>(&self) -> Result<Option<T>, ActionError> {
        let read = |cursor: &Value| serde_json::from_value(cursor.clone());
        self.cursor.as_ref().map(read).transpose().map_err(|e| ActionError::failed("bad_cursor", e.to_string()))
    }

    /// Commits a slice: everything written since the last checkpoint, and `cursor`, in one transaction. The next
    /// slice is a unit of work of its own.
    ///
    /// An error ends this run: return it. The runtime then begins another one from the stored cursor, or stops.
    pub async fn checkpoint(&mut self, cursor: &impl Serialize) -> Result<(), ActionError> {
        if self.effect != Effect::Checkpointed {
            return Err(ActionError::failed("not_checkpointed", "Only a checkpointed action has checkpoints."));
        }
        if self.stopped.is_some() {
            return Err(ActionError::Conflict);
        }
        let cursor = serde_json::to_value(cursor).map_err(|e| ActionError::failed("bad_cursor", e.to_string()))?;
        let attached = self.attached(None, Some(cursor.clone()));
        match self.commit(&attached).await? {
            Commit::Committed(_) => {
                self.step += 1;
                self.cursor = Some(cursor);
                self.ids = 0;
                self.checkpointed.send_replace(Instant::now());
                Ok(())
            }
            Commit::Lost => {
                self.stopped = Some(Stopped::Lost);
                Err(ActionError::Conflict)
            }
            Commit::Settled(outcome) => {
                self.stopped = Some(Stopped::Settled(outcome));
                Err(ActionError::Closed)
            }
        }
    }

    /// Commits what was written with the outcome of the call.
    pub(crate) async fn conclude(&mut self, outcome: &Outcome) -> Result<Commit, ActionError> {
        let attached = self.attached(Some(outcome.clone()), None);
        self.commit(&attached).await
    }

    /// Stores the failure of a long call, unless somebody has gone on with it since: then its outcome is not ours to tell.
    pub(crate) async fn fail(mut self, outcome: &Outcome) -> Result<Commit, ActionError> {
        self.state = State::new(&self.call, true);
        self.conclude(outcome).await
    }

    async fn commit(&mut self, attached: &Attached) -> Result<Commit, ActionError> {
        if let Some(failure) = &self.state.failure {
            return Err(failure.clone());
        }
        Ok(self.state.unit.commit(attached).await?)
    }

    /// What belongs to a commit of this call: it must be open, a long one must be at this step.
    fn attached(&self, outcome: Option<Outcome>, cursor: Option<Value>) -> Attached {
        let call = self.outcome.clone().map(|slot| CallPart { slot, outcome });
        let progress = (self.effect == Effect::Checkpointed).then(|| ProgressPart {
            slot: self.progress_slot(),
            step: self.step,
            cursor,
        });
        Attached { call, progress }
    }

    /// Where the progress of a long call is kept: it is, also where its outcome is not.
    fn progress_slot(&self) -> Slot {
        self.outcome.clone().unwrap_or_else(|| {
            let Principal { tenant, user, .. } = &self.call.principal;
            let digest = digest([user.as_str(), self.call.idempotency_key.as_str()]);
            Slot::Key { tenant: tenant.clone(), digest }
        })
    }
}

/// One name for several texts that hold no line break.
pub(crate) fn digest<const N: usize>(texts: [&str; N]) -> String {
    hex::encode(Sha256::digest(texts.join("\n")))
}
