//! Intents of calls that were sent with an idempotency key: who carries the call out, since when, and with what input.
//!
//! The intent is put before anything is done. Whoever sends the same key later finds it, and waits. Its `beat` moves
//! while the holder is alive, so that one who watches it for a while can tell that nobody is there any more, and take
//! it: no clocks are compared. What was done is not decided here but by the outcome, which is put once.

use tandem_protocol::TenantId;

use crate::items::{Item, key_item, n, number, s, text};
use crate::keys::{self, Key};
use crate::write::{Condition, Written};
use crate::{Store, StoreError};

/// How long a key is remembered; afterwards it means a new call.
const KEEP_SECONDS: i64 = 24 * 3600;

/// Names an intent: a digest of the key, of who sent it and of what for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IntentKey {
    pub tenant: TenantId,
    pub digest: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Intent {
    /// A digest of the input.
    pub input: String,
    /// When the key was first sent, in milliseconds since 1970.
    pub started_at: i64,
    /// Who carries the call out; unique for each one that does. Empty: nobody, and anybody may take it.
    pub holder: String,
    /// Grows with every sign of life of the holder, and with every new holder.
    pub beat: u64,
}

impl Intent {
    fn item(&self, key: &IntentKey) -> Item {
        let mut item = key_item(&key.key());
        item.insert("input".into(), s(&self.input));
        item.insert("started_at".into(), n(self.started_at));
        item.insert("holder".into(), s(&self.holder));
        item.insert("beat".into(), n(self.beat));
        item.insert("expires_at".into(), n(self.started_at / 1000 + KEEP_SECONDS));
        item
    }

    fn read(item: &Item) -> Result<Self, StoreError> {
        let numbers = (number(item, "started_at"), number(item, "beat"));
        let (Some(started_at), Some(beat)) = numbers else {
            return Err(StoreError::corrupt(text(item, "pk"), "not an intent"));
        };
        Ok(Intent { input: text(item, "input").into(), started_at, holder: text(item, "holder").into(), beat })
    }

    /// What is written is recognised by these, if a write has succeeded and its answer was lost.
    fn is(&self, other: &Intent) -> bool {
        (&self.holder, self.beat) == (&other.holder, other.beat)
    }
}

impl IntentKey {
    fn key(&self) -> Key {
        keys::intent(&self.tenant, &self.digest)
    }
}

impl Store {
    /// Stores the intent unless there is one; gives the one that is in the way. One that has expired by
    /// `intent.started_at` is not: the table's own clean-up comes days late.
    pub async fn put_intent(&self, key: &IntentKey, intent: &Intent) -> Result<Option<Intent>, StoreError> {
        let free = Condition {
            text: "attribute_not_exists(pk) OR #expires <= :now".into(),
            names: vec![("#expires", "expires_at")],
            values: vec![(":now", n(intent.started_at / 1000))],
        };
        match self.put(intent.item(key), free).await? {
            Written::Stored => Ok(None),
            Written::Refused(found) => {
                let found = found.ok_or_else(|| StoreError::corrupt(key.key().to_string(), "refused but absent"))?;
                Ok(Some(Intent::read(&found)?).filter(|found| !found.is(intent)))
            }
        }
    }

    pub async fn intent(&self, key: &IntentKey) -> Result<Option<Intent>, StoreError> {
        self.get(&key.key()).await?.as_ref().map(Intent::read).transpose()
    }

    /// Replaces the intent, if it still is as it was seen: a sign of life, a new holder, or a holder that leaves.
    pub async fn move_intent(&self, key: &IntentKey, seen: &Intent, next: &Intent) -> Result<bool, StoreError> {
        let unmoved = Condition {
            text: "#beat = :beat AND #holder = :holder".into(),
            names: vec![("#beat", "beat"), ("#holder", "holder")],
            values: vec![(":beat", n(seen.beat)), (":holder", s(&seen.holder))],
        };
        match self.put(next.item(key), unmoved).await? {
            Written::Stored => Ok(true),
            Written::Refused(Some(found)) => Ok(Intent::read(&found)?.is(next)),
            Written::Refused(None) => Ok(false),
        }
    }
}
