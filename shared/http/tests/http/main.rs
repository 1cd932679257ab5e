//! The endpoints through the router, against a real engine: each test is named after the promise that it keeps.

#![allow(clippy::unwrap_used)]

mod actions;
mod api;
mod calls;
mod keys;
mod mcp;
mod sample;
mod state;
mod tools;
mod webhook;
