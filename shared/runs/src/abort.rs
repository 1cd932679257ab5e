//! Stopping: a run, a turn that may not have begun, and a run that waits for a person.

use tandem_protocol::{Principal, Run, RunId, RunStatus, ThreadId, TurnId};
use tandem_store::{StoreError, Thread, TurnItem};

use crate::end::Ending;
use crate::state::EndBy;
use crate::{NotAdmitted, Runtime};

/// How often a stop that lost a race reads again.
const TRIES: usize = 8;

/// Why a run cannot be aborted.
#[derive(Debug, thiserror::Error)]
pub enum AbortError {
    /// There is no such run, or it is not the caller's.
    #[error("there is no such run")]
    NotFound,
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Runtime {
    /// Stops a run for somebody who gets at it. Idempotent: a run that has ended stays as it is, but for what it asks a
    /// person: to stop it is to leave that unanswered.
    pub async fn abort(&self, principal: &Principal, id: &RunId) -> Result<Run, AbortError> {
        let run = self.0.store.run_for(principal, id).await?.ok_or(AbortError::NotFound)?;
        let run = match self.end(&run, EndBy::Anyone, &Ending::Abort, None).await? {
            Ok(run) => run,
            Err(_) => self.0.store.run(id).await?.unwrap_or(run),
        };
        if run.status == RunStatus::AwaitingApproval {
            self.withdraw(&run).await?;
        }
        Ok(run)
    }

    /// Stops a turn, also before it has begun: who starts it afterwards gets a run that was aborted before it began.
    /// `None`: there is no run yet. A thread that is not the caller's answers like one that does not exist, and nothing
    /// is stored of it. What is to be stored of a turn that has not begun counts as a request; to stop what runs does not.
    pub async fn abort_turn(
        &self,
        principal: &Principal,
        thread: &ThreadId,
        turn: &TurnId,
    ) -> Result<Option<Run>, NotAdmitted> {
        let store = &self.0.store;
        let mut is_counted = false;
        for _ in 0..TRIES {
            let found = store.any_thread(&principal.tenant, thread).await?;
            if found.is_some_and(|thread| thread.access(principal).is_none()) {
                return Ok(None);
            }
            match store.turn_item(&principal.tenant, thread, turn).await? {
                Some(TurnItem::Turn(turn)) => {
                    return match self.abort(principal, &turn.run).await {
                        Ok(run) => Ok(Some(run)),
                        Err(AbortError::NotFound) => Ok(None),
                        Err(AbortError::Store(error)) => Err(error.into()),
                    };
                }
                Some(TurnItem::Stop(_)) | None => {
                    if !is_counted {
                        self.admit(principal).await?;
                        is_counted = true;
                    }
                    if store.stop_turn(&principal.tenant, thread, turn, &principal.user).await? {
                        return Ok(None);
                    }
                    // It has just begun.
                }
            }
        }
        Err(StoreError::Unavailable("the turn changes too fast; try again".into()).into())
    }

    /// The thread does not wait for answers to this run any more.
    async fn withdraw(&self, run: &Run) -> Result<(), StoreError> {
        let Some(id) = &run.thread_id else { return Ok(()) };
        for _ in 0..TRIES {
            let thread = self.0.store.any_thread(&run.owner.tenant, id).await?;
            let Some(thread) = thread.filter(|thread| thread.awaiting.as_ref() == Some(&run.run_id)) else {
                return Ok(());
            };
            let mut next = Thread { version: thread.version + 1, ..thread.clone() };
            next.no_longer_awaits();
            if self.0.store.change_thread(&thread, &next).await? {
                return Ok(());
            }
        }
        Err(StoreError::Unavailable("the thread changes too fast; try again".into()))
    }
}
