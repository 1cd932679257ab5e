//! What the API shows of stored things.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde_json::json;
use tandem_protocol::{Role, Run, RunId, ThreadId, ToolCallId, UiMessage, UserId};
use tandem_store::{AnsweredCall, Message, MessageBody, Store, StoreError, Thread};

use crate::ApiError;

/// A conversation.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Thread")]
pub(crate) struct ThreadView {
    thread_id: ThreadId,
    title: String,
    /// Whose it is; only they change and delete it.
    owner: UserId,
    /// Everybody in the tenant gets at it.
    shared: bool,
    archived: bool,
    /// The run under way.
    #[serde(skip_serializing_if = "Option::is_none")]
    active_run_id: Option<RunId>,
    /// The run that waits for a person to agree to a call.
    #[serde(skip_serializing_if = "Option::is_none")]
    awaiting_run_id: Option<RunId>,
    /// What was said to calls of that run while others of it wait for an answer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    answered: Vec<AnsweredView>,
    /// How many there are.
    messages: u64,
    /// Milliseconds since 1970.
    created_at: i64,
}

impl From<Thread> for ThreadView {
    fn from(thread: Thread) -> Self {
        ThreadView {
            thread_id: thread.thread,
            title: thread.title,
            owner: thread.owner,
            shared: thread.shared,
            archived: thread.archived,
            active_run_id: thread.active,
            answered: thread.answered.into_iter().map(AnsweredView::from).collect(),
            awaiting_run_id: thread.awaiting,
            messages: thread.length,
            created_at: thread.created_at,
        }
    }
}

/// What a person said to a call, and who.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "AnsweredCall")]
struct AnsweredView {
    tool_call_id: ToolCallId,
    approved: bool,
    by: UserId,
}

impl From<AnsweredCall> for AnsweredView {
    fn from(AnsweredCall { call, approved, by }: AnsweredCall) -> Self {
        AnsweredView { tool_call_id: call, approved, by }
    }
}

/// A run record as it is shown to all who get at its thread: without the roles of its owner.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub(crate) struct RunView(Run);

impl JsonSchema for RunView {
    fn schema_name() -> Cow<'static, str> {
        Run::schema_name()
    }

    fn schema_id() -> Cow<'static, str> {
        Run::schema_id()
    }

    fn json_schema(schemas: &mut SchemaGenerator) -> Schema {
        Run::json_schema(schemas)
    }
}

impl From<Run> for RunView {
    fn from(mut run: Run) -> Self {
        run.owner.roles.clear();
        RunView(run)
    }
}

/// A page of a list.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "PageOf{T}")]
pub(crate) struct PageView<T> {
    pub(crate) items: Vec<T>,
    /// Where the next page begins; absent on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cursor: Option<String>,
}

/// What a person said, with who it was.
pub(crate) fn user_message(message: &Message, text: &str) -> UiMessage {
    UiMessage {
        id: message.id.clone(),
        role: Role::User,
        parts: vec![json!({"type": "text", "text": text})],
        metadata: message.author.as_ref().map(|author| json!({"author": author, "createdAt": message.created_at})),
        run_id: None,
    }
}

/// The place in a thread that the cursor of a page names.
pub(crate) fn position(cursor: &str) -> Result<u64, ApiError> {
    let fits = (1..=18).contains(&cursor.len()) && cursor.bytes().all(|byte| byte.is_ascii_digit());
    let position = cursor.parse().ok().filter(|_| fits);
    position.ok_or_else(|| ApiError::invalid("?cursor", "must come from an earlier page"))
}

/// A message: a user's text, or the fold of its run's log.
pub(crate) async fn ui_message(store: &Store, thread: &Thread, message: Message) -> Result<UiMessage, StoreError> {
    match &message.body {
        MessageBody::User { text } => Ok(user_message(&message, text)),
        MessageBody::Assistant { run } => {
            let mut transcript = store.answer(&thread.tenant, &thread.thread, run).await?;
            if thread.awaiting.as_ref() != Some(run) {
                transcript.supersede();
            }
            Ok(UiMessage {
                id: message.id.clone(),
                role: Role::Assistant,
                parts: transcript.ui_parts(),
                metadata: transcript.metadata,
                run_id: Some(run.clone()),
            })
        }
    }
}
