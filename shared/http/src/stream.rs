//! Streams of what changes, bounded by a window: a task of its own feeds each response, so that it ends with the window
//! whether or not anybody reads, and a client that is slow or gone costs nothing for longer than that.

use std::time::Duration;

use axum::body::Body;
use axum::http::Response;
use bytes::Bytes;
use tandem_runs::{OpenStream, Runtime};
use tandem_store::{StateError, StoreError};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until, timeout_at};

use crate::sse::{FAILED_READS, RETRY, plain_headers};

/// A source stops gathering here, and goes on when the client has taken what there is.
pub(crate) const BATCH: usize = 128 * 1024;

/// What a response follows.
pub(crate) trait Source: Send + 'static {
    /// What is there already, as server-sent events; empty: nothing. What was given is never given again.
    fn ready(&mut self) -> impl Future<Output = Result<Bytes, Stop>> + Send;

    /// Waits until there may be more. Cancel safe.
    fn wait(&mut self) -> impl Future<Output = ()> + Send;
}

/// Why a source has nothing more to give.
#[derive(Debug)]
pub(crate) enum Stop {
    /// For good: the client is told when it comes back.
    Over,
    /// The store did not answer: try again.
    Failed(StoreError),
}

impl From<StateError> for Stop {
    fn from(error: StateError) -> Self {
        match error {
            StateError::Store(error) => Stop::Failed(error),
            StateError::NoSuchScope(_)
            | StateError::TooDeep(_)
            | StateError::BadKey { .. }
            | StateError::TooLarge(_)
            | StateError::Expired { .. } => Stop::Over,
        }
    }
}

/// A response that follows `source` for one window. `deadline`: when this invocation is killed, if it is one.
pub(crate) fn follow(
    runtime: &Runtime,
    deadline: Option<Instant>,
    source: impl Source,
    open: OpenStream,
) -> Response<Body> {
    // Two batches at most wait for a client.
    let (sender, receiver) = mpsc::channel(2);
    let runtime = runtime.clone();
    tokio::spawn(async move {
        let config = runtime.config();
        let window = Instant::now() + config.stream_window;
        let mut pump = Pump { source, sender, keep_alive: config.keep_alive };
        // An error is the end of the window.
        let _ = timeout_at(window, pump.run()).await;
        let Pump { source, sender, .. } = pump;
        drop((source, open));
        if deadline.is_some() {
            // On Lambda nothing may be left running when the body ends: it would thaw in another invocation.
            runtime.tasks_done().await;
        }
        drop(sender);
    });
    let body = Body::from_stream(futures::stream::unfold(receiver, |mut receiver| async move {
        let bytes: Bytes = receiver.recv().await?;
        Some((Ok::<_, std::convert::Infallible>(bytes), receiver))
    }));
    let mut response = Response::new(body);
    plain_headers(&mut response);
    response
}

struct Pump<S> {
    source: S,
    sender: mpsc::Sender<Bytes>,
    keep_alive: Duration,
}

impl<S: Source> Pump<S> {
    /// Ends when the client is gone, or the source has nothing more.
    async fn run(&mut self) {
        let mut next = Bytes::from_static(RETRY.as_bytes());
        let mut failed = 0;
        loop {
            if !next.is_empty() && self.sender.send(next).await.is_err() {
                return;
            }
            let quiet_until = Instant::now() + self.keep_alive;
            next = loop {
                match self.source.ready().await {
                    Ok(bytes) if bytes.is_empty() => failed = 0,
                    Ok(bytes) => break bytes,
                    Err(Stop::Over) => return,
                    Err(Stop::Failed(error)) => {
                        failed += 1;
                        tracing::warn!(%error, failed, "what a stream follows could not be read");
                        if failed >= FAILED_READS {
                            return;
                        }
                        tokio::time::sleep(Duration::from_millis(200) * failed).await;
                        continue;
                    }
                }
                tokio::select! {
                    () = self.source.wait() => {}
                    () = self.sender.closed() => return,
                    () = sleep_until(quiet_until) => break Bytes::from_static(b": keep-alive\n\n"),
                }
            };
        }
    }
}
