//! OpenAI's Chat Completions as server-sent events.

use bytes::Bytes;
use serde_json::{Value, json};
use tandem_model::Event;
use tandem_protocol::{FinishReason, Usage};

use super::{Problem, Wire, Writer, sse};

pub(super) struct Chat;

impl Writer for Chat {
    fn begin(&mut self) -> Vec<Bytes> {
        vec![delta(json!({"role": "assistant", "content": "", "refusal": null}))]
    }

    fn event(&mut self, event: &Event) -> Vec<Bytes> {
        match event {
            Event::TextDelta(text) => vec![delta(json!({"content": text}))],
            Event::ReasoningDelta(text) => vec![delta(json!({"reasoning_content": text}))],
            // The wire has no borders of blocks and calls, and no signatures.
            Event::ReasoningEnd { .. } | Event::CallEnd { .. } => vec![],
            Event::CallStart { index, name } => vec![delta(json!({"tool_calls": [{
                "index": index, "id": format!("call_fake{index}"), "type": "function",
                "function": {"name": name, "arguments": ""},
            }]}))],
            Event::CallDelta { index, json } => {
                vec![delta(json!({"tool_calls": [{"index": index, "function": {"arguments": json}}]}))]
            }
            Event::Finish { reason, usage } => vec![
                chunk(json!([{"index": 0, "delta": {}, "logprobs": null, "finish_reason": finish(*reason)}]), None),
                chunk(json!([]), Some(usage)),
                Bytes::from_static(b"data: [DONE]\n\n"),
            ],
        }
    }

    fn problem(&mut self, problem: &Problem) -> Bytes {
        sse(None, &problem.body(Wire::OpenAi))
    }
}

fn delta(delta: Value) -> Bytes {
    chunk(json!([{"index": 0, "delta": delta, "logprobs": null, "finish_reason": null}]), None)
}

fn chunk(choices: Value, usage: Option<&Usage>) -> Bytes {
    let usage = usage.map(|usage| {
        json!({
            "prompt_tokens": usage.input_tokens,
            "completion_tokens": usage.output_tokens,
            "total_tokens": usage.input_tokens + usage.output_tokens,
            "prompt_tokens_details": {"cached_tokens": usage.cached_input_tokens, "audio_tokens": 0},
            "completion_tokens_details": {"reasoning_tokens": usage.reasoning_tokens},
        })
    });
    sse(
        None,
        &json!({
            "id": "chatcmpl-fake", "object": "chat.completion.chunk", "created": 1_790_000_000, "model": "gpt-fake",
            "choices": choices, "usage": usage,
        }),
    )
}

fn finish(reason: FinishReason) -> &'static str {
    match reason {
        FinishReason::Stop => "stop",
        FinishReason::Length => "length",
        FinishReason::ToolCalls => "tool_calls",
        FinishReason::ContentFilter => "content_filter",
        FinishReason::Error | FinishReason::Other => "something_new",
    }
}
