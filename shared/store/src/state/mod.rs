//! Shared state: documents in scopes, changed in units of work, every change with its entry in the scope's feed.
//!
//! Each scope has a HEAD item with its position, which never expires. A unit of work reads HEAD before the first
//! document of the scope and commits on the condition that HEAD has not moved, so what it read is what it changes.
//! Documents, feed frame and HEAD are written in one transaction: no change is visible without its feed entry.

mod attached;
mod commit;
mod document;
mod error;
mod feed;
mod limits;
mod list;
mod reads;
mod scope;
mod unit;

pub use attached::{Attached, CallPart, Progress, ProgressPart, Slot};
pub use commit::Commit;
pub use document::{Author, Change, Document, Written};
pub use error::StateError;
pub use limits::{MAX_COMMIT_BYTES, MAX_DOCUMENTS, MAX_KEY_BYTES, MAX_STATE_FRAME_BYTES, MAX_VALUE_BYTES};
pub use list::List;
pub use scope::Scope;
pub use unit::Unit;
