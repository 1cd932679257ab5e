//! What a run was asked, beside its record so that the record stays small.

use serde::{Deserialize, Serialize};
use tandem_protocol::RunId;

use crate::items::{Item, from_item, n, to_item};
use crate::{Store, StoreError, keys};

/// The input of a run; written with it, never changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Input {
    /// The user's message.
    pub text: String,
    /// The model that the caller chose.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Position in the thread of the assistant message that the run writes; the history is what stands before.
    pub message_n: u64,
}

impl Store {
    pub(crate) fn input_item(&self, run: &RunId, input: &Input) -> Result<Item, StoreError> {
        let mut item = to_item(&keys::input(run), input)?;
        item.insert("expires_at".into(), n(self.expiry()));
        Ok(item)
    }

    pub async fn input(&self, run: &RunId) -> Result<Option<Input>, StoreError> {
        self.get(&keys::input(run)).await?.map(from_item).transpose()
    }
}
