//! Log lines of local processes. On Lambda the function's own logging configuration decides.

use tracing_subscriber::EnvFilter;

/// What is written unless `RUST_LOG` says otherwise: warnings and what runs do, but not every sweep, which is every two
/// seconds in `tandem dev`.
const LINES: &str = "warn,tandem_runs=info,tandem_runs::sweep=warn,tandem_http=info";

/// Writes log lines to stderr.
pub fn init_logs() {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(LINES));
    let lines = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).with_target(false);
    let lines = lines.with_ansi(std::io::IsTerminal::is_terminal(&std::io::stderr()));
    // A second call in one process changes nothing.
    let _ = lines.try_init();
}
