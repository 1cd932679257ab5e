//! Telling whoever made a commit possible of it: the agent says in its run's log what its actions have changed.

use std::fmt;
use std::sync::Arc;

use super::Scope;
use crate::Store;

/// Is told of the scope and its new position; must not block.
pub type OnCommit = Arc<dyn Fn(&Scope, u64) + Send + Sync>;

/// Who is told of the commits that are made through a handle of the store.
#[derive(Clone, Default)]
pub(crate) struct Told(Option<OnCommit>);

impl Told {
    pub(super) fn tell(&self, scope: &Scope, rev: u64) {
        if let Some(on_commit) = &self.0 {
            on_commit(scope, rev);
        }
    }
}

impl fmt::Debug for Told {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "told" } else { "not told" })
    }
}

impl Store {
    /// A handle whose commits of documents are told, each after it has happened. One whose process dies right then is
    /// not: the scope's feed is what never misses one.
    #[must_use]
    pub fn telling(&self, on_commit: OnCommit) -> Self {
        Store { on_commit: Told(Some(on_commit)), ..self.clone() }
    }
}
