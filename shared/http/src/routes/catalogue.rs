//! `GET /api`: the actions that the caller may use.

use axum::Json;
use axum::extract::State;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};
use tandem_actions::{Effect, Entry, Method, NeedsApproval};

use crate::App;
use crate::caller::{Caller, Through};
use crate::description::{Operation, operation};

/// The actions that the caller may use, in the application's order.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Catalogue {
    actions: Vec<Listed>,
}

/// An action, as it is called over HTTP.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "CatalogueAction")]
struct Listed {
    name: String,
    description: String,
    method: Method,
    /// Where to call it.
    path: String,
    effect: Effect,
    /// Whether a person must agree before the agent's call runs.
    approval: NeedsApproval,
    /// JSON Schema of the input: of the query's fields where the method is GET, else of the body.
    input_schema: Value,
    /// JSON Schema of the answer.
    output_schema: Value,
}

impl From<&Entry> for Listed {
    fn from(entry: &Entry) -> Self {
        Listed {
            name: entry.name().to_owned(),
            description: entry.description().to_owned(),
            method: entry.method(),
            path: format!("/api/{}", entry.name()),
            effect: entry.effect(),
            approval: entry.approval(),
            input_schema: entry.input_schema().clone(),
            output_schema: entry.output_schema().clone(),
        }
    }
}

pub(crate) fn about() -> Operation {
    let email = json!({
        "name": "archive-email",
        "description": "Take an email out of the inbox.",
        "method": "POST",
        "path": "/api/archive-email",
        "effect": "transactional",
        "approval": "never",
        "inputSchema": {"type": "object", "properties": {"emailId": {"type": "string"}}, "required": ["emailId"]},
        "outputSchema": {"type": "object", "properties": {"changed": {"type": "boolean"}}},
    });
    operation("listActions", "Actions", "The actions that you may use")
        .note("Each with its schemas. Actions that are not yours, or not called over HTTP, are left out.")
        .gives::<Catalogue>(200, "The catalogue.", json!({"actions": [email]}))
}

pub(crate) async fn list(State(app): State<App>, Caller(principal): Caller, Through(door): Through) -> Json<Catalogue> {
    let offered = app.runtime.agent().registry().offered(&principal, door);
    Json(Catalogue { actions: offered.map(Listed::from).collect() })
}
