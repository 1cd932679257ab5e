//! The one claim: background, foreground reclaim and recovery all take a run here.

use tandem_protocol::{AttemptReason, HolderKind, Run, RunId, RunStatus};
use tandem_store::{StoreError, new_id, now_ms};
use tokio::time::Instant;

use crate::Runtime;
use crate::ahead::Ahead;
use crate::state::{Event, Refused};

/// Proof that this process holds an attempt of a run. Only [`Runtime::claim`] makes one, and the log of the run
/// can be taken with nothing else.
#[derive(Debug)]
pub struct Claim {
    pub(crate) run: Run,
    pub(crate) kind: HolderKind,
    pub(crate) reason: AttemptReason,
    /// Before the claim was written: nobody has seen it earlier than this.
    pub(crate) since: Instant,
    /// What was read while the claim was written.
    pub(crate) ahead: Option<Ahead>,
}

impl Claim {
    pub fn run(&self) -> &Run {
        &self.run
    }
}

impl Runtime {
    /// Takes the run if it still has the `observed` version. Of any number of claimants one wins.
    ///
    /// `reclaimed`: a foreground takes a run whose dispatch nobody claimed.
    pub async fn claim(
        &self,
        id: &RunId,
        observed: u64,
        kind: HolderKind,
        reclaimed: bool,
        known: Option<Run>,
    ) -> Result<Result<Claim, Refused>, StoreError> {
        let event = Event::Claim { observed, holder: new_id() };
        let before = match known {
            Some(run) => run,
            None => match self.0.store.run(id).await? {
                Some(run) => run,
                None => return Ok(Err(Refused::Missing)),
            },
        };
        let reason = reason(&before, reclaimed);
        let since = Instant::now();
        // How long its first dispatch was on its way, by the clocks of whoever sent and claims it.
        let waited_ms = (before.attempt == 0).then(|| (now_ms() - before.dispatched_at).max(0));
        let claimed = self.transition(id, &event, Some(before)).await?;
        Ok(claimed.map(|run| {
            tracing::info!(run = %run.run_id, attempt = run.attempt, ?kind, ?reason, waited_ms, "claimed");
            Claim { run, kind, reason, since, ahead: None }
        }))
    }
}

fn reason(before: &Run, reclaimed: bool) -> AttemptReason {
    match before.status {
        // The holder went silent and nobody was dispatched.
        RunStatus::Running => AttemptReason::Recovered,
        _ if reclaimed => AttemptReason::Reclaimed,
        _ if before.attempt == 0 => AttemptReason::Claimed,
        _ if before.handed_over => AttemptReason::Continued,
        _ => AttemptReason::Recovered,
    }
}
