//! What holds for any bytes that come from outside. Each check takes bytes and panics where a promise is broken.
//!
//! `tests/any_bytes.rs` tries them with samples, with samples cut at every byte, and with samples that were changed;
//! `fuzz/` tries them with whatever libFuzzer thinks of. What that finds becomes a sample.
#![allow(clippy::unwrap_used)]

mod dispatch;
mod log;
mod provider;
mod query;
mod request;
mod turn;

use std::sync::OnceLock;

use tokio::runtime::Runtime;

/// A check, with bytes that are as they should be.
pub struct Check {
    pub name: &'static str,
    pub run: fn(&[u8]),
    pub samples: fn() -> Vec<Vec<u8>>,
}

/// Every check.
pub const CHECKS: [Check; 6] = [
    Check { name: "dispatch", run: dispatch::check, samples: dispatch::samples },
    Check { name: "log", run: log::check, samples: log::samples },
    Check { name: "provider", run: provider::check, samples: provider::samples },
    Check { name: "query", run: query::check, samples: query::samples },
    Check { name: "request", run: request::check, samples: request::samples },
    Check { name: "turn", run: turn::check, samples: turn::samples },
];

/// Runs the check of this name.
pub fn run(name: &str, bytes: &[u8]) {
    let check = CHECKS.iter().find(|check| check.name == name).unwrap();
    (check.run)(bytes);
}

/// The one runtime, for checks that need one.
fn runtime() -> &'static Runtime {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    RUNTIME.get_or_init(|| tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap())
}

fn text_samples(samples: &[&str]) -> Vec<Vec<u8>> {
    samples.iter().map(|sample| sample.as_bytes().to_vec()).collect()
}
