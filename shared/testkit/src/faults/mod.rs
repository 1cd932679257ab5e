//! Breaking things on purpose: a DynamoDB that fails at the k-th call or write, and processes that are killed,
//! put to sleep or given a wrong clock.
//!
//! A [`Proxy`] stands between one process and the engine, so that the calls of each process are counted by
//! themselves. What is to go wrong is plain data, a [`Plan`]; what happened is a trace of [`Call`]s.

mod clock;
mod latency;
mod operation;
mod plan;
mod proxy;
mod refusal;
mod server;
mod signals;

#[cfg(test)]
mod tests;

pub use clock::ClockShift;
pub use latency::Latency;
pub use operation::Operation;
pub use plan::{At, Fault, Moment, Plan};
pub use proxy::{Call, Hook, Proxy, Then};
pub use refusal::Refusal;
pub use signals::{kill, pause, resume};
