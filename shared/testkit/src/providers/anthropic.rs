//! Anthropic's Messages as server-sent events.

use std::collections::HashMap;

use bytes::Bytes;
use serde_json::{Value, json};
use tandem_model::Event;
use tandem_protocol::{FinishReason, Usage};

use super::{Problem, Wire, Writer, sse};

#[derive(Default)]
pub(super) struct Messages {
    blocks: usize,
    /// The open text or thinking block.
    open: Option<(usize, &'static str)>,
    /// The block of each open call.
    calls: HashMap<u32, usize>,
}

impl Writer for Messages {
    fn begin(&mut self) -> Vec<Bytes> {
        let message = json!({
            "id": "msg_fake", "type": "message", "role": "assistant", "model": "claude-fake", "content": [],
            "stop_reason": null, "stop_sequence": null, "usage": {"input_tokens": 0, "output_tokens": 1},
        });
        vec![frame(json!({"type": "message_start", "message": message})), frame(json!({"type": "ping"}))]
    }

    fn event(&mut self, event: &Event) -> Vec<Bytes> {
        let mut frames = Vec::new();
        match event {
            Event::TextDelta(text) => {
                let index = self.block(&mut frames, "text", json!({"type": "text", "text": ""}));
                frames.push(delta(index, json!({"type": "text_delta", "text": text})));
            }
            Event::ReasoningDelta(text) => {
                let index = self.thinking(&mut frames);
                frames.push(delta(index, json!({"type": "thinking_delta", "thinking": text})));
            }
            Event::ReasoningEnd { signed: Some(signed) } if self.open.is_none_or(|(_, kind)| kind != "thinking") => {
                self.block(&mut frames, "redacted", json!({"type": "redacted_thinking", "data": signed}));
                self.close(&mut frames);
            }
            Event::ReasoningEnd { signed } => {
                let index = self.thinking(&mut frames);
                if let Some(signed) = signed {
                    frames.push(delta(index, json!({"type": "signature_delta", "signature": signed})));
                }
                self.close(&mut frames);
            }
            Event::CallStart { index, name } => {
                let id = format!("toolu_fake{index}");
                let block = json!({"type": "tool_use", "id": id, "name": name, "input": {}});
                let at = self.block(&mut frames, "call", block);
                self.open = None;
                self.calls.insert(*index, at);
                frames.push(delta(at, json!({"type": "input_json_delta", "partial_json": ""})));
            }
            Event::CallDelta { index, json } => {
                let at = self.calls.get(index).copied().unwrap_or_default();
                frames.push(delta(at, json!({"type": "input_json_delta", "partial_json": json})));
            }
            Event::CallEnd { index } => frames.extend(self.calls.remove(index).map(stop)),
            Event::Finish { reason, usage } => {
                self.close(&mut frames);
                // The API closes a call that it had to cut like any other.
                frames.extend(self.calls.drain().map(|(_, at)| stop(at)));
                frames.push(frame(json!({
                    "type": "message_delta", "delta": stop_reason(*reason), "usage": counts(usage),
                })));
                frames.push(frame(json!({"type": "message_stop"})));
            }
        }
        frames
    }

    fn problem(&mut self, problem: &Problem) -> Bytes {
        frame(problem.body(Wire::Anthropic))
    }
}

impl Messages {
    /// The open block of this kind, opened if need be.
    fn block(&mut self, frames: &mut Vec<Bytes>, kind: &'static str, block: Value) -> usize {
        if let Some((index, open)) = self.open
            && open == kind
        {
            return index;
        }
        self.close(frames);
        let index = self.blocks;
        self.blocks += 1;
        self.open = Some((index, kind));
        frames.push(frame(json!({"type": "content_block_start", "index": index, "content_block": block})));
        index
    }

    fn thinking(&mut self, frames: &mut Vec<Bytes>) -> usize {
        self.block(frames, "thinking", json!({"type": "thinking", "thinking": "", "signature": ""}))
    }

    fn close(&mut self, frames: &mut Vec<Bytes>) {
        frames.extend(self.open.take().map(|(index, _)| stop(index)));
    }
}

fn frame(data: Value) -> Bytes {
    sse(data["type"].as_str(), &data)
}

fn delta(index: usize, delta: Value) -> Bytes {
    frame(json!({"type": "content_block_delta", "index": index, "delta": delta}))
}

fn stop(index: usize) -> Bytes {
    frame(json!({"type": "content_block_stop", "index": index}))
}

fn stop_reason(reason: FinishReason) -> Value {
    let (reason, details) = match reason {
        FinishReason::Stop => ("end_turn", Value::Null),
        FinishReason::Length => ("max_tokens", Value::Null),
        FinishReason::ToolCalls => ("tool_use", Value::Null),
        FinishReason::ContentFilter => ("refusal", json!({"type": "refusal", "explanation": "I may not say that."})),
        FinishReason::Error | FinishReason::Other => ("something_new", Value::Null),
    };
    json!({"stop_reason": reason, "stop_sequence": null, "stop_details": details})
}

fn counts(usage: &Usage) -> Value {
    json!({
        "input_tokens": usage.input_tokens - usage.cached_input_tokens,
        "cache_read_input_tokens": usage.cached_input_tokens,
        "cache_creation_input_tokens": 0,
        "output_tokens": usage.output_tokens,
        "output_tokens_details": {"thinking_tokens": usage.reasoning_tokens},
    })
}
