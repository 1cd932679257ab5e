//! Models: one trait, the providers behind it (through rig), and the scripted model.

mod anthropic;
mod bedrock;
mod classify;
mod config;
mod endpoint;
mod error;
mod openai;
mod price;
mod request;
mod rig;

mod scripted;

pub use anthropic::Anthropic;
pub use bedrock::{Bedrock, BedrockEndpoint};
pub use config::{ANTHROPIC_DEFAULT, ConfigError, Models, OPENAI_DEFAULT, UnknownModel};
pub use endpoint::Endpoint;
pub use error::ModelError;
pub use openai::OpenAi;
pub use price::Price;
pub use request::{Event, Message, Request, ToolResult, ToolSpec, ToolUse};
pub use scripted::Scripted;

use std::pin::Pin;
use std::time::Duration;

use futures::{Stream, StreamExt};

/// What a model sends while it answers. The last event of a good answer is [`Event::Finish`]; a stream that
/// ends without it was cut and yields [`ModelError::Interrupted`] instead.
pub type Answer = Pin<Box<dyn Stream<Item = Result<Event, ModelError>> + Send>>;

/// A language model behind some wire.
#[async_trait::async_trait]
pub trait Model: Send + Sync {
    /// As configured: `scripted`, `anthropic/<id>`, `openai/<id>`, `bedrock/<id>`.
    fn name(&self) -> &str;

    /// Asks once. There is no retry in here: the caller owns the deadline and the one retry layer.
    /// Resolves with the first event, or with the error that came instead; an error in mid-answer is the last item.
    async fn ask(&self, request: Request) -> Result<Answer, ModelError>;
}

/// How long a provider may be silent before the answer counts as interrupted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// From the request to its first sign of life; a connection that is never accepted counts too.
    pub first_event: Duration,
    /// Between two signs of life, pings included.
    pub gap: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self { first_event: Duration::from_secs(120), gap: Duration::from_secs(60) }
    }
}

/// Waits for the first of `events`, so that a failure before it is an error of the call.
async fn started(events: impl Stream<Item = Result<Event, ModelError>> + Send + 'static) -> Result<Answer, ModelError> {
    let mut events = Box::pin(events);
    match events.next().await {
        Some(Ok(first)) => Ok(Box::pin(futures::stream::once(async { Ok(first) }).chain(events))),
        Some(Err(error)) => Err(error),
        None => Err(ModelError::Interrupted { message: "the model answered nothing".into() }),
    }
}
