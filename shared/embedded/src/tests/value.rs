//! Items written as JSON: strings, numbers, booleans, null, lists and maps become their DynamoDB types.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::AttributeValue;
use serde_json::{Map, Number, Value};

pub(super) type Item = HashMap<String, AttributeValue>;

/// The item of a JSON object.
pub(super) fn item(json: &Value) -> Item {
    json.as_object().unwrap().iter().map(|(name, value)| (name.clone(), attribute(value))).collect()
}

pub(super) fn attribute(json: &Value) -> AttributeValue {
    match json {
        Value::Null => AttributeValue::Null(true),
        Value::Bool(bool) => AttributeValue::Bool(*bool),
        Value::Number(number) => AttributeValue::N(number.to_string()),
        Value::String(text) => AttributeValue::S(text.clone()),
        Value::Array(list) => AttributeValue::L(list.iter().map(attribute).collect()),
        Value::Object(_) => AttributeValue::M(item(json)),
    }
}

/// Back again. Names are sorted, so that whole values compare.
pub(super) fn json(item: &Item) -> Value {
    let mut names: Vec<_> = item.keys().collect();
    names.sort();
    Value::Object(names.into_iter().map(|name| (name.clone(), plain(&item[name]))).collect::<Map<_, _>>())
}

fn plain(value: &AttributeValue) -> Value {
    match value {
        AttributeValue::Null(_) => Value::Null,
        AttributeValue::Bool(bool) => (*bool).into(),
        AttributeValue::N(number) => Value::Number(number.parse::<Number>().unwrap()),
        AttributeValue::S(text) => text.as_str().into(),
        AttributeValue::L(list) => list.iter().map(plain).collect(),
        AttributeValue::M(map) => json(map),
        other => panic!("a type that these tests do not use: {other:?}"),
    }
}
