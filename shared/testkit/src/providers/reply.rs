//! What the fake provider answers to one request.

use std::time::Duration;

use bytes::Bytes;
use serde_json::Value;
use tandem_model::Event;

use super::{Problem, Wire};

/// One answer.
#[derive(Debug, Clone)]
pub struct Reply {
    pub(super) content: Content,
    pub(super) ending: Ending,
    pub(super) pace: Duration,
    pub(super) piece: Option<usize>,
}

#[derive(Debug, Clone)]
pub(super) enum Content {
    /// Rendered onto whichever wire asks.
    Events(Vec<Event>),
    /// As they are, so for one wire only.
    Frames(Vec<Bytes>),
    /// An HTTP error.
    Problem(Problem),
    /// Not even the head of a response.
    Nothing,
    /// HTTP as it is: for gateways that answer with something else.
    Other { status: u16, content_type: &'static str, body: String },
    /// To another address, with the method and the body.
    Redirect(String),
}

/// What comes after the events.
#[derive(Debug, Clone, PartialEq)]
pub enum Ending {
    /// Nothing: the events tell the end themselves.
    Proper,
    /// The response ends here, with no end marker of the wire.
    Cut,
    /// The connection breaks.
    Reset,
    /// The connection stays open and silent.
    Silence,
    /// The provider reports a failure in mid-answer.
    Problem(Problem),
}

impl Reply {
    /// The events in their order. Calls may be interleaved; arguments may be in any fragments. A call without
    /// `CallEnd` before `Finish{Length}` is one that the token limit cut.
    /// A `ReasoningEnd` with a string signs the block, or is a redacted block if no text came before it.
    pub fn new(events: impl IntoIterator<Item = Event>) -> Self {
        Self::of(Content::Events(events.into_iter().collect()))
    }

    /// An HTTP error instead of an answer.
    pub fn problem(problem: Problem) -> Self {
        Self::of(Content::Problem(problem))
    }

    /// Frames of one wire, as they are: see [`Reply::frames_of`].
    pub fn frames(frames: impl IntoIterator<Item = impl Into<Bytes>>) -> Self {
        Self::of(Content::Frames(frames.into_iter().map(Into::into).collect()))
    }

    /// What a wire begins with, and these events, to be mixed with frames made by hand.
    pub fn frames_of(wire: Wire, events: &[Event]) -> Vec<Bytes> {
        let mut writer = wire.writer();
        let mut frames = writer.begin();
        frames.extend(events.iter().flat_map(|event| writer.event(event)));
        frames
    }

    /// A frame made by hand: `kind` names the event where the wire names events.
    pub fn frame(wire: Wire, kind: &str, payload: &Value) -> Bytes {
        match wire {
            Wire::Anthropic => super::sse(Some(kind), payload),
            Wire::OpenAi => super::sse(None, payload),
            Wire::Bedrock => super::bedrock::event(kind, payload),
        }
    }

    /// Accepts the request and says nothing, ever.
    pub fn nothing() -> Self {
        Self::of(Content::Nothing)
    }

    /// A response that no provider would give.
    pub fn other(status: u16, content_type: &'static str, body: &str) -> Self {
        Self::of(Content::Other { status, content_type, body: body.to_owned() })
    }

    /// Sends the client elsewhere.
    pub fn redirect(url: impl Into<String>) -> Self {
        Self::of(Content::Redirect(url.into()))
    }

    /// How the answer ends instead of properly.
    pub fn then(self, ending: Ending) -> Self {
        Self { ending, ..self }
    }

    /// A pause before each event; of frames, before each but the first.
    pub fn paced(self, pace: Duration) -> Self {
        Self { pace, ..self }
    }

    /// Sends this many bytes at a time, so that frames and characters are torn apart.
    pub fn in_pieces(self, bytes: usize) -> Self {
        Self { piece: Some(bytes.max(1)), ..self }
    }

    fn of(content: Content) -> Self {
        Self { content, ending: Ending::Proper, pace: Duration::ZERO, piece: None }
    }
}
