//! A small Lambda: runs real bootstraps as child processes and speaks to both of their sides.
//!
//! Towards a function it is the Runtime API (`/2018-06-01/runtime/invocation/next` and its answers); towards
//! clients it is a Function URL that streams, and the Invoke API with a queue behind `Event`. It keeps what Lambda
//! keeps and emulators do not: one invocation per process at a time, a process that is frozen in between, a real
//! deadline with a kill at its end, 202 at once for `Event`, and deliveries that come late, twice or never. With
//! [`Function::concurrency`] it keeps what Managed Instances do.
//!
//! What it does not have: extensions, SnapStart, memory limits, permissions, versions and aliases.

mod config;
mod event;
mod failure_queue;
mod function_url;
mod host;
mod instance;
mod invoke_api;
mod payload;
mod pool;
mod prelude;
mod process;
mod queue;
mod records;
mod rie;
mod runtime_api;

pub use config::{Delivery, Function, Queue};
pub use host::LambdaHost;
pub use records::{FailedEvent, Invocation, Invoker, Outcome};
pub use rie::runtime_interface_emulator;
