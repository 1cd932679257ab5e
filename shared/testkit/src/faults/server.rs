//! The proxy's two sides: connections of the process, and requests to the engine.

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, Request, Response, header};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use super::proxy::{Call, Hook, Shared, Then};
use super::{Fault, Moment, Operation};

/// Where calls are passed on to.
#[derive(Debug, Clone)]
pub(super) struct Upstream {
    client: reqwest::Client,
    url: String,
}

/// Why a connection is closed without an answer.
#[derive(Debug, thiserror::Error)]
#[error("the connection is closed: {0}")]
struct Closed(&'static str);

impl Upstream {
    pub(super) fn new(url: &str) -> Self {
        let client = reqwest::Client::builder().no_proxy().build().unwrap_or_default();
        Upstream { client, url: url.trim_end_matches('/').to_owned() }
    }

    async fn ask(&self, headers: HeaderMap, body: Bytes) -> Result<Response<Full<Bytes>>, Closed> {
        let gone = |_| Closed("the store does not answer");
        let answer = self.client.post(&self.url).headers(headers).body(body).send().await.map_err(gone)?;
        let (status, headers) = (answer.status(), end_to_end(answer.headers()));
        let mut response = Response::new(Full::new(answer.bytes().await.map_err(gone)?));
        *response.status_mut() = status;
        *response.headers_mut() = headers;
        Ok(response)
    }
}

/// Serves until it is dropped, and its connections with it.
pub(super) async fn serve(listener: TcpListener, upstream: Upstream, shared: Arc<Shared>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => if let Ok((stream, _)) = accepted {
                connections.spawn(connection(stream, upstream.clone(), Arc::clone(&shared)));
            },
            Some(_) = connections.join_next() => {}
        }
    }
}

async fn connection(stream: TcpStream, upstream: Upstream, shared: Arc<Shared>) {
    let _ = stream.set_nodelay(true);
    let service = service_fn(move |request| {
        // A task of its own: what has begun goes on when the process that asked is killed.
        let handled = tokio::spawn(handle(request, upstream.clone(), Arc::clone(&shared)));
        async move { handled.await.unwrap_or(Err(Closed("the proxy broke down"))) }
    });
    // An error is a connection that was closed, by either side.
    let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
}

async fn handle(
    request: Request<Incoming>,
    upstream: Upstream,
    shared: Arc<Shared>,
) -> Result<Response<Full<Bytes>>, Closed> {
    let (head, body) = request.into_parts();
    let body = body.collect().await.map_err(|_| Closed("the process went away"))?.to_bytes();
    let target = head.headers.get("x-amz-target").and_then(|target| target.to_str().ok()).unwrap_or_default();
    let (call, hook) = shared.arrived(Operation::read(target, &body));
    if let Some(time) = shared.latency() {
        tokio::time::sleep(time).await;
    }
    let pass_on = || upstream.ask(end_to_end(&head.headers), body);
    match call.fault {
        None => pass_on().await,
        Some(Fault::LoseRequest) => Err(Closed("the request is lost")),
        Some(Fault::LoseReply) => {
            pass_on().await?;
            Err(Closed("the reply is lost"))
        }
        Some(Fault::Delay(time)) => {
            tokio::time::sleep(time).await;
            pass_on().await
        }
        Some(Fault::Refuse(refusal)) => Ok(refusal.answer(&call.operation)),
        Some(Fault::Hook(Moment::Before)) => {
            ask_hook(hook, call).await?;
            pass_on().await
        }
        Some(Fault::Hook(Moment::After)) => {
            let answer = pass_on().await;
            ask_hook(hook, call).await?;
            answer
        }
    }
}

async fn ask_hook(hook: Option<Hook>, call: Call) -> Result<(), Closed> {
    match hook {
        Some(hook) if hook(call).await == Then::Close => Err(Closed("the hook says so")),
        Some(_) | None => Ok(()),
    }
}

/// Without the headers that are about one connection.
fn end_to_end(headers: &HeaderMap) -> HeaderMap {
    let mut headers = headers.clone();
    for name in [header::HOST, header::CONNECTION, header::CONTENT_LENGTH, header::TRANSFER_ENCODING] {
        headers.remove(name);
    }
    headers
}
