//! The server: takes requests of all wires on one port, keeps them, and answers them in order.

use std::collections::{HashMap, VecDeque};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::serve::ListenerExt;
use bytes::Bytes;
use futures::StreamExt;
use http::{HeaderMap, Response, Uri, header};
use serde_json::{Value, json};
use tandem_model::{Answer, Event};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::reply::Content;
use super::{Ending, Problem, Reply, Wire, Writer, echo};

/// A provider on `127.0.0.1`. It is gone when this is dropped.
pub struct FakeProvider {
    address: SocketAddr,
    shared: Arc<Shared>,
    task: JoinHandle<()>,
}

/// A request as it arrived.
#[derive(Debug, Clone)]
pub struct Received {
    pub wire: Wire,
    pub path: String,
    pub headers: HeaderMap,
    pub body: Value,
    pub at: Instant,
}

struct Shared {
    replies: Mutex<VecDeque<Reply>>,
    requests: Mutex<Vec<Received>>,
    /// How often a request was answered with a failure, by its body; none: replies come from the queue.
    echoed: Option<Mutex<HashMap<Bytes, u32>>>,
    /// Longest request, in tokens.
    window: usize,
    /// Words are replaced by the time at which they are sent, counted from here.
    stamps_from: Option<Instant>,
}

/// Bytes of a request that count as a token.
const TOKEN: usize = 4;

impl FakeProvider {
    /// Answers from a queue: see [`FakeProvider::serve`]. Needs a running tokio runtime.
    pub fn start() -> Self {
        Self::run(None, usize::MAX, None)
    }

    /// Answers every request as the scripted model answers its last user message, so that any number of turns and
    /// steps needs no preparation. `@fail` counts how often the very same request came before.
    pub fn echo() -> Self {
        Self::echo_within(usize::MAX)
    }

    /// The same, and a request of more tokens than `window` is too long; four bytes of it are a token.
    pub fn echo_within(window: usize) -> Self {
        Self::run(Some(Mutex::default()), window, None)
    }

    /// Answers as [`FakeProvider::echo`] does, with the time at which each piece of text is sent in its place: whole
    /// microseconds since `epoch`, and a blank. Whoever receives them knows how long each was on its way.
    pub fn stamping(epoch: Instant) -> Self {
        Self::run(Some(Mutex::default()), usize::MAX, Some(epoch))
    }

    /// Queues answers, one per request.
    pub fn serve(&self, replies: impl IntoIterator<Item = Reply>) {
        lock(&self.shared.replies).extend(replies);
    }

    /// What has arrived so far.
    pub fn requests(&self) -> Vec<Received> {
        lock(&self.shared.requests).clone()
    }

