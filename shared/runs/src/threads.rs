//! Changing and deleting threads. A deleted thread exists for nobody from that moment on; what is left of it is removed
//! by the sweeper, later: an emptied log would let a holder that was paused write again.

use std::time::Duration;

use tandem_protocol::{Principal, ThreadId};
use tandem_store::{Access, StoreError, Thread, now_ms};
use tokio::time::Instant;

use crate::Runtime;
use crate::end::Ending;
use crate::state::EndBy;

/// How often a change that lost a race begins anew.
const TRIES: usize = 8;
/// Deleted threads looked at in one pass.
const PER_PASS: i32 = 50;
/// Time that the removal of one run may need.
const NEEDS: Duration = Duration::from_secs(5);

/// What an owner changes of a thread; what is none stays.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ThreadChange {
    pub title: Option<String>,
    pub shared: Option<bool>,
    pub archived: Option<bool>,
}

/// Why a thread is not changed.
#[derive(Debug, thiserror::Error)]
pub enum ThreadError {
    /// There is no such thread for the caller.
    #[error("there is no such thread")]
    NotFound,
    /// Somebody else's, who shares it.
    #[error("only the owner may do this")]
    NotOwner,
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Runtime {
    /// Changes a thread for its owner.
    pub async fn change_thread(
        &self,
        principal: &Principal,
        id: &ThreadId,
        change: &ThreadChange,
    ) -> Result<Thread, ThreadError> {
        let changed = |thread: &Thread| Thread {
            title: change.title.clone().unwrap_or_else(|| thread.title.clone()),
            shared: change.shared.unwrap_or(thread.shared),
            archived: change.archived.unwrap_or(thread.archived),
            ..thread.clone()
        };
        self.own(principal, id, changed).await
    }

    /// Deletes a thread for its owner, and stops the run under way.
    pub async fn delete_thread(&self, principal: &Principal, id: &ThreadId) -> Result<(), ThreadError> {
        let deleted = |thread: &Thread| {
            let now = now_ms();
            // The sweeper looks at once where a run is under way, in case that this process does not get to stop it.
            let due_at = if thread.active.is_some() { now } else { now + self.delete_after_ms() };
            Thread { deleted_at: Some(now), due_at: Some(due_at), ..thread.clone() }
        };
        let thread = self.own(principal, id, deleted).await?;
        self.stop_deleted(&thread).await?;
        Ok(())
    }

    async fn own(
        &self,
        principal: &Principal,
        id: &ThreadId,
        change: impl Fn(&Thread) -> Thread,
    ) -> Result<Thread, ThreadError> {
        for _ in 0..TRIES {
            let before = self.store().thread(principal, id).await?.ok_or(ThreadError::NotFound)?;
            if before.access(principal) != Some(Access::Owner) {
                return Err(ThreadError::NotOwner);
            }
            let next = change(&before);
            if next == before {
                return Ok(before);
            }
            let next = Thread { version: before.version + 1, ..next };
            if self.store().change_thread(&before, &next).await? {
                return Ok(next);
            }
        }
        Err(StoreError::Unavailable("the thread changes too fast; try again".into()).into())
    }

    /// Stops the run that is under way in a deleted thread. `true`: there is none any more.
    async fn stop_deleted(&self, thread: &Thread) -> Result<bool, StoreError> {
        let Some(active) = &thread.active else { return Ok(true) };
        if let Some(run) = self.store().run(active).await? {
            // Refused: it has ended by itself.
            let _ended = self.end(&run, EndBy::Anyone, &Ending::Abort, None).await?;
        }
        Ok(false)
    }

    /// One pass over the deleted threads: stops what still runs there, and removes those whose time has come. Gives how
    /// many were removed. What is cut off goes on with the next pass.
    pub(crate) async fn sweep_deleted(&self, deadline: Option<Instant>) -> Result<usize, StoreError> {
        let mut threads = Vec::new();
        for (tenant, id) in self.store().due_threads(now_ms(), PER_PASS).await? {
            match self.store().any_thread(&tenant, &id).await {
                Ok(found) => threads.extend(found),
                // One thread does not stop the others.
                Err(error) => tracing::error!(thread = %id, %error, "a deleted thread could not be read"),
            }
        }
        // First those that were deleted last: what runs there is to stop, and takes less time than a removal.
        threads.sort_by_key(|thread| std::cmp::Reverse(thread.deleted_at));
        let mut removed = 0;
        for thread in threads {
            match self.remove_deleted(&thread, deadline).await {
                Ok(done) => removed += usize::from(done),
                Err(error) => tracing::error!(thread = %thread.thread, %error, "a deleted thread could not be removed"),
            }
        }
        Ok(removed)
    }

    async fn remove_deleted(&self, thread: &Thread, deadline: Option<Instant>) -> Result<bool, StoreError> {
        let Some(deleted_at) = thread.deleted_at else { return Ok(false) };
        if !self.stop_deleted(thread).await? {
            // Its record has changed: the next pass goes on.
            return Ok(false);
        }
        let due_at = deleted_at + self.delete_after_ms();
        if now_ms() < due_at {
            let next = Thread { due_at: Some(due_at), version: thread.version + 1, ..thread.clone() };
            self.store().change_thread(thread, &next).await?;
            return Ok(false);
        }
        for run in self.store().runs_of_thread(thread).await? {
            if deadline.is_some_and(|deadline| deadline < Instant::now() + NEEDS) {
                return Ok(false);
            }
            self.store().remove_run(&run).await?;
        }
        self.store().remove_thread(thread).await?;
        tracing::info!(thread = %thread.thread, "removed");
        Ok(true)
    }

    fn delete_after_ms(&self) -> i64 {
        i64::try_from(self.config().delete_after.as_millis()).unwrap_or(i64::MAX)
    }
}
