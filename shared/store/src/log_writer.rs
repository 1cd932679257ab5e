//! Group commit: turns a stream of chunks into few frames without holding anything back for long.
//!
//! The first chunk after a silence is written at once. While a write is under way, or the flush interval has
//! not passed since the last one began, adjacent deltas of one part are merged into one chunk.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tandem_protocol::{Chunk, RunId, Seq};
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use crate::log::{Append, MAX_CHUNK_BYTES, MAX_FRAME_BYTES};
use crate::{Store, StoreError};

/// Chunks that may wait for the writer before a producer is held back.
const QUEUE: usize = 1024;

/// Why nothing more can be appended; the holder stops and begins nothing new.
#[derive(Debug, Clone, thiserror::Error)]
pub enum AppendError {
    /// Another holder took the log.
    #[error("another holder took the log")]
    Displaced,
    /// The store does not take the frame, also after retries.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// One chunk is longer than a log may hold.
    #[error("a chunk of {0} bytes is longer than a log may hold")]
    TooLarge(usize),
    /// The writer has ended.
    #[error("the log writer has ended")]
    Closed,
}

/// Appends the chunks of one attempt. One append is in flight at a time.
#[derive(Debug)]
pub struct LogWriter {
    commands: mpsc::Sender<Command>,
    task: tokio::task::JoinHandle<()>,
    /// Why the writer ended before it was closed.
    failure: Arc<OnceLock<AppendError>>,
}

enum Command {
    Chunk(Chunk),
    /// Chunks that belong together.
    Chunks(Vec<Chunk>),
    /// Answers when everything before it is stored, with the next position.
    Flush(oneshot::Sender<Result<Seq, AppendError>>),
    /// Answers with what is not stored yet, where that is little.
    Leave(oneshot::Sender<Result<Rest, AppendError>>),
}

/// What a holder has said and not stored, and where it goes.
#[derive(Debug, Clone, PartialEq)]
pub struct Rest {
    pub next: Seq,
    pub chunks: Vec<Chunk>,
}

/// Longest rest, in bytes of JSON: it is written with the end of the run, in a transaction.
const MAX_REST: usize = 16 * 1024;

impl LogWriter {
    /// `next` is where the holder's next frame goes: it has just taken the log there.
    pub fn start(store: Store, run: RunId, attempt: u32, next: Seq, interval: Duration) -> Self {
        let (commands, queue) = mpsc::channel(QUEUE);
        let failure = Arc::new(OnceLock::new());
        let writer = Writer {
            store,
            run,
            attempt,
            next,
            interval,
            batch: Batch::default(),
            last: None,
            failure: Arc::clone(&failure),
        };
        LogWriter { commands, task: tokio::spawn(writer.run(queue)), failure }
    }

    /// Hands a chunk over. It is stored soon, in order; a failure shows at a later push or flush.
    pub async fn push(&self, chunk: Chunk) -> Result<(), AppendError> {
        self.commands.send(Command::Chunk(chunk)).await.map_err(|_| self.ended())
    }

    /// The same for chunks that belong together: the writer does not begin with one of them while it lacks the others.
    pub async fn push_all(&self, chunks: Vec<Chunk>) -> Result<(), AppendError> {
        self.commands.send(Command::Chunks(chunks)).await.map_err(|_| self.ended())
    }

    /// Waits until everything pushed is stored. Gives the next position.
    pub async fn flush(&self) -> Result<Seq, AppendError> {
        let (answer, stored) = oneshot::channel();
        self.commands.send(Command::Flush(answer)).await.map_err(|_| self.ended())?;
        stored.await.unwrap_or_else(|_| Err(self.ended()))
    }

    /// Gives back what is not stored yet, so that it can be stored with the end of the run; stores it where it is long.
    pub async fn leave(&self) -> Result<Rest, AppendError> {
        let (answer, rest) = oneshot::channel();
        self.commands.send(Command::Leave(answer)).await.map_err(|_| self.ended())?;
        rest.await.unwrap_or_else(|_| Err(self.ended()))
    }

    fn ended(&self) -> AppendError {
        self.failure.get().cloned().unwrap_or(AppendError::Closed)
    }

    /// Pushes chunks that must be stored before anything else happens.
    pub async fn commit(&self, chunks: impl IntoIterator<Item = Chunk>) -> Result<Seq, AppendError> {
        self.push_all(chunks.into_iter().collect()).await?;
        self.flush().await
    }

    /// Stops and joins the task; what was not flushed may be lost.
    pub async fn close(mut self) {
        // The task ends when nobody can send any more.
        let (closed, _) = mpsc::channel(1);
        self.commands = closed;
        let _ = (&mut self.task).await;
    }
}

impl Drop for LogWriter {
    /// A holder that is displaced begins no further write. One under way fails at its position.
    fn drop(&mut self) {
        self.task.abort();
    }
}

struct Writer {
    store: Store,
    run: RunId,
    attempt: u32,
    next: Seq,
    interval: Duration,
    batch: Batch,
    /// When the last write began.
    last: Option<Instant>,
    failure: Arc<OnceLock<AppendError>>,
}

