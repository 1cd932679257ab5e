//! A bootstrap that does as it is told, for the tests of the Lambda host.
//!
//! As `PROBE=url` it answers Function URL events, as `PROBE=event` plain ones.

use std::convert::Infallible;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use axum::Router;
use axum::body::Body;
use axum::extract::{Query, Request};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get};
use bytes::Bytes;
use futures::stream;
use lambda_runtime::{Error, LambdaEvent, service_fn};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::sleep;

#[tokio::main]
async fn main() -> Result<(), Error> {
    match std::env::var("PROBE").as_deref() {
        Ok("url") => lambda_http::run_with_streaming_response(router()).await,
        Ok("event") => {
            tokio::spawn(tick());
            lambda_runtime::run(service_fn(event)).await
        }
        other => Err(format!("PROBE is url or event, not {other:?}").into()),
    }
}

/// Counts while the process is not frozen.
static TICKS: AtomicU64 = AtomicU64::new(0);

async fn tick() {
    loop {
        sleep(Duration::from_millis(10)).await;
        TICKS.fetch_add(1, Ordering::Relaxed);
    }
}

/// What an event may ask for; what it does not ask for does not happen.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Orders {
    sleep_ms: u64,
    fail: Option<String>,
    exit: Option<i32>,
}

async fn event(event: LambdaEvent<Value>) -> Result<Value, Error> {
    let orders: Orders = serde_json::from_value(event.payload.clone()).unwrap_or_default();
    sleep(Duration::from_millis(orders.sleep_ms)).await;
    if let Some(code) = orders.exit {
        std::process::exit(code);
    }
    if let Some(message) = orders.fail {
        return Err(message.into());
    }
    let left = event.context.deadline().duration_since(SystemTime::now()).unwrap_or_default();
    Ok(json!({
        "echo": event.payload,
        "requestId": event.context.request_id,
        "arn": event.context.invoked_function_arn,
        "leftMs": left.as_millis() as u64,
        "ticks": TICKS.load(Ordering::Relaxed),
        "environment": std::env::vars().filter(|(name, _)| !name.starts_with("AWS_LAMBDA_LOG")).collect::<Vec<_>>(),
    }))
}

fn router() -> Router {
    Router::new().route("/stream", get(counted)).fallback(any(echo))
}

#[derive(Deserialize)]
struct Counted {
    chunks: u64,
    every_ms: u64,
    /// Dies instead of this chunk.
    exit_at: Option<u64>,
}

/// `chunks` lines, each with the time at which it was written.
async fn counted(Query(counted): Query<Counted>) -> Response {
    let chunks = stream::unfold(0, move |n| async move {
        if n > 0 {
            sleep(Duration::from_millis(counted.every_ms)).await;
        }
        if counted.exit_at == Some(n) {
            std::process::exit(1);
        }
        let at = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
        (n < counted.chunks).then(|| (Ok::<_, Infallible>(Bytes::from(format!("{n} {at}\n"))), n + 1))
    });
    ([("content-type", "text/event-stream"), ("set-cookie", "a=1")], Body::from_stream(chunks)).into_response()
}

/// What `lambda_http` made of the request.
async fn echo(request: Request) -> Result<Response, String> {
    let (parts, body) = request.into_parts();
    let body = axum::body::to_bytes(body, usize::MAX).await.map_err(|error| error.to_string())?;
    let header =
        |name: &str| parts.headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
    let echo = json!({
        "method": parts.method.as_str(),
        "path": parts.uri.path(),
        "query": parts.uri.query(),
        "custom": header("x-custom"),
        "cookie": header("cookie"),
        "bytes": body.to_vec(),
    });
    Ok((axum::http::StatusCode::ACCEPTED, echo.to_string()).into_response())
}
