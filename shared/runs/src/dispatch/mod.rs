//! The way to the background: ids and a signature, never content.

mod http;
mod lambda;

pub use http::HttpDispatch;
pub use lambda::LambdaDispatch;

use std::time::Duration;

use tandem_auth::SignedDispatch;
use tandem_protocol::Run;
use tandem_store::now_ms;
use tracing::Instrument;

use crate::Runtime;
use crate::span::dispatch_span;

/// How long a dispatch may take before it counts as failed; whether it arrived is then unknown, and the
/// version decides.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(5);

/// A dispatch that was not accepted for sure. It may have arrived all the same.
#[derive(Debug, thiserror::Error)]
#[error("the dispatch was not accepted: {0}")]
pub struct DispatchError(pub String);

/// Sends a dispatch to a background worker. Success means accepted, not that anybody runs it.
#[async_trait::async_trait]
pub trait Dispatch: Send + Sync {
    async fn dispatch(&self, dispatch: &SignedDispatch) -> Result<(), DispatchError>;
}

impl Runtime {
    /// Sends the run, as it is now, to the background.
    pub(crate) async fn send(&self, run: &Run) -> Result<(), DispatchError> {
        let Some(dispatch) = &self.0.dispatch else {
            return Err(DispatchError("no background is configured".into()));
        };
        let signed = self.0.keys.sign(&run.run_id, run.version, now_ms());
        let span = dispatch_span(run);
        let sent = match tokio::time::timeout(TIMEOUT, dispatch.dispatch(&signed).instrument(span)).await {
            Ok(sent) => sent,
            Err(_) => Err(DispatchError(format!("no answer in {} s", TIMEOUT.as_secs()))),
        };
        match &sent {
            Ok(()) => tracing::info!(run = %run.run_id, version = run.version, "dispatched"),
            Err(error) => tracing::warn!(run = %run.run_id, version = run.version, %error, "dispatch failed"),
        }
        sent
    }
}
