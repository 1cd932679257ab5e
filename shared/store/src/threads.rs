//! Threads: conversations with one owner, perhaps shared, and at most one run under way.

use serde::{Deserialize, Serialize};
use tandem_protocol::{Principal, RunId, TenantId, ThreadId, ToolCallId, UserId};

use crate::items::{Item, from_item, key_item, n, to_item};
use crate::keys::Key;
use crate::table::DELETED_SHARD;
use crate::write::Condition;
use crate::{Store, StoreError, keys};

/// A conversation.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Thread {
    pub thread: ThreadId,
    pub tenant: TenantId,
    pub owner: UserId,
    pub title: String,
    /// Everybody in the tenant may read it and speak in it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub shared: bool,
    /// Left out of lists unless asked for.
    #[serde(default, skip_serializing_if = "is_false")]
    pub archived: bool,
    /// When it was deleted, in milliseconds since 1970: it exists for nobody from then on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deleted_at: Option<i64>,
    /// When the sweeper shall go on with removing it; present exactly while it is deleted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due_at: Option<i64>,
    /// The run under way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub active: Option<RunId>,
    /// The run that ended with a question to a person, until it is answered or the conversation goes on without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub awaiting: Option<RunId>,
    /// What has been said to calls of `awaiting` while others of it wait, for people to see. What counts is in the turn.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answered: Vec<AnsweredCall>,
    /// Number of messages. Messages at this position and later do not count: an edit drops them by this alone.
    pub length: u64,
    /// Goes up with every change.
    pub version: u64,
    pub created_at: i64,
}

/// What a person said to a call, and who.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct AnsweredCall {
    pub call: ToolCallId,
    pub approved: bool,
    pub by: UserId,
}

/// A page of a list and where the next one begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page<T> {
    pub items: Vec<T>,
    /// Opaque; absent on the last page.
    pub cursor: Option<String>,
}

impl Thread {
    /// A thread that nobody has said anything in.
    pub fn new(owner: &Principal, thread: ThreadId, title: String, now: i64) -> Self {
        Thread {
            thread,
            tenant: owner.tenant.clone(),
            owner: owner.user.clone(),
            title,
            shared: false,
            archived: false,
            deleted_at: None,
            due_at: None,
            active: None,
            awaiting: None,
            answered: Vec::new(),
            length: 0,
            version: 1,
            created_at: now,
        }
    }

    /// Waits for no person any more.
    pub fn no_longer_awaits(&mut self) {
        self.awaiting = None;
        self.answered.clear();
    }
}

impl Store {
    /// A thread, whoever owns it and deleted or not: to find that an id is taken, and for the runtime itself.
    pub async fn any_thread(&self, tenant: &TenantId, thread: &ThreadId) -> Result<Option<Thread>, StoreError> {
        self.read_thread(tenant, thread, true).await
    }

    pub(crate) async fn read_thread(
        &self,
        tenant: &TenantId,
        thread: &ThreadId,
        consistent: bool,
    ) -> Result<Option<Thread>, StoreError> {
        let key = key_item(&keys::thread(tenant, thread));
        let call = self.db.get_item().table_name(&self.table).set_key(Some(key)).consistent_read(consistent);
        call.send().await?.item.map(from_item).transpose()
    }

    /// Creates an empty thread. `false`: the id is taken.
    pub async fn create_thread(&self, thread: &Thread) -> Result<bool, StoreError> {
        let put = self.put_operation(thread_item(thread)?, Condition::absent());
        let entry = self.replace_operation(list_item(thread));
        Ok(matches!(self.transact(vec![put, entry]).await?, crate::write::Transacted::Committed))
    }

    /// Writes `next` in the place of `before`, with its entries in the lists. `false`: somebody changed it meanwhile.
    pub async fn change_thread(&self, before: &Thread, next: &Thread) -> Result<bool, StoreError> {
        let mut operations = vec![self.put_operation(thread_item(next)?, Condition::version(before.version))];
        let (is_listed, is_shared) = (next.deleted_at.is_none(), next.deleted_at.is_none() && next.shared);
        if !is_listed {
            operations.push(self.delete_operation(&list_key(next)));
        }
        if is_shared != (before.deleted_at.is_none() && before.shared) {
            operations.push(match is_shared {
                true => self.replace_operation(key_item(&shared_key(next))),
                false => self.delete_operation(&shared_key(next)),
            });
        }
        let changed = matches!(self.transact(operations).await?, crate::write::Transacted::Committed);
        self.nudge_thread(&next.tenant, &next.thread);
        Ok(changed)
    }
}

pub(crate) fn thread_item(thread: &Thread) -> Result<Item, StoreError> {
    let mut item = to_item(&keys::thread(&thread.tenant, &thread.thread), thread)?;
    if thread.due_at.is_some() {
        item.insert("due_shard".into(), n(DELETED_SHARD));
    }
    Ok(item)
}

/// For listing only, never for access.
pub(crate) fn list_item(thread: &Thread) -> Item {
    key_item(&list_key(thread))
}

fn list_key(thread: &Thread) -> Key {
    keys::list_entry(&thread.tenant, &thread.owner, thread.created_at, &thread.thread)
}

fn shared_key(thread: &Thread) -> Key {
    keys::shared_entry(&thread.tenant, thread.created_at, &thread.thread)
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_false(value: &bool) -> bool {
    !value
}
