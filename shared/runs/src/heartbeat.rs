//! Heartbeats: a holder shows that it is alive, and learns when the run is not its own any more.

use std::sync::PoisonError;
use std::sync::atomic::Ordering;

use tokio::time::Instant;

use crate::Runtime;
use crate::drive::Shared;
use crate::state::{Event, Refused};

impl Runtime {
    /// Shows that the holder is alive, until the run is not its own any more. Polled by the same task as the
    /// work, so it stops when that hangs. `since`: before the claim was written.
    ///
    /// Others may presume the holder gone a lease after they saw its last sign of life, which is no earlier than that
    /// was sent. If the store takes no heartbeat, the holder stops itself before.
    pub(crate) async fn heartbeats(&self, shared: &Shared, since: Instant) -> Refused {
        let config = &self.0.config;
        let certain = config.lease.saturating_sub(config.heartbeat);
        let (mut until, mut failing) = (since + certain, false);
        loop {
            tokio::time::sleep_until((Instant::now() + config.heartbeat).min(until)).await;
            if failing && Instant::now() >= until {
                return Refused::Displaced;
            }
            let run = shared.run();
            let progressed = shared.progressed.load(Ordering::Relaxed);
            let event = Event::Heartbeat { attempt: run.attempt, progressed };
            let id = run.run_id.clone();
            let began = Instant::now();
            // Who wakes up too late asks once more: the answer says whether the run is still its own.
            let patience = if failing { until } else { until.max(began + config.lease / 2) };
            let beat = tokio::time::timeout_at(patience, self.transition(&id, &event, Some(run))).await;
            match beat {
                Ok(Ok(Ok(run))) => {
                    // Only now: what a hand-over says meanwhile must not be less.
                    if progressed {
                        shared.progressed.store(false, Ordering::Relaxed);
                    }
                    (until, failing) = (began + certain, false);
                    *shared.run.lock().unwrap_or_else(PoisonError::into_inner) = run;
                }
                // Our own end or hand-over, whose answer is under way.
                Ok(Ok(Err(_))) if shared.leaving.load(Ordering::Relaxed) => std::future::pending().await,
                Ok(Ok(Err(refused))) => return refused,
                Ok(Err(_)) | Err(_) => {
                    tracing::warn!(run = %id, "a heartbeat was not stored");
                    failing = true;
                }
            }
        }
    }
}
