//! A fake provider on a socket that speaks the real wires: Anthropic Messages, OpenAI Chat Completions and Bedrock
//! ConverseStream. What it answers is data, in the words of [`tandem_model::Event`], so that one script can be
//! served on all three wires and the model behind each must tell exactly that script again.

mod anthropic;
mod bedrock;
mod echo;
mod openai;
mod problem;
mod reply;
mod server;

pub use problem::Problem;
pub use reply::{Ending, Reply};
pub use server::{FakeProvider, Received};

use bytes::Bytes;
use serde_json::Value;
use tandem_model::Event;

/// Which API a request was made to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Wire {
    Anthropic,
    OpenAi,
    Bedrock,
}

impl Wire {
    pub const ALL: [Wire; 3] = [Wire::Anthropic, Wire::OpenAi, Wire::Bedrock];

    fn of(path: &str) -> Option<Self> {
        if path.ends_with("/messages") {
            Some(Wire::Anthropic)
        } else if path.ends_with("/chat/completions") {
            Some(Wire::OpenAi)
        } else if path.ends_with("/converse-stream") {
            Some(Wire::Bedrock)
        } else {
            None
        }
    }

    fn content_type(self) -> &'static str {
        match self {
            Wire::Anthropic | Wire::OpenAi => "text/event-stream",
            Wire::Bedrock => "application/vnd.amazon.eventstream",
        }
    }

    fn writer(self) -> Box<dyn Writer> {
        match self {
            Wire::Anthropic => Box::new(anthropic::Messages::default()),
            Wire::OpenAi => Box::new(openai::Chat),
            Wire::Bedrock => Box::new(bedrock::Converse::default()),
        }
    }
}

/// Puts an answer on a wire, event by event.
trait Writer: Send {
    /// What comes before the first event.
    fn begin(&mut self) -> Vec<Bytes>;
    /// An end of a block, a call or the answer may take several frames, or none.
    fn event(&mut self, event: &Event) -> Vec<Bytes>;
    /// A failure in mid-answer.
    fn problem(&mut self, problem: &Problem) -> Bytes;
}

/// One server-sent event.
fn sse(event: Option<&str>, data: &Value) -> Bytes {
    let event = event.map(|name| format!("event: {name}\n")).unwrap_or_default();
    Bytes::from(format!("{event}data: {data}\n\n"))
}
