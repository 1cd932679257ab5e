//! The events of a window as server-sent events: `type` says what each is, and `id` is the cursor after it.

use std::ops::Range;

use bytes::{BufMut, Bytes, BytesMut};
use serde::Serialize;
use serde_json::{Value, json};
use tandem_protocol::{Run, RunId, Seq, ThreadId};
use tandem_runs::Position;
use tandem_store::{Frame, Message, MessageBody, Present, Scope, StateFrame, StoreError, Thread};

use super::cursor::Cursor;
use crate::view::{RunView, ThreadView, user_message};

/// Events that were gathered.
pub(super) struct Events(BytesMut);

impl Events {
    pub(super) fn new(bytes: BytesMut) -> Self {
        Events(bytes)
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn finish(self) -> Bytes {
        self.0.freeze()
    }

    /// An event that leaves the cursor where it is.
    pub(super) fn plain(&mut self, event: &impl Serialize) {
        let json = serde_json::to_string(event).unwrap_or_default();
        self.put(None, &json);
    }

    pub(super) fn numbered(&mut self, event: &impl Serialize, cursor: &Cursor) {
        let json = serde_json::to_string(event).unwrap_or_default();
        self.put(Some(cursor), &json);
    }

    fn put(&mut self, cursor: Option<&Cursor>, json: &str) {
        if let Some(cursor) = cursor {
            self.0.put_slice(format!("id: {}\n", cursor.write()).as_bytes());
        }
        self.0.put_slice(b"data: ");
        self.0.put_slice(json.as_bytes());
        self.0.put_slice(b"\n\n");
    }

    pub(super) fn record(&mut self, thread: Thread, cursor: &Cursor) {
        self.numbered(&json!({"type": "thread", "thread": ThreadView::from(thread)}), cursor);
    }

    pub(super) fn said(&mut self, thread: &ThreadId, message: &Message, cursor: &Cursor) {
        if let MessageBody::User { text } = &message.body {
            let said = user_message(message, text);
            self.numbered(&json!({"type": "message", "threadId": thread, "n": message.n, "message": said}), cursor);
        }
    }

    pub(super) fn run(&mut self, thread: &ThreadId, n: u64, run: &Run, cursor: &Cursor) {
        self.numbered(&json!({"type": "run", "threadId": thread, "n": n, "run": RunView::from(run.clone())}), cursor);
    }

    /// These chunks of a frame, byte for byte as they are stored.
    pub(super) fn chunks(
        &mut self,
        thread: &ThreadId,
        run: &RunId,
        frame: &Frame,
        which: Range<Seq>,
        cursor: &mut Cursor,
    ) {
        for chunk in frame.chunks_from(which.start).take_while(|chunk| chunk.seq < which.end) {
            if let Some((_, Position { chunk: position, .. })) = &mut cursor.thread {
                *position = Some((run.clone(), chunk.seq + 1));
            }
            let json = format!(
                r#"{{"type":"chunk","threadId":"{thread}","runId":"{run}","seq":{},"chunk":{}}}"#,
                chunk.seq, chunk.json
            );
            self.put(Some(cursor), &json);
        }
    }

    /// The changes of one commit. Only the last one moves the cursor: who is cut off before it gets the commit again.
    pub(super) fn changes(&mut self, scope: &Scope, frame: &StateFrame, cursor: &Cursor) -> Result<(), StoreError> {
        let changes = frame.json()?;
        let last = changes.len().saturating_sub(1);
        for (at, change) in changes.iter().enumerate() {
            let rest = change.get().trim_start().strip_prefix('{').unwrap_or("}");
            let json = format!(r#"{{"type":"state","scope":"{scope}",{rest}"#);
            self.put((at == last).then_some(cursor), &json);
        }
        Ok(())
    }

    /// Everybody who is here, the agent among them while it works.
    pub(super) fn presence(&mut self, scope: &Scope, people: &[Present], agent: Option<&RunId>) {
        let people = people.iter().map(|one| serde_json::to_value(one).unwrap_or_default());
        let agent = agent.map(|run| json!({"agent": true, "client": "agent", "runId": run, "activity": "working"}));
        let present: Vec<Value> = people.chain(agent).collect();
        self.plain(&json!({"type": "presence", "scope": scope, "present": present}));
    }
}
