//! The description of the API: OpenAPI 3.1, made from the table of routes and the registry of actions.
//!
//! Nothing here is written twice: schemas come from the types, descriptions from doc comments, operations from
//! where their handlers are. The document is checked in as `docs/openapi.json`.

mod actions;
mod document;
mod operation;
mod problems;
mod schemas;
#[cfg(test)]
mod tests;

pub(crate) use document::describe;
pub use document::openapi;
pub(crate) use operation::{Operation, operation};
pub(crate) use schemas::fields_never_null;
