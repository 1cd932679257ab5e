//! A run as server-sent events: what was stored, with its numbers, then `[DONE]`.

use std::fmt::Write as _;
use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderValue, Response, StatusCode, header};
use bytes::{Bytes, BytesMut};
use futures::stream;
use tandem_protocol::{Run, RunId, Seq, ThreadId};
use tandem_runs::{Attended, Follower, OpenStream, Runtime};
use tandem_store::Frame;
use tokio::time::Instant;

/// Reads of the store that may fail in a row before the stream ends; the client then comes back.
pub(crate) const FAILED_READS: u32 = 5;
/// How soon EventSource comes back after a window, in milliseconds; its own default is seconds.
pub(crate) const RETRY: &str = ": stream-open\nretry: 250\n\n";

/// One response that follows a run.
pub(crate) struct EventStream {
    pub(crate) run: Run,
    /// The first chunk to send.
    pub(crate) from: Seq,
    /// The run that this request started and sees to.
    pub(crate) attended: Option<Attended>,
    /// When the request came that started the run; none: it did not.
    pub(crate) came: Option<Instant>,
    /// When this invocation is killed, if it is one.
    pub(crate) deadline: Option<Instant>,
    /// Chunks that are sent before: what earlier runs said of the same message.
    pub(crate) prelude: Vec<String>,
    /// Sent after the terminal chunk and before `[DONE]`, where a stock client needs one more chunk.
    pub(crate) epilogue: Option<&'static str>,
    /// Counts while it lasts.
    pub(crate) open: OpenStream,
}

impl EventStream {
    pub(crate) fn response(self, runtime: &Runtime) -> Response<Body> {
        let follower = runtime.follow(&self.run.run_id, self.from, self.deadline);
        self.response_of(runtime, follower)
    }

    /// The same, where somebody has looked already: `follower` gives `from` and what comes after.
    pub(crate) fn response_of(self, runtime: &Runtime, follower: Follower) -> Response<Body> {
        let run = self.run.clone();
        let config = runtime.config();
        let now = Instant::now();
        let state = State {
            runtime: runtime.clone(),
            run: run.run_id.clone(),
            follower: Some(follower),
            cursor: self.from,
            attended: self.attended,
            came: self.came,
            deadline: self.deadline,
            prelude: self.prelude,
            epilogue: self.epilogue,
            window: now + config.stream_window,
            keep_alive: config.keep_alive,
            quiet_until: now + config.keep_alive,
            failed_reads: 0,
            phase: Phase::Opening,
            _open: self.open,
        };
        let body = Body::from_stream(stream::unfold(state, |state| async move {
            let (bytes, state) = state.next().await?;
            Some((Ok::<_, std::convert::Infallible>(bytes), state))
        }));
        let mut response = Response::new(body);
        stream_headers(&mut response, &run);
        response
    }
}

/// A stream that says nothing but that it is over: the stock transports need the two lines.
pub(crate) fn finished() -> Response<Body> {
    let mut response = Response::new(Body::from(format!("{RETRY}data: {FINISH}\n\ndata: [DONE]\n\n")));
    plain_headers(&mut response);
    response
}

/// Ends a stock client's stream without touching its message: a reason, so that it does not resume, and no metadata,
/// which would show as an empty message.
pub(crate) const FINISH: &str = r#"{"type":"finish","finishReason":"other"}"#;

pub(crate) fn no_content() -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    response
}

/// What every stream has.
pub(crate) fn plain_headers(response: &mut Response<Body>) {
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store, no-transform"));
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    headers.insert("x-vercel-ai-ui-message-stream", HeaderValue::from_static("v1"));
}

fn stream_headers(response: &mut Response<Body>, run: &Run) {
    plain_headers(response);
    run_headers(response, run);
}

/// Which run and thread a response is about.
pub(crate) fn run_headers<B>(response: &mut Response<B>, run: &Run) {
    let names = [
        ("x-run-id", Some(run.run_id.as_str())),
        ("x-workflow-run-id", Some(run.run_id.as_str())),
        ("x-thread-id", run.thread_id.as_ref().map(ThreadId::as_str)),
    ];
    for (name, value) in names {
        if let Some(Ok(value)) = value.map(HeaderValue::from_str) {
            response.headers_mut().insert(name, value);
        }
    }
}

enum Phase {
    Opening,
    Following,
    /// The terminal chunk is sent.
    Ending,
    Over,
}

