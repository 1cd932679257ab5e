//! End-to-end tests: a module per promise, each against processes of the real program.
#![allow(clippy::unwrap_used)]

mod abort;
mod approvals;
mod background_away;
mod bad_input;
mod canaries;
mod cli;
mod crowded;
mod doctor;
mod documents;
mod foreign;
mod hostile;
mod lambda;
mod latency;
mod long_action;
mod main_path;
mod many_hands;
mod one_run;
mod pages;
mod reconnect;
mod refusals;
mod rotation;
mod soft_timeout;
mod stock;
mod store_away;
mod takeover;
mod threads;
mod turn_cost;
mod window;
mod window_cost;
