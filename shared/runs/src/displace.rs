//! Ending a run whose holder writes faster than an end can be written: the run is taken from it first.

use tandem_protocol::{AttemptReason, Chunk, HolderKind};
use tandem_store::{Append, StoreError, new_id};

use crate::Runtime;
use crate::end::Leaving;
use crate::state::Event;

/// Tries of an end before the run is taken from its holder. An end takes a read and a transaction, and a holder that streams
/// writes in between about every second time; over a long answer, or where the store is far away, every time.
///
/// Where this process dies before the end, the run goes on after a lease: who asked was not told that it stopped.
pub(crate) const TRIES: u32 = 2;
/// The same where the end comes with a start, which may be refused for reasons of its own: the run then goes on, and what it
/// had under way has suffered.
pub(crate) const TRIES_WITH_START: u32 = 8;

impl Runtime {
    /// Takes the run and its log, so that nobody writes any more but this process. Where somebody else was faster nothing is
    /// taken, and the next try of the end tells.
    pub(crate) async fn displace(&self, leaving: &mut Leaving) -> Result<(), StoreError> {
        let store = &self.0.store;
        let id = leaving.run.run_id.clone();
        let event = Event::Displace { observed: leaving.run.version, holder: new_id() };
        let Ok(run) = self.transition(&id, &event, Some(leaving.run.clone())).await? else { return Ok(()) };
        tracing::info!(run = %id, attempt = run.attempt, "taken from its holder, to end it");
        let taking = Chunk::attempt(run.attempt, HolderKind::Foreground, AttemptReason::Stopped);
        leaving.run = run;
        leaving.is_taken = true;
        // One small write against one of the holder every flush interval: few tries, whatever the answer's length.
        loop {
            let append = Append::new(leaving.log.next, leaving.run.attempt, std::slice::from_ref(&taking))?;
            if store.append(&id, &append).await? {
                leaving.log.next += 1;
                leaving.log.transcript.apply(&taking);
                leaving.only_ends = true;
                return Ok(());
            }
            let before = leaving.log.next;
            if !leaving.read_on(store).await? {
                // Nothing is written behind its end, nor behind whoever has taken it since.
                return Ok(());
            }
            if leaving.log.next == before {
                let detail = "a frame stands where none is read".into();
                return Err(StoreError::Corrupt { key: id.to_string(), detail });
            }
        }
    }

    /// Puts a run back on the road that was taken and is not to end after all.
    pub(crate) async fn let_go(&self, leaving: &Leaving) -> Result<(), StoreError> {
        if leaving.is_taken {
            self.recover(&leaving.run, false, None).await?;
        }
        Ok(())
    }
}
