//! The promises of a run's life, against the embedded engine, a module per promise.

mod claims;
mod harness;
mod log;
mod providers;
mod recovery;
mod starts;
