//! Following a scope: every commit from a position on, once and in order, and who is here.

use std::collections::VecDeque;
use std::sync::Arc;

use tandem_protocol::Principal;
use tokio::sync::watch;
use tokio::time::Instant;

use super::presence::{Beat, Roll};
use super::{Present, Scope, StateError, StateFrame};
use crate::watch::{Pace, Watch};
use crate::{Store, StoreError, now_ms};

/// Frames kept per scope for those who follow; older ones are read from the store.
const KEEP_FRAMES: usize = 256;
/// Bytes kept per scope.
const KEEP_BYTES: usize = 1024 * 1024;

/// What this process has read of a scope.
#[derive(Debug, Default)]
pub(crate) struct ScopeSeen {
    /// Position up to which the feed has been read; none: not yet.
    last: Option<u64>,
    /// The last frames up to there.
    frames: VecDeque<StateFrame>,
    bytes: usize,
    present: Arc<[Present]>,
    /// Goes up with every change of `present`.
    comings: u64,
}

impl ScopeSeen {
    fn keep(&mut self, frame: StateFrame) {
        self.last = Some(frame.rev);
        self.bytes += frame.bytes();
        self.frames.push_back(frame);
        while self.frames.len() > KEEP_FRAMES || (self.bytes > KEEP_BYTES && self.frames.len() > 1) {
            self.bytes -= self.frames.pop_front().map_or(0, |frame| frame.bytes());
        }
    }

    fn frame(&self, rev: u64) -> Option<StateFrame> {
        let first = self.frames.front()?.rev;
        let at = usize::try_from(rev.checked_sub(first)?).ok()?;
        self.frames.get(at).cloned()
    }
}

/// One reader of a scope.
pub struct ScopeFollower {
    store: Store,
    scope: Scope,
    partition: String,
    watch: Arc<Watch<ScopeSeen>>,
    changed: watch::Receiver<()>,
    /// Frames that were read and not given yet.
    read: VecDeque<StateFrame>,
    /// Position of the next frame to give.
    next: u64,
    /// The comings and goings that were given.
    comings: u64,
}

impl Store {
    /// Follows a scope from the commit after `after` on; without it from now on. Whether the caller may, is checked
    /// here, once.
    pub async fn follow_scope(
        &self,
        principal: &Principal,
        scope: &Scope,
        after: Option<u64>,
    ) -> Result<ScopeFollower, StateError> {
        let partition = scope.partition(self, principal).await?;
        let head = self.head(&partition).await?;
        let after = after.unwrap_or(head);
        if after > head {
            return Err(StateError::Expired { scope: scope.clone(), after });
        }
        let watch = self.scopes.of(&partition);
        let mut follower = ScopeFollower {
            store: self.clone(),
            scope: scope.clone(),
            changed: watch.changes(),
            watch,
            partition,
            read: VecDeque::new(),
            next: after + 1,
            comings: 0,
        };
        if after < head {
            follower.catch_up(head).await?;
        }
        Ok(follower)
    }
}

impl ScopeFollower {
    pub fn scope(&self) -> &Scope {
        &self.scope
    }

    /// Everything up to here has been given.
    pub fn position(&self) -> u64 {
        self.next - 1
    }

    /// The next commit that is known already.
    pub async fn ready(&mut self) -> Result<Option<StateFrame>, StateError> {
        loop {
            let last = {
                let seen = self.watch.seen();
                if let Some(frame) = seen.frame(self.next) {
                    self.read.clear();
                    self.next += 1;
                    return Ok(Some(frame));
                }
                seen.last
            };
            if let Some(frame) = self.read.pop_front() {
                self.next = frame.rev + 1;
                return Ok(Some(frame));
            }
            match last {
                Some(last) if last >= self.next => self.catch_up(last).await?,
                _ => return Ok(None),
            }
        }
    }

