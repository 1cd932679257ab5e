//! The harness of the end-to-end tests: real processes of the real `tandem` program on ports of the loopback.
//!
//! Everything here panics where something is not as it must be: that is how a test fails.
//!
//! `TANDEM_BIN` names another program than the one that cargo built, by its whole path, as tests run in a directory of
//! their own; `TANDEM_REAL_TIMES=1` makes some tests try more, for minutes. Those that take minutes in any case are
//! ignored unless `-- --ignored` asks for them, and say so.
#![allow(clippy::unwrap_used)]

mod api;
mod cost;
mod dev;
mod fake_background;
mod log;
mod program;
mod road;
mod split;
mod stream;
mod table;
mod until;
mod window;

pub use api::{Answer, Api, Started};
pub use cost::TurnCost;
pub use dev::Dev;
pub use fake_background::FakeBackground;
pub use log::Log;
pub use program::{Finished, Program, binary, run_to_end};
pub use road::Road;
pub use split::Split;
pub use stream::{End, Event, Stream};
pub use table::{Content, Table};
pub use until::{PATIENCE, until, within};
pub use window::Window;

/// Environment variables of a program.
pub type Env<'a> = &'a [(&'a str, &'a str)];

/// A fresh id.
pub fn new_id() -> String {
    uuid::Uuid::now_v7().simple().to_string()
}