    /// How many requests have arrived so far.
    pub fn asked(&self) -> usize {
        lock(&self.shared.requests).len()
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The environment in which all three providers are here, with keys and credentials that only work here.
    pub fn environment(&self) -> [(&'static str, String); 8] {
        let base = format!("http://{}", self.address);
        [
            ("ANTHROPIC_BASE_URL", base.clone()),
            ("ANTHROPIC_API_KEY", "anthropic-test-key".into()),
            ("OPENAI_BASE_URL", format!("{base}/v1")),
            ("OPENAI_API_KEY", "openai-test-key".into()),
            ("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", base),
            ("AWS_REGION", "eu-central-1".into()),
            ("AWS_ACCESS_KEY_ID", "AKIDTEST".into()),
            ("AWS_SECRET_ACCESS_KEY", "aws-test-secret".into()),
        ]
    }

    fn run(echoed: Option<Mutex<HashMap<Bytes, u32>>>, window: usize, stamps_from: Option<Instant>) -> Self {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
        listener.set_nonblocking(true).expect("a socket");
        let address = listener.local_addr().expect("a bound socket");
        let shared =
            Arc::new(Shared { replies: Mutex::default(), requests: Mutex::default(), echoed, window, stamps_from });
        let app = Router::new().fallback(answer).with_state(shared.clone());
        // Without nodelay, pieces of a few bytes would wait for each other's acknowledgement.
        let listener = tokio::net::TcpListener::from_std(listener).expect("a tokio runtime").tap_io(|stream| {
            let _ = stream.set_nodelay(true);
        });
        let task = tokio::spawn(async move {
            let _ = axum::serve(listener, app).await;
        });
        Self { address, shared, task }
    }
}

impl Drop for FakeProvider {
    fn drop(&mut self) {
        self.task.abort();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

async fn answer(State(shared): State<Arc<Shared>>, uri: Uri, headers: HeaderMap, bytes: Bytes) -> Response<Body> {
    let path = uri.path().to_owned();
    let Some(wire) = Wire::of(&path) else {
        return whole(404, "application/json", json!({"message": format!("no wire at {path}")}).to_string());
    };
    let body: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    lock(&shared.requests).push(Received { wire, path, headers, body: body.clone(), at: Instant::now() });
    if bytes.len() / TOKEN > shared.window {
        return failed(wire, &Problem::TooLong);
    }
    if let Some(echoed) = &shared.echoed {
        let retry = lock(echoed).get(&bytes).copied().unwrap_or(0);
        return match echo::answer(wire, &body, retry).await {
            Ok(answer) => streaming(wire, |sender| tell(sender, wire, answer, shared.clone(), bytes)),
            Err(error) => {
                *lock(echoed).entry(bytes).or_default() += 1;
                failed(wire, &Problem::of(&error).unwrap_or(Problem::Broken))
            }
        };
    }
    let Some(reply) = lock(&shared.replies).pop_front() else {
        return whole(500, "application/json", json!({"message": "no reply was queued for this request"}).to_string());
    };
    match reply.content {
        Content::Nothing => std::future::pending().await,
        Content::Problem(problem) => failed(wire, &problem),
        Content::Other { status, content_type, body } => whole(status, content_type, body),
        Content::Redirect(url) => {
            let response = Response::builder().status(307).header(header::LOCATION, url);
            response.body(Body::empty()).expect("a valid address")
        }
        Content::Frames(frames) => streaming(wire, |sender| async move {
            let mut out = Out::new(sender, reply.pace, reply.piece);
            for frame in frames {
                out.send(vec![frame]).await?;
            }
            out.end(reply.ending, wire.writer()).await
        }),
        Content::Events(events) => streaming(wire, |sender| async move {
            let mut writer = wire.writer();
            let mut out = Out::new(sender, reply.pace, reply.piece);
            out.send(writer.begin()).await?;
            for event in events {
                out.send(writer.event(&event)).await?;
            }
            out.end(reply.ending, writer).await
        }),
    }
}

/// Puts the scripted model's answer on the wire as it comes.
async fn tell(sender: Sender, wire: Wire, mut answer: Answer, shared: Arc<Shared>, request: Bytes) -> Option<()> {
    let mut writer = wire.writer();
    let mut out = Out::new(sender, Duration::ZERO, None);
    out.send(writer.begin()).await?;
    while let Some(event) = answer.next().await {
        match event {
            Ok(event) => out.send(writer.event(&stamped(event, shared.stamps_from))).await?,
            Err(error) => {
                if let Some(echoed) = &shared.echoed {
                    *lock(echoed).entry(request).or_default() += 1;
                }
                let ending = Problem::of(&error).map_or(Ending::Cut, Ending::Problem);
                return out.end(ending, writer).await;
            }
        }
    }
    Some(())
}

fn stamped(event: Event, from: Option<Instant>) -> Event {
    match (event, from) {
        (Event::TextDelta(_), Some(from)) => Event::TextDelta(format!("{} ", from.elapsed().as_micros())),
        (event, _) => event,
    }
}

type Sender = mpsc::Sender<std::io::Result<Bytes>>;

struct Out {
    sender: Sender,
    pace: Duration,
    piece: Option<usize>,
    begun: bool,
}

impl Out {
    fn new(sender: Sender, pace: Duration, piece: Option<usize>) -> Self {
        Self { sender, pace, piece, begun: false }
    }

    /// None: the client is gone.
    async fn send(&mut self, frames: Vec<Bytes>) -> Option<()> {
        if std::mem::replace(&mut self.begun, true) && !self.pace.is_zero() {
            tokio::time::sleep(self.pace).await;
        }
        for frame in frames {
            let pieces = frame.chunks(self.piece.unwrap_or(frame.len()).max(1));
            for piece in pieces {
                self.sender.send(Ok(frame.slice_ref(piece))).await.ok()?;
            }
        }
        Some(())
    }

    async fn end(&mut self, ending: Ending, mut writer: Box<dyn Writer>) -> Option<()> {
        match ending {
            Ending::Proper | Ending::Cut => Some(()),
            Ending::Reset => self.sender.send(Err(std::io::ErrorKind::ConnectionReset.into())).await.ok(),
            Ending::Silence => {
                self.sender.closed().await;
                None
            }
            Ending::Problem(problem) => self.send(vec![writer.problem(&problem)]).await,
        }
    }
}

/// A response whose body `write` sends. The capacity of one makes each piece a chunk of its own.
fn streaming<F>(wire: Wire, write: impl FnOnce(Sender) -> F) -> Response<Body>
where
    F: Future<Output = Option<()>> + Send + 'static,
{
    let (sender, receiver) = mpsc::channel(1);
    tokio::spawn(write(sender));
    let pieces = futures::stream::unfold(receiver, |mut receiver| async move {
        let piece = receiver.recv().await?;
        Some((piece, receiver))
    });
    let response = Response::builder().header(header::CONTENT_TYPE, wire.content_type());
    response.body(Body::from_stream(pieces)).expect("a valid head")
}

fn failed(wire: Wire, problem: &Problem) -> Response<Body> {
    let told = problem.told(wire);
    let mut response = whole(told.status, "application/json", problem.body(wire).to_string());
    let headers = response.headers_mut();
    if let Some(after) = problem.after() {
        let seconds = after.as_secs_f64().to_string();
        headers.insert(header::RETRY_AFTER, seconds.parse().expect("a number"));
    }
    if wire == Wire::Bedrock {
        headers.insert("x-amzn-errortype", told.code.parse().expect("a name"));
    }
    response
}

fn whole(status: u16, content_type: &str, body: String) -> Response<Body> {
    let response = Response::builder().status(status).header(header::CONTENT_TYPE, content_type);
    response.body(Body::from(body)).expect("a valid head")
}
