//! Observation: is anybody still there?
//!
//! No clocks of two machines are compared. An observer remembers the version that it saw and when, on its own
//! clock; a version that stays is a holder that is gone. What it then does carries the version, so a heartbeat
//! in between voids it.

use std::time::Duration;

use tandem_protocol::{HolderKind, Run, RunStatus};
use tandem_store::{StoreError, now_ms};
use tokio::time::Instant;
use tracing::Instrument;

use crate::span::span_of;
use crate::state::{Event, Recovery, recovery};
use crate::{Config, Runtime};

/// A reader takes a run itself only with this much of its own time left.
const NEEDS: Duration = Duration::from_secs(20);

/// What one observer has seen of a run.
#[derive(Debug)]
pub(crate) struct Observation {
    version: u64,
    since: Instant,
}

impl Observation {
    pub(crate) fn new(run: &Run) -> Self {
        Observation { version: run.version, since: Instant::now() }
    }

    /// Whether the run has stood still for so long that its holder, or its dispatch, is presumed gone.
    pub(crate) fn is_still(&mut self, run: &Run, config: &Config) -> bool {
        if run.version != self.version {
            *self = Observation::new(run);
            return false;
        }
        self.since.elapsed() >= patience(run, config)
    }
}

/// How long a run must have stood still before anybody but its holder moves it.
pub(crate) fn patience(run: &Run, config: &Config) -> Duration {
    match run.status {
        // The foreground that dispatched it has the first right to take it back.
        RunStatus::Dispatched => config.claim_grace + config.lease,
        _ => config.lease,
    }
}

impl Runtime {
    /// Puts a run that stands still back on the road, or ends it with the true reason. `deadline`: when this
    /// process is killed, if it is an invocation. `may_drive`: where the dispatch fails, drive it here. Says whether
    /// anything was done.
    pub(crate) async fn recover(
        &self,
        observed: &Run,
        may_drive: bool,
        deadline: Option<Instant>,
    ) -> Result<bool, StoreError> {
        self.recover_in_span(observed, may_drive, deadline).instrument(span_of(observed)).await
    }

    async fn recover_in_span(
        &self,
        observed: &Run,
        may_drive: bool,
        deadline: Option<Instant>,
    ) -> Result<bool, StoreError> {
        match recovery(observed, now_ms(), &self.0.config.limits) {
            Recovery::GiveUp(reason) => Ok(self.give_up(observed, reason).await?.is_ok()),
            Recovery::DispatchAgain => {
                let event = Event::DispatchAgain { observed: observed.version };
                let again = self.transition(&observed.run_id, &event, Some(observed.clone())).await?;
                let Ok(run) = again else { return Ok(false) };
                tracing::warn!(run = %run.run_id, attempt = run.attempt, "nobody holds the run; dispatching again");
                if self.send(&run).await.is_err() && may_drive {
                    self.take_over(run, deadline).await?;
                }
                Ok(true)
            }
        }
    }

    /// Drives a run here that could not be dispatched, if there is time for it.
    async fn take_over(&self, run: Run, deadline: Option<Instant>) -> Result<(), StoreError> {
        let left = deadline.map_or(Duration::MAX, |deadline| deadline.saturating_duration_since(Instant::now()));
        if left < NEEDS {
            return Ok(());
        }
        let claimed = self.claim(&run.run_id.clone(), run.version, HolderKind::Foreground, false, Some(run)).await?;
        if let Ok(claim) = claimed {
            let budget = self.budget(HolderKind::Foreground, deadline);
            let runtime = self.clone();
            self.tasks().spawn(async move { runtime.drive(claim, budget).await });
        }
        Ok(())
    }
}
