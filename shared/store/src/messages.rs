//! Messages of a thread: a user's text, or the run whose log is the assistant's message.

use serde::{Deserialize, Serialize};
use tandem_protocol::{MessageId, RunId, TenantId, ThreadId, UserId};

use crate::items::{Item, from_item, to_item};
use crate::threads::{Page, Thread};
use crate::{Store, StoreError, keys};

/// One message of a thread.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// Position in the thread, from 0.
    pub n: u64,
    pub id: MessageId,
    pub body: MessageBody,
    /// Who said it, where it was a person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<UserId>,
    /// Version of the thread that was written with it. Never decreases along a thread.
    #[serde(default)]
    pub version: u64,
    pub created_at: i64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "lowercase")]
pub enum MessageBody {
    User { text: String },
    Assistant { run: RunId },
}

impl Store {
    /// Messages [from, to) of a thread, in order; fewer only at the end of the thread.
    pub async fn messages(&self, thread: &Thread, from: u64, to: u64) -> Result<Vec<Message>, StoreError> {
        self.messages_in(&thread.tenant, &thread.thread, from, to.min(thread.length)).await
    }

    /// The same where the thread itself was not read.
    pub async fn messages_in(
        &self,
        tenant: &TenantId,
        thread: &ThreadId,
        from: u64,
        to: u64,
    ) -> Result<Vec<Message>, StoreError> {
        let mut messages: Vec<Message> = Vec::new();
        let mut next = from;
        while next < to {
            let page = self
                .between(keys::thread_partition(tenant, thread), keys::message_sort(next), keys::message_sort(to - 1))
                .consistent_read(true)
                .send()
                .await?;
            let items = page.items.unwrap_or_default();
            let Some(last) = items.len().checked_sub(1) else { break };
            for (at, item) in items.into_iter().enumerate() {
                let message: Message = from_item(item)?;
                if at == last {
                    next = message.n + 1;
                }
                messages.push(message);
            }
        }
        Ok(messages)
    }

    /// A page of messages in order, from `cursor` on.
    pub async fn message_page(&self, thread: &Thread, cursor: u64, limit: u64) -> Result<Page<Message>, StoreError> {
        let to = cursor.saturating_add(limit).min(thread.length);
        let items = self.messages(thread, cursor, to).await?;
        Ok(Page { items, cursor: (to < thread.length).then(|| to.to_string()) })
    }

    pub async fn message(&self, thread: &Thread, n: u64) -> Result<Option<Message>, StoreError> {
        Ok(self.messages(thread, n, n + 1).await?.into_iter().next())
    }
}

pub(crate) fn message_item(thread: &Thread, message: &Message) -> Result<Item, StoreError> {
    to_item(&keys::message(&thread.tenant, &thread.thread, message.n), message)
}
