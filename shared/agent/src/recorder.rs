//! The recorder: what goes into the log goes into the transcript too, so that the log is never read back.

use tandem_protocol::{Chunk, RunId, ToolCallId, Transcript};
use tandem_store::{AppendError, LogWriter};

/// Writes chunks of one attempt and names its parts.
pub(crate) struct Recorder<'a> {
    log: &'a LogWriter,
    pub(crate) transcript: Transcript,
    run: RunId,
    attempt: u32,
    parts: u32,
    calls: u32,
}

impl<'a> Recorder<'a> {
    pub(crate) fn new(log: &'a LogWriter, transcript: Transcript, run: RunId, attempt: u32) -> Self {
        Recorder { log, transcript, run, attempt, parts: 0, calls: 0 }
    }

    /// Stored soon, in order.
    pub(crate) async fn push(&mut self, chunk: Chunk) -> Result<(), AppendError> {
        self.transcript.apply(&chunk);
        self.log.push(chunk).await
    }

    /// The same for chunks that belong together: they begin to be stored at once.
    pub(crate) async fn push_all(&mut self, chunks: Vec<Chunk>) -> Result<(), AppendError> {
        chunks.iter().for_each(|chunk| self.transcript.apply(chunk));
        self.log.push_all(chunks).await
    }

    /// Stored, with everything before it, when this returns.
    pub(crate) async fn commit(&mut self, chunks: impl IntoIterator<Item = Chunk>) -> Result<(), AppendError> {
        let chunks: Vec<_> = chunks.into_iter().collect();
        if !chunks.is_empty() {
            self.push_all(chunks).await?;
        }
        self.log.flush().await.map(drop)
    }

    /// An id for a text or reasoning part: unique in the run, as attempts never repeat.
    pub(crate) fn part_id(&mut self) -> String {
        self.parts += 1;
        format!("{}.{}", self.attempt, self.parts)
    }

    /// An id for a call: unique in the run and, for the providers' sake, in any conversation; at most 40
    /// characters of `[A-Za-z0-9_-]`. What the provider called it does not matter: providers repeat ids.
    pub(crate) fn call_id(&mut self) -> Option<ToolCallId> {
        self.calls += 1;
        let run = self.run.as_str();
        let tail = &run[run.len().saturating_sub(16)..];
        ToolCallId::new(format!("call_{tail}_{}_{}", self.attempt, self.calls)).ok()
    }
}
