//! The foreground side of a fresh run: dispatch it, and take it back if nobody claims it.

use std::sync::atomic::Ordering;
use std::time::Duration;

use tandem_protocol::{HolderKind, Run, RunId};
use tandem_store::{StoreError, now_ms};
use tokio::task::JoinHandle;
use tokio::time::Instant;
use tracing::Instrument;

use crate::span::attend_span;
use crate::{Claim, Runtime};

/// How long a foreground whose dispatch nobody claimed uses the short grace.
const SHORT_GRACE_FOR_MS: i64 = 60_000;

/// A run that this process sees to. Dropping it does not stop anything.
#[derive(Debug)]
pub struct Attended {
    task: JoinHandle<()>,
}

impl Attended {
    /// Stops seeing to the run: somebody else holds it, or will.
    pub async fn cancel(self) {
        self.task.abort();
        let _ = self.task.await;
    }

    /// Waits until this process has nothing more to do with the run.
    pub async fn join(self) {
        // A panic in the task has been reported by the runtime; the run is recovered by others.
        let _ = self.task.await;
    }
}

impl Runtime {
    /// Sees to it that somebody drives a run that was just started. `deadline`: when the invocation is killed.
    pub fn attend(&self, run: Run, deadline: Option<Instant>) -> Attended {
        let (runtime, span) = (self.clone(), attend_span(&run));
        let seeing = async move {
            if let Err(error) = runtime.see_to(&run, deadline).await {
                tracing::error!(run = %run.run_id, %error, "the run is left to the sweeper");
            }
        };
        let task = self.tasks().spawn(seeing.instrument(span));
        Attended { task }
    }

    /// Sees to a run whose starter does not stay to watch it. On Lambda nothing is left running afterwards.
    pub async fn see_off(&self, run: &Run, deadline: Option<Instant>) {
        let durable = self.0.config.durable_background && self.0.dispatch.is_some();
        match deadline {
            None => drop(self.attend(run.clone(), None)),
            // A failure is noticed by whoever follows the run, or by the sweeper.
            Some(_) if durable => drop(self.send(run).instrument(attend_span(run)).await),
            Some(_) => self.attend(run.clone(), deadline).join().await,
        }
    }

    /// Somebody is seen to drive the run. Where it is another process, nothing is left to see to.
    pub fn seen_driven(&self, attended: Attended, run: &RunId) -> Option<Attended> {
        if self.is_driving(run) {
            return Some(attended);
        }
        // Not in the middle of a claim that succeeds: the run was claimed before, so its version is another one.
        if attended.task.is_finished() {
            // It may have been this one, which says nothing of the way to the others.
            return None;
        }
        attended.task.abort();
        self.0.short_grace_until.store(0, Ordering::Relaxed);
        None
    }

    async fn see_to(&self, run: &Run, deadline: Option<Instant>) -> Result<(), StoreError> {
        let durable = self.0.config.durable_background && self.0.dispatch.is_some();
        if durable {
            let began = Instant::now();
            // A dispatch that failed for sure needs no grace; one that timed out may have arrived, and the
            // version decides.
            if Box::pin(self.send(run)).await.is_ok() {
                tokio::time::sleep_until(began + self.grace()).await;
            }
        }
        // Boxed, here and above: through the grace each run keeps a task, which is to be small.
        Box::pin(self.take_back(run, durable, deadline)).await
    }

    /// Claims a run that nobody else has, and drives it.
    async fn take_back(&self, run: &Run, durable: bool, deadline: Option<Instant>) -> Result<(), StoreError> {
        // Behind a grace somebody else has most likely taken it: then nothing is read for nothing.
        let ahead = (!durable).then(|| self.read_ahead(run, None));
        let claimed = self.claim(&run.run_id, run.version, HolderKind::Foreground, durable, Some(run.clone())).await?;
        let Ok(claim) = claimed else {
            self.0.short_grace_until.store(0, Ordering::Relaxed);
            return Ok(());
        };
        if durable {
            self.0.short_grace_until.store(now_ms() + SHORT_GRACE_FOR_MS, Ordering::Relaxed);
        }
        self.drive(Claim { ahead, ..claim }, self.budget(HolderKind::Foreground, deadline)).await;
        Ok(())
    }

    fn grace(&self) -> Duration {
        let config = &self.0.config;
        if now_ms() < self.0.short_grace_until.load(Ordering::Relaxed) {
            config.short_grace
        } else {
            config.claim_grace
        }
    }
}
