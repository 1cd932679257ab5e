//! Who gets at a thread and at the runs in it: decided here, and nowhere else.

use tandem_protocol::{Principal, Run, RunId, ThreadId};

use crate::{Store, StoreError, Thread};

/// What somebody may do with a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Read it, follow and stop its runs, and speak in it.
    Member,
    /// Besides: name it, share it, archive it, delete it.
    Owner,
}

impl Thread {
    /// What the principal may do; none: for them the thread does not exist. A deleted one exists for nobody.
    pub fn access(&self, principal: &Principal) -> Option<Access> {
        if self.deleted_at.is_some() || self.tenant != principal.tenant {
            None
        } else if self.owner == principal.user {
            Some(Access::Owner)
        } else if self.shared {
            Some(Access::Member)
        } else {
            None
        }
    }
}

impl Store {
    /// A thread that the principal gets at. Any other is the same as none.
    pub async fn thread(&self, principal: &Principal, thread: &ThreadId) -> Result<Option<Thread>, StoreError> {
        let found = self.any_thread(&principal.tenant, thread).await?;
        Ok(found.filter(|thread| thread.access(principal).is_some()))
    }

    /// A run that the principal gets at: whoever gets at its thread does, and of a run outside any thread its owner
    /// alone. Any other is the same as none.
    pub async fn run_for(&self, principal: &Principal, run: &RunId) -> Result<Option<Run>, StoreError> {
        let Some(run) = self.run(run).await?.filter(|run| run.owner.tenant == principal.tenant) else {
            return Ok(None);
        };
        let let_in = match &run.thread_id {
            Some(thread) => self.thread(principal, thread).await?.is_some(),
            None => run.owner.user == principal.user,
        };
        Ok(let_in.then_some(run))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tandem_protocol::{TenantId, UserId};

    fn principal(tenant: &str, user: &str) -> Principal {
        Principal { tenant: TenantId::new(tenant).unwrap(), user: UserId::new(user).unwrap(), roles: Vec::new() }
    }

    #[test]
    fn a_thread_is_its_owner_s_the_tenant_s_when_shared_and_nobody_s_when_deleted() {
        let (ann, bob, eve) = (principal("acme", "ann"), principal("acme", "bob"), principal("other", "ann"));
        let own = Thread::new(&ann, ThreadId::new("t").unwrap(), "title".into(), 1);
        let shared = Thread { shared: true, ..own.clone() };
        let deleted = Thread { deleted_at: Some(2), ..shared.clone() };
        for (thread, of_ann, of_bob) in [
            (&own, Some(Access::Owner), None),
            (&shared, Some(Access::Owner), Some(Access::Member)),
            (&deleted, None, None),
        ] {
            assert_eq!((thread.access(&ann), thread.access(&bob), thread.access(&eve)), (of_ann, of_bob, None));
        }
    }
}
