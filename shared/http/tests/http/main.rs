//! The endpoints through the router, against a real engine: each test is named after the promise that it keeps.

#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod actions;
mod api;
mod calls;
mod catalogue;
mod cost;
mod dispatch;
mod faults;
mod instructions;
mod keys;
mod long_pages;
mod mcp;
mod one_more;
mod sample;
mod state;
mod tools;
mod walk;
mod webhook;
