//! Models: one trait, the providers behind it (through rig), and the scripted model.

mod error;
mod request;

pub use error::ModelError;
pub use request::{Event, Message, Request, ToolResult, ToolSpec, ToolUse};

use std::pin::Pin;

use futures::Stream;

/// What a model sends while it answers. The last event of a good answer is [`Event::Finish`]; a stream that
/// ends without it was cut and yields [`ModelError::Interrupted`] instead.
pub type Answer = Pin<Box<dyn Stream<Item = Result<Event, ModelError>> + Send>>;

/// A language model behind some wire.
#[async_trait::async_trait]
pub trait Model: Send + Sync {
    /// As configured: `scripted`, `anthropic/<id>`, `openai/<id>`, `bedrock/<id>`.
    fn name(&self) -> &str;

    /// Asks once. There is no retry in here: the caller owns the deadline and the one retry layer.
    async fn ask(&self, request: Request) -> Result<Answer, ModelError>;
}
