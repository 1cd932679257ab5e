//! Log lines, and the metrics that are made of them.

use std::io::{IsTerminal, Stdout, stderr, stdout};

use tokio::runtime::Handle;
use tracing::Subscriber;
use tracing_subscriber::filter::{EnvFilter, LevelFilter, Targets};
use tracing_subscriber::fmt;
use tracing_subscriber::layer::{Layer, SubscriberExt};
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::SubscriberInitExt;

use crate::env;
use crate::metrics::Metrics;
use crate::traces::{Traces, export_for_ever, exporter_from_env, has_traces};

/// What a local process writes unless `RUST_LOG` says otherwise: warnings and what runs do, but not every sweep, which
/// is every two seconds in `tandem dev`, and without the spans around runs: each line names its run.
const LINES: &str = "warn,tandem_runs=info,tandem_runs::sweep=warn,tandem_runs::span=warn,tandem_http=info";

/// Writes the log lines of a local process to stderr.
pub fn init_logs() {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(LINES));
    let lines = fmt::layer().with_writer(stderr).with_target(false).with_ansi(stderr().is_terminal());
    // A second call in one process changes nothing.
    let layers = tracing_subscriber::registry().with(lines.with_filter(filter)).with(metrics()).with(traces());
    let begun = layers.try_init().is_ok();
    if let (true, true, Ok(runtime)) = (begun, has_traces(), Handle::try_current()) {
        runtime.spawn(export_for_ever());
    }
}

/// Writes a function's log lines to stdout, as its logging configuration on Lambda has them.
pub fn init_function_logs() {
    let level = env("AWS_LAMBDA_LOG_LEVEL").or_else(|| env("RUST_LOG"));
    let level = level.and_then(|level| level.parse().ok()).unwrap_or(LevelFilter::INFO);
    let filter = EnvFilter::builder().with_default_directive(level.into()).from_env_lossy();
    // Without the span around each worker on Managed Instances: the first one is the invocation's, everywhere.
    let filter = match "lambda_runtime::runtime=warn".parse() {
        Ok(quiet) => filter.add_directive(quiet),
        Err(_) => filter,
    };
    let lines = fmt::layer().with_target(false);
    let lines = match env("AWS_LAMBDA_LOG_FORMAT").is_some_and(|format| format.eq_ignore_ascii_case("json")) {
        // With its `timestamp`: Lambda takes every line without one for INFO, and drops errors where only those are wanted.
        true => lines.json().boxed(),
        // Lambda adds the time.
        false => lines.without_time().boxed(),
    };
    tracing_subscriber::registry().with(lines.with_filter(filter)).with(metrics()).with(traces()).init();
}

/// Where METRICS_NAMESPACE is set, what happens is also written as metrics, to stdout.
fn metrics<S: Subscriber + for<'a> LookupSpan<'a>>() -> Option<impl Layer<S>> {
    let ours = Targets::new().with_target("tandem", LevelFilter::INFO);
    env("METRICS_NAMESPACE").map(|namespace| Metrics::<fn() -> Stdout>::new(namespace, stdout).with_filter(ours))
}

/// Where OTEL_EXPORTER_OTLP_ENDPOINT is set, our spans are sent there.
fn traces<S: Subscriber + for<'a> LookupSpan<'a>>() -> Option<impl Layer<S>> {
    let ours = Targets::new().with_target("tandem", LevelFilter::INFO);
    exporter_from_env().map(|exporter| Traces(exporter).with_filter(ours))
}
