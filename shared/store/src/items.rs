//! Items: serde values with their keys.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::AttributeValue;
use serde::{Serialize, de::DeserializeOwned};

use crate::{StoreError, keys::Key};

pub(crate) type Item = HashMap<String, AttributeValue>;

/// The item of `value` under `key`.
pub(crate) fn to_item(key: &Key, value: &impl Serialize) -> Result<Item, StoreError> {
    let mut item: Item =
        serde_dynamo::aws_sdk_dynamodb_1::to_item(value).map_err(|e| StoreError::corrupt(key.to_string(), e))?;
    item.extend(key_item(key));
    Ok(item)
}

/// The value of an item.
pub(crate) fn from_item<T: DeserializeOwned>(item: Item) -> Result<T, StoreError> {
    let name = format!("{} {}", text(&item, "pk"), text(&item, "sk"));
    serde_dynamo::aws_sdk_dynamodb_1::from_item(item).map_err(|e| StoreError::corrupt(name, e))
}

pub(crate) fn key_item(key: &Key) -> Item {
    HashMap::from([("pk".into(), s(&key.pk)), ("sk".into(), s(&key.sk))])
}

pub(crate) fn s(text: impl Into<String>) -> AttributeValue {
    AttributeValue::S(text.into())
}

pub(crate) fn n(number: impl ToString) -> AttributeValue {
    AttributeValue::N(number.to_string())
}

/// A text attribute; empty when it is missing.
pub(crate) fn text<'a>(item: &'a Item, name: &str) -> &'a str {
    item.get(name).and_then(|value| value.as_s().ok()).map_or("", String::as_str)
}

/// A number attribute, if it is there and fits.
pub(crate) fn number<T: std::str::FromStr>(item: &Item, name: &str) -> Option<T> {
    item.get(name)?.as_n().ok()?.parse().ok()
}
