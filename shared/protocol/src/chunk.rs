//! The chunk: what is stored in a run's log is, byte for byte, what a client receives.
//!
//! The standard chunks are those of the AI SDK's UI message stream v1 (npm `ai` 7). Our own are `data-*`
//! only, since stock clients end a stream at a type that they do not know.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{MessageId, ToolCallId};

/// One entry of a run's log.
///
/// Text and reasoning ids are unique in a run and never reused, also not after a reset or a takeover.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub enum Chunk {
    Start {
        message_id: MessageId,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message_metadata: Option<Value>,
    },
    StartStep,
    TextStart {
        id: String,
    },
    TextDelta {
        id: String,
        delta: String,
    },
    TextEnd {
        id: String,
    },
    ReasoningStart {
        id: String,
    },
    ReasoningDelta {
        id: String,
        delta: String,
    },
    ReasoningEnd {
        id: String,
        /// A provider's signature of the block, kept byte for byte for the next request.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        provider_metadata: Option<Value>,
    },
    ToolInputStart {
        tool_call_id: ToolCallId,
        tool_name: String,
    },
    ToolInputDelta {
        tool_call_id: ToolCallId,
        input_text_delta: String,
    },
    ToolInputAvailable {
        tool_call_id: ToolCallId,
        tool_name: String,
        input: Value,
    },
    /// The model's arguments cannot be used; the call is over.
    ToolInputError {
        tool_call_id: ToolCallId,
        tool_name: String,
        input: Value,
        error_text: String,
    },
    ToolOutputAvailable {
        tool_call_id: ToolCallId,
        output: Value,
    },
    ToolOutputError {
        tool_call_id: ToolCallId,
        error_text: String,
    },
    /// A person must agree before the call runs. `approval_id` is the tool call's id.
    ToolApprovalRequest {
        approval_id: ToolCallId,
        tool_call_id: ToolCallId,
    },
    /// What the person said.
    ToolApprovalResponse {
        approval_id: ToolCallId,
        approved: bool,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// The call was denied and is over.
    ToolOutputDenied {
        tool_call_id: ToolCallId,
    },
    /// What the open step has shown so far is void; the same step goes on.
    ResetStep,
    FinishStep,
    /// What is known about the message so far; later values replace earlier ones key by key. `usage` are the tokens of
    /// its steps; `decidedBy` says who answered each call that asked a person; `leftOut` says how much of a long
    /// conversation the model was not shown: `messages` before the question, `characters` of results and of earlier steps
    /// of the answer.
    MessageMetadata {
        message_metadata: Value,
    },
    /// Terminal: the run completed.
    Finish {
        finish_reason: FinishReason,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message_metadata: Option<Value>,
    },
    /// Terminal: somebody stopped the run.
    Abort {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// Terminal: the run failed. The text is for people and ends with a stable code in brackets.
    Error {
        error_text: String,
    },
    /// A holder took the log.
    DataAttempt {
        data: AttemptData,
        transient: bool,
    },
    /// The holder's time is up; another one goes on.
    DataContinue {
        data: ContinueData,
        transient: bool,
    },
    /// The intent: these calls are about to run.
    DataCall {
        data: CallData,
        transient: bool,
    },
    /// How far a long call is; `id` is the tool call, so clients replace it in place.
    DataProgress {
        id: String,
        data: ProgressData,
    },
    /// Something the viewer may show has changed.
    DataState {
        data: StateData,
        transient: bool,
    },
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AttemptData {
    /// 1 for the first holder of the run.
    pub attempt: u32,
    pub holder: HolderKind,
    pub reason: AttemptReason,
}

/// Which side of the tandem drives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum HolderKind {
    Foreground,
    Background,
}

/// Why this holder has the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum AttemptReason {
    /// It was dispatched, or started, to this holder.
    Claimed,
    /// Nobody claimed the dispatch within the grace; the foreground took it.
    Reclaimed,
    /// The holder before handed over.
    Continued,
    /// The holder before disappeared.
    Recovered,
    /// Somebody stops the run, and its holder wrote faster than its end could be written. An abort follows.
    Stopped,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ContinueData {
    /// `soft_timeout`.
    pub reason: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CallData {
    pub tool_call_ids: Vec<ToolCallId>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProgressData {
    pub label: String,
    pub done: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StateData {
    pub scope: String,
    pub rev: u64,
}

/// Why a model stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FinishReason {
    Stop,
    /// The model's output limit was reached.
    Length,
    ContentFilter,
    ToolCalls,
    Error,
    Other,
}

/// Tokens, as the provider counts them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Usage {
    pub input_tokens: u64,
    pub output_tokens: u64,
    pub cached_input_tokens: u64,
    pub reasoning_tokens: u64,
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.input_tokens += other.input_tokens;
        self.output_tokens += other.output_tokens;
        self.cached_input_tokens += other.cached_input_tokens;
        self.reasoning_tokens += other.reasoning_tokens;
    }
}

impl Chunk {
    /// Nothing follows a terminal chunk.
    pub fn is_terminal(&self) -> bool {
        matches!(self, Chunk::Finish { .. } | Chunk::Abort { .. } | Chunk::Error { .. })
    }

    /// Appends `next` to this chunk if both are deltas of the same part; gives `next` back otherwise.
    pub fn merge(&mut self, next: Chunk) -> Option<Chunk> {
        match (self, next) {
            (Chunk::TextDelta { id, delta }, Chunk::TextDelta { id: same, delta: more }) if *id == same => {
                delta.push_str(&more);
                None
            }
            (Chunk::ReasoningDelta { id, delta }, Chunk::ReasoningDelta { id: same, delta: more }) if *id == same => {
                delta.push_str(&more);
                None
            }
            (
                Chunk::ToolInputDelta { tool_call_id, input_text_delta },
                Chunk::ToolInputDelta { tool_call_id: same, input_text_delta: more },
            ) if *tool_call_id == same => {
                input_text_delta.push_str(&more);
                None
            }
            (_, next) => Some(next),
        }
    }

    pub fn attempt(attempt: u32, holder: HolderKind, reason: AttemptReason) -> Self {
        Chunk::DataAttempt { data: AttemptData { attempt, holder, reason }, transient: true }
    }

    pub fn continuing(reason: impl Into<String>) -> Self {
        Chunk::DataContinue { data: ContinueData { reason: reason.into() }, transient: true }
    }

    /// Asks a person to agree to a call; the approval is named after it.
    pub fn approval_request(call: &ToolCallId) -> Self {
        Chunk::ToolApprovalRequest { approval_id: call.clone(), tool_call_id: call.clone() }
    }

    /// The intent of `calls`.
    pub fn calls(calls: Vec<ToolCallId>) -> Self {
        Chunk::DataCall { data: CallData { tool_call_ids: calls }, transient: true }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn chunks_are_the_ai_sdk_s_own_words() {
        let call = ToolCallId::new("c1").unwrap();
        for (chunk, want) in [
            (Chunk::StartStep, json!({"type": "start-step"})),
            (
                Chunk::ToolInputAvailable { tool_call_id: call.clone(), tool_name: "email".into(), input: json!({}) },
                json!({"type": "tool-input-available", "toolCallId": "c1", "toolName": "email", "input": {}}),
            ),
            (
                Chunk::Finish { finish_reason: FinishReason::ContentFilter, message_metadata: None },
                json!({"type": "finish", "finishReason": "content-filter"}),
            ),
            (
                Chunk::attempt(2, HolderKind::Background, AttemptReason::Recovered),
                json!({"type": "data-attempt", "data": {"attempt": 2, "holder": "background", "reason": "recovered"},
                       "transient": true}),
            ),
            (
                Chunk::calls(vec![call]),
                json!({"type": "data-call", "data": {"toolCallIds": ["c1"]}, "transient": true}),
            ),
        ] {
            assert_eq!(serde_json::to_value(&chunk).unwrap(), want);
            assert_eq!(serde_json::from_value::<Chunk>(want).unwrap(), chunk);
        }
    }

    #[test]
    fn only_deltas_of_one_part_merge() {
        let delta = |id: &str, text: &str| Chunk::TextDelta { id: id.into(), delta: text.into() };
        let mut first = delta("t1", "a");
        assert_eq!(first.merge(delta("t1", "b")), None);
        assert_eq!(first, delta("t1", "ab"));
        assert_eq!(first.merge(delta("t2", "c")), Some(delta("t2", "c")));
        assert_eq!(first.merge(Chunk::StartStep), Some(Chunk::StartStep));
    }
}
