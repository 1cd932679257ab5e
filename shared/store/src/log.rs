//! The append-only log of a run: frames of chunks, put only where nothing stands.
//!
//! A frame holds chunks [first, first + n) as one JSON text per line. Position is the fence: two writers can
//! never both write position N, and every next position is derived from the frame before, so frames neither
//! overlap nor leave holes.

use std::sync::Arc;

use tandem_protocol::{Chunk, RunId, Seq, Transcript};

use crate::items::{Item, key_item, n, number, s, text};
use crate::write::{Condition, Written};
use crate::{Store, StoreError, keys};

/// Longest chunk, in bytes of JSON.
pub const MAX_CHUNK_BYTES: usize = 200 * 1024;
/// Longest frame, in bytes of JSON.
pub const MAX_FRAME_BYTES: usize = 256 * 1024;

/// The last position that a sort key can hold.
const LAST: Seq = 999_999_999_999;

/// Chunks that were stored together. Cheap to clone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    pub first: Seq,
    /// Number of chunks, at least 1.
    pub count: u64,
    pub attempt: u32,
    body: Arc<str>,
}

/// One chunk as it was stored: its JSON is what clients receive, byte for byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoredChunk<'a> {
    pub seq: Seq,
    pub json: &'a str,
}

impl Frame {
    /// The position after this frame.
    pub fn next(&self) -> Seq {
        self.first + self.count
    }

    pub fn chunks(&self) -> impl Iterator<Item = StoredChunk<'_>> {
        (self.first..).zip(self.body.split('\n')).map(|(seq, json)| StoredChunk { seq, json })
    }

    /// Chunks at `from` and later.
    pub fn chunks_from(&self, from: Seq) -> impl Iterator<Item = StoredChunk<'_>> {
        self.chunks().skip(usize::try_from(from.saturating_sub(self.first)).unwrap_or(usize::MAX))
    }

    pub fn parsed(&self) -> Result<Vec<Chunk>, StoreError> {
        let parse = |chunk: StoredChunk<'_>| {
            serde_json::from_str(chunk.json).map_err(|e| StoreError::corrupt(format!("chunk {}", chunk.seq), e))
        };
        self.chunks().map(parse).collect()
    }

    /// Whether the log ends here: a terminal chunk is always the last one of its frame.
    pub fn is_terminal(&self) -> bool {
        // The tag comes first, as serde writes it: no need to parse every frame.
        let last = self.body.rsplit('\n').next().unwrap_or_default();
        let kind = last.strip_prefix(r#"{"type":""#).and_then(|rest| rest.split('"').next());
        matches!(kind, Some("finish" | "abort" | "error"))
    }

    pub fn bytes(&self) -> usize {
        self.body.len()
    }

    fn read(item: &Item) -> Result<Self, StoreError> {
        let corrupt = || StoreError::corrupt(format!("{} {}", text(item, "pk"), text(item, "sk")), "not a frame");
        Ok(Frame {
            first: text(item, "sk").strip_prefix("LOG#").and_then(|first| first.parse().ok()).ok_or_else(corrupt)?,
            count: number(item, "n").ok_or_else(corrupt)?,
            attempt: number(item, "attempt").ok_or_else(corrupt)?,
            body: text(item, "body").into(),
        })
    }
}

/// A frame that is to be written, once: the `writer` tells a retry from a rival.
#[derive(Debug, Clone)]
pub struct Append {
    frame: Frame,
    writer: String,
}

impl Append {
    /// `chunks` must not be empty.
    pub fn new(first: Seq, attempt: u32, chunks: &[Chunk]) -> Result<Self, StoreError> {
        let lines: Result<Vec<String>, _> = chunks.iter().map(serde_json::to_string).collect();
        let body = lines.map_err(|e| StoreError::corrupt("a chunk", e))?.join("\n");
        Ok(Self::from_lines(first, attempt, chunks.len() as u64, body))
    }

    /// `body` holds `count` chunks as JSON, one a line.
    pub(crate) fn from_lines(first: Seq, attempt: u32, count: u64, body: String) -> Self {
        Append { frame: Frame { first, count, attempt, body: body.into() }, writer: crate::new_id() }
    }

    pub fn frame(&self) -> Frame {
        self.frame.clone()
    }

    /// `expires_at`: when the item may go, in seconds since 1970. Readers judge by the run's alone.
    pub(crate) fn item(&self, run: &RunId, expires_at: i64) -> Item {
        let mut item = key_item(&keys::frame(run, self.frame.first));
        item.insert("expires_at".into(), n(expires_at));
        item.insert("n".into(), n(self.frame.count));
        item.insert("attempt".into(), n(self.frame.attempt));
        item.insert("writer".into(), s(&self.writer));
        item.insert("body".into(), s(&*self.frame.body));
        item
    }
}

/// A page of a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogPage {
    pub frames: Vec<Frame>,
    /// The page was full: there may be more.
    pub more: bool,
}

