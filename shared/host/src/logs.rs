//! Log lines of local processes. On Lambda the function's own logging configuration decides.

use tracing_subscriber::EnvFilter;

/// Writes log lines to stderr; `RUST_LOG` chooses which (default: warnings, and what runs do).
pub fn init_logs() {
    let filter =
        EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("warn,tandem_runs=info,tandem_http=info"));
    let lines = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).with_target(false);
    let lines = lines.with_ansi(std::io::IsTerminal::is_terminal(&std::io::stderr()));
    // A second call in one process changes nothing.
    let _ = lines.try_init();
}
