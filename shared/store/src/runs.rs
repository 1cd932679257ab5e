//! Run records: read, changed by version, ended in one transaction, found when due.

use aws_sdk_dynamodb::types::TransactWriteItem;
use tandem_protocol::{Run, RunId, ToolCallId, Transcript};

use crate::answers::AnswerParts;
use crate::items::{Item, from_item, n, s, to_item};
use crate::keys::Key;
use crate::log::Append;
use crate::outcomes::Outcome;
use crate::table::{DUE_INDEX, DUE_SHARDS};
use crate::write::{Blocked, Condition, Transacted, Written};
use crate::{PendingApproval, Slot, Store, StoreError, keys};

/// Operations of an end before those of the calls: the record and the terminal frame.
const FIRST_CALL: usize = 2;

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
    /// The run is not the version that was read, or the log has grown since its tail was read, or what is said here.
    Refused {
        /// The thread's active run is another one, or the thread is gone.
        thread_changed: bool,
        /// These calls have an outcome by now.
        settled: Vec<ToolCallId>,
    },
}

/// The end of a run as it is to be written.
#[derive(Debug)]
pub struct RunEnd<'a> {
    /// The run as it is then.
    pub next: &'a Run,
    /// The version that it is read with.
    pub version: u64,
    pub terminal: &'a Append,
    /// What its message says with this end.
    pub answer: &'a Transcript,
    /// What earlier tries of this end have put of the answer.
    pub parts: &'a AnswerParts,
    /// The thread has this run as its active one.
    pub frees_thread: bool,
    /// Calls that may still be under way.
    pub unsettled: &'a [ToolCallId],
    /// Calls that a person must agree to.
    pub asks: &'a [PendingApproval],
}

impl RunEnd<'_> {
    /// The calls that have an outcome by now, by the reasons of a transaction that began with `end_operations`.
    pub(crate) fn settled(&self, reasons: &[Option<Blocked>]) -> Vec<ToolCallId> {
        let blocked = |at: usize| reasons.get(at).is_some_and(Option::is_some);
        let settled = self.unsettled.iter().enumerate().filter(|(at, _)| blocked(FIRST_CALL + at));
        settled.map(|(_, call)| call.clone()).collect()
    }
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

    /// Ends a run: the record, the terminal frame, the kept answer, the thread's freedom, the questions to a person
    /// and a `closed` outcome for every call that may still be under way, in one transaction.
    pub async fn end_run(&self, end: &RunEnd<'_>) -> Result<EndWrite, StoreError> {
        let next = end.next;
        let mut operations = self.end_operations(end).await?;
        let thread_at = operations.len();
        let thread = next.thread_id.as_ref().map(|thread| (&next.owner.tenant, thread));
        let frees_thread = end.frees_thread && thread.is_some();
        if let Some((tenant, thread)) = thread.filter(|_| frees_thread) {
            operations.push(self.free_thread(next, &keys::thread(tenant, thread), !end.asks.is_empty()));
            if let Some(turn) = next.turn_id.as_ref().filter(|_| !end.asks.is_empty()) {
                operations.push(self.ask_operation(next, &keys::turn(tenant, thread, turn), end.asks)?);
            }
        }
        self.counts(None, Some(next)).push_to(&mut operations);
        match self.transact(operations).await? {
            Transacted::Committed => {
                self.ended(end);
                Ok(EndWrite::Committed)
            }
            Transacted::Refused(reasons) => {
                let thread_changed = frees_thread && reasons.get(thread_at).is_some_and(Option::is_some);
                Ok(EndWrite::Refused { thread_changed, settled: end.settled(&reasons) })
            }
        }
    }

    /// What an end writes but for the thread and the turn. The record comes first, then the terminal frame and the
    /// calls: `RunEnd::settled` reads the reasons of a refusal in this order. Later parts of a long answer are put
    /// here: without the first one they do not count.
    pub(crate) async fn end_operations(&self, end: &RunEnd<'_>) -> Result<Vec<TransactWriteItem>, StoreError> {
        let RunEnd { next, terminal, unsettled, .. } = end;
        let first_part = match &next.thread_id {
            Some(thread) => {
                Some(self.put_answer(&next.owner.tenant, thread, &next.run_id, end.answer, end.parts).await?)
            }
            // Nothing but its log says what came of it.
            None => None,
        };
        let mut operations: Vec<TransactWriteItem> = vec![
            self.put_operation(run_item(next)?, Condition::version(end.version)),
            self.put_operation(terminal.item(&next.run_id, self.expiry()), Condition::absent()),
        ];
        for call in *unsettled {
            let slot = Slot::Call { run: next.run_id.clone(), call: call.clone() };
            let item = Outcome::Closed.item_in(&slot, self.expiry());
            operations.push(self.put_operation(item, Condition::absent()));
        }
        operations.extend(first_part.map(|part| self.replace_operation(part)));
        Ok(operations)
    }

    /// Tells followers of this process what was committed.
    pub(crate) fn ended(&self, end: &RunEnd<'_>) {
        self.feeds().publish(&end.next.run_id, end.terminal.frame());
        if let Some(thread) = &end.next.thread_id {
            self.nudge_thread(&end.next.owner.tenant, thread);
        }
    }

    /// The thread is free for other runs; `asks`: it waits for a person to answer this one.
    fn free_thread(&self, run: &Run, thread: &Key, asks: bool) -> TransactWriteItem {
        let active = Condition {
            text: "#active = :run".into(),
            names: vec![("#active", "active"), ("#version", "version")],
            values: vec![(":run", s(run.run_id.as_str())), (":one", n(1))],
        };
        let free = match asks {
            true => "SET #version = #version + :one, awaiting = :run REMOVE #active, answered",
            false => "SET #version = #version + :one REMOVE #active",
        };
        self.update_operation(thread, free, active)
    }

    /// Puts the questions of a run into its turn. The thread's active run is this one, so the turn points to it.
    fn ask_operation(&self, run: &Run, turn: &Key, asks: &[PendingApproval]) -> Result<TransactWriteItem, StoreError> {
        let asks = serde_dynamo::aws_sdk_dynamodb_1::to_attribute_value(asks);
        let asks = asks.map_err(|e| StoreError::corrupt("an approval", e))?;
        let condition = Condition {
            text: "#run = :run".into(),
            names: vec![("#run", "run"), ("#version", "version")],
            values: vec![(":run", s(run.run_id.as_str())), (":asks", asks), (":one", n(1)), (":none", n(0))],
        };
        let update = "SET approvals = :asks, #version = if_not_exists(#version, :none) + :one";
        Ok(self.update_operation(turn, update, condition))
    }

    /// Runs of one shard that are due at `now`, oldest first, at most `limit`. The index lags behind: read the
    /// runs themselves before acting.
    pub async fn due_runs(&self, shard: u8, now: i64, limit: i32) -> Result<Vec<DueRun>, StoreError> {
        let items = self.due(shard, now, limit).await?;
        let due = items.into_iter().filter_map(|item| {
            let run = keys::run_of_partition(crate::items::text(&item, "pk"))?;
            Some(DueRun { run, due_at: crate::items::number(&item, "due_at")? })
        });
        Ok(due.collect())
    }

    /// Index items of one shard that are due at `now`, oldest first.
    pub(crate) async fn due(&self, shard: u8, now: i64, limit: i32) -> Result<Vec<Item>, StoreError> {
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
        Ok(page.items.unwrap_or_default())
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
