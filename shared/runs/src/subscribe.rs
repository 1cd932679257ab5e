//! Following a run: every chunk from a position on, once and in order, until the terminal one.
//!
//! Followers in the process of the holder are woken by it. In any other process one poller per run reads the
//! log for all followers, and watches whether the run still has a holder.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use tandem_protocol::{RunId, Seq};
use tandem_store::{Feed, Frame, LogPage, StoreError};
use tokio::sync::watch;
use tokio::time::Instant;

use crate::Runtime;
use crate::observe::Observation;

/// Pause of the poller while chunks arrive, and its longest.
const POLL_MIN: Duration = Duration::from_millis(20);
const POLL_MAX: Duration = Duration::from_millis(500);
/// Frames that a follower reads first.
const FIRST_PAGE: i32 = 32;

/// One reader of a run.
pub struct Follower {
    runtime: Runtime,
    run: RunId,
    feed: Arc<Feed>,
    changed: watch::Receiver<()>,
    /// Frames that were read and not given yet.
    read: VecDeque<Frame>,
    /// Where the next frame to give begins, or for the first one the chunk that it holds.
    next: Seq,
    /// `next` is where a frame begins.
    located: bool,
    /// A page has been read from the store.
    begun: bool,
    /// Everything before this follower's start has been read from the store.
    caught_up: bool,
    ended: bool,
    deadline: Option<Instant>,
}

impl Runtime {
    /// Follows `run` from chunk `from` on. `deadline`: when this process is killed, if it is an invocation.
    /// Whose run it is, is for the caller to check.
    pub fn follow(&self, run: &RunId, from: Seq, deadline: Option<Instant>) -> Follower {
        let feed = self.0.store.feeds().of(run);
        Follower {
            runtime: self.clone(),
            run: run.clone(),
            changed: feed.watch(),
            feed,
            read: VecDeque::new(),
            next: from,
            located: from == 0,
            begun: false,
            caught_up: false,
            ended: false,
            deadline,
        }
    }
}

impl Follower {
    /// The next frame; waits for it. `None` after the terminal chunk. The first one may begin before the chunk
    /// that was asked for: the caller skips what it has.
    ///
    /// Cancel safe: what was not given is given by the next call.
    pub async fn next(&mut self) -> Result<Option<Frame>, StoreError> {
        loop {
            if let Some(frame) = self.ready().await? {
                return Ok(Some(frame));
            }
            if self.ended {
                return Ok(None);
            }
            self.wait().await;
        }
    }

    /// The next frame that is stored already. `None`: there is none yet, or the run has ended.
    pub async fn ready(&mut self) -> Result<Option<Frame>, StoreError> {
        loop {
            if self.ended {
                return Ok(None);
            }
            if let Some(frame) = self.feed.frame_at(self.next) {
                self.read.clear();
                return Ok(Some(self.give(frame)));
            }
            if let Some(frame) = self.read.pop_front() {
                return Ok(Some(self.give(frame)));
            }
            if self.caught_up && self.feed.next().is_none_or(|next| next <= self.next) {
                return Ok(None);
            }
            self.catch_up().await?;
        }
    }

    /// Waits until there may be more. Cancel safe.
    pub async fn wait(&mut self) {
        self.keep_fed();
        // The feed lives as long as this follower does.
        let _ = self.changed.changed().await;
    }

    /// Whether the terminal chunk has been given.
    pub fn has_ended(&self) -> bool {
        self.ended
    }

    /// Whether the log has ended before this follower's position, so that nothing will ever come. Reads, where it must,
    /// what the first chunk needs anyway.
    pub async fn is_past_end(&mut self) -> Result<bool, StoreError> {
        self.locate(true).await?;
        Ok(self.ended)
    }

    fn give(&mut self, frame: Frame) -> Frame {
        self.next = self.next.max(frame.next());
        self.located = true;
        self.ended = frame.is_terminal();
        frame
    }

    /// Reads a page from the store; at first the frame that holds the position, which is given before more is read.
    async fn catch_up(&mut self) -> Result<(), StoreError> {
        self.locate(false).await?;
        if self.ended || !self.read.is_empty() {
            return Ok(());
        }
        // The first page is short, so that what a client waits for does not wait for the rest.
        let limit = (!std::mem::replace(&mut self.begun, true)).then_some(FIRST_PAGE);
        let page = read_on(&self.runtime, &self.run, self.next, limit).await?;
        self.caught_up = !page.more;
        self.read.extend(page.frames);
        Ok(())
    }

