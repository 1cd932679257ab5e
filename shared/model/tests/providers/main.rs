//! The three providers against a fake one that speaks their real wires over a socket.

mod answers;
mod failures;
mod requests;

use std::collections::HashMap;
use std::sync::Arc;

use futures::StreamExt;
use serde_json::{Value, json};
use tandem_model::{Event, Message, Model, ModelError, Models, Request, Timeouts, ToolSpec};
use tandem_protocol::{FinishReason, Usage};
use tandem_testkit::providers::{FakeProvider, Wire};

/// One model on each wire.
const MODELS: [(Wire, &str); 3] = [
    (Wire::Anthropic, "anthropic/claude-sonnet-4-6"),
    (Wire::OpenAi, "openai/gpt-4.1"),
    (Wire::Bedrock, "bedrock/eu.anthropic.claude-sonnet-4-5-20250929-v1:0"),
];

fn environment(server: &FakeProvider) -> HashMap<String, String> {
    let mut environment: HashMap<_, _> =
        server.environment().into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    environment.insert("MODEL".into(), "scripted".into());
    environment.insert("MODELS".into(), MODELS.map(|(_, name)| name).join(","));
    environment
}

fn models_in(environment: &HashMap<String, String>, timeouts: Timeouts) -> [(Wire, Arc<dyn Model>); 3] {
    let models = Models::from_env_with(|name| environment.get(name).cloned(), timeouts).expect("a valid environment");
    MODELS.map(|(wire, name)| (wire, models.get(Some(name)).expect("a listed model")))
}

fn models(server: &FakeProvider) -> [(Wire, Arc<dyn Model>); 3] {
    models_in(&environment(server), Timeouts::default())
}

/// What a model tells, and the error it ends with.
async fn listen(model: &dyn Model, request: Request) -> (Vec<Event>, Option<ModelError>) {
    let mut answer = match model.ask(request).await {
        Ok(answer) => answer,
        Err(error) => return (vec![], Some(error)),
    };
    let mut events = Vec::new();
    while let Some(event) = answer.next().await {
        match event {
            Ok(event) => events.push(event),
            Err(error) => {
                assert!(answer.next().await.is_none(), "an error is the last item");
                return (events, Some(error));
            }
        }
    }
    (events, None)
}

fn request(text: &str) -> Request {
    let schema = json!({"type": "object", "properties": {"q": {"type": "string"}}});
    Request {
        system: vec!["You are kind.".into(), "It is Sunday.".into()],
        messages: vec![Message::User { results: vec![], text: Some(text.into()) }],
        tools: vec![ToolSpec { name: "look".into(), description: "Looks.".into(), schema }],
        max_tokens: 500,
        retry: 0,
    }
}

fn text(text: &str) -> Event {
    Event::TextDelta(text.into())
}

fn reasoning(text: &str) -> Event {
    Event::ReasoningDelta(text.into())
}

fn signed(signature: &str) -> Event {
    Event::ReasoningEnd { signed: Some(json!(signature)) }
}

fn call(index: u32, name: &str) -> Event {
    Event::CallStart { index, name: name.into() }
}

fn part(index: u32, json: &str) -> Event {
    Event::CallDelta { index, json: json.into() }
}

fn end(index: u32) -> Event {
    Event::CallEnd { index }
}

fn finish(reason: FinishReason) -> Event {
    let usage = Usage { input_tokens: 120, output_tokens: 30, cached_input_tokens: 100, reasoning_tokens: 0 };
    Event::Finish { reason, usage }
}

/// The provider's signature in what a model gives to keep, as the fake provider sent it.
fn signature(kept: &Value) -> Value {
    let item = &kept["tandem"]["item"];
    let places =
        ["/signature", "/data", "/reasoningContent/reasoningText/signature", "/reasoningContent/redactedContent"];
    places.iter().find_map(|place| item.pointer(place)).unwrap_or_else(|| panic!("no signature in {kept}")).clone()
}
