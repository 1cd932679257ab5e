//! Actions: typed functions that people and the agent call through one door, [`Registry::call`].
//!
//! An action is declared once, with [`action`]; its name, description and schemas come from the code. What
//! happens to it when the machine dies in the middle is its [`Effect`].

mod call;
mod context;
mod declared;
mod definition;
mod described;
mod effect;
mod entry;
mod error;
mod faults;
mod form;
mod handler;
mod input;
mod near;
mod once;
mod order;
mod redact;
mod registry;
mod resources;
mod run;
mod schema;
mod settle;
mod shape;
mod state;
mod text;

pub use call::{Call, IdempotencyKey, OnProgress, Once};
pub use context::Context;
pub use definition::{ActionBuilder, ActionDef, Approval, Method, Surfaces, action};
pub use described::Described;
pub use effect::Effect;
pub use entry::{Entry, NeedsApproval};
pub use error::{ActionError, RegistryError};
pub use form::Form;
pub use handler::Handler;
pub use near::near;
pub use once::call_named;
pub use registry::{Registry, Tool};
pub use settle::result_of;
pub use state::State;
/// What action code needs of other crates, so that an application depends on this one alone.
pub use tandem_protocol::{Caller, Principal, RunId, TenantId, ThreadId, ToolCallId, TurnId, UserId, is_too_deep};
pub use tandem_store::{Document, List, Page, Scope, Store};
