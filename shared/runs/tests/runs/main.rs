//! The promises of a run's life, against the embedded engine, a module per promise.

#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod actions;
mod approvals;
mod calls;
mod claims;
mod deleted;
mod dispatches;
mod harness;
mod holders;
mod log;
mod providers;
mod recovery;
mod shared;
mod spending;
mod spending_kills;
mod starts;
mod stops;
mod sweeps;
