//! What the API shows of stored things.

use serde::Serialize;
use tandem_protocol::{MessageId, Role, RunId, ThreadId, UiMessage};
use tandem_store::{Message, MessageBody, Store, StoreError, Thread};

/// A thread as the API shows it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ThreadView {
    thread_id: ThreadId,
    title: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    active_run_id: Option<RunId>,
    messages: u64,
    created_at: i64,
}

impl From<Thread> for ThreadView {
    fn from(thread: Thread) -> Self {
        ThreadView {
            thread_id: thread.thread,
            title: thread.title,
            active_run_id: thread.active,
            messages: thread.length,
            created_at: thread.created_at,
        }
    }
}

/// A page of a list.
#[derive(Debug, Serialize)]
pub(crate) struct PageView<T> {
    pub(crate) items: Vec<T>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cursor: Option<String>,
}

/// A message: a user's text, or the fold of its run's log.
pub(crate) async fn ui_message(store: &Store, thread: &Thread, message: Message) -> Result<UiMessage, StoreError> {
    match message.body {
        MessageBody::User { text } => Ok(UiMessage {
            id: message.id,
            role: Role::User,
            parts: vec![serde_json::json!({"type": "text", "text": text})],
            metadata: None,
            run_id: None,
        }),
        MessageBody::Assistant { run } => {
            let transcript = store.answer(&thread.tenant, &thread.thread, &run).await?;
            Ok(UiMessage {
                id: MessageId::of_run(&run),
                role: Role::Assistant,
                parts: transcript.ui_parts(),
                metadata: transcript.metadata,
                run_id: Some(run),
            })
        }
    }
}
