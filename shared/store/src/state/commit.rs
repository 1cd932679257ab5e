//! Committing a unit of work: one transaction, and what to do when the race is lost.

use aws_sdk_dynamodb::types::TransactWriteItem;
use tokio::sync::OwnedMutexGuard;
use tokio::time::timeout_at;

use super::attached::Attached;
use super::document;
use super::feed::{frame_item, head_is, head_item, position};
use super::limits::{Size, check_value};
use super::unit::{Touched, Unit};
use super::{Change, Scope, StateError, Written};
use crate::write::{Blocked, Condition, Pause, Transacted};
use crate::{Outcome, StoreError, keys};

/// How often the same writes are sent again at a new position.
const TRIES: u32 = 24;

/// What became of a commit.
#[derive(Debug, Clone, PartialEq)]
pub enum Commit {
    /// Everything was written; the new position of each written scope.
    Committed(Vec<(Scope, u64)>),
    /// What was read has changed, or another holder moved the progress: run the function again on fresh reads.
    Lost,
    /// The call has this outcome already, and nothing was written.
    Settled(Outcome),
}

fn too_late() -> StoreError {
    StoreError::Unavailable("too many wrote here at once, and its time was up before its turn; try again".into())
}

/// What an operation of the transaction is for.
enum Of {
    /// HEAD of the scope at this index.
    Head(usize),
    Call,
    Progress,
    /// Has no condition.
    Body,
}

impl Unit {
    /// Commits the writes and what is attached, if nothing that was read has changed.
    ///
    /// A lost race is looked at: if none of the changes in between touches what was read, the same writes are
    /// committed at the new position. After success the unit is empty and can be used for the next one.
    pub async fn commit(&mut self, attached: &Attached) -> Result<Commit, StateError> {
        let mut pause = Pause::up_to(TRIES);
        if !self.has_writes() && attached.call.is_none() && attached.progress.is_none() {
            return Ok(Commit::Committed(Vec::new()));
        }
        let mut turns = self.turns().await?;
        for (at, known) in &turns {
            // What this process has committed in the meantime, without asking the store.
            if **known > self.scopes[*at].pos && !self.move_to(*at, **known).await? {
                return Ok(self.lost(*at));
            }
        }
        loop {
            let (kinds, operations): (Vec<Of>, Vec<TransactWriteItem>) = self.operations(attached)?.into_iter().unzip();
            let reasons = match self.store.transact(operations).await? {
                Transacted::Committed => {
                    turns.iter_mut().for_each(|(at, known)| **known = self.scopes[*at].pos + 1);
                    return Ok(Commit::Committed(self.finish()));
                }
                Transacted::Refused(reasons) => reasons,
            };
            let blocked = kinds.iter().zip(reasons).filter_map(|(of, reason)| Some((of, reason?)));
            for (of, Blocked { item }) in blocked {
                match of {
                    Of::Call => {
                        let item = item.ok_or_else(|| StoreError::corrupt("an outcome", "refused but absent"))?;
                        return Ok(Commit::Settled(Outcome::read(&item)?));
                    }
                    Of::Progress => return Ok(Commit::Lost),
                    Of::Head(at) => {
                        let pos = position(item.as_ref())?;
                        if !self.move_to(*at, pos).await? {
                            return Ok(self.lost(*at));
                        }
                    }
                    Of::Body => {}
                }
            }
            if !pause.again().await {
                return Ok(Commit::Lost);
            }
        }
    }

    fn lost(&mut self, at: usize) -> Commit {
        self.lost_at = Some(self.scopes[at].partition.clone());
        Commit::Lost
    }

    /// Waits until it is this unit's turn at each scope that it writes, in the order of their partitions: who holds one
    /// never waits for one before it.
    async fn turns(&self) -> Result<Vec<(usize, OwnedMutexGuard<u64>)>, StoreError> {
        let mut written: Vec<usize> = (0..self.scopes.len()).filter(|at| !self.scopes[*at].writes.is_empty()).collect();
        written.sort_by(|a, b| self.scopes[*a].partition.cmp(&self.scopes[*b].partition));
        let mut turns = Vec::new();
        for at in written {
            let turn = self.store.queues.turn(&self.scopes[at].partition);
            let turn = match self.until {
                None => turn.await,
                Some(until) => timeout_at(until, turn).await.map_err(|_| too_late())?,
            };
            turns.push((at, turn));
        }
        Ok(turns)
    }

