//! DynamoDB on a laptop: the real `aws-sdk-dynamodb` client on an engine inside this process.
//!
//! There is no storage trait in Tandem. The store speaks DynamoDB everywhere, and this crate is what answers
//! it where there is no AWS: a SQLite file behind the same requests, conditions and errors. It has two doors:
//! [`Engine::client`] reaches it without a socket, [`Engine::serve`] offers it over HTTP to other processes.
//!
//! Only `cli` and `testkit` depend on this crate, so that no Lambda bootstrap ever links SQLite.

mod connector;
mod engine;
mod operations;

#[cfg(test)]
mod tests;

pub use engine::{Durability, Engine};
