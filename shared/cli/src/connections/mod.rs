//! Connections of a process that stands in the network itself. On Lambda and behind CloudFront others do this.
//!
//! Whoever is slow, silent or many holds little, and not for long: a head must arrive in time and be small, what is
//! answered must be taken, and there are at most so many connections at once. When there is no room, whoever has waited
//! longest without a request makes some: so a crowd that says nothing keeps nobody out who asks.

mod crowd;
mod guarded;
mod stalling;

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tower::ServiceExt;

use crowd::{Crowd, Place};
use guarded::Guarded;
use stalling::Stalling;

/// How long a request's head may take, also while a connection is kept for the next one.
const HEAD: Duration = Duration::from_secs(30);
/// Longest head, in bytes; a token is at most 16 KB.
const MAX_HEAD: usize = 32 * 1024;
/// Most that is read ahead, in bytes.
const MAX_BUFFER: usize = 64 * 1024;
/// How long a client may take nothing of what is sent to it.
const STALLED: Duration = Duration::from_secs(30);
/// Pause after an accept that failed: the system has no more to give.
const PAUSE: Duration = Duration::from_millis(50);
/// Files that are kept for other things than clients.
const OTHER_FILES: u64 = 256;
const FULL: &[u8] =
    b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";

/// Serves whoever connects; `most` at once, or fewer where the system allows fewer files.
pub(crate) async fn serve(listener: TcpListener, router: Router, most: usize) -> Infallible {
    let crowd = Crowd::new(allowed(most));
    loop {
        let socket = match listener.accept().await {
            Ok((socket, _)) => socket,
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                crowd.make_room();
                tokio::time::sleep(PAUSE).await;
                continue;
            }
        };
        match crowd.enter() {
            Some(place) => drop(tokio::spawn(talk(socket, router.clone(), place))),
            None => drop(tokio::spawn(refuse(socket))),
        }
    }
}

async fn talk(socket: TcpStream, router: Router, place: Arc<Place>) {
    // Events are small, and wanted at once.
    let _ = socket.set_nodelay(true);
    let requests = {
        let place = Arc::clone(&place);
        service_fn(move |request: Request<Incoming>| {
            let busy = place.busy();
            let answer = router.clone().oneshot(request.map(Body::new));
            async move { answer.await.map(|response| response.map(|body| Guarded::new(body, busy))) }
        })
    };
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD)
        .max_header_size(MAX_HEAD)
        .max_buf_size(MAX_BUFFER)
        .serve_connection(TokioIo::new(Stalling::new(socket, STALLED)), requests);
    tokio::select! {
        // A fault of the client's, which it sees.
        _ = connection => {}
        () = place.must_close() => {}
    }
}

async fn refuse(mut socket: TcpStream) {
    // Who does not take it is refused all the same.
    let _ = tokio::time::timeout(PAUSE, socket.write_all(FULL)).await;
}

/// Each connection is an open file: asks for as many as may be had, and gives how many connections fit.
fn allowed(most: usize) -> usize {
    let wanted = most as u64 + OTHER_FILES;
    let limit = getrlimit(Resource::Nofile);
    let enough = |limit: Option<u64>| limit.is_none_or(|limit| limit >= wanted);
    if enough(limit.current) {
        return most;
    }
    let files = limit.maximum.map_or(wanted, |maximum| maximum.min(wanted));
    let raised = setrlimit(Resource::Nofile, Rlimit { current: Some(files), maximum: limit.maximum });
    let files = if raised.is_ok() { files } else { limit.current.unwrap_or(wanted) };
    usize::try_from(files.saturating_sub(OTHER_FILES).max(files / 2).max(1)).map_or(most, |fits| fits.min(most))
}