    /// Who is here, if that has changed since the last call.
    pub fn comings(&mut self) -> Option<Arc<[Present]>> {
        let seen = self.watch.seen();
        if seen.comings == self.comings {
            return None;
        }
        self.comings = seen.comings;
        Some(Arc::clone(&seen.present))
    }

    /// Waits until there may be more. Cancel safe.
    pub async fn wait(&mut self) {
        self.keep_polled();
        // The watch lives as long as this follower does.
        let _ = self.changed.changed().await;
    }

    async fn catch_up(&mut self, last: u64) -> Result<(), StateError> {
        match self.store.feed_page(&self.partition, self.next, last).await? {
            Some(frames) => self.read.extend(frames),
            None => return Err(StateError::Expired { scope: self.scope.clone(), after: self.next - 1 }),
        }
        Ok(())
    }

    fn keep_polled(&self) {
        let Some(polling) = self.watch.only_poller() else { return };
        let poller = Poller {
            store: self.store.clone(),
            partition: self.partition.clone(),
            watch: Arc::clone(&self.watch),
            roll: Roll::default(),
        };
        tokio::spawn(polling.run(poller.run()));
    }
}

/// Reads one scope for all its followers in this process.
struct Poller {
    store: Store,
    partition: String,
    watch: Arc<Watch<ScopeSeen>>,
    roll: Roll,
}

impl Poller {
    async fn run(mut self) {
        let mut pace = Pace::new();
        // The first read shows everything that was there when the followers came.
        let mut consistent = true;
        loop {
            let read = self.read(consistent).await;
            if let Err(error) = &read {
                // Unknown is not nothing: read again, a little later.
                tracing::warn!(%error, "a scope could not be read");
            }
            // The rest of a long read, or what a cheap one has missed.
            let again = matches!(read, Ok(Read { more: true, changed })  if changed || !consistent);
            pace.read(read.map(|read| read.changed));
            consistent = again || pace.wait(&self.watch).await;
        }
    }

    async fn read(&mut self, consistent: bool) -> Result<Read, StoreError> {
        let last = self.watch.seen().last;
        let last = match last {
            Some(last) => last,
            None => {
                let head = self.store.head(&self.partition).await?;
                self.watch.seen().last = Some(head);
                self.watch.publish();
                head
            }
        };
        let polled = self.store.poll_scope(&self.partition, last + 1, consistent).await?;
        let lost = consistent && polled.more && polled.frames.is_empty() && polled.beats.is_some();
        let mut changed = !polled.frames.is_empty();
        if let Some(beats) = &polled.beats {
            changed |= self.call_the_roll(beats);
        }
        if lost {
            // Frames are missing for good, as nobody polled for longer than they are kept: who follows reads anew.
            let head = self.store.head(&self.partition).await?;
            let mut seen = self.watch.seen();
            (seen.last, seen.bytes) = (Some(head), 0);
            seen.frames.clear();
            changed = true;
        }
        if changed {
            let mut seen = self.watch.seen();
            polled.frames.into_iter().for_each(|frame| seen.keep(frame));
            drop(seen);
            self.watch.publish();
        }
        Ok(Read { changed, more: polled.more && !lost })
    }

    /// Whether somebody came, went or does something else.
    fn call_the_roll(&mut self, beats: &[Beat]) -> bool {
        let (here, forgotten) = self.roll.call(beats, Instant::now(), now_ms());
        for beat in forgotten {
            let (store, partition) = (self.store.clone(), self.partition.clone());
            tokio::spawn(async move {
                if let Err(error) = store.forget(&partition, &beat).await {
                    tracing::debug!(%error, "who left could not be forgotten");
                }
            });
        }
        let mut seen = self.watch.seen();
        let first = seen.comings == 0;
        if !first && *seen.present == *here {
            return false;
        }
        seen.present = here.into();
        seen.comings += 1;
        true
    }
}

/// What came of a read.
struct Read {
    changed: bool,
    more: bool,
}
