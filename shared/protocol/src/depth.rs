//! How deep JSON may be nested. Whatever is stored or shown is read again inside of something else, by readers that end at
//! 128 levels: a value that is as deep as it can be sent could be written and never be read.

use serde_json::Value;

/// Levels of arrays and objects that a value may have: an input, a result, a document.
pub const MAX_DEPTH: usize = 64;

/// Whether a value is nested deeper than [`MAX_DEPTH`].
pub fn is_too_deep(value: &Value) -> bool {
    fn deeper(value: &Value, than: usize) -> bool {
        match value {
            Value::Array(items) => than == 0 || items.iter().any(|item| deeper(item, than - 1)),
            Value::Object(fields) => than == 0 || fields.values().any(|field| deeper(field, than - 1)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
        }
    }
    deeper(value, MAX_DEPTH)
}
