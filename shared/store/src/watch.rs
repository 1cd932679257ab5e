//! Watching things that change in the store, for all who follow them in this process: one poller for each thing.
//!
//! Whoever changes a thing in this process nudges its poller, which then reads at once; changes by other processes are
//! found by polling. So a change is seen by the same road wherever it was made, and followers cost no reads of their
//! own, however many they are. A poller ends when nobody follows any more.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::{Notify, watch};
use tokio::time::Instant;

/// Pause between two reads while a thing changes, and its longest.
const POLL_MIN: Duration = Duration::from_millis(25);
const POLL_MAX: Duration = Duration::from_millis(500);
/// The pause is this part of the time since the last change: who has just changed something will do so again soon.
const PART: u32 = 8;

/// The watched things of one kind in this process, by name.
pub(crate) struct Watches<T>(Arc<Mutex<HashMap<String, Weak<Watch<T>>>>>);

/// What was last read of one thing. It lives as long as somebody follows the thing.
pub(crate) struct Watch<T> {
    seen: Mutex<T>,
    polled: AtomicBool,
    changed: watch::Sender<()>,
    nudge: Notify,
}

impl<T> Clone for Watches<T> {
    fn clone(&self) -> Self {
        Watches(Arc::clone(&self.0))
    }
}

impl<T> Default for Watches<T> {
    fn default() -> Self {
        Watches(Arc::default())
    }
}

impl<T> std::fmt::Debug for Watches<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} watched", locked(&self.0).len())
    }
}

impl<T: Default> Watches<T> {
    /// The watch of this name, made when nobody has it.
    pub(crate) fn of(&self, name: &str) -> Arc<Watch<T>> {
        let mut watches = locked(&self.0);
        if let Some(watch) = watches.get(name).and_then(Weak::upgrade) {
            return watch;
        }
        watches.retain(|_, watch| watch.strong_count() > 0);
        let watch = Arc::new(Watch {
            seen: Mutex::default(),
            polled: AtomicBool::new(false),
            changed: watch::Sender::new(()),
            nudge: Notify::new(),
        });
        watches.insert(name.to_owned(), Arc::downgrade(&watch));
        watch
    }
}

impl<T> Watches<T> {
    /// This process has changed the thing: whoever follows it here sees it at once.
    pub(crate) fn nudge(&self, name: &str) {
        let watch = locked(&self.0).get(name).and_then(Weak::upgrade);
        if let Some(watch) = watch {
            watch.nudge.notify_one();
        }
    }
}

impl<T> Watch<T> {
    /// What was last read. Held for moments only.
    pub(crate) fn seen(&self) -> MutexGuard<'_, T> {
        locked(&self.seen)
    }

    /// Wakes the followers.
    pub(crate) fn publish(&self) {
        self.changed.send_replace(());
    }

    /// Wakes at every publication, and when the poller ends.
    pub(crate) fn changes(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
    }

    /// The right to poll, if nobody has it.
    pub(crate) fn only_poller(self: &Arc<Self>) -> Option<Polling<T>> {
        (!self.polled.swap(true, Ordering::AcqRel)).then(|| Polling(Arc::clone(self)))
    }
}

/// The right to poll a thing, given back when this goes away.
pub(crate) struct Polling<T>(Arc<Watch<T>>);

impl<T> Polling<T> {
    /// Polls until nobody follows any more.
    pub(crate) async fn run(self, poll: impl Future<Output = ()>) {
        tokio::select! {
            () = poll => {}
            () = self.0.changed.closed() => {}
        }
    }
}

impl<T> Drop for Polling<T> {
    fn drop(&mut self) {
        self.0.polled.store(false, Ordering::Release);
        // Who has come in the meantime begins to poll.
        self.0.publish();
    }
}

/// When to read next: soon after a change, seldom after a long silence, at once after a nudge.
pub(crate) struct Pace {
    changed: Instant,
    failing: bool,
}

impl Pace {
    pub(crate) fn new() -> Self {
        Pace { changed: Instant::now(), failing: false }
    }

    /// What the last read was: a change, nothing new, or a failure.
    pub(crate) fn read<E>(&mut self, changed: Result<bool, E>) {
        self.failing = changed.is_err();
        if let Ok(true) = changed {
            self.changed = Instant::now();
        }
    }

    fn pause(&self) -> Duration {
        if self.failing { POLL_MAX } else { (self.changed.elapsed() / PART).clamp(POLL_MIN, POLL_MAX) }
    }

    /// Waits until it is time to read. `true`: the thing was changed by this process, so the read must see it.
    pub(crate) async fn wait<T>(&self, watch: &Watch<T>) -> bool {
        tokio::select! {
            biased;
            () = watch.nudge.notified() => true,
            () = tokio::time::sleep(self.pause()) => false,
        }
    }
}

/// A lock whose holder panicked still guards whole values here: nothing is half done under these locks.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn reads_grow_rare_in_silence_and_come_at_once_after_a_nudge() {
        let watches = Watches::<u32>::default();
        let watch = watches.of("a");
        let mut pace = Pace::new();
        for (silence, pause) in [(0, 25), (1_000, 125), (2_000, 250), (4_000, 500), (60_000, 500)] {
            pace.read(Ok::<_, ()>(true));
            tokio::time::advance(Duration::from_millis(silence)).await;
            assert_eq!(pace.pause().as_millis(), pause, "after {silence} ms");
        }
        pace.read(Err(()));
        assert_eq!(pace.pause(), POLL_MAX);
        watches.nudge("a");
        watches.nudge("nobody follows this");
        let before = Instant::now();
        assert!(pace.wait(&watch).await);
        assert_eq!(before.elapsed(), Duration::ZERO);
        assert!(!pace.wait(&watch).await);
    }

    #[tokio::test]
    async fn there_is_one_poller_while_somebody_follows() {
        let watches = Watches::<u32>::default();
        let watch = watches.of("a");
        let follower = watch.changes();
        let polling = watch.only_poller().unwrap();
        assert!(watches.of("a").only_poller().is_none());
        let task = tokio::spawn(polling.run(std::future::pending()));
        drop(follower);
        task.await.unwrap();
        assert!(watch.only_poller().is_some());
    }
}
