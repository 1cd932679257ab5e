//! The outcome of a tool call: put once, whoever runs the call and however often.

use serde_json::Value;
use tandem_protocol::{RunId, ToolCallId};

use crate::items::{Item, key_item, s, text};
use crate::write::{Condition, Written};
use crate::{Store, StoreError, keys};

/// How a tool call ended.
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
    /// The item of this outcome.
    pub(crate) fn item(&self, run: &RunId, call: &ToolCallId) -> Item {
        let mut item = key_item(&keys::call(run, call));
        let (kind, body) = match self {
            // As text: numbers of JSON do not survive as DynamoDB numbers in every case.
            Outcome::Done(output) => ("done", output.to_string()),
            Outcome::Failed(message) => ("failed", message.clone()),
            Outcome::Unknown => ("unknown", String::new()),
            Outcome::Closed => ("closed", String::new()),
        };
        item.insert("outcome".into(), s(kind));
        item.insert("body".into(), s(body));
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

impl Store {
    /// Stores the outcome unless there is one, and gives the one that is stored.
    pub async fn put_outcome(&self, run: &RunId, call: &ToolCallId, outcome: &Outcome) -> Result<Outcome, StoreError> {
        match self.put(outcome.item(run, call), Condition::absent()).await? {
            Written::Stored => Ok(outcome.clone()),
            Written::Refused(Some(item)) => Outcome::read(&item),
            Written::Refused(None) => Err(StoreError::corrupt(keys::call(run, call).to_string(), "refused but absent")),
        }
    }

    pub async fn outcome(&self, run: &RunId, call: &ToolCallId) -> Result<Option<Outcome>, StoreError> {
        self.get(&keys::call(run, call)).await?.as_ref().map(Outcome::read).transpose()
    }
}
