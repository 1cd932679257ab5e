//! How long a provider may be silent. The watch sits below the decoder, so a ping counts as a sign of life.

use std::time::Duration;

use futures::StreamExt;
use rig_core::driver::{Exchange, Opening, Transport};
use rig_core::error::ProviderError;
use rig_core::http_client;
use rig_core::wire::Wire;
use tokio::time::{Instant, timeout_at};

use crate::Timeouts;

/// A transport that gives up on a silent provider.
#[derive(Debug, Clone)]
pub(crate) struct Patient<T> {
    inner: T,
    timeouts: Timeouts,
}

impl<T> Patient<T> {
    pub(crate) fn new(inner: T, timeouts: Timeouts) -> Self {
        Self { inner, timeouts }
    }
}

impl<W: Wire, T: Transport<W>> Transport<W> for Patient<T> {
    fn send(&self, payload: W::Payload, exchange: Exchange) -> Opening<W::Frame> {
        let opening = self.inner.send(payload, exchange);
        let Timeouts { first_event, gap } = self.timeouts;
        Opening::new(async move {
            // One deadline covers the connection, the response head and the first event.
            let deadline = Instant::now() + first_event;
            let opened = timeout_at(deadline, opening).await.map_err(|_| silent(first_event))??;
            Ok(opened.map_frames(move |frames| {
                futures::stream::unfold(Some((frames, deadline, first_event)), move |state| async move {
                    let (mut frames, deadline, patience) = state?;
                    match timeout_at(deadline, frames.next()).await {
                        Ok(frame) => Some((frame?, Some((frames, Instant::now() + gap, gap)))),
                        Err(_) => Some((Err(silent(patience)), None)),
                    }
                })
            }))
        })
    }
}

fn silent(patience: Duration) -> ProviderError {
    let error = std::io::Error::new(std::io::ErrorKind::TimedOut, format!("it sent nothing for {patience:?}"));
    ProviderError::from_transport_error(http_client::Error::instance(error))
}