    /// Finds the frame that holds the position.
    async fn locate(&mut self, consistent: bool) -> Result<(), StoreError> {
        if self.located {
            return Ok(());
        }
        let frame = self.runtime.store().frame_at(&self.run, self.next, consistent).await?;
        self.located = true;
        match frame {
            Some(frame) if frame.next() > self.next => self.read.push_back(frame),
            // The position is past the end.
            Some(frame) if frame.is_terminal() => self.ended = true,
            // The position is not written yet, and need not be where a frame will begin: read from the end.
            Some(frame) => self.next = frame.next(),
            None => self.next = 0,
        }
        Ok(())
    }

    /// Starts the poller unless somebody feeds this process already.
    fn keep_fed(&self) {
        let Some(source) = self.feed.only_source() else { return };
        let poller = Poller {
            runtime: self.runtime.clone(),
            run: self.run.clone(),
            feed: Arc::clone(&self.feed),
            next: self.next,
            deadline: self.deadline,
        };
        let abandoned = Arc::clone(&self.feed);
        tokio::spawn(async move {
            let _source = source;
            tokio::select! {
                () = poller.run() => {}
                () = abandoned.abandoned() => {}
            }
        });
    }
}

/// Frames from `begin` on, without a hole: what is missing is read again, consistently, and never skipped.
async fn read_on(runtime: &Runtime, run: &RunId, begin: Seq, limit: Option<i32>) -> Result<LogPage, StoreError> {
    let mut page = runtime.store().some_frames(run, begin, false, limit).await?;
    if dense(begin, &page.frames) < page.frames.len() {
        page = runtime.store().some_frames(run, begin, true, limit).await?;
        page.frames.truncate(dense(begin, &page.frames));
    }
    Ok(page)
}

/// How many of the frames follow `begin` without a hole.
fn dense(begin: Seq, frames: &[Frame]) -> usize {
    let mut next = begin;
    frames.iter().take_while(|frame| frame.first == std::mem::replace(&mut next, frame.next())).count()
}

/// Reads the log of one run for all its followers in this process.
struct Poller {
    runtime: Runtime,
    run: RunId,
    feed: Arc<Feed>,
    next: Seq,
    deadline: Option<Instant>,
}

impl Poller {
    async fn run(mut self) {
        let heartbeat = self.runtime.config().heartbeat;
        let mut pause = POLL_MIN;
        let mut seen: Option<Observation> = None;
        let mut look = Instant::now() + heartbeat;
        // A follower may come before the holder: then this one has begun for nothing.
        while !self.feed.is_held() {
            match read_on(&self.runtime, &self.run, self.next, None).await {
                Ok(page) if page.frames.is_empty() => pause = (pause * 2).min(POLL_MAX),
                Ok(page) => {
                    pause = POLL_MIN;
                    for frame in page.frames {
                        self.next = frame.next();
                        let ended = frame.is_terminal();
                        self.feed.publish(frame);
                        if ended {
                            return;
                        }
                    }
                }
                Err(error) => {
                    // Unknown is not dead: read again, a little later.
                    pause = POLL_MAX;
                    tracing::warn!(run = %self.run, %error, "the log could not be read");
                }
            }
            if Instant::now() >= look {
                look = Instant::now() + heartbeat;
                if let Err(error) = self.observe(&mut seen).await {
                    tracing::warn!(run = %self.run, %error, "the run could not be observed");
                }
            }
            tokio::time::sleep(pause).await;
        }
    }

    /// Sets recovery going when nobody holds the run, so that a watched run never waits for the sweeper.
    async fn observe(&self, seen: &mut Option<Observation>) -> Result<(), StoreError> {
        let Some(run) = self.runtime.store().run(&self.run).await? else { return Ok(()) };
        if run.status.is_terminal() {
            return Ok(());
        }
        match seen {
            None => *seen = Some(Observation::new(&run)),
            Some(observation) => {
                if observation.is_still(&run, self.runtime.config()) {
                    *seen = None;
                    // A task of its own: the last follower may leave in the middle of it.
                    let (runtime, deadline) = (self.runtime.clone(), self.deadline);
                    let recovery = async move { runtime.recover(&run, true, deadline).await };
                    if let Ok(recovered) = self.runtime.tasks().spawn(recovery).await {
                        recovered?;
                    }
                }
            }
        }
        Ok(())
    }
}
