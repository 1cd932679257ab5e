//! What the body of `POST /api/agent-chat` may look like, for its description. `AgentChat::parse` reads it, and takes
//! no offence at fields that are not listed here.

use schemars::JsonSchema;
use serde_json::Value;

use crate::{MessageId, Role, ThreadId, TurnId};

/// The API's own form, or the AI SDK's.
#[derive(JsonSchema)]
#[schemars(untagged)]
pub enum AgentChatBody {
    Native(NativeBody),
    AiSdk(AiSdkBody),
}

/// The API's own form.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
pub struct NativeBody {
    /// What the user says.
    pub message: UserMessage,
    /// Go on in this thread; without it a new one begins.
    pub thread_id: Option<ThreadId>,
    /// Your name for the turn: the same request twice is one run. With another text it is refused, unless it is an edit.
    pub turn_id: Option<TurnId>,
    /// True: the text takes the place of what the turn said before, and what was said since is dropped. It needs
    /// `threadId` and `turnId`.
    pub edit: Option<bool>,
    /// One of the `models` that `GET /api` lists; without it the default.
    #[schemars(length(min = 1))]
    pub model: Option<String>,
    /// What to do where the thread has a run under way.
    pub when_busy: Option<WhenBusy>,
}

/// What the AI SDK's transports send.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
pub struct AiSdkBody {
    /// The thread, created when it is new.
    pub id: ThreadId,
    /// The last message of the user counts; the rest comes from the store.
    #[schemars(length(min = 1))]
    pub messages: Vec<SentMessage>,
    pub trigger: Option<SentTrigger>,
    /// With `regenerate-message` the message to answer again, with `submit-message` the one that was edited.
    pub message_id: Option<MessageId>,
    /// One of the `models` that `GET /api` lists; without it the default.
    #[schemars(length(min = 1))]
    pub model: Option<String>,
    /// What to do where the thread has a run under way.
    pub when_busy: Option<WhenBusy>,
}

/// A text, or a message.
#[derive(JsonSchema)]
#[schemars(untagged)]
pub enum UserMessage {
    Text(#[schemars(length(max = 100_000), extend("pattern" = "\\S"))] String),
    Message(SentMessage),
}

/// A message as a client sends it.
#[derive(JsonSchema)]
pub struct SentMessage {
    /// It is the id of the turn.
    pub id: Option<MessageId>,
    pub role: Role,
    pub parts: Vec<SentPart>,
}

/// A part of a message. Of the user's message `text` parts count, `data-*` parts are left out, and others are refused.
#[derive(JsonSchema)]
#[schemars(untagged)]
pub enum SentPart {
    Text(SentText),
    Other(SentOther),
}

#[derive(JsonSchema)]
pub struct SentText {
    pub r#type: TextType,
    pub text: String,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "lowercase")]
pub enum TextType {
    Text,
}

#[derive(JsonSchema)]
pub struct SentOther {
    /// Such as `data-view`, or of an answer `tool-<name>`.
    #[schemars(extend("pattern" = "^[a-z]+(-[a-zA-Z0-9-]+)?$"))]
    pub r#type: String,
    #[schemars(flatten)]
    pub more: Value,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "kebab-case")]
pub enum SentTrigger {
    SubmitMessage,
    RegenerateMessage,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "lowercase")]
pub enum WhenBusy {
    /// Answer 409 `thread_busy`.
    Reject,
    /// Stop that run, and start this turn, both or neither.
    Interrupt,
}
