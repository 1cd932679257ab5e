//! What a run was asked, beside its record so that the record stays small.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tandem_protocol::{Caller, RunId, UserId};

use crate::items::{Item, from_item, n, to_item};
use crate::{PendingApproval, Store, StoreError, keys};

/// The input of a run; written with it, never changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Input {
    /// The user's message; empty where the run carries out an action.
    pub text: String,
    /// Who said it, where that is not who the run is for: they had somebody else's message answered again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<UserId>,
    /// The model that the caller chose.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Position in the thread of the assistant message that the run writes; the history is what stands before.
    pub message_n: u64,
    /// What people said to the calls of the run that this one continues.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub decisions: Vec<PendingApproval>,
    /// The action that a person called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action: Option<ActionCall>,
}

/// An action that a person called and that takes a run of its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActionCall {
    pub name: String,
    /// As JSON: numbers of JSON are none of DynamoDB's.
    pub input: String,
    /// The door that it came through.
    pub caller: Caller,
}

impl ActionCall {
    pub fn input(&self) -> Result<Value, StoreError> {
        serde_json::from_str(&self.input).map_err(|e| StoreError::corrupt("the input of an action", e))
    }
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
