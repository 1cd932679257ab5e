//! Log lines, and the metrics that are made of them.

use std::io::{IsTerminal, Stdout, stderr, stdout};

use tracing::Subscriber;
use tracing_subscriber::filter::{EnvFilter, LevelFilter, Targets};
use tracing_subscriber::fmt;
use tracing_subscriber::layer::{Layer, SubscriberExt};
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::SubscriberInitExt;

use crate::env;
use crate::metrics::Metrics;

/// What a local process writes unless `RUST_LOG` says otherwise: warnings and what runs do, but not every sweep, which
/// is every two seconds in `tandem dev`, and without the spans around runs: each line names its run.
const LINES: &str = "warn,tandem_runs=info,tandem_runs::sweep=warn,tandem_runs::span=warn,tandem_http=info";

/// Writes the log lines of a local process to stderr.
pub fn init_logs() {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(LINES));
    let lines = fmt::layer().with_writer(stderr).with_target(false).with_ansi(stderr().is_terminal());
    // A second call in one process changes nothing.
    let _ = tracing_subscriber::registry().with(lines.with_filter(filter)).with(metrics()).try_init();
}

/// Writes a function's log lines to stdout, as its logging configuration on Lambda has them.
pub fn init_function_logs() {
    let level = env("AWS_LAMBDA_LOG_LEVEL").or_else(|| env("RUST_LOG"));
    let level = level.and_then(|level| level.parse().ok()).unwrap_or(LevelFilter::INFO);
    let filter = EnvFilter::builder().with_default_directive(level.into()).from_env_lossy();
    // Lambda adds the time.
    let lines = fmt::layer().with_target(false).without_time();
    let lines = match env("AWS_LAMBDA_LOG_FORMAT").is_some_and(|format| format.eq_ignore_ascii_case("json")) {
        true => lines.json().boxed(),
        false => lines.boxed(),
    };
    tracing_subscriber::registry().with(lines.with_filter(filter)).with(metrics()).init();
}

/// Where METRICS_NAMESPACE is set, what happens is also written as metrics, to stdout.
fn metrics<S: Subscriber + for<'a> LookupSpan<'a>>() -> Option<impl Layer<S>> {
    let ours = Targets::new().with_target("tandem", LevelFilter::INFO);
    env("METRICS_NAMESPACE").map(|namespace| Metrics::<fn() -> Stdout>::new(namespace, stdout).with_filter(ours))
}
