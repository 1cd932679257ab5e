//! What the events of a window look like, for the description; `encode` writes them.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use tandem_protocol::{Chunk, Code, RunId, Seq, ThreadId, UiMessage, UserId};
use tandem_store::Change;

use crate::description::{Operation, operation};
use crate::view::{RunView, ThreadView};

/// What a window follows.
#[derive(JsonSchema)]
#[allow(dead_code)]
struct Query {
    /// The thread, or `thread@position` with the position of its messages.
    thread: Option<String>,
    /// A scope, or `scope@rev` with the position of its snapshot; may be repeated.
    #[schemars(length(max = 20))]
    scope: Option<Vec<String>>,
    /// The id of the last event of an earlier stream.
    cursor: Option<String>,
}

/// An event of a window.
#[derive(Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "lowercase", rename_all_fields = "camelCase")]
#[allow(dead_code)]
enum WindowEvent {
    /// The first one: what the stream goes on from.
    Ready {
        #[serde(skip_serializing_if = "Option::is_none")]
        thread: Option<ThreadView>,
        scopes: BTreeMap<String, u64>,
    },
    /// The thread's record has changed.
    Thread { thread: ThreadView },
    /// Somebody said something, at number `n` of the thread; nothing stands after it any more.
    Message { thread_id: ThreadId, n: u64, message: UiMessage },
    /// A run writes the message at number `n`; nothing stands after it any more.
    Run { thread_id: ThreadId, n: u64, run: Box<RunView> },
    /// A chunk of that run.
    Chunk { thread_id: ThreadId, run_id: RunId, seq: Seq, chunk: Chunk },
    /// The thread is deleted, or not shared any more. The stream ends.
    Gone { thread_id: ThreadId },
    /// A document has changed.
    State {
        scope: String,
        #[serde(flatten)]
        change: Change,
    },
    /// Who is in a scope.
    Presence { scope: String, present: Vec<Participant> },
    /// The changes since your position are not there any more: read the scope's documents again.
    Reset { scope: String, rev: u64 },
}

/// A person's window, or the agent.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[allow(dead_code)]
struct Participant {
    #[serde(skip_serializing_if = "Option::is_none")]
    user: Option<UserId>,
    /// True: it is the agent, at work.
    #[serde(skip_serializing_if = "Option::is_none")]
    agent: Option<bool>,
    client: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    run_id: Option<RunId>,
    activity: serde_json::Value,
}

/// A stream of a window, as it looks.
const STREAM: &str = ": stream-open\nretry: 250\n\nid: eyJzIjp7InVzZXIiOjd9fQ\n\
                      data: {\"type\":\"ready\",\"scopes\":{\"user\":7}}\n\n";

pub(crate) fn about() -> Operation {
    operation("followWindow", "State", "One stream for a whole window")
        .note(
            "A thread with its messages, its runs and their chunks, the changes of scopes, and who is here, under one \
             cursor. At least a thread or a scope, and at most 20 scopes, beside the \
             thread's own.",
        )
        .query::<Query>()
        .header(
            "Last-Event-ID",
            "What EventSource sends when it comes back: the id of the last event that it has.",
            "^[A-Za-z0-9_-]*$",
        )
        .streams_of::<WindowEvent>(
            "What happens, as it happens.",
            "WindowStreamEvent",
            "The cursor after this event; absent where it stays.",
            STREAM,
        )
        .refuses([Code::NotFound])
}
