//! The Runtime API of one process, on a port of its own.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use axum::body::{Body, Bytes};
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use futures::StreamExt;
use serde_json::json;
use tokio::net::TcpListener;
use tokio::sync::{mpsc, oneshot};
use tokio::task::AbortHandle;

use super::payload::{ChunkSender, Chunks, Fault, Job, Reply, ReplyTo};
use super::records::{Outcome, locked};

/// The host's end of it. The port closes when this is dropped.
#[derive(Debug)]
pub(super) struct RuntimeApi {
    pub(super) address: SocketAddr,
    jobs: mpsc::UnboundedSender<Job>,
    signals: mpsc::UnboundedReceiver<Signal>,
    shared: Arc<Shared>,
    server: AbortHandle,
}

/// What a process says about itself.
#[derive(Debug)]
pub(super) enum Signal {
    /// It asks for an invocation: whatever it had is done.
    Ready,
    InitFailed(Fault),
}

impl RuntimeApi {
    /// `shared`: the process has several invocations at a time.
    pub(super) async fn start(function_arn: String, shared: bool) -> std::io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let (jobs, inbox) = mpsc::unbounded_channel();
        let (signal, signals) = mpsc::unbounded_channel();
        let shared = Arc::new(Shared {
            function_arn,
            inbox: tokio::sync::Mutex::new(inbox),
            signal,
            several: shared,
            current: Mutex::default(),
            outcome: Mutex::new(Outcome::Answered),
        });
        let router = router(Arc::clone(&shared));
        let server = tokio::spawn(async move { axum::serve(listener, router).await }).abort_handle();
        Ok(Self { address, jobs, signals, shared, server })
    }

    /// Answers the process's request for an invocation.
    pub(super) fn hand(&self, job: Job) {
        *locked(&self.shared.outcome) = Outcome::Failed;
        drop(self.jobs.send(job));
    }

    /// The next thing the process says; never, once it has nothing more to say.
    pub(super) async fn signal(&mut self) -> Signal {
        match self.signals.recv().await {
            Some(signal) => signal,
            None => std::future::pending().await,
        }
    }

    /// Where to send what became of the invocation, while the process has not answered it.
    pub(super) fn take_reply(&self) -> Option<ReplyTo> {
        locked(&self.shared.current).pop().map(|current| current.reply)
    }

    /// How the last invocation that the process finished went; one without an answer has failed.
    pub(super) fn outcome(&self) -> Outcome {
        *locked(&self.shared.outcome)
    }
}

impl Drop for RuntimeApi {
    fn drop(&mut self) {
        self.server.abort();
    }
}

struct Shared {
    function_arn: String,
    inbox: tokio::sync::Mutex<mpsc::UnboundedReceiver<Job>>,
    signal: mpsc::UnboundedSender<Signal>,
    /// Whether it may ask for more before it has answered.
    several: bool,
    current: Mutex<Vec<Current>>,
    outcome: Mutex<Outcome>,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared").field("function_arn", &self.function_arn).finish_non_exhaustive()
    }
}

/// An invocation that has not been answered yet.
struct Current {
    id: String,
    reply: ReplyTo,
    ended: Option<oneshot::Sender<Outcome>>,
}

impl Current {
    fn end(ended: Option<oneshot::Sender<Outcome>>, outcome: Outcome) {
        let _ = ended.map(|ended| ended.send(outcome));
    }
}

impl Shared {
    /// Only an invocation at hand can be answered, and once.
    fn take(&self, id: &str, outcome: Outcome) -> Option<Current> {
        let mut current = locked(&self.current);
        let at = current.iter().position(|current| current.id == id)?;
        *locked(&self.outcome) = outcome;
        Some(current.swap_remove(at))
    }
}

fn router(shared: Arc<Shared>) -> Router {
    Router::new()
        .route("/2018-06-01/runtime/invocation/next", get(next))
        .route("/2018-06-01/runtime/invocation/{id}/response", post(response))
        .route("/2018-06-01/runtime/invocation/{id}/error", post(error))
        .route("/2018-06-01/runtime/init/error", post(init_error))
        .with_state(shared)
}

async fn next(State(shared): State<Arc<Shared>>) -> Response {
    // One that was not answered is dropped here, which its caller notices.
    if !shared.several {
        locked(&shared.current).clear();
    }
    drop(shared.signal.send(Signal::Ready));
    let Some(job) = shared.inbox.lock().await.recv().await else {
        return StatusCode::SERVICE_UNAVAILABLE.into_response();
    };
    let headers = [
        ("lambda-runtime-aws-request-id", job.id.clone()),
        ("lambda-runtime-deadline-ms", job.deadline_ms.to_string()),
        ("lambda-runtime-invoked-function-arn", shared.function_arn.clone()),
        ("lambda-runtime-trace-id", format!("Root=1-{};Sampled=0", job.id)),
        ("content-type", "application/json".to_owned()),
    ];
    locked(&shared.current).push(Current { id: job.id, reply: job.reply, ended: job.ended });
    (headers, job.payload).into_response()
}

/// Passes the body on as it arrives, and answers when it has ended: the runtime asks for the next invocation then.
async fn response(
    State(shared): State<Arc<Shared>>,
    Path(id): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Response {
    let Some(Current { reply, ended, .. }) = shared.take(&id, Outcome::Answered) else { return unknown_request() };
    let content_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).map(str::to_owned);
    let (sender, chunks) = Chunks::new();
    reply.send(Reply::Response { content_type, body: chunks });
    match pass_on(body, sender).await {
        Ok(()) => {
            Current::end(ended, Outcome::Answered);
            accepted()
        }
        Err(error) => (StatusCode::BAD_REQUEST, error.to_string()).into_response(),
    }
}

async fn pass_on(body: Body, sender: ChunkSender) -> Result<(), axum::Error> {
    let mut chunks = body.into_data_stream();
    while let Some(chunk) = chunks.next().await {
        sender.send(chunk?).await;
    }
    sender.end().await;
    Ok(())
}

async fn error(State(shared): State<Arc<Shared>>, Path(id): Path<String>, report: Bytes) -> Response {
    let Some(Current { reply, ended, .. }) = shared.take(&id, Outcome::Failed) else { return unknown_request() };
    reply.send(Reply::Fault(Fault::from_report(&report)));
    Current::end(ended, Outcome::Failed);
    accepted()
}

async fn init_error(State(shared): State<Arc<Shared>>, report: Bytes) -> Response {
    drop(shared.signal.send(Signal::InitFailed(Fault::from_report(&report))));
    accepted()
}

fn accepted() -> Response {
    (StatusCode::ACCEPTED, Json(json!({"status": "OK"}))).into_response()
}

fn unknown_request() -> Response {
    let body = json!({"errorMessage": "Invalid request ID", "errorType": "InvalidRequestID"});
    (StatusCode::BAD_REQUEST, Json(body)).into_response()
}