impl Writer {
    async fn run(mut self, mut queue: mpsc::Receiver<Command>) {
        let mut waiting = Waiting::default();
        while let Some(command) = queue.recv().await {
            self.take(command, &mut waiting);
            let due = self.last.map_or_else(Instant::now, |last| last + self.interval);
            self.gather(&mut queue, &mut waiting, due).await;
            let rest = if waiting.leaves.is_empty() { Vec::new() } else { self.batch.short_rest() };
            let written = self.write().await;
            // The one who asked may be gone.
            for flush in waiting.flushes.drain(..) {
                let _ = flush.send(written.clone().map(|()| self.next));
            }
            for leave in waiting.leaves.drain(..) {
                let _ = leave.send(written.clone().map(|()| Rest { next: self.next, chunks: rest.clone() }));
            }
            if let Err(error) = written {
                // Nothing can follow what is missing: the next push learns why.
                let _ = self.failure.set(error);
                return;
            }
        }
    }

    /// Collects what arrives until the write is due, the frame is full or somebody waits for it.
    async fn gather(&mut self, queue: &mut mpsc::Receiver<Command>, waiting: &mut Waiting, due: Instant) {
        loop {
            while self.batch.bytes < MAX_FRAME_BYTES / 2 {
                match queue.try_recv() {
                    Ok(command) => self.take(command, waiting),
                    Err(_) => break,
                }
            }
            if !waiting.is_empty() || self.batch.bytes >= MAX_FRAME_BYTES / 2 {
                return;
            }
            match tokio::time::timeout_at(due, queue.recv()).await {
                Ok(Some(command)) => self.take(command, waiting),
                Ok(None) | Err(_) => return,
            }
        }
    }

    fn take(&mut self, command: Command, waiting: &mut Waiting) {
        match command {
            Command::Chunk(chunk) => self.batch.push(chunk),
            Command::Chunks(chunks) => chunks.into_iter().for_each(|chunk| self.batch.push(chunk)),
            Command::Flush(answer) => waiting.flushes.push(answer),
            Command::Leave(answer) => waiting.leaves.push(answer),
        }
    }

    async fn write(&mut self) -> Result<(), AppendError> {
        while let Some((count, body)) = self.batch.frame()? {
            let append = Append::from_lines(self.next, self.attempt, count, body);
            self.last = Some(Instant::now());
            if !self.store.append(&self.run, &append).await? {
                return Err(AppendError::Displaced);
            }
            self.next += count;
        }
        Ok(())
    }
}

/// Who waits for the writer.
#[derive(Default)]
struct Waiting {
    flushes: Vec<oneshot::Sender<Result<Seq, AppendError>>>,
    leaves: Vec<oneshot::Sender<Result<Rest, AppendError>>>,
}

impl Waiting {
    fn is_empty(&self) -> bool {
        self.flushes.is_empty() && self.leaves.is_empty()
    }
}

/// Chunks that wait to be written.
#[derive(Default)]
struct Batch {
    chunks: std::collections::VecDeque<Chunk>,
    /// A low estimate; the frame is measured when it is made.
    bytes: usize,
}

impl Batch {
    fn push(&mut self, chunk: Chunk) {
        self.bytes += estimate(&chunk);
        // A control character takes six bytes of JSON: merged deltas stay short enough for any text.
        let short = |chunk: &Chunk| estimate(chunk) < MAX_CHUNK_BYTES / 16;
        let fits = short(&chunk);
        let chunk = match self.chunks.back_mut() {
            Some(last) if fits && short(last) => match last.merge(chunk) {
                None => return,
                Some(chunk) => chunk,
            },
            _ => chunk,
        };
        self.chunks.push_back(chunk);
    }

    /// Takes everything, if it is short.
    fn short_rest(&mut self) -> Vec<Chunk> {
        let mut bytes = 0;
        for chunk in &self.chunks {
            bytes += serde_json::to_vec(chunk).map_or(MAX_REST, |json| json.len());
            if bytes >= MAX_REST {
                return Vec::new();
            }
        }
        self.bytes = 0;
        self.chunks.drain(..).collect()
    }

    /// Takes as many chunks as fit into one frame.
    fn frame(&mut self) -> Result<Option<(u64, String)>, AppendError> {
        let mut body = String::new();
        let mut count = 0;
        while let Some(chunk) = self.chunks.front() {
            let line = serde_json::to_string(chunk).map_err(|e| StoreError::corrupt("a chunk", e))?;
            if line.len() > MAX_CHUNK_BYTES {
                return Err(AppendError::TooLarge(line.len()));
            }
            if count > 0 && body.len() + 1 + line.len() > MAX_FRAME_BYTES {
                break;
            }
            if count > 0 {
                body.push('\n');
            }
            body.push_str(&line);
            count += 1;
            self.chunks.pop_front();
        }
        if self.chunks.is_empty() {
            self.bytes = 0;
        }
        Ok((count > 0).then_some((count, body)))
    }
}

fn estimate(chunk: &Chunk) -> usize {
    match chunk {
        Chunk::TextDelta { delta, .. } | Chunk::ReasoningDelta { delta, .. } => delta.len(),
        Chunk::ToolInputDelta { input_text_delta, .. } => input_text_delta.len(),
        _ => 64,
    }
}
