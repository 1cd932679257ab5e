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
mod follow;
mod frames;
mod limits;
mod list;
mod presence;
mod queue;
mod reads;
mod scope;
mod snapshot;
mod told;
mod unit;

pub use attached::{Attached, CallPart, Progress, ProgressPart, Slot};
pub use commit::Commit;
pub use document::{Author, Change, Document, Written};
pub use error::StateError;
pub use follow::ScopeFollower;
pub(crate) use follow::ScopeSeen;
pub use frames::StateFrame;
pub use limits::{MAX_COMMIT_BYTES, MAX_DOCUMENTS, MAX_KEY_BYTES, MAX_STATE_FRAME_BYTES, MAX_VALUE_BYTES};
pub use list::List;
pub use presence::{MAX_ACTIVITY_BYTES, PRESENCE_TTL, Present};
pub(crate) use queue::Queues;
pub use scope::Scope;
pub use snapshot::{Snapshot, SnapshotCursor};
pub use told::OnCommit;
pub(crate) use told::Told;
pub use unit::{Line, Unit};
