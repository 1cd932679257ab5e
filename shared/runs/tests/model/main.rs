//! A model of a run's life, explored to its bounds: nothing runs twice and nothing is lost.
//!
//! What decides is the runtime's own: `apply`, `recovery`, `Effect` and the fold of the log. What the runtime does
//! between reading and writing is mirrored here, and each place names the file that it mirrors.
//! Starts, and answers to approvals, are models of their own.

#![allow(clippy::print_stdout, clippy::unwrap_used)]

mod approvals;
mod checks;
mod due;
mod guards;
mod holder;
mod life;
mod log;
mod moves;
mod promises;
mod record;
mod rescue;
mod starts;
mod world;