/// The end of a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tail {
    /// The last frame; none: the log is empty.
    pub frame: Option<Frame>,
    /// Where the next frame goes.
    pub next: Seq,
}

impl Store {
    /// Puts a frame if its position is empty. `false`: another writer stands there, and this one must stop.
    pub async fn append(&self, run: &RunId, append: &Append) -> Result<bool, StoreError> {
        let stored = match self.put(append.item(run, self.expiry()), Condition::absent()).await? {
            Written::Stored => true,
            Written::Refused(found) => found.is_some_and(|item| text(&item, "writer") == append.writer),
        };
        if stored {
            self.feeds().publish(run, append.frame());
        }
        Ok(stored)
    }

    /// Reads the end of the log, consistently.
    pub async fn tail(&self, run: &RunId) -> Result<Tail, StoreError> {
        let frame = self.last_frame_at(run, Seq::MAX, true).await?;
        let next = frame.as_ref().map_or(0, Frame::next);
        Ok(Tail { frame, next })
    }

    /// The frame that holds `seq`, or the last one before it.
    pub async fn frame_at(&self, run: &RunId, seq: Seq, consistent: bool) -> Result<Option<Frame>, StoreError> {
        self.last_frame_at(run, seq, consistent).await
    }

    /// One page of frames that begin at `first` or later, in order; at most 1 MB. `consistent` costs twice and
    /// never shows a hole.
    pub async fn frames(&self, run: &RunId, first: Seq, consistent: bool) -> Result<LogPage, StoreError> {
        self.some_frames(run, first, consistent, None).await
    }

    /// The same, and at most so many.
    pub async fn some_frames(
        &self,
        run: &RunId,
        first: Seq,
        consistent: bool,
        limit: Option<i32>,
    ) -> Result<LogPage, StoreError> {
        let query = self.log_query(run, first, LAST).consistent_read(consistent).set_limit(limit);
        let page = query.send().await?;
        let more = page.last_evaluated_key.is_some();
        let frames: Result<Vec<Frame>, _> = page.items.unwrap_or_default().iter().map(Frame::read).collect();
        Ok(LogPage { frames: frames?, more })
    }

    /// Every frame from `first` on, which must be where a frame begins, consistently.
    pub async fn log_from(&self, run: &RunId, first: Seq) -> Result<Vec<Frame>, StoreError> {
        let mut log: Vec<Frame> = Vec::new();
        loop {
            let next = log.last().map_or(first, Frame::next);
            let page = self.frames(run, next, true).await?;
            log.extend(page.frames);
            if !page.more {
                return Ok(log);
            }
        }
    }

    /// What a whole log says, consistently, and where the next frame goes.
    pub async fn transcript(&self, run: &RunId) -> Result<(Transcript, Seq), StoreError> {
        let log = self.log_from(run, 0).await?;
        let mut transcript = Transcript::default();
        for frame in &log {
            frame.parsed()?.iter().for_each(|chunk| transcript.apply(chunk));
        }
        Ok((transcript, log.last().map_or(0, Frame::next)))
    }

    async fn last_frame_at(&self, run: &RunId, seq: Seq, consistent: bool) -> Result<Option<Frame>, StoreError> {
        let page = self
            .log_query(run, 0, seq.min(LAST))
            .scan_index_forward(false)
            .limit(1)
            .consistent_read(consistent)
            .send()
            .await?;
        page.items.unwrap_or_default().first().map(Frame::read).transpose()
    }

    fn log_query(
        &self,
        run: &RunId,
        from: Seq,
        to: Seq,
    ) -> aws_sdk_dynamodb::operation::query::builders::QueryFluentBuilder {
        self.between(keys::run_partition(run), keys::frame_sort(from), keys::frame_sort(to))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_gives_its_chunks_with_their_numbers() {
        let chunks = [Chunk::StartStep, Chunk::TextDelta { id: "t".into(), delta: "a\nb\r".into() }, Chunk::FinishStep];
        let frame = Append::new(7, 1, &chunks).unwrap().frame();
        assert_eq!(frame.parsed().unwrap(), chunks);
        assert_eq!(frame.next(), 10);
        let tail: Vec<_> = frame.chunks_from(9).collect();
        assert_eq!(tail, [StoredChunk { seq: 9, json: r#"{"type":"finish-step"}"# }]);
        assert_eq!(frame.chunks_from(0).count(), 3);
    }

    #[test]
    fn a_frame_is_terminal_when_its_last_chunk_is() {
        let finish = Chunk::Finish { finish_reason: tandem_protocol::FinishReason::Stop, message_metadata: None };
        let chunks = [
            Chunk::StartStep,
            Chunk::FinishStep,
            Chunk::calls(Vec::new()),
            Chunk::Abort { reason: None },
            Chunk::Error { error_text: "x".into() },
            finish,
        ];
        for chunk in chunks {
            let frame = Append::new(0, 1, &[Chunk::StartStep, chunk.clone()]).unwrap().frame();
            assert_eq!(frame.is_terminal(), chunk.is_terminal(), "{chunk:?}");
        }
    }
}
