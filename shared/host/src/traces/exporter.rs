//! What has closed, and its way to the collector.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::Value;
use tokio::sync::OnceCell;
use tokio::time::{Instant, timeout};

use super::otlp;
use crate::env;

/// How long a collector may hold up the end of an invocation. What a client reads has been sent before.
const LIMIT: Duration = Duration::from_millis(500);
/// How long a collector that did not answer is left alone.
const PAUSE: Duration = Duration::from_secs(30);
/// What waits for a collector at most; more is dropped.
const MOST: usize = 4096;
/// How often a process that nothing freezes sends.
const EVERY: Duration = Duration::from_secs(1);

static EXPORTER: OnceLock<Arc<Exporter>> = OnceLock::new();

/// Sends the spans that have closed to the collector, if there is one. It comes back soon whatever the collector does, and
/// is for the end of an invocation: a process that is frozen afterwards sends nothing.
pub async fn flush_traces() {
    if let Some(exporter) = EXPORTER.get() {
        exporter.flush().await;
    }
}

/// Whether there is a collector.
pub fn has_traces() -> bool {
    EXPORTER.get().is_some()
}

/// Sends from time to time, in a process that goes on.
pub(crate) async fn export_for_ever() {
    loop {
        tokio::time::sleep(EVERY).await;
        flush_traces().await;
    }
}

/// The collector that OpenTelemetry's variables name.
pub(crate) fn exporter_from_env() -> Option<Arc<Exporter>> {
    let endpoint = env("OTEL_EXPORTER_OTLP_ENDPOINT")?;
    let service = env("OTEL_SERVICE_NAME").or_else(|| env("AWS_LAMBDA_FUNCTION_NAME")).unwrap_or("tandem".into());
    let headers = headers(&env("OTEL_EXPORTER_OTLP_HEADERS").unwrap_or_default());
    Some(Arc::clone(EXPORTER.get_or_init(|| Arc::new(Exporter::new(&endpoint, &service, headers)))))
}

/// Spans on their way to one collector.
pub(crate) struct Exporter {
    url: String,
    headers: Vec<(String, String)>,
    resource: Vec<(String, String)>,
    /// Made when it is needed: a start must not wait for it.
    client: OnceCell<reqwest::Client>,
    waiting: Mutex<Vec<Value>>,
    left_alone_until: Mutex<Option<Instant>>,
}

impl Exporter {
    /// `endpoint`: the collector's address, without `/v1/traces`.
    pub(crate) fn new(endpoint: &str, service: &str, headers: Vec<(String, String)>) -> Self {
        Exporter {
            url: format!("{}/v1/traces", endpoint.trim_end_matches('/')),
            headers,
            resource: vec![("service.name".into(), service.into())],
            client: OnceCell::new(),
            waiting: Mutex::default(),
            left_alone_until: Mutex::default(),
        }
    }

    pub(crate) fn keep(&self, span: Value) {
        let mut waiting = locked(&self.waiting);
        if waiting.len() < MOST {
            waiting.push(span);
        }
    }

    pub(crate) fn take(&self) -> Vec<Value> {
        std::mem::take(&mut locked(&self.waiting))
    }

    async fn flush(&self) {
        let spans = self.take();
        // What closes while the collector does not answer is lost, and no run waits for it.
        if spans.is_empty() || locked(&self.left_alone_until).is_some_and(|until| Instant::now() < until) {
            return;
        }
        let count = spans.len();
        let sent = timeout(LIMIT, self.send(spans)).await.context("no answer in time").and_then(|sent| sent);
        if let Err(error) = sent {
            *locked(&self.left_alone_until) = Some(Instant::now() + PAUSE);
            tracing::warn!(
                error = format!("{error:#}"),
                count,
                "spans were not sent; the collector is left alone for a while"
            );
        }
    }

    async fn send(&self, spans: Vec<Value>) -> Result<()> {
        // No connection is kept: after a freeze it would be dead.
        let client = || async { reqwest::Client::builder().pool_max_idle_per_host(0).build() };
        let client = self.client.get_or_try_init(client).await?;
        let request = client.post(&self.url).json(&otlp::request(&self.resource, spans));
        let request = self.headers.iter().fold(request, |request, (name, value)| request.header(name, value));
        match request.send().await?.status() {
            status if status.is_success() => Ok(()),
            status => bail!("the collector answered {status}"),
        }
    }
}

/// `name=value,...`, with what is special in values as `%20`.
fn headers(text: &str) -> Vec<(String, String)> {
    let pairs = text.split(',').filter_map(|pair| pair.split_once('='));
    pairs.map(|(name, value)| (name.trim().to_owned(), decoded(value.trim()))).collect()
}

fn decoded(text: &str) -> String {
    let mut parts = text.split('%');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |all, part| {
        let byte = part.get(..2).and_then(|hex| u8::from_str_radix(hex, 16).ok()).filter(u8::is_ascii);
        match byte {
            Some(byte) => all + &char::from(byte).to_string() + &part[2..],
            None => all + "%" + part,
        }
    })
}

/// A panic elsewhere leaves these as good as they were.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_read_as_opentelemetry_writes_them() {
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let read = headers("authorization=Basic%20YTpi==, x-team = 100%");
        assert_eq!(read, [pair("authorization", "Basic YTpi=="), pair("x-team", "100%")]);
        assert_eq!(headers(""), []);
    }

    #[tokio::test]
    async fn a_collector_that_does_not_answer_holds_nobody_up_and_is_left_alone() {
        // It accepts and says nothing.
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let exporter = Exporter::new(&format!("http://{}", listener.local_addr().unwrap()), "test", Vec::new());
        let took = async || {
            exporter.keep(Value::Null);
            let began = Instant::now();
            exporter.flush().await;
            began.elapsed()
        };
        let first = took().await;
        assert!(first >= LIMIT && first < LIMIT * 4, "{first:?}");
        assert!(took().await < LIMIT / 2);
        assert_eq!(exporter.take(), Vec::<Value>::new());
    }
}
