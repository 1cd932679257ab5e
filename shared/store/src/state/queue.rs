//! Commits of one process to one scope go one after the other: each of them needs HEAD to stand still, and sending them
//! at once would only make them refuse each other. Among processes the store decides.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tokio::sync::{Mutex as Turn, OwnedMutexGuard};

/// The position that this process last knew of the scope.
type Known = u64;

/// The queues of this process, by partition.
#[derive(Debug, Clone, Default)]
pub(crate) struct Queues(Arc<Mutex<HashMap<String, Weak<Turn<Known>>>>>);

impl Queues {
    /// Waits for this process's turn at a scope. What it holds is a hint: HEAD was there, and may have moved on.
    pub(super) async fn turn(&self, partition: &str) -> OwnedMutexGuard<Known> {
        self.of(partition).lock_owned().await
    }

    /// Waits among those of this process who lost a race at a scope: they run again one after the other, for together they
    /// would go on refusing each other.
    pub(super) async fn line(&self, partition: &str) -> OwnedMutexGuard<Known> {
        self.of(&format!("again {partition}")).lock_owned().await
    }

    fn of(&self, partition: &str) -> Arc<Turn<Known>> {
        let mut queues = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(queue) = queues.get(partition).and_then(Weak::upgrade) {
            return queue;
        }
        queues.retain(|_, queue| queue.strong_count() > 0);
        let queue = Arc::new(Turn::new(0));
        queues.insert(partition.to_owned(), Arc::downgrade(&queue));
        queue
    }
}
