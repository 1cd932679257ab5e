//! A window of somebody's: it follows `GET /events` as EventSource does, back with its cursor whenever it is cut off.

use serde_json::Value;

use crate::{Api, PATIENCE, Stream, within};

/// One follower, with everything that it was told.
#[derive(Debug)]
pub struct Window {
    api: Api,
    query: String,
    cursor: Option<String>,
    stream: Option<Stream>,
    /// Every event, in order.
    pub events: Vec<Value>,
}

impl Window {
    /// Opens the stream, and waits until it says where it begins. `query` as in `thread=T&scope=user`.
    pub async fn open(api: &Api, query: &str) -> Self {
        let mut window =
            Window { api: api.clone(), query: query.to_owned(), cursor: None, stream: None, events: Vec::new() };
        let ready = window.next().await;
        assert_eq!(ready["type"], "ready", "{ready}");
        window
    }

    /// Closes the connection. The next read comes back with the cursor.
    pub fn cut(&mut self) {
        self.stream = None;
    }

    /// The same window at another process.
    pub fn move_to(&mut self, api: &Api) {
        self.api = api.clone();
        self.cut();
    }

    /// The id of the last event that had one.
    pub fn cursor(&self) -> &str {
        self.cursor.as_deref().unwrap_or_default()
    }

    /// The next event.
    pub async fn next(&mut self) -> Value {
        loop {
            let stream = match &mut self.stream {
                Some(stream) => stream,
                None => {
                    let request = self.api.get(&format!("/events?{}", self.query));
                    let request = match &self.cursor {
                        Some(cursor) => request.header("last-event-id", cursor),
                        None => request,
                    };
                    self.stream.insert(Stream::open(request).await)
                }
            };
            match within(PATIENCE, "an event", stream.next()).await {
                Some(event) => {
                    if event.id.is_some() {
                        self.cursor = event.id;
                    }
                    let event: Value = serde_json::from_str(&event.data).unwrap();
                    self.events.push(event.clone());
                    return event;
                }
                None => self.stream = None,
            }
        }
    }

    /// Reads until there is an event that fits; gives it.
    pub async fn until(&mut self, fits: impl Fn(&Value) -> bool) -> Value {
        loop {
            let event = self.next().await;
            if fits(&event) {
                return event;
            }
        }
    }

    /// Reads until the run has ended, with its terminal chunk told.
    pub async fn until_end_of(&mut self, run: &str) {
        let ends = |event: &Value| {
            let kind = event["chunk"]["type"].as_str();
            event["runId"] == run && matches!(kind, Some("finish" | "abort" | "error"))
        };
        self.until(ends).await;
    }

    /// The events of one type, in order.
    pub fn of_type(&self, kind: &str) -> Vec<&Value> {
        self.events.iter().filter(|event| event["type"] == kind).collect()
    }

    /// The numbers of the chunks of a run, as they came.
    pub fn chunks_of(&self, run: &str) -> Vec<u64> {
        let chunks = self.events.iter().filter(|event| event["type"] == "chunk" && event["runId"] == run);
        chunks.map(|event| event["seq"].as_u64().unwrap()).collect()
    }

    /// Positions of a scope's changes, as they came.
    pub fn revs_of(&self, scope: &str) -> Vec<u64> {
        let changes = self.events.iter().filter(|event| event["type"] == "state" && event["scope"] == scope);
        changes.map(|event| event["rev"].as_u64().unwrap()).collect()
    }

    /// Who is in a scope, as it was told last: `user client activity`, the agent as `agent`.
    pub fn present_in(&self, scope: &str) -> Vec<String> {
        let told = self.events.iter().rev().find(|event| event["type"] == "presence" && event["scope"] == scope);
        let present = told.and_then(|event| event["present"].as_array()).into_iter().flatten();
        let name = |one: &Value| match one["agent"] == true {
            true => "agent".to_owned(),
            false => {
                format!("{} {} {}", one["user"].as_str().unwrap(), one["client"].as_str().unwrap(), one["activity"])
            }
        };
        present.map(name).collect()
    }
}
