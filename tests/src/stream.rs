//! Server-sent events, read byte for byte and as strictly as they are written.

use std::time::Duration;

use reqwest::header::HeaderMap;
use reqwest::{RequestBuilder, Response};
use tokio::time::{Instant, sleep, timeout};

use crate::PATIENCE;

/// One event: its number or cursor, and its data as received.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    pub id: Option<String>,
    pub data: String,
}

/// How a stream ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// `[DONE]`, and nothing after it.
    Done,
    /// The body ended without it: come back with the cursor.
    Window,
    /// The connection broke, as the server died.
    Cut,
}

/// A response under way.
#[derive(Debug)]
pub struct Stream {
    response: Response,
    buffer: Vec<u8>,
    done: bool,
    end: Option<End>,
    /// Comments so far, `stream-open` included.
    pub comments: Vec<String>,
}

impl Stream {
    /// Sends the request, which must be answered by a stream.
    pub async fn open(request: RequestBuilder) -> Self {
        Self::come_back(request).await.expect("a stream, and not that there is nothing more")
    }

    /// Sends the request as a patient client does: again while nobody listens, and after a while where the answer is
    /// to try again, as on a machine that is too busy for its store. `None`: there is nothing more.
    pub async fn come_back(request: RequestBuilder) -> Option<Self> {
        let began = Instant::now();
        loop {
            let sent = request.try_clone().unwrap().send();
            let pause = match timeout(PATIENCE, sent).await.expect("an answer in time") {
                Ok(response) if response.status() == 204 => return None,
                Ok(response) if response.status() == 503 => {
                    let seconds = response.headers()["retry-after"].to_str().unwrap();
                    Duration::from_secs(seconds.parse().unwrap())
                }
                Ok(response) => return Some(Self::of(response).await),
                Err(_) => Duration::from_millis(50),
            };
            assert!(began.elapsed() < PATIENCE, "nobody answers {request:?}");
            sleep(pause).await;
        }
    }

    /// A response that must be a stream.
    pub async fn of(response: Response) -> Self {
        let kind = response.headers().get("content-type").map(|kind| kind.to_str().unwrap().to_owned());
        if response.status() != 200 || kind.as_deref() != Some("text/event-stream") {
            panic!("no stream: {} {kind:?} {}", response.status(), response.text().await.unwrap());
        }
        Stream { response, buffer: Vec::new(), done: false, end: None, comments: Vec::new() }
    }

    pub fn headers(&self) -> &HeaderMap {
        self.response.headers()
    }

    pub fn header(&self, name: &str) -> String {
        let value = self.headers().get(name).unwrap_or_else(|| panic!("no header {name}"));
        value.to_str().unwrap().to_owned()
    }

    pub fn run(&self) -> String {
        self.header("x-run-id")
    }

    pub fn thread(&self) -> String {
        self.header("x-thread-id")
    }

    /// The next event, `[DONE]` left out; `None` at the end of the body.
    pub async fn next(&mut self) -> Option<Event> {
        loop {
            if self.end.is_some() {
                return None;
            }
            if let Some(length) = self.buffer.windows(2).position(|two| two == b"\n\n") {
                let block = String::from_utf8(self.buffer.drain(..length + 2).collect()).unwrap();
                match self.parse(block.trim_end_matches('\n')) {
                    Some(event) => return Some(event),
                    None => continue,
                }
            }
            match timeout(PATIENCE, self.response.chunk()).await.expect("bytes, or the end, in time") {
                Ok(Some(bytes)) => self.buffer.extend(bytes),
                Ok(None) => {
                    assert_eq!(String::from_utf8_lossy(&self.buffer), "", "the body ends in the middle of an event");
                    self.end = Some(if self.done { End::Done } else { End::Window });
                }
                Err(_) => self.end = Some(End::Cut),
            }
        }
    }

    /// Everything to the end of the body.
    pub async fn rest(mut self) -> (Vec<Event>, End) {
        let mut events = Vec::new();
        while let Some(event) = self.next().await {
            events.push(event);
        }
        (events, self.ended())
    }

    /// How the stream ended; only after the end.
    pub fn ended(&self) -> End {
        self.end.expect("the stream to be at its end")
    }

    /// Only what the protocol allows, in the order that it has.
    fn parse(&mut self, block: &str) -> Option<Event> {
        assert!(!self.done, "after [DONE]: {block}");
        let lines: Vec<&str> = block.split('\n').collect();
        match lines[..] {
            [": stream-open", "retry: 250"] if self.comments.is_empty() => self.comments.push("stream-open".into()),
            [": keep-alive"] => self.comments.push("keep-alive".into()),
            ["data: [DONE]"] => self.done = true,
            [data] if data.starts_with("data: {") => return Some(Event { id: None, data: data[6..].into() }),
            [id, data] if id.starts_with("id: ") && data.starts_with("data: {") => {
                return Some(Event { id: Some(id[4..].into()), data: data[6..].into() });
            }
            _ => panic!("not an event of the protocol: {block:?}"),
        }
        None
    }
}
