//! The promises of a run's life, against the embedded engine, a module per promise.

#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod actions;
mod approvals;
mod claims;
mod deleted;
mod harness;
mod log;
mod providers;
mod recovery;
mod starts;
