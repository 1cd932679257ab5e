//! An action is one file and one line: everything that others see of it follows.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tandem_actions::{ActionDef, ActionError, Context, Effect, Registry, Scope, action};
use tandem_catalog::ACTIONS;

use crate::api::Api;
use crate::mcp::MODERN;

/// Mark an email as important for everybody.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Input {
    /// The email to mark.
    email_id: String,
}

/// How often the email has been marked.
#[derive(Serialize, JsonSchema)]
struct Output {
    stars: u64,
}

const ACTION: ActionDef = action("star-email").effect(Effect::Transactional).run(&star);

async fn star(input: Input, ctx: &mut Context) -> Result<Output, ActionError> {
    let (scope, key) = (Scope::app("stars"), input.email_id.to_string());
    let stars = ctx.state.get::<u64>(&scope, &key).await?.unwrap_or(0) + 1;
    ctx.state.put(&scope, &key, &stars).await?;
    Ok(Output { stars })
}

/// The application with one action more.
async fn api() -> Api {
    Api::new(Registry::new(&[ACTIONS, &[ACTION]].concat()).unwrap()).await
}

#[tokio::test]
async fn one_more_action_is_reached_through_every_surface() {
    let api = api().await;
    // Over HTTP.
    let email = json!({"emailId": "e-1"});
    assert_eq!(api.post("/api/star-email", &email).await.body, json!({"stars": 1}));
    // As a tool of the agent.
    let turn = json!({"message": "/star-email {\"emailId\":\"e-1\"}"});
    let chunks = api.turn(&turn).await;
    let outputs: Vec<&Value> = chunks.iter().filter(|chunk| chunk["type"] == "tool-output-available").collect();
    assert_eq!(outputs.len(), 1, "{chunks:?}");
    assert_eq!(outputs[0]["output"], json!({"stars": 2}));
    // As an MCP tool.
    assert_eq!(MODERN.call(&api, "star-email", email).await["structuredContent"], json!({"stars": 3}));
    // In the catalogue, from which `tandem action` makes its commands (cli/tests/doors).
    let catalogue = api.get("/api").await.body;
    let listed = catalogue["actions"].as_array().unwrap().last().unwrap().clone();
    assert_eq!(listed["name"], "star-email");
    assert_eq!(listed["description"], "Mark an email as important for everybody.");
    assert_eq!((&listed["method"], &listed["path"]), (&json!("POST"), &json!("/api/star-email")));
    assert_eq!((&listed["effect"], &listed["approval"]), (&json!("transactional"), &json!("never")));
    assert_eq!(listed["inputSchema"]["required"], json!(["emailId"]));
    assert_eq!(listed["outputSchema"]["properties"]["stars"]["type"], "integer");
    // In the description.
    let description = api.get("/openapi.json").await.body;
    let operation = &description["paths"]["/api/star-email"]["post"];
    assert_eq!(operation["operationId"], "star-email");
    let input = &description["components"]["schemas"]["StarEmailInput"];
    assert_eq!(input["properties"]["emailId"]["description"], "The email to mark.");
}

/// What README.md tells people to write is what is tried here.
#[test]
fn the_readme_has_this_action() {
    let readme = include_str!("../../../../README.md");
    let [_, told] = readme.split("```rust\n").collect::<Vec<_>>()[..] else { panic!("one block") };
    let told = told.split("```").next().unwrap();
    // In the catalogue it is in a module of its own, beside the type of an email's id.
    let told = told[told.find("/// Mark").unwrap()..].replace("pub(crate) const", "const").replace("EmailId", "String");
    assert!(include_str!("one_more.rs").contains(&told), "{told}");
}
