//! The chunks of a run as a client received them.

use serde_json::{Value, json};
use tandem_protocol::{Chunk, Transcript};

use crate::{End, Event, Stream};

/// Chunks without holes and without doubles, from some position on; each as the bytes that arrived.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Log {
    first: u64,
    chunks: Vec<String>,
}

impl Log {
    pub fn from(first: u64) -> Self {
        Log { first, chunks: Vec::new() }
    }

    pub fn len(&self) -> usize {
        self.chunks.len()
    }

    pub fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    /// The number of the next chunk.
    pub fn next(&self) -> u64 {
        self.first + self.chunks.len() as u64
    }

    /// The cursor to come back with.
    pub fn after(&self) -> Option<u64> {
        self.next().checked_sub(1)
    }

    /// The chunks, as received.
    pub fn chunks(&self) -> &[String] {
        &self.chunks
    }

    /// What follows chunk `after`.
    pub fn after_chunk(&self, after: u64) -> Log {
        let skipped = usize::try_from(after + 1 - self.first).unwrap();
        Log { first: after + 1, chunks: self.chunks[skipped..].to_vec() }
    }

    /// The chunks so far up to and without chunk `next`.
    pub fn begins_with(&self, other: &Log) -> bool {
        self.first == other.first && self.chunks.starts_with(&other.chunks)
    }

    /// Adds the chunk that must come next.
    pub fn add(&mut self, event: Event) {
        assert_eq!(event.id, Some(self.next().to_string()), "each chunk once and in order: {event:?}");
        self.chunks.push(event.data);
    }

    /// Adds an event of the JSON form.
    pub fn add_json(&mut self, event: &Value) {
        let data = event["chunk"].to_string();
        self.add(Event { id: Some(event["seq"].to_string()), data });
    }

    /// Reads until there are `count` chunks, or the stream ends.
    pub async fn read(&mut self, stream: &mut Stream, count: usize) {
        while self.len() < count
            && let Some(event) = stream.next().await
        {
            self.add(event);
        }
    }

    /// Reads to the end of the stream.
    pub async fn read_all(&mut self, stream: &mut Stream) -> End {
        self.read(stream, usize::MAX).await;
        stream.ended()
    }

    pub fn values(&self) -> impl Iterator<Item = Value> {
        self.chunks.iter().map(|chunk| serde_json::from_str(chunk).unwrap())
    }

    /// The types of the chunks; of deltas in a row only the first, since how they are merged is a matter of time.
    pub fn types(&self) -> Vec<String> {
        let mut types: Vec<String> = self.values().map(|chunk| chunk["type"].as_str().unwrap().to_owned()).collect();
        types.dedup_by(|next, before| next == before && before.ends_with("-delta"));
        types
    }

    /// Chunks of one type.
    pub fn of_type(&self, kind: &str) -> Vec<Value> {
        self.values().filter(|chunk| chunk["type"] == kind).collect()
    }

    /// Who held the run: `1 background claimed`.
    pub fn attempts(&self) -> Vec<String> {
        let told = |chunk: Value| {
            let data = &chunk["data"];
            format!("{} {} {}", data["attempt"], data["holder"].as_str().unwrap(), data["reason"].as_str().unwrap())
        };
        self.of_type("data-attempt").into_iter().map(told).collect()
    }

    /// The message as a stock client shows it.
    pub fn parts(&self) -> Vec<Value> {
        let chunks: Vec<Chunk> = self.values().map(|chunk| serde_json::from_value(chunk).unwrap()).collect();
        Transcript::fold(&chunks).ui_parts()
    }

    /// The text that a client shows.
    pub fn text(&self) -> String {
        let parts = self.parts();
        let texts = parts.iter().filter(|part| part["type"] == "text").filter_map(|part| part["text"].as_str());
        texts.collect::<Vec<_>>().join("\n")
    }

    /// The numbered words of `@say`; each must be there once and in order.
    pub fn says_each_word_once(&self, count: usize) {
        let text = self.text();
        let said: Vec<&str> = text.split_whitespace().filter(|word| word.starts_with('w')).collect();
        let want: Vec<String> = (1..=count).map(|n| format!("w{n}")).collect();
        assert_eq!(said, want);
    }

    /// The last chunk must be a `finish` that tells `attempts`.
    pub fn finished(&self, attempts: u32) {
        let last = self.values().last().unwrap_or_default();
        let told = json!([last["type"], last["finishReason"], last["messageMetadata"]["attempts"]]);
        assert_eq!(told, json!(["finish", "stop", attempts]), "{last}");
    }
}
