//! The HTTPS endpoints: one file per resource under `routes`.
//!
//! Failures before a stream begins are problems; afterwards they are chunks. A body never yields an error and
//! never just stops: a stream that ends without a terminal chunk means "come back with your cursor".

mod app;
mod body;
mod caller;
mod cors;
mod description;
mod pages;
mod problem;
mod query;
mod request;
mod route;
mod routes;
mod sign_in;
mod sse;
mod stream;
mod tally;
mod view;

pub use app::{App, Deadline, Hosts, router};
pub use cors::{Cors, NoOrigin};
pub use description::openapi;
pub use pages::Pages;
pub use problem::ApiError;
