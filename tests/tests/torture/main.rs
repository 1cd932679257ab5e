//! Torture: everything that can be broken is broken, at every write, and afterwards everything must be true.
//!
//! A [`Case`](case::Case) is one turn in a world of separate processes, with one [fault](faults) at the k-th write
//! of one of them. `make torture` runs all of them and writes the table in `docs/reliability.md`; a plain
//! `cargo test` runs a fixed sample.
#![allow(clippy::print_stdout, clippy::unwrap_used)]

mod case;
mod checks;
mod client;
mod clocks;
mod cut;
mod effects;
mod elsewhere;
mod every_write;
mod evidence;
mod faults;
mod lanes;
mod mid_stream;
mod report;
mod scenario;
mod setting;
mod strike;
mod worker;
mod world;

use std::sync::LazyLock;

use tokio::sync::Mutex;

/// One test at a time: each keeps the machine busy by itself, and a busy machine looks like a dead one.
static ALONE: LazyLock<Mutex<()>> = LazyLock::new(Mutex::default);

/// Whether everything is asked for, or only the sample.
fn all() -> bool {
    std::env::var("TORTURE").is_ok_and(|value| value == "all")
}
