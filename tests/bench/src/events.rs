//! Server-sent events with the moment at which each arrived, and the times that a provider wrote into them.

use std::time::Instant;

use reqwest::{RequestBuilder, Response};
use serde_json::Value;

/// A response under way.
pub(crate) struct Events {
    response: Response,
    buffer: Vec<u8>,
    /// Where the next event begins in the buffer.
    next: usize,
    arrived: Instant,
}

/// The data of an event, and when its last byte arrived.
pub(crate) struct Event {
    pub(crate) data: String,
    pub(crate) at: Instant,
}

impl Events {
    /// Sends a request that must be answered by a stream.
    pub(crate) async fn open(request: RequestBuilder) -> Self {
        let response = request.send().await.unwrap();
        let status = response.status();
        assert!(status.is_success(), "{status} {}", response.text().await.unwrap());
        Events { response, buffer: Vec::new(), next: 0, arrived: Instant::now() }
    }

    pub(crate) fn header(&self, name: &str) -> String {
        self.response.headers()[name].to_str().unwrap().to_owned()
    }

    /// The next event that has data; `None` at the end of the body.
    pub(crate) async fn next(&mut self) -> Option<Event> {
        loop {
            let rest = &self.buffer[self.next..];
            if let Some(length) = rest.windows(2).position(|two| two == b"\n\n") {
                let block = std::str::from_utf8(&rest[..length]).unwrap();
                let data = block.lines().find_map(|line| line.strip_prefix("data: ")).map(str::to_owned);
                self.next += length + 2;
                match data {
                    Some(data) => return Some(Event { data, at: self.arrived }),
                    None => continue,
                }
            }
            self.buffer.drain(..self.next);
            self.next = 0;
            let bytes = self.response.chunk().await.unwrap()?;
            self.arrived = Instant::now();
            self.buffer.extend_from_slice(&bytes);
        }
    }

    /// The next event that holds text of the answer.
    pub(crate) async fn next_text(&mut self) -> Option<(String, Instant)> {
        while let Some(event) = self.next().await {
            if let Some(text) = text(&event.data) {
                return Some((text, event.at));
            }
        }
        None
    }

    /// How long each piece of text was on its way, in milliseconds: the provider wrote when it sent it, counted from
    /// `epoch`.
    pub(crate) async fn latencies(mut self, epoch: Instant) -> Vec<f64> {
        let mut latencies = Vec::new();
        while let Some((text, at)) = self.next_text().await {
            latencies.extend(stamps(&text).map(|sent| millis(at, epoch) - sent));
        }
        latencies
    }

    /// Reads to the end.
    pub(crate) async fn rest(mut self) {
        while self.next().await.is_some() {}
    }
}

/// The times in a text, in milliseconds. What else the model says is no time.
pub(crate) fn stamps(text: &str) -> impl Iterator<Item = f64> {
    text.split_whitespace().filter_map(|stamp| Some(stamp.parse::<u64>().ok()? as f64 / 1000.0))
}

/// Milliseconds from one moment to another.
pub(crate) fn millis(at: Instant, epoch: Instant) -> f64 {
    at.saturating_duration_since(epoch).as_secs_f64() * 1000.0
}

/// The text of a chunk, or of an event of the provider.
fn text(data: &str) -> Option<String> {
    if !data.contains("delta") {
        return None;
    }
    let value: Value = serde_json::from_str(data).ok()?;
    match value["type"].as_str()? {
        "text-delta" => value["delta"].as_str().map(str::to_owned),
        "content_block_delta" => value["delta"]["text"].as_str().map(str::to_owned),
        _ => None,
    }
}
