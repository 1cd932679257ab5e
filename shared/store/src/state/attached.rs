//! What a commit requires or writes besides documents: the outcome of a call, the progress of a long one.

use serde_json::Value;
use tandem_protocol::{RunId, TenantId, ToolCallId};

use crate::items::{Item, key_item, n, number, s, text};
use crate::keys::{self, Key};
use crate::write::Condition;
use crate::{Outcome, Store, StoreError};

/// Parts of a commit beside its documents.
#[derive(Debug, Clone, Default)]
pub struct Attached {
    pub call: Option<CallPart>,
    pub progress: Option<ProgressPart>,
}

/// Requires that the call has no outcome yet.
#[derive(Debug, Clone)]
pub struct CallPart {
    pub slot: Slot,
    /// Put in the same transaction.
    pub outcome: Option<Outcome>,
}

/// Requires that a long call is at this step.
#[derive(Debug, Clone)]
pub struct ProgressPart {
    pub slot: Slot,
    /// 0: nothing is stored yet.
    pub step: u64,
    /// Moves the call to the next step, with this cursor.
    pub cursor: Option<Value>,
}

/// Where the outcome of a call is kept, and the progress of a long one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Slot {
    /// A tool call of a run.
    Call { run: RunId, call: ToolCallId },
    /// Another call, by a digest of its idempotency key and of who sent it.
    Key { tenant: TenantId, digest: String },
}

/// How far a long call is.
#[derive(Debug, Clone, PartialEq)]
pub struct Progress {
    /// Slices that are committed, at least 1.
    pub step: u64,
    /// Where the next slice begins, in the action's own terms.
    pub cursor: Value,
}

impl Slot {
    fn key(&self) -> Key {
        match self {
            Slot::Call { run, call } => keys::progress(run, call),
            Slot::Key { tenant, digest } => keys::key_progress(tenant, digest),
        }
    }
}

impl CallPart {
    pub(super) fn key(&self) -> Key {
        self.slot.outcome_key()
    }
}

impl ProgressPart {
    pub(super) fn key(&self) -> Key {
        self.slot.key()
    }

    pub(super) fn condition(&self) -> Condition {
        if self.step == 0 {
            return Condition::absent();
        }
        Condition {
            text: "#step = :step".into(),
            names: vec![("#step", "step")],
            values: vec![(":step", n(self.step))],
        }
    }

    /// The item of the next step; `expires_at`: when it may go, in seconds since 1970.
    pub(super) fn item(&self, cursor: &str, expires_at: i64) -> Item {
        let mut item = key_item(&self.key());
        item.insert("step".into(), n(self.step + 1));
        item.insert("cursor".into(), s(cursor));
        item.insert("expires_at".into(), n(expires_at));
        item
    }
}

impl Store {
    /// How far a long call is; none: no slice is committed.
    pub async fn progress(&self, slot: &Slot) -> Result<Option<Progress>, StoreError> {
        let key = slot.key();
        let Some(item) = self.get(&key).await? else { return Ok(None) };
        let cursor = serde_json::from_str(text(&item, "cursor"));
        Ok(Some(Progress {
            step: number(&item, "step").ok_or_else(|| StoreError::corrupt(key.to_string(), "no step"))?,
            cursor: cursor.map_err(|e| StoreError::corrupt(key.to_string(), e))?,
        }))
    }
}
