//! Why a unit of work cannot go on.

use super::Scope;
use crate::StoreError;

/// A lost race is not an error but a [`super::Commit`].
#[derive(Debug, Clone, thiserror::Error)]
pub enum StateError {
    /// There is no such scope, or it is not the caller's.
    #[error("there is no scope {0}, or it is not yours")]
    NoSuchScope(Scope),
    /// The key is not one.
    #[error("{key:?} is not a key: {detail}")]
    BadKey { key: String, detail: String },
    /// Whoever reads the value inside of something else could not read it.
    #[error("the value of {0:?} is nested too deeply: at most 64 levels of lists and objects can be stored")]
    TooDeep(String),
    /// More than one commit can hold; the text says what to do.
    #[error("{0}")]
    TooLarge(String),
    /// The changes after this position are not kept any more, or there is no such position: read the documents, and go
    /// on from their position.
    #[error("the changes of {scope} after {after} are not there any more: read the documents again")]
    Expired { scope: Scope, after: u64 },
    #[error(transparent)]
    Store(#[from] StoreError),
}