struct State {
    runtime: Runtime,
    run: RunId,
    /// Gone once the response is about to end.
    follower: Option<Follower>,
    cursor: Seq,
    attended: Option<Attended>,
    /// Until the first chunk of a holder is sent.
    came: Option<Instant>,
    deadline: Option<Instant>,
    prelude: Vec<String>,
    epilogue: Option<&'static str>,
    window: Instant,
    keep_alive: Duration,
    /// When a sign of life is due.
    quiet_until: Instant,
    failed_reads: u32,
    phase: Phase,
    /// Counts until the response ends.
    _open: OpenStream,
}

impl State {
    /// The next bytes; `None` ends the body, and on Lambda the invocation.
    async fn next(mut self) -> Option<(Bytes, Self)> {
        match self.phase {
            Phase::Opening => {
                self.phase = Phase::Following;
                let mut opening = RETRY.to_owned();
                for chunk in std::mem::take(&mut self.prelude) {
                    opening.push_str("data: ");
                    opening.push_str(&chunk);
                    opening.push_str("\n\n");
                }
                return Some((Bytes::from(opening), self));
            }
            Phase::Ending => {
                self.phase = Phase::Over;
                let done = match self.epilogue {
                    Some(chunk) => format!("data: {chunk}\n\ndata: [DONE]\n\n"),
                    None => "data: [DONE]\n\n".to_owned(),
                };
                return Some((Bytes::from(done), self));
            }
            Phase::Over => {
                self.leave().await;
                return None;
            }
            Phase::Following => {}
        }
        loop {
            let follower = self.follower.as_mut()?;
            tokio::select! {
                biased;
                frame = follower.next() => match frame {
                    Ok(Some(frame)) => {
                        self.failed_reads = 0;
                        let bytes = self.encode(&frame);
                        // The one before it was stored with the run, by the request itself.
                        if let Some(came) = self.came.take_if(|_| frame.attempt > 0) {
                            let waited_ms = u64::try_from(came.elapsed().as_millis()).unwrap_or(u64::MAX);
                            tracing::info!(run = %self.run, waited_ms, "first chunk");
                            let attended = self.attended.take();
                            self.attended = attended.and_then(|attended| self.runtime.seen_driven(attended, &self.run));
                        }
                        self.quiet_until = Instant::now() + self.keep_alive;
                        if !bytes.is_empty() {
                            return Some((bytes, self));
                        }
                    }
                    Ok(None) => {
                        self.phase = Phase::Ending;
                        return Box::pin(self.next()).await;
                    }
                    Err(error) => {
                        self.failed_reads += 1;
                        tracing::warn!(%error, failed = self.failed_reads, "the log could not be read");
                        if self.failed_reads >= FAILED_READS {
                            self.leave().await;
                            return None;
                        }
                        tokio::time::sleep(Duration::from_millis(200) * self.failed_reads).await;
                    }
                },
                () = tokio::time::sleep_until(self.window) => {
                    // An invocation does not end while it holds the run: frozen, it could not go on.
                    if self.deadline.is_none() || !self.runtime.is_driving(&self.run) {
                        self.leave().await;
                        return None;
                    }
                    self.window = Instant::now() + Duration::from_millis(250);
                }
                () = tokio::time::sleep_until(self.quiet_until) => {
                    self.quiet_until = Instant::now() + self.keep_alive;
                    return Some((Bytes::from_static(b": keep-alive\n\n"), self));
                }
            }
        }
    }

    fn encode(&mut self, frame: &Frame) -> Bytes {
        let mut bytes = BytesMut::with_capacity(frame.bytes() + 32 * usize::try_from(frame.count).unwrap_or(0));
        for chunk in frame.chunks_from(self.cursor) {
            // Into memory, which does not fail.
            let _ = write!(bytes, "id: {}\ndata: {}\n\n", chunk.seq, chunk.json);
        }
        self.cursor = self.cursor.max(frame.next());
        bytes.freeze()
    }

    /// On Lambda nothing may be left running when the body ends: it would thaw in another invocation.
    async fn leave(&mut self) {
        // First: a poller without followers begins no recovery any more.
        self.follower = None;
        if self.deadline.is_none() {
            return;
        }
        if let Some(attended) = self.attended.take()
            && !self.runtime.is_driving(&self.run)
        {
            attended.cancel().await;
        }
        self.runtime.tasks_done().await;
    }
}
