//! Schemas of inputs and outputs.

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tandem_protocol::Fault;

use crate::ActionError;

/// The schemas of an action.
pub(crate) struct Schemas {
    pub(crate) input: Value,
    pub(crate) output: Value,
}

pub(crate) fn of<I: JsonSchema, O: JsonSchema>() -> Schemas {
    Schemas { input: Value::Null, output: Value::Null }
}

/// Reads an input as its type; a fault says where it is.
pub(crate) fn decode<I: DeserializeOwned>(input: Value) -> Result<I, ActionError> {
    serde_path_to_error::deserialize(input).map_err(|error| {
        let pointer = error.path().to_string();
        ActionError::Invalid(vec![Fault { pointer, detail: error.inner().to_string() }])
    })
}
