//! An action as it is told to clients: one entry of `GET /api`, and what the command line is built from.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Effect, Entry, Method};

/// What a client must know of an action.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Described {
    pub name: String,
    pub description: String,
    pub method: Method,
    pub effect: Effect,
    /// JSON Schema of the input with everything that is checked.
    #[serde(rename = "inputSchema")]
    pub input: Value,
    /// JSON Schema of the result.
    #[serde(rename = "outputSchema")]
    pub output: Value,
}

impl From<&Entry> for Described {
    fn from(entry: &Entry) -> Self {
        Described {
            name: entry.name().to_owned(),
            description: entry.description().to_owned(),
            method: entry.method(),
            effect: entry.effect(),
            input: entry.input_schema().clone(),
            output: entry.output_schema().clone(),
        }
    }
}

impl Described {
    /// Arguments that are text, read by the declared types: the same as
    /// [`Registry::read_text`](crate::Registry::read_text).
    pub fn read_text(&self, arguments: &[(String, String)]) -> Value {
        crate::text::read(&self.input, arguments)
    }

    /// Fits an input to the schema as the registry does when it is called, and gives the faults. What only the type
    /// knows is not among them.
    pub fn fit(&self, input: &mut Value) -> Vec<tandem_protocol::Fault> {
        crate::registry::whole(input);
        crate::input::fit(input, &self.input)
    }
}
