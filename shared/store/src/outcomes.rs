//! The outcome of a call: put once, whoever runs the call and however often.
//!
//! What comes of a call after its outcome was stored, a late result, is kept in an item of its own. It never takes the
//! outcome's place: what people and the model were told stays what it was.

use serde_json::Value;

use crate::items::{Item, key_item, n, s, text};
use crate::keys::{self, Key};
use crate::write::{Condition, Written};
use crate::{Slot, Store, StoreError};

/// How long the outcome and the progress of a call outside a run are kept: longer than the key it was sent with.
const KEEP_SECONDS: i64 = 7 * 24 * 3600;

/// How a call ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    Done(Value),
    /// It ran and failed, or its input was refused; the message is for the model and for people.
    Failed(String),
    /// It may or may not have happened: its holder disappeared in the middle of an external effect.
    Unknown,
    /// The run ended first; a transactional call can no longer commit.
    Closed,
}

impl Outcome {
    /// The item of the outcome of a call; `expires_at`: when it may go, in seconds since 1970.
    pub(crate) fn item_in(&self, slot: &Slot, expires_at: i64) -> Item {
        self.item_at(&slot.outcome_key(), expires_at)
    }

    fn item_at(&self, key: &Key, expires_at: i64) -> Item {
        let mut item = key_item(key);
        let (kind, body) = match self {
            // As text: numbers of JSON do not survive as DynamoDB numbers in every case.
            Outcome::Done(output) => ("done", output.to_string()),
            Outcome::Failed(message) => ("failed", message.clone()),
            Outcome::Unknown => ("unknown", String::new()),
            Outcome::Closed => ("closed", String::new()),
        };
        item.insert("outcome".into(), s(kind));
        item.insert("body".into(), s(body));
        item.insert("expires_at".into(), n(expires_at));
        item
    }

    pub(crate) fn read(item: &Item) -> Result<Self, StoreError> {
        let corrupt =
            |detail: String| StoreError::corrupt(format!("{} {}", text(item, "pk"), text(item, "sk")), detail);
        let body = text(item, "body");
        match text(item, "outcome") {
            "done" => Ok(Outcome::Done(serde_json::from_str(body).map_err(|e| corrupt(e.to_string()))?)),
            "failed" => Ok(Outcome::Failed(body.to_owned())),
            "unknown" => Ok(Outcome::Unknown),
            "closed" => Ok(Outcome::Closed),
            other => Err(corrupt(format!("unknown outcome {other:?}"))),
        }
    }
}

impl Slot {
    /// The key of the outcome of this call.
    pub(crate) fn outcome_key(&self) -> Key {
        match self {
            Slot::Call { run, call } => keys::call(run, call),
            Slot::Key { tenant, digest } => keys::key_call(tenant, digest),
        }
    }

    fn late_key(&self) -> Key {
        match self {
            Slot::Call { run, call } => keys::late(run, call),
            Slot::Key { tenant, digest } => keys::key_late(tenant, digest),
        }
    }
}

impl Store {
    /// When what is kept about a call may go, in seconds since 1970: with the log of its run, or after its key.
    pub(crate) fn slot_expiry(&self, slot: &Slot) -> i64 {
        match slot {
            Slot::Call { .. } => self.expiry(),
            Slot::Key { .. } => crate::now_ms() / 1000 + KEEP_SECONDS,
        }
    }

    /// Stores the outcome unless there is one, and gives the one that is stored.
    pub async fn put_outcome(&self, slot: &Slot, outcome: &Outcome) -> Result<Outcome, StoreError> {
        match self.put(outcome.item_in(slot, self.slot_expiry(slot)), Condition::absent()).await? {
            Written::Stored => Ok(outcome.clone()),
            Written::Refused(Some(item)) => Outcome::read(&item),
            Written::Refused(None) => Err(StoreError::corrupt(slot.outcome_key().to_string(), "refused but absent")),
        }
    }

    pub async fn outcome(&self, slot: &Slot) -> Result<Option<Outcome>, StoreError> {
        self.get(&slot.outcome_key()).await?.as_ref().map(Outcome::read).transpose()
    }

    /// Keeps what came of a call after its outcome was stored. The first one stays.
    pub async fn put_late_result(&self, slot: &Slot, result: &Outcome) -> Result<(), StoreError> {
        let mut item = result.item_at(&slot.late_key(), self.slot_expiry(slot));
        item.insert("at".into(), n(crate::now_ms()));
        self.put(item, Condition::absent()).await.map(drop)
    }

    /// What came of a call after its outcome was stored, if anything.
    pub async fn late_result(&self, slot: &Slot) -> Result<Option<Outcome>, StoreError> {
        self.get(&slot.late_key()).await?.as_ref().map(Outcome::read).transpose()
    }
}
