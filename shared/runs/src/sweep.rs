//! The sweep: finds runs that nobody holds and nobody watches, and removes deleted threads.

use std::time::Duration;

use futures::StreamExt;
use futures::future::join_all;
use tandem_protocol::{Run, RunId};
use tandem_store::{DUE_SHARDS, StoreError, now_ms};
use tokio::time::Instant;

use crate::Runtime;

/// Runs looked at per shard and pass; the rest comes with the next pass.
const PER_SHARD: i32 = 100;
/// Runs recovered side by side.
const AT_ONCE: usize = 16;
/// Time that one recovery may need.
pub(crate) const NEEDS: Duration = Duration::from_secs(10);

/// What a sweep found and did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Swept {
    /// Runs whose `due_at` had passed.
    pub due: usize,
    /// Of these: dispatched again or ended, as nothing moved for a lease.
    pub recovered: usize,
    /// Of these: could not be dealt with; the next pass tries again.
    pub failed: usize,
    /// Deleted threads of which nothing is left any more.
    pub removed: usize,
}

impl Runtime {
    /// One pass: reads what is due, waits a lease, reads again, and recovers what stood still. A run that fails
    /// does not stop the others.
    pub async fn sweep(&self, deadline: Option<Instant>) -> Result<Swept, StoreError> {
        self.sweep_due(now_ms(), deadline).await
    }

    /// A pass over all runs that have not ended, due or not: for a process that has the store for itself, and so begins with
    /// what the one before it left.
    pub async fn sweep_all(&self) -> Result<Swept, StoreError> {
        self.sweep_due(i64::MAX, None).await
    }

    async fn sweep_due(&self, by: i64, deadline: Option<Instant>) -> Result<Swept, StoreError> {
        let swept = self.sweep_once(by, deadline).await?;
        let Swept { due, recovered, failed, removed } = swept;
        tracing::info!(due, recovered, failed, removed, "swept");
        Ok(swept)
    }

    async fn sweep_once(&self, by: i64, deadline: Option<Instant>) -> Result<Swept, StoreError> {
        let shards = (0..DUE_SHARDS).map(|shard| self.0.store.due_runs(shard, by, PER_SHARD));
        let mut due: Vec<RunId> = Vec::new();
        let mut swept = Swept::default();
        for shard in join_all(shards).await {
            match shard {
                Ok(runs) => due.extend(runs.into_iter().map(|due| due.run)),
                Err(error) => {
                    swept.failed += 1;
                    tracing::error!(%error, "a shard could not be read");
                }
            }
        }
        swept.due = due.len();
        // Side by side: long conversations that are removed are not to keep runs from being recovered.
        let (recovered, removed) =
            tokio::join!(Box::pin(self.recover_due(&due, deadline)), Box::pin(self.sweep_deleted(deadline)));
        swept.recovered += recovered.recovered;
        swept.failed += recovered.failed;
        match removed {
            Ok(removed) => swept.removed = removed,
            Err(error) => {
                swept.failed += 1;
                tracing::error!(%error, "deleted threads could not be read");
            }
        }
        Ok(swept)
    }

    /// Recovers what does not move for a lease.
    async fn recover_due(&self, due: &[RunId], deadline: Option<Instant>) -> Swept {
        let mut swept = Swept::default();
        let mut seen: Vec<Run> = Vec::new();
        for (id, read) in due.iter().zip(join_all(due.iter().map(|run| self.0.store.run(run))).await) {
            match read {
                Ok(run) => seen.extend(run.filter(|run| !run.status.is_terminal())),
                Err(error) => {
                    swept.failed += 1;
                    tracing::error!(run = %id, %error, "the run could not be read");
                }
            }
        }
        if seen.is_empty() {
            return swept;
        }
        tokio::time::sleep(self.0.config.lease).await;
        let recoveries = futures::stream::iter(seen).map(|run| async move {
            let recovered = self.recover_if_still(&run, deadline).await;
            (run.run_id, recovered)
        });
        let mut recoveries = recoveries.buffer_unordered(AT_ONCE);
        while let Some((run, recovered)) = recoveries.next().await {
            match recovered {
                Ok(done) => swept.recovered += usize::from(done),
                Err(error) => {
                    swept.failed += 1;
                    tracing::error!(%run, %error, "the run could not be recovered");
                }
            }
        }
        swept
    }

    /// Recovers a run that has not moved since it was `seen`.
    pub(crate) async fn recover_if_still(&self, seen: &Run, deadline: Option<Instant>) -> Result<bool, StoreError> {
        match self.0.store.run(&seen.run_id).await? {
            // The rest comes with the next pass: a dispatch that is written and not sent is a try for nothing.
            Some(_) if deadline.is_some_and(|deadline| deadline < Instant::now() + NEEDS) => Ok(false),
            // A sweeper has neither the time nor the rights to drive a run.
            Some(run) if run.version == seen.version => self.recover(&run, false, deadline).await,
            _ => Ok(false),
        }
    }
}
