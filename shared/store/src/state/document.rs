//! Documents and their changes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tandem_protocol::{Caller, RunId, UserId};

use crate::StoreError;
use crate::items::{Item, key_item, n, number, s, text};
use crate::keys::{self, Key};

/// Who changed something, and through which door.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Author {
    pub user: UserId,
    pub caller: Caller,
    /// The run of the agent that did it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<RunId>,
}

/// One value of a scope.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Document {
    pub key: String,
    pub value: Value,
    /// The scope's position since this value.
    pub rev: u64,
    pub by: Author,
}

/// One entry of a scope's feed; the entries of one commit have the same `rev`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Change {
    pub rev: u64,
    pub key: String,
    #[serde(flatten)]
    pub what: Written,
    pub by: Author,
}

/// What was done to a document. On the wire `"value": ...` or `"deleted": true`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Written {
    Value(Value),
    Deleted(bool),
}

impl Document {
    pub(super) fn read(item: &Item) -> Result<Self, StoreError> {
        let name = || format!("{} {}", text(item, "pk"), text(item, "sk"));
        let json = |field: &str| text(item, field);
        Ok(Document {
            key: keys::document_key(text(item, "sk")).ok_or_else(|| StoreError::corrupt(name(), "not a document"))?,
            value: serde_json::from_str(json("value")).map_err(|e| StoreError::corrupt(name(), e))?,
            rev: number(item, "rev").ok_or_else(|| StoreError::corrupt(name(), "no rev"))?,
            by: serde_json::from_str(json("by")).map_err(|e| StoreError::corrupt(name(), e))?,
        })
    }
}

/// The stored form. The value is text, since numbers of JSON do not survive as DynamoDB numbers in every case.
pub(super) fn item(key: &Key, value: &str, rev: u64, by: &str) -> Item {
    let mut item = key_item(key);
    item.insert("value".into(), s(value));
    item.insert("rev".into(), n(rev));
    item.insert("by".into(), s(by));
    item
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_null_value_is_not_a_deletion() {
        let by = Author { user: UserId::new("ann").unwrap(), caller: Caller::Http, run_id: None };
        let who = json!({"user": "ann", "caller": "http"});
        for (what, want) in [
            (Written::Value(Value::Null), json!({"rev": 7, "key": "k", "value": null, "by": who})),
            (Written::Deleted(true), json!({"rev": 7, "key": "k", "deleted": true, "by": who})),
        ] {
            let change = Change { rev: 7, key: "k".into(), what, by: by.clone() };
            assert_eq!(serde_json::to_value(&change).unwrap(), want);
            assert_eq!(serde_json::from_value::<Change>(want).unwrap(), change);
        }
    }
}
