//! What goes into a process and what comes out of it.

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use tokio::sync::{mpsc, oneshot};

use super::records::Outcome;

/// An invocation on its way to a process.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) id: String,
    pub(super) payload: Bytes,
    /// `Lambda-Runtime-Deadline-Ms`: milliseconds since 1970.
    pub(super) deadline_ms: u128,
    pub(super) reply: ReplyTo,
    /// Told when the answer is complete, where the process's next request for work does not say so.
    pub(super) ended: Option<oneshot::Sender<Outcome>>,
}

/// Where the one reply to an invocation goes.
#[derive(Debug)]
pub(super) struct ReplyTo(oneshot::Sender<Reply>);

impl ReplyTo {
    pub(super) fn new() -> (Self, oneshot::Receiver<Reply>) {
        let (sender, receiver) = oneshot::channel();
        (Self(sender), receiver)
    }

    /// A caller that has left is none of the function's business.
    pub(super) fn send(self, reply: Reply) {
        drop(self.0.send(reply));
    }
}

/// The first thing that a caller hears.
#[derive(Debug)]
pub(super) enum Reply {
    /// A response has begun.
    Response {
        content_type: Option<String>,
        body: Chunks,
    },
    Fault(Fault),
}

/// A response's body as it arrives.
#[derive(Debug)]
pub(super) struct Chunks(mpsc::Receiver<Chunk>);

/// The other end of [`Chunks`]: dropped without [`ChunkSender::end`], it cuts the body off.
#[derive(Debug)]
pub(super) struct ChunkSender(mpsc::Sender<Chunk>);

#[derive(Debug)]
enum Chunk {
    Data(Bytes),
    End,
}

impl Chunks {
    pub(super) fn new() -> (ChunkSender, Self) {
        let (sender, receiver) = mpsc::channel(64);
        (ChunkSender(sender), Self(receiver))
    }

    /// `None` at the end; an error, once, when the process was gone before the end.
    pub(super) async fn next(&mut self) -> Option<Result<Bytes, Cut>> {
        match self.0.recv().await {
            Some(Chunk::Data(bytes)) => Some(Ok(bytes)),
            Some(Chunk::End) => {
                self.0.close();
                None
            }
            None => Some(Err(Cut)),
        }
    }

    /// The whole body.
    pub(super) async fn collect(mut self) -> Result<Bytes, Cut> {
        let mut whole = Vec::new();
        while let Some(chunk) = self.next().await {
            whole.extend_from_slice(&chunk?);
        }
        Ok(whole.into())
    }
}

impl ChunkSender {
    /// A client that has left does not stop the function: Lambda does not tell it either.
    pub(super) async fn send(&self, bytes: Bytes) {
        drop(self.0.send(Chunk::Data(bytes)).await);
    }

    pub(super) async fn end(self) {
        drop(self.0.send(Chunk::End).await);
    }
}

/// The process ended or was killed in the middle of its response.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cut;

impl std::fmt::Display for Cut {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the function's response was cut off")
    }
}

impl std::error::Error for Cut {}

/// A function error in Lambda's JSON.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Fault {
    pub(super) error_type: String,
    pub(super) error_message: String,
}

impl Fault {
    pub(super) fn new(error_type: &str, error_message: impl Into<String>) -> Self {
        Self { error_type: error_type.to_owned(), error_message: error_message.into() }
    }

    /// From the body of a report, which custom runtimes may write as they like.
    pub(super) fn from_report(body: &[u8]) -> Self {
        serde_json::from_slice(body)
            .unwrap_or_else(|_| Self::new("Runtime.Unknown", String::from_utf8_lossy(body).into_owned()))
    }

    pub(super) fn to_json(&self) -> String {
        serde_json::json!({"errorType": self.error_type, "errorMessage": self.error_message}).to_string()
    }
}
