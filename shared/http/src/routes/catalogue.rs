//! `GET /api`: the actions that the caller may use, and the models that a turn may name.

use axum::Json;
use axum::extract::State;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};
use tandem_actions::{Effect, Entry, Method, NeedsApproval};

use crate::App;
use crate::caller::{Caller, Through};
use crate::description::{Operation, operation};

/// What the caller may use.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Catalogue {
    /// In the application's order.
    actions: Vec<Listed>,
    /// What `model` of a turn may name, the default first.
    models: Vec<ListedModel>,
}

/// A model that may answer.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "CatalogueModel")]
struct ListedModel {
    id: String,
    /// It answers where a turn names none.
    default: bool,
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
    let models = json!([{"id": "anthropic/claude-sonnet-5-5", "default": true}, {"id": "scripted", "default": false}]);
    operation("listActions", "Actions", "The actions that you may use, and the models")
        .note("Each action with its schemas. Actions that are not yours, or not called over HTTP, are left out.")
        .gives::<Catalogue>(200, "The catalogue.", json!({"actions": [email], "models": models}))
}

pub(crate) async fn list(State(app): State<App>, Caller(principal): Caller, Through(door): Through) -> Json<Catalogue> {
    let agent = app.runtime.agent();
    let offered = agent.registry().offered(&principal, door);
    let models = agent.models().names().zip(0..);
    Json(Catalogue {
        actions: offered.map(Listed::from).collect(),
        models: models.map(|(id, n)| ListedModel { id: id.to_owned(), default: n == 0 }).collect(),
    })
}
