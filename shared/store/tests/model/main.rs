//! A model of shared state: units of work on two scopes, and a window that follows one. No change is lost, none is
//! made on something that is no longer so, and whoever follows the feed sees what is there.

#![allow(clippy::print_stdout, clippy::unwrap_used)]

mod agrees;
mod checks;
mod unit;
mod world;
