//! Bedrock's ConverseStream in AWS's binary event-stream framing.

use std::collections::HashMap;

use aws_smithy_eventstream::frame::write_message_to;
use aws_smithy_types::event_stream::{Header, HeaderValue, Message};
use bytes::Bytes;
use serde_json::{Value, json};
use tandem_model::Event;
use tandem_protocol::{FinishReason, Usage};

use super::{Problem, Wire, Writer};

#[derive(Default)]
pub(super) struct Converse {
    blocks: usize,
    /// The open text or reasoning block.
    open: Option<(usize, &'static str)>,
    /// The block of each open call.
    calls: HashMap<u32, usize>,
}

impl Writer for Converse {
    fn begin(&mut self) -> Vec<Bytes> {
        vec![event("messageStart", &json!({"role": "assistant"}))]
    }

    fn event(&mut self, told: &Event) -> Vec<Bytes> {
        let mut frames = Vec::new();
        match told {
            Event::TextDelta(text) => {
                let index = self.block(&mut frames, "text");
                frames.push(delta(index, json!({"text": text})));
            }
            Event::ReasoningDelta(text) => {
                let index = self.block(&mut frames, "reasoning");
                frames.push(delta(index, json!({"reasoningContent": {"text": text}})));
            }
            Event::ReasoningEnd { signed } => {
                let redacted = self.open.is_none_or(|(_, kind)| kind != "reasoning");
                let index = self.block(&mut frames, "reasoning");
                if let Some(signed) = signed {
                    let key = if redacted { "redactedContent" } else { "signature" };
                    frames.push(delta(index, json!({"reasoningContent": {key: signed}})));
                }
                self.close(&mut frames);
            }
            Event::CallStart { index, name } => {
                self.close(&mut frames);
                let at = self.next();
                self.calls.insert(*index, at);
                let start = json!({"toolUse": {"toolUseId": format!("tooluse_fake{index}"), "name": name}});
                frames.push(event("contentBlockStart", &json!({"contentBlockIndex": at, "start": start})));
            }
            Event::CallDelta { index, json } => {
                let at = self.calls.get(index).copied().unwrap_or_default();
                frames.push(delta(at, json!({"toolUse": {"input": json}})));
            }
            Event::CallEnd { index } => frames.extend(self.calls.remove(index).map(stop)),
            Event::Finish { reason, usage } => {
                self.close(&mut frames);
                frames.extend(self.calls.drain().map(|(_, at)| stop(at)));
                frames.push(event("messageStop", &json!({"stopReason": stop_reason(*reason)})));
                frames.push(event("metadata", &json!({"usage": counts(usage), "metrics": {"latencyMs": 5}})));
            }
        }
        frames
    }

    fn problem(&mut self, problem: &Problem) -> Bytes {
        let code = problem.told(Wire::Bedrock).code;
        let (first, rest) = code.split_at(1);
        let kind = format!("{}{rest}", first.to_lowercase());
        message("exception", ":exception-type", &kind, &problem.body(Wire::Bedrock))
    }
}

impl Converse {
    fn next(&mut self) -> usize {
        self.blocks += 1;
        self.blocks - 1
    }

    /// The open block of this kind. Text and reasoning have no start on this wire.
    fn block(&mut self, frames: &mut Vec<Bytes>, kind: &'static str) -> usize {
        if let Some((index, open)) = self.open
            && open == kind
        {
            return index;
        }
        self.close(frames);
        let index = self.next();
        self.open = Some((index, kind));
        index
    }

    fn close(&mut self, frames: &mut Vec<Bytes>) {
        frames.extend(self.open.take().map(|(index, _)| stop(index)));
    }
}

/// One event of the stream.
pub(super) fn event(kind: &str, payload: &Value) -> Bytes {
    message("event", ":event-type", kind, payload)
}

fn message(message_type: &str, kind_header: &'static str, kind: &str, payload: &Value) -> Bytes {
    let header = |name: &'static str, value: &str| Header::new(name, HeaderValue::String(value.to_owned().into()));
    let message = Message::new(payload.to_string())
        .add_header(header(":message-type", message_type))
        .add_header(header(kind_header, kind))
        .add_header(header(":content-type", "application/json"));
    let mut frame = Vec::new();
    write_message_to(&message, &mut frame).expect("a message of a few headers can be framed");
    frame.into()
}

fn delta(index: usize, delta: Value) -> Bytes {
    event("contentBlockDelta", &json!({"contentBlockIndex": index, "delta": delta}))
}

fn stop(index: usize) -> Bytes {
    event("contentBlockStop", &json!({"contentBlockIndex": index}))
}

fn stop_reason(reason: FinishReason) -> &'static str {
    match reason {
        FinishReason::Stop => "end_turn",
        FinishReason::Length => "max_tokens",
        FinishReason::ToolCalls => "tool_use",
        FinishReason::ContentFilter => "content_filtered",
        FinishReason::Error | FinishReason::Other => "something_new",
    }
}

fn counts(usage: &Usage) -> Value {
    json!({
        "inputTokens": usage.input_tokens - usage.cached_input_tokens,
        "cacheReadInputTokens": usage.cached_input_tokens,
        "cacheWriteInputTokens": 0,
        "outputTokens": usage.output_tokens,
        "totalTokens": usage.input_tokens + usage.output_tokens,
    })
}
