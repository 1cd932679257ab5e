//! What is asked of a model, and what it answers.

use serde_json::Value;
use tandem_protocol::{FinishReason, Usage};

/// One request to a model.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// Parts of the system prompt, most stable first, so that provider caches stay warm.
    pub system: Vec<String>,
    /// Roles alternate, beginning with the user; every tool use is answered in the next user message.
    pub messages: Vec<Message>,
    pub tools: Vec<ToolSpec>,
    /// Output limit in tokens.
    pub max_tokens: u32,
    /// How often this very request has failed before (0 at first). Only the scripted model reads it.
    pub retry: u32,
}

/// One turn of the history.
#[derive(Debug, Clone, PartialEq)]
pub enum Message {
    /// What a person said and, first, the results of the tool uses of the assistant message before.
    User { results: Vec<ToolResult>, text: Option<String> },
    /// What the model said. Never empty. `reasoning` holds signed blocks as the provider gave them.
    Assistant { reasoning: Vec<Value>, text: String, calls: Vec<ToolUse> },
}

/// A call that the model made. `id` is ours: at most 40 characters of `[A-Za-z0-9_-]`, as the strictest provider wants.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolUse {
    pub id: String,
    pub name: String,
    /// Always an object.
    pub input: Value,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ToolResult {
    pub id: String,
    /// The name of the tool that was called.
    pub name: String,
    /// JSON text, or for an error the message.
    pub output: String,
    pub is_error: bool,
}

/// A tool that the model may call.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSpec {
    pub name: String,
    pub description: String,
    /// JSON Schema of the arguments: an object, without references.
    pub schema: Value,
}

/// A piece of an answer. Text and reasoning deltas that follow each other belong to one block;
/// calls are told apart by `index`, the position of the call in this answer, as providers repeat or omit ids.
/// Fragments of parallel calls may be interleaved. The ends of all whole calls come last, before the finish:
/// only then is it known which call the token limit cut.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    TextDelta(String),
    ReasoningDelta(String),
    /// The current reasoning block is complete; `signed` is the provider's metadata to send back with it.
    /// A block that came without a delta is one that the provider keeps to itself.
    ReasoningEnd {
        signed: Option<Value>,
    },
    /// A call begins; its name is known.
    CallStart {
        index: u32,
        name: String,
    },
    /// A fragment of the call's arguments, as JSON text.
    CallDelta {
        index: u32,
        json: String,
    },
    /// All arguments have arrived. Whether they parse is the caller's to check; no fragment at all means `{}`.
    /// A call without this was cut at the token limit.
    CallEnd {
        index: u32,
    },
    /// The answer is complete.
    Finish {
        reason: FinishReason,
        usage: Usage,
    },
}
