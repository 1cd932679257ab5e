//! Changing a run: read, apply, write on condition; again when somebody else was faster.

use tandem_protocol::{Run, RunId};
use tandem_store::{RunWrite, StoreError, now_ms};

use crate::Runtime;
use crate::state::{Event, Refused, apply};

impl Runtime {
    /// Applies `event` to the stored run. `known` saves the first read when the caller has a recent record.
    pub(crate) async fn transition(
        &self,
        id: &RunId,
        event: &Event,
        known: Option<Run>,
    ) -> Result<Result<Run, Refused>, StoreError> {
        let mut current = match known {
            Some(run) => run,
            None => match self.0.store.run(id).await? {
                Some(run) => run,
                None => return Ok(Err(Refused::Missing)),
            },
        };
        loop {
            let next = match apply(&current, event, now_ms(), &self.0.config.limits) {
                Ok(next) => next,
                Err(refused) => return Ok(Err(refused)),
            };
            match self.0.store.put_run(&next, current.version).await? {
                RunWrite::Stored => return Ok(Ok(next)),
                RunWrite::Lost(None) => return Ok(Err(Refused::Missing)),
                RunWrite::Lost(Some(found)) if happened(event, &next, &found) => return Ok(Ok(*found)),
                RunWrite::Lost(Some(found)) => current = *found,
            }
        }
    }
}

/// Whether `event` took effect although its write was reported lost: a repeated request meets the success of
/// the first one. Recognised by facts that stay, as the record may have moved on since.
pub fn happened(event: &Event, wanted: &Run, found: &Run) -> bool {
    if found == wanted {
        return true;
    }
    match event {
        Event::Claim { .. } | Event::Displace { .. } => {
            found.attempt == wanted.attempt && found.holder == wanted.holder
        }
        Event::HandOver { attempt, .. } => {
            found.attempt == *attempt && found.continuations == wanted.continuations && !found.status.is_terminal()
        }
        // Without effect when repeated, so these are applied again, or refused, from what is found.
        Event::Heartbeat { .. } | Event::DispatchAgain { .. } | Event::End { .. } => false,
    }
}
