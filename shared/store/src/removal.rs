//! Removing what a deleted thread has left: its runs with their logs first, the thread's own record last, so that a
//! removal which is cut off is found again, and the thread stays deleted until nothing is left of it.

use std::collections::BTreeSet;

use aws_sdk_dynamodb::types::AttributeValue;
use futures::StreamExt;
use futures::stream::{self, TryStreamExt};
use tandem_protocol::{RunId, TenantId, ThreadId};

use crate::items::{Item, key_item, text};
use crate::keys::Key;
use crate::table::DELETED_SHARD;
use crate::write::Condition;
use crate::{Store, StoreError, Thread, keys};

/// Items removed side by side.
const AT_ONCE: usize = 16;

impl Store {
    /// Deleted threads that are due at `now`, oldest first. The index lags behind: read the threads before acting.
    pub async fn due_threads(&self, now: i64, limit: i32) -> Result<Vec<(TenantId, ThreadId)>, StoreError> {
        let items = self.due(DELETED_SHARD, now, limit).await?;
        Ok(items.iter().filter_map(|item| keys::thread_of_partition(text(item, "pk"))).collect())
    }

    /// The runs that a thread has had, also those that no message shows any more: each has left its answer.
    pub async fn runs_of_thread(&self, thread: &Thread) -> Result<BTreeSet<RunId>, StoreError> {
        let mut runs: BTreeSet<RunId> = thread.active.iter().cloned().collect();
        let mut page = self.partition_keys(&keys::thread_partition(&thread.tenant, &thread.thread)).await?;
        loop {
            for item in &page.items {
                let answered = text(item, "sk").strip_prefix("ANSWER#").and_then(|rest| rest.split('#').next());
                let pointed = Some(text(item, "run")).filter(|run| !run.is_empty());
                runs.extend(answered.or(pointed).and_then(|run| RunId::new(run).ok()));
            }
            match page.next {
                Some(next) => page = self.partition_keys_from(next).await?,
                None => return Ok(runs),
            }
        }
    }

    /// Removes everything of a run that has ended, its record last.
    pub async fn remove_run(&self, run: &RunId) -> Result<(), StoreError> {
        let record = keys::run(run);
        self.remove_partition(&record.pk, Some(&record.sk)).await?;
        self.remove(&record).await
    }

    /// Removes what else there is of a deleted thread whose runs are removed, its record last.
    pub async fn remove_thread(&self, thread: &Thread) -> Result<(), StoreError> {
        let record = keys::thread(&thread.tenant, &thread.thread);
        self.remove_partition(&keys::state_partition(&thread.tenant, &format!("thread:{}", thread.thread)), None)
            .await?;
        self.remove_partition(&record.pk, Some(&record.sk)).await?;
        // Its id can be used again from here on: nothing of somebody else's must go.
        let deleted = Condition { text: "attribute_exists(deleted_at)".into(), ..Condition::default() };
        self.delete_if(&record, deleted).await
    }

    /// Removes the items of a partition but for one.
    async fn remove_partition(&self, partition: &str, but: Option<&str>) -> Result<(), StoreError> {
        let mut page = self.partition_keys(partition).await?;
        loop {
            let gone = page.items.iter().filter(|item| Some(text(item, "sk")) != but);
            let gone = gone.map(|item| Key { pk: text(item, "pk").to_owned(), sk: text(item, "sk").to_owned() });
            let removed = stream::iter(gone.collect::<Vec<_>>()).map(|key| async move { self.remove(&key).await });
            removed.buffer_unordered(AT_ONCE).try_collect::<()>().await?;
            match page.next {
                Some(next) => page = self.partition_keys_from(next).await?,
                None => return Ok(()),
            }
        }
    }

    async fn remove(&self, key: &Key) -> Result<(), StoreError> {
        self.db.delete_item().table_name(&self.table).set_key(Some(key_item(key))).send().await?;
        Ok(())
    }

    async fn partition_keys(&self, partition: &str) -> Result<Keys, StoreError> {
        self.partition_keys_from(key_item(&Key { pk: partition.to_owned(), sk: String::new() })).await
    }

    /// Keys, and the runs that are pointed to, after a key.
    async fn partition_keys_from(&self, after: Item) -> Result<Keys, StoreError> {
        let first = text(&after, "sk").is_empty();
        let partition = AttributeValue::S(text(&after, "pk").to_owned());
        let page = self
            .db
            .query()
            .table_name(&self.table)
            .key_condition_expression("pk = :pk")
            .projection_expression("pk, sk, #run")
            .expression_attribute_names("#run", "run")
            .expression_attribute_values(":pk", partition)
            .set_exclusive_start_key((!first).then_some(after))
            .consistent_read(true)
            .send()
            .await?;
        Ok(Keys { items: page.items.unwrap_or_default(), next: page.last_evaluated_key })
    }
}

/// A page of a partition's keys.
struct Keys {
    items: Vec<Item>,
    /// The key to go on after.
    next: Option<Item>,
}