    /// Moves a scope on to `pos`, if nothing in between touches what was read of it.
    async fn move_to(&mut self, at: usize, pos: u64) -> Result<bool, StateError> {
        let touched = &mut self.scopes[at];
        if pos < touched.pos {
            return Ok(false);
        }
        if !touched.reads.is_empty() {
            let changed = self.store.changed_keys(&touched.partition, touched.pos + 1..=pos).await?;
            if changed.is_none_or(|keys| keys.iter().any(|key| touched.reads.touch(key))) {
                return Ok(false);
            }
        }
        touched.pos = pos;
        Ok(true)
    }

    /// The operations in the order in which refusals are looked at: an outcome that exists decides before all else.
    fn operations(&self, attached: &Attached) -> Result<Vec<(Of, TransactWriteItem)>, StateError> {
        let mut size = Size::default();
        let mut operations = Vec::new();
        if let Some(call) = &attached.call {
            operations.push((
                Of::Call,
                match &call.outcome {
                    Some(outcome) => {
                        let item = outcome.item_in(&call.slot, self.store.slot_expiry(&call.slot));
                        size.bytes += crate::items::text(&item, "body").len();
                        self.store.put_operation(item, Condition::absent())
                    }
                    None => self.store.check_operation(&call.key(), Condition::absent()),
                },
            ));
        }
        if let Some(progress) = &attached.progress {
            operations.push((
                Of::Progress,
                match &progress.cursor {
                    Some(cursor) => {
                        let cursor = cursor.to_string();
                        check_value("the cursor", &cursor)?;
                        size.bytes += cursor.len();
                        let item = progress.item(&cursor, self.store.slot_expiry(&progress.slot));
                        self.store.put_operation(item, progress.condition())
                    }
                    None => self.store.check_operation(&progress.key(), progress.condition()),
                },
            ));
        }
        for (at, touched) in self.scopes.iter().enumerate() {
            let head = keys::head(&touched.partition);
            if touched.writes.is_empty() {
                operations.push((Of::Head(at), self.store.check_operation(&head, head_is(touched.pos))));
                continue;
            }
            let moved = head_item(&head, touched.pos + 1);
            operations.push((Of::Head(at), self.store.put_operation(moved, head_is(touched.pos))));
            self.bodies(touched, &mut operations, &mut size)?;
        }
        size.operations = operations.len();
        size.check()?;
        Ok(operations)
    }

    /// The documents of one scope and their feed frame.
    fn bodies(
        &self,
        touched: &Touched,
        operations: &mut Vec<(Of, TransactWriteItem)>,
        size: &mut Size,
    ) -> Result<(), StateError> {
        let rev = touched.pos + 1;
        let by = serde_json::to_string(&self.by).map_err(|e| StoreError::corrupt("an author", e))?;
        let mut changes = Vec::new();
        for (name, json) in &touched.writes {
            let key = keys::document(&touched.partition, name);
            let (what, operation) = match json {
                Some(json) => {
                    size.bytes += json.len();
                    let value = serde_json::from_str(json).map_err(|e| StoreError::corrupt(name, e))?;
                    let item = document::item(&key, json, rev, &by);
                    (Written::Value(value), self.store.replace_operation(item))
                }
                None => (Written::Deleted(true), self.store.delete_operation(&key)),
            };
            changes.push(Change { rev, key: name.clone(), what, by: self.by.clone() });
            operations.push((Of::Body, operation));
        }
        let frame = serde_json::to_string(&changes).map_err(|e| StoreError::corrupt("a feed frame", e))?;
        size.documents += changes.len();
        size.frame = size.frame.max(frame.len());
        size.bytes += frame.len();
        let frame = frame_item(&keys::change(&touched.partition, rev), frame);
        operations.push((Of::Body, self.store.replace_operation(frame)));
        Ok(())
    }

    /// The new positions; the unit begins anew.
    fn finish(&mut self) -> Vec<(Scope, u64)> {
        let touched = std::mem::take(&mut self.scopes).into_iter();
        let written = touched.filter(|touched| !touched.writes.is_empty());
        let told = written.map(|touched| {
            self.store.scopes.nudge(&touched.partition);
            self.store.on_commit.tell(&touched.scope, touched.pos + 1);
            (touched.scope, touched.pos + 1)
        });
        told.collect()
    }
}
