//! Answers as the scripted model would: the same script then runs on every wire.

use serde_json::Value;
use tandem_model::{Answer, Message, Model, ModelError, Request, Scripted, ToolSpec};

use super::Wire;

/// The scripted model's answer to a request of some wire that has failed `retry` times before.
pub(super) async fn answer(wire: Wire, body: &Value, retry: u32) -> Result<Answer, ModelError> {
    let request = Request { system: vec![], messages: messages(wire, body), tools: tools(body), max_tokens: 0, retry };
    Scripted.ask(request).await
}

/// As much of the history as the scripted model reads.
fn messages(wire: Wire, body: &Value) -> Vec<Message> {
    let messages = body["messages"].as_array().map_or(&[][..], Vec::as_slice);
    let read = |message: &Value| match message["role"].as_str() {
        Some("assistant") => Some(Message::Assistant { reasoning: vec![], text: String::new(), calls: vec![] }),
        Some("user" | "tool") => Some(Message::User { results: vec![], text: text(wire, message) }),
        _ => None,
    };
    messages.iter().filter_map(read).collect()
}

/// What a person said in this message. A message of results says nothing.
fn text(wire: Wire, message: &Value) -> Option<String> {
    if message["role"] == "tool" {
        return None;
    }
    let content = &message["content"];
    if let Some(text) = content.as_str() {
        return Some(text.to_owned());
    }
    let is_text = |block: &&Value| wire == Wire::Bedrock || block["type"] == "text";
    let texts = content.as_array()?.iter().filter(is_text).filter_map(|block| block["text"].as_str());
    let texts: Vec<_> = texts.collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}

fn tools(body: &Value) -> Vec<ToolSpec> {
    let listed = body["tools"].as_array().or(body["toolConfig"]["tools"].as_array());
    let tool = |tool: &Value| {
        let of = |key: &str| [tool, &tool["function"], &tool["toolSpec"]].into_iter().find_map(|of| of.get(key));
        let schema = of("input_schema").or(of("parameters")).or(tool.pointer("/toolSpec/inputSchema/json"));
        let name = of("name")?.as_str()?.to_owned();
        Some(ToolSpec { name, description: String::new(), schema: schema.cloned().unwrap_or_default() })
    };
    listed.into_iter().flatten().filter_map(tool).collect()
}
