//! Following the record of a thread: what changes in it is known here at once, and from other processes by polling.

use std::sync::Arc;

use tandem_protocol::{TenantId, ThreadId};
use tokio::sync::watch;

use crate::watch::{Pace, Watch};
use crate::{Store, StoreError, Thread, keys};

/// What this process has read of a thread.
#[derive(Debug, Default)]
pub(crate) struct ThreadSeen {
    /// None: not read yet. None inside: there is no such thread.
    latest: Option<Option<Thread>>,
}

/// One follower of a thread's record. Whose thread it is, is for the caller to check, on every change.
pub struct ThreadWatch {
    store: Store,
    tenant: TenantId,
    thread: ThreadId,
    watch: Arc<Watch<ThreadSeen>>,
    changed: watch::Receiver<()>,
}

impl Store {
    pub fn watch_thread(&self, tenant: &TenantId, thread: &ThreadId) -> ThreadWatch {
        let watch = self.watched_threads.of(&keys::thread_partition(tenant, thread));
        ThreadWatch {
            store: self.clone(),
            tenant: tenant.clone(),
            thread: thread.clone(),
            changed: watch.changes(),
            watch,
        }
    }

    /// This process has changed the thread.
    pub(crate) fn nudge_thread(&self, tenant: &TenantId, thread: &ThreadId) {
        self.watched_threads.nudge(&keys::thread_partition(tenant, thread));
    }
}

impl ThreadWatch {
    /// The record as it was last read; `None` inside: there is none. `None`: it has not been read yet.
    pub fn latest(&self) -> Option<Option<Thread>> {
        self.watch.seen().latest.clone()
    }

    /// Waits until it may have changed. Cancel safe.
    pub async fn wait(&mut self) {
        if let Some(polling) = self.watch.only_poller() {
            let (store, watch) = (self.store.clone(), Arc::clone(&self.watch));
            let (tenant, thread) = (self.tenant.clone(), self.thread.clone());
            tokio::spawn(polling.run(async move { poll(&store, &watch, &tenant, &thread).await }));
        }
        // The watch lives as long as this follower does.
        let _ = self.changed.changed().await;
    }
}

async fn poll(store: &Store, watch: &Watch<ThreadSeen>, tenant: &TenantId, thread: &ThreadId) {
    let mut pace = Pace::new();
    let mut consistent = true;
    loop {
        let read = store.read_thread(tenant, thread, consistent).await;
        let changed = read.map(|read| is_news(watch, read, consistent));
        match &changed {
            Ok(true) => watch.publish(),
            Ok(false) => {}
            // Unknown is not gone: read again, a little later.
            Err(error) => tracing::warn!(%thread, %error, "a thread could not be read"),
        }
        pace.read::<StoreError>(changed);
        consistent = pace.wait(watch).await;
    }
}

/// Takes what was read, if it is newer than what is known. A cheap read may be older, and never shows an absence.
fn is_news(watch: &Watch<ThreadSeen>, read: Option<Thread>, consistent: bool) -> bool {
    let mut seen = watch.seen();
    let news = match (&seen.latest, &read) {
        (None, Some(_)) => true,
        (Some(Some(known)), Some(read)) => read.version > known.version,
        (Some(None), Some(_)) => consistent,
        (Some(None), None) => false,
        (None | Some(Some(_)), None) => consistent,
    };
    if news {
        seen.latest = Some(read);
    }
    news
}
