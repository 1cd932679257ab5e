//! What this process has just stored or read of running logs, so that followers share it.
//!
//! A holder publishes each frame after it is stored; a poller publishes each frame that it reads. Followers in
//! the same process then need no reads of their own, however many they are.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use tandem_protocol::{RunId, Seq};
use tokio::sync::watch;

use crate::Frame;

/// Frames kept per run; older ones are read from the store.
const KEEP_FRAMES: usize = 128;
/// Bytes kept per run.
const KEEP_BYTES: usize = 1024 * 1024;

/// The feeds of this process.
#[derive(Debug, Clone, Default)]
pub struct Feeds(Arc<Mutex<HashMap<RunId, Weak<Feed>>>>);

/// The recent frames of one run. It lives as long as somebody follows or holds the run.
#[derive(Debug)]
pub struct Feed {
    recent: Mutex<Recent>,
    changed: watch::Sender<()>,
}

#[derive(Debug, Default)]
struct Recent {
    frames: VecDeque<Frame>,
    bytes: usize,
    /// Holders and pollers in this process that keep the feed up to date.
    sources: usize,
    /// The holders among them.
    holders: usize,
}

impl Feeds {
    /// The feed of `run`, made when nobody has it.
    pub fn of(&self, run: &RunId) -> Arc<Feed> {
        let mut feeds = locked(&self.0);
        if let Some(feed) = feeds.get(run).and_then(Weak::upgrade) {
            return feed;
        }
        feeds.retain(|_, feed| feed.strong_count() > 0);
        let feed = Arc::new(Feed { recent: Mutex::default(), changed: watch::Sender::new(()) });
        feeds.insert(run.clone(), Arc::downgrade(&feed));
        feed
    }

    /// Tells the followers of `run` of a stored frame, if there are any.
    pub(crate) fn publish(&self, run: &RunId, frame: Frame) {
        let feed = locked(&self.0).get(run).and_then(Weak::upgrade);
        if let Some(feed) = feed {
            feed.publish(frame);
        }
    }
}

impl Feed {
    /// Adds a frame. Frames come in order from each source; what is known already is ignored, and after a gap
    /// only what follows it is kept, so that the kept frames are always without holes.
    pub fn publish(&self, frame: Frame) {
        let mut recent = locked(&self.recent);
        match recent.frames.back() {
            Some(last) if frame.first < last.next() => return,
            Some(last) if frame.first > last.next() => {
                recent.frames.clear();
                recent.bytes = 0;
            }
            _ => {}
        }
        recent.bytes += frame.bytes();
        recent.frames.push_back(frame);
        while recent.frames.len() > KEEP_FRAMES || (recent.bytes > KEEP_BYTES && recent.frames.len() > 1) {
            let dropped = recent.frames.pop_front().map_or(0, |frame| frame.bytes());
            recent.bytes -= dropped;
        }
        drop(recent);
        self.changed.send_replace(());
    }

    /// The kept frame that holds `seq`; an error says where the kept frames begin, if there are any.
    pub fn frame_at(&self, seq: Seq) -> Option<Frame> {
        let recent = locked(&self.recent);
        recent.frames.iter().rev().find(|frame| frame.first <= seq && seq < frame.next()).cloned()
    }

    /// Where the last kept frame ends.
    pub fn next(&self) -> Option<Seq> {
        locked(&self.recent).frames.back().map(Frame::next)
    }

    /// Resolves when nobody follows any more.
    pub async fn abandoned(&self) {
        self.changed.closed().await;
    }

    /// Wakes at every publication, and when a source goes away.
    pub fn watch(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
    }

    /// Registers the holder of the run for as long as the guard lives.
    pub fn holder(self: &Arc<Self>) -> Source {
        let mut recent = locked(&self.recent);
        recent.sources += 1;
        recent.holders += 1;
        Source { feed: Arc::clone(self), holds: true }
    }

    /// Registers a poller only if there is no source.
    pub fn only_source(self: &Arc<Self>) -> Option<Source> {
        let mut recent = locked(&self.recent);
        (recent.sources == 0).then(|| {
            recent.sources += 1;
            Source { feed: Arc::clone(self), holds: false }
        })
    }

    /// Whether the holder of the run is in this process: then nobody needs to poll.
    pub fn is_held(&self) -> bool {
        locked(&self.recent).holders > 0
    }
}

/// Keeps a feed up to date while it lives.
#[derive(Debug)]
pub struct Source {
    feed: Arc<Feed>,
    holds: bool,
}

impl Drop for Source {
    fn drop(&mut self) {
        let mut recent = locked(&self.feed.recent);
        recent.sources -= 1;
        recent.holders -= usize::from(self.holds);
        drop(recent);
        self.feed.changed.send_replace(());
    }
}

/// A lock whose holder panicked still guards whole values here: nothing is half done under these locks.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Append;
    use tandem_protocol::Chunk;

    fn frame(first: Seq, count: usize) -> Frame {
        Append::new(first, 1, &vec![Chunk::StartStep; count]).unwrap().frame()
    }

    #[test]
    fn kept_frames_never_have_a_hole() {
        let feeds = Feeds::default();
        let run = RunId::new("run_1").unwrap();
        let feed = feeds.of(&run);
        for frame in [frame(0, 2), frame(2, 1), frame(0, 2)] {
            feeds.publish(&run, frame);
        }
        assert_eq!(feed.next(), Some(3));
        assert_eq!(feed.frame_at(1).map(|f| f.first), Some(0));
        feeds.publish(&run, frame(9, 1));
        assert_eq!(feed.frame_at(1), None);
        assert_eq!(feed.frame_at(9).map(|f| f.first), Some(9));
    }

    #[test]
    fn a_feed_has_one_source_at_a_time_when_asked() {
        let feed = Feeds::default().of(&RunId::new("run_1").unwrap());
        let first = feed.only_source();
        assert!(first.is_some());
        assert!(feed.only_source().is_none());
        drop(first);
        assert!(feed.only_source().is_some());
    }

    #[test]
    fn a_poller_learns_that_the_holder_is_here() {
        let feed = Feeds::default().of(&RunId::new("run_1").unwrap());
        let poller = feed.only_source();
        assert!(!feed.is_held());
        let holder = feed.holder();
        assert!(feed.is_held());
        drop((poller, holder));
        assert!(!feed.is_held() && feed.only_source().is_some());
    }
}
