//! Threads: conversations with one owner and at most one run under way.

use aws_sdk_dynamodb::types::AttributeValue;
use serde::{Deserialize, Serialize};
use tandem_protocol::{Principal, RunId, TenantId, ThreadId, UserId};

use crate::items::{Item, from_item, s, text, to_item};
use crate::write::{Condition, Written};
use crate::{Store, StoreError, keys};

/// A conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Thread {
    pub thread: ThreadId,
    pub tenant: TenantId,
    pub owner: UserId,
    pub title: String,
    /// The run under way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub active: Option<RunId>,
    /// Number of messages. Messages at this position and later do not count: an edit drops them by this alone.
    pub length: u64,
    /// Goes up with every change.
    pub version: u64,
    pub created_at: i64,
}

/// A page of a list and where the next one begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page<T> {
    pub items: Vec<T>,
    /// Opaque; absent on the last page.
    pub cursor: Option<String>,
}

impl Thread {
    pub fn is_owned_by(&self, principal: &Principal) -> bool {
        self.tenant == principal.tenant && self.owner == principal.user
    }
}

impl Store {
    /// The caller's thread. A foreign one is the same as none.
    pub async fn thread(&self, principal: &Principal, thread: &ThreadId) -> Result<Option<Thread>, StoreError> {
        let found = self.any_thread(&principal.tenant, thread).await?;
        Ok(found.filter(|thread| thread.is_owned_by(principal)))
    }

    /// A thread, whoever owns it: to find that an id is taken, and for the runtime itself.
    pub async fn any_thread(&self, tenant: &TenantId, thread: &ThreadId) -> Result<Option<Thread>, StoreError> {
        self.get(&keys::thread(tenant, thread)).await?.map(from_item).transpose()
    }

    /// Creates an empty thread. `false`: the id is taken.
    pub async fn create_thread(&self, thread: &Thread) -> Result<bool, StoreError> {
        let put = self.put_operation(thread_item(thread)?, Condition::absent());
        let entry = self.replace_operation(list_item(thread));
        Ok(matches!(self.transact(vec![put, entry]).await?, crate::write::Transacted::Committed))
    }

    /// Writes `next` if the stored thread still has `version`. `false`: somebody changed it.
    pub async fn put_thread(&self, next: &Thread, version: u64) -> Result<bool, StoreError> {
        Ok(matches!(self.put(thread_item(next)?, Condition::version(version)).await?, Written::Stored))
    }

    /// The caller's threads, newest first.
    pub async fn threads(
        &self,
        principal: &Principal,
        cursor: Option<&str>,
        limit: i32,
    ) -> Result<Page<Thread>, StoreError> {
        let before = cursor.map_or_else(|| "THREAD#~".to_owned(), |cursor| format!("THREAD#{cursor}"));
        let page = self
            .db
            .query()
            .table_name(&self.table)
            .key_condition_expression("pk = :pk AND sk BETWEEN :from AND :to")
            .expression_attribute_values(":pk", s(keys::owner_partition(&principal.tenant, &principal.user)))
            .expression_attribute_values(":from", s("THREAD#"))
            .expression_attribute_values(":to", AttributeValue::S(before.clone()))
            .scan_index_forward(false)
            // One more than asked for, as BETWEEN includes the cursor itself, and one to know of a next page.
            .limit(limit.saturating_add(2))
            .consistent_read(true)
            .send()
            .await?;
        let entries = page.items.unwrap_or_default();
        let mut keys = entries.iter().map(|item| text(item, "sk").to_owned()).filter(|sk| *sk != before);
        let shown: Vec<String> = keys.by_ref().take(usize::try_from(limit).unwrap_or(0)).collect();
        let more = keys.next().is_some();
        let mut items = Vec::new();
        for sk in &shown {
            let id = sk.rsplit('#').next().and_then(|id| ThreadId::new(id).ok());
            if let Some(id) = id {
                items.extend(self.thread(principal, &id).await?);
            }
        }
        let cursor = shown.last().filter(|_| more).and_then(|sk| sk.strip_prefix("THREAD#")).map(str::to_owned);
        Ok(Page { items, cursor })
    }
}

pub(crate) fn thread_item(thread: &Thread) -> Result<Item, StoreError> {
    to_item(&keys::thread(&thread.tenant, &thread.thread), thread)
}

/// For listing only, never for access.
pub(crate) fn list_item(thread: &Thread) -> Item {
    let key = keys::list_entry(&thread.tenant, &thread.owner, thread.created_at, &thread.thread);
    crate::items::key_item(&key)
}
