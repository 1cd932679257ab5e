//! Run records: read, changed by version, ended in one transaction, found when due.

use aws_sdk_dynamodb::types::TransactWriteItem;
use tandem_protocol::{Run, RunId, ToolCallId, Transcript};

use crate::answers::answer_items;
use crate::items::{Item, from_item, n, s, to_item};
use crate::log::Append;
use crate::outcomes::Outcome;
use crate::table::{DUE_INDEX, DUE_SHARDS};
use crate::write::{Condition, Transacted, Written};
use crate::{Store, StoreError, keys};

/// What became of a change of a run.
#[derive(Debug, Clone, PartialEq)]
pub enum RunWrite {
    Stored,
    /// Somebody changed it before; this is what it is now. `None`: it does not exist.
    Lost(Option<Box<Run>>),
}

/// What became of an attempt to end a run; everything or nothing was written.
#[derive(Debug, Clone, PartialEq)]
pub enum EndWrite {
    Committed,
    Refused {
        /// The run is not the version that was read.
        run_changed: bool,
        /// The log has grown since its tail was read.
        log_grew: bool,
        /// The thread's active run is another one, or the thread is gone.
        thread_changed: bool,
        /// These calls have an outcome by now.
        settled: Vec<ToolCallId>,
    },
}

/// A candidate for recovery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DueRun {
    pub run: RunId,
    pub due_at: i64,
}

impl Store {
    /// Reads a run, consistently. Whose it is, is for the caller to check.
    pub async fn run(&self, id: &RunId) -> Result<Option<Run>, StoreError> {
        self.get(&keys::run(id)).await?.map(read_run).transpose()
    }

    /// Writes `next` if the stored run still has `version`.
    pub async fn put_run(&self, next: &Run, version: u64) -> Result<RunWrite, StoreError> {
        match self.put(run_item(next)?, Condition::version(version)).await? {
            Written::Stored => Ok(RunWrite::Stored),
            Written::Refused(found) => Ok(RunWrite::Lost(found.map(read_run).transpose()?.map(Box::new))),
        }
    }

    /// Ends a run: the record, the terminal frame, the kept answer, the thread's freedom and a `closed` outcome for
    /// every call that may still be under way, in one transaction. `answer` is what the log says with its end.
    pub async fn end_run(
        &self,
        next: &Run,
        version: u64,
        terminal: &Append,
        answer: &Transcript,
        frees_thread: bool,
        unsettled: &[ToolCallId],
    ) -> Result<EndWrite, StoreError> {
        let mut parts = answer_items(&next.owner.tenant, &next.thread_id, &next.run_id, answer)?.into_iter();
        let first_part = parts.next().map(|part| self.replace_operation(part));
        // Of a long answer; without the first part they do not count.
        let put = |part| self.db.put_item().table_name(&self.table).set_item(Some(part)).send();
        futures::future::try_join_all(parts.map(put)).await?;
        let mut operations: Vec<TransactWriteItem> = vec![
            self.put_operation(run_item(next)?, Condition::version(version)),
            self.put_operation(terminal.item(&next.run_id, self.expiry()), Condition::absent()),
        ];
        if frees_thread {
            let active = Condition {
                text: "#active = :run".into(),
                names: vec![("#active", "active"), ("#version", "version")],
                values: vec![(":run", s(next.run_id.as_str())), (":one", n(1))],
            };
            let thread = keys::thread(&next.owner.tenant, &next.thread_id);
            let free = "SET #version = #version + :one REMOVE #active";
            operations.push(self.update_operation(&thread, free, active));
        }
        let first_call = operations.len();
        for call in unsettled {
            let mut item = Outcome::Closed.item(&next.run_id, call);
            item.insert("expires_at".into(), n(self.expiry()));
            operations.push(self.put_operation(item, Condition::absent()));
        }
        operations.extend(first_part);
        match self.transact(operations).await? {
            Transacted::Committed => {
                self.feeds().publish(&next.run_id, terminal.frame());
                self.nudge_thread(&next.owner.tenant, &next.thread_id);
                Ok(EndWrite::Committed)
            }
            Transacted::Refused(reasons) => {
                let blocked = |at: usize| reasons.get(at).is_some_and(Option::is_some);
                let settled = unsettled.iter().enumerate().filter(|(at, _)| blocked(first_call + at));
                Ok(EndWrite::Refused {
                    run_changed: blocked(0),
                    log_grew: blocked(1),
                    thread_changed: frees_thread && blocked(2),
                    settled: settled.map(|(_, call)| call.clone()).collect(),
                })
            }
        }
    }

    /// Runs of one shard that are due at `now`, oldest first, at most `limit`. The index lags behind: read the
    /// runs themselves before acting.
    pub async fn due_runs(&self, shard: u8, now: i64, limit: i32) -> Result<Vec<DueRun>, StoreError> {
        let page = self
            .db
            .query()
            .table_name(&self.table)
            .index_name(DUE_INDEX)
            .key_condition_expression("due_shard = :shard AND due_at <= :now")
            .expression_attribute_values(":shard", n(shard))
            .expression_attribute_values(":now", n(now))
            .limit(limit)
            .send()
            .await?;
        let due = page.items.unwrap_or_default().into_iter().filter_map(|item| {
            let run = keys::run_of_partition(crate::items::text(&item, "pk"))?;
            Some(DueRun { run, due_at: crate::items::number(&item, "due_at")? })
        });
        Ok(due.collect())
    }
}

/// The stored form: the index and the TTL have names of their own, since DynamoDB's settings name them.
pub(crate) fn run_item(run: &Run) -> Result<Item, StoreError> {
    let mut item = to_item(&keys::run(&run.run_id), run)?;
    if let Some(due_at) = item.remove("dueAt") {
        item.insert("due_at".into(), due_at);
        item.insert("due_shard".into(), n(shard_of(&run.run_id)));
    }
    if let Some(expires_at) = item.remove("expiresAt") {
        item.insert("expires_at".into(), expires_at);
    }
    Ok(item)
}

fn read_run(mut item: Item) -> Result<Run, StoreError> {
    for (stored, name) in [("due_at", "dueAt"), ("expires_at", "expiresAt")] {
        if let Some(value) = item.remove(stored) {
            item.insert(name.into(), value);
        }
    }
    from_item(item)
}

/// The shard of a run: stable, and even over ids whose last digits are random.
fn shard_of(run: &RunId) -> u8 {
    run.as_str().bytes().fold(0_u8, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte)) % DUE_SHARDS
}
