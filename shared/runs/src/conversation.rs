//! Following a conversation: the thread's record, the messages that are said in it, the runs that answer, by whoever
//! they are started, and every chunk of them, from a position on, once and in order.
//!
//! A message carries the version of the thread that wrote it. Versions never decrease along a thread, as what stands
//! after a message that is written anew does not count any more: so what is new since a version is the end of the
//! thread, and a position is a version, a number and a chunk.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use tandem_protocol::{Principal, Run, RunId, Seq, ThreadId};
use tandem_store::{Frame, Message, MessageBody, StoreError, Thread, ThreadWatch, now_ms};
use tokio::time::Instant;

use crate::{Follower, Runtime};

/// Messages read in one go, from the end of the thread backwards.
const PAGE: u64 = 20;

/// Everything in a conversation up to here is known.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Position {
    /// Version of the thread's record that was told.
    #[serde(rename = "r", default)]
    pub record: u64,
    /// Version of the last message that was told.
    #[serde(rename = "v", default)]
    pub version: u64,
    /// Number of messages up to and with it.
    #[serde(rename = "n", default)]
    pub messages: u64,
    /// The run whose chunks are told, and the next one of them.
    #[serde(rename = "c", default, skip_serializing_if = "Option::is_none")]
    pub chunk: Option<(RunId, Seq)>,
    /// The run that writes the message, while the chunks of one before it are told, which it continues.
    #[serde(rename = "w", default, skip_serializing_if = "Option::is_none")]
    pub writer: Option<RunId>,
}

impl Position {
    /// Where who has read all messages of the thread goes on; the message of a run under way is not read, but followed.
    pub fn after_reading(thread: &Thread, last_user: Option<&Message>) -> Self {
        match (&thread.active, last_user) {
            (Some(_), Some(message)) => Position {
                record: thread.version,
                version: message.version,
                messages: message.n + 1,
                ..Self::default()
            },
            _ => {
                let (version, messages) = (thread.version, thread.length);
                Position { record: version, version, messages, ..Self::default() }
            }
        }
    }

    /// Whether a message was told before.
    fn knows(&self, message: &Message) -> bool {
        message.version < self.version || (message.version == self.version && message.n < self.messages)
    }
}

/// What happens in a conversation.
#[derive(Debug, Clone)]
pub enum Happening {
    /// The record is another one: title, shared, archived, the run under way.
    Record(Thread),
    /// A person said something. It stands at its number, and nothing stands after it any more.
    Said(Message),
    /// A run writes the message at this number, and nothing stands after it any more.
    Run(u64, Run),
    /// Chunks at `from` up to and without `to` of this frame of the run. The run that continues others begins with what
    /// they said, without their ends.
    Chunks { run: RunId, frame: Frame, from: Seq, to: Seq },
    /// The thread is deleted, or not the follower's any more. Nothing follows.
    Gone,
}

/// One follower of a conversation.
pub struct Conversation {
    runtime: Runtime,
    principal: Principal,
    thread: ThreadId,
    watch: ThreadWatch,
    position: Position,
    /// Version of the record whose messages have been read.
    read: u64,
    /// Messages that were read and not told yet.
    messages: VecDeque<Message>,
    following: Option<Follower>,
    gone: bool,
    deadline: Option<Instant>,
}

impl Runtime {
    /// Where a follower begins who knows the thread as it is now, without the message of the run under way.
    pub async fn position_now(&self, thread: &Thread) -> Result<Position, StoreError> {
        let last = match (&thread.active, thread.length.checked_sub(2)) {
            (Some(_), Some(last_user)) => self.0.store.message(thread, last_user).await?,
            _ => None,
        };
        Ok(Position::after_reading(thread, last.as_ref()))
    }

    /// Follows a conversation from a position on, which a client may have made up: what it names of other conversations
    /// is passed over, as if it did not exist. `deadline`: when this process is killed, if it is an invocation.
    pub fn follow_conversation(
        &self,
        principal: &Principal,
        thread: &ThreadId,
        position: Position,
        deadline: Option<Instant>,
    ) -> Conversation {
        Conversation {
            runtime: self.clone(),
            principal: principal.clone(),
            thread: thread.clone(),
            watch: self.0.store.watch_thread(&principal.tenant, thread),
            position,
            read: 0,
            messages: VecDeque::new(),
            following: None,
            gone: false,
            deadline,
        }
    }
}

impl Conversation {
    /// Everything up to here has been given.
    pub fn position(&self) -> &Position {
        &self.position
    }

    /// The run that is followed now.
    pub fn run(&self) -> Option<&RunId> {
        self.position.writer.as_ref().or(self.position.chunk.as_ref().map(|(run, _)| run))
    }

    /// What has happened next and is known already. `position` then includes it.
    pub async fn ready(&mut self) -> Result<Option<Happening>, StoreError> {
        loop {
            let Some(latest) = self.watch.latest().filter(|_| !self.gone) else { return Ok(None) };
            let Some(thread) = latest.filter(|thread| thread.access(&self.principal).is_some()) else {
                self.gone = true;
                self.following = None;
                return Ok(Some(Happening::Gone));
            };
            if thread.version > self.position.record {
                self.position.record = thread.version;
                return Ok(Some(Happening::Record(thread)));
            }
            if let Some((run, from)) = self.position.chunk.clone() {
                let followed = run.clone();
                if let Some(chunks) = self.chunks(run, from).await? {
                    return Ok(Some(chunks));
                }
                if self.position.chunk.as_ref().is_some_and(|(now, _)| *now == followed) {
                    return Ok(None);
                }
                continue;
            }
            if let Some(happening) = self.next_message().await? {
                return Ok(Some(happening));
            }
            if self.read >= thread.version {
                return Ok(None);
            }
            self.messages = self.new_messages(&thread).await?.into();
            self.read = thread.version;
        }
    }

    /// Waits until there may be more. Cancel safe.
    pub async fn wait(&mut self) {
        match &mut self.following {
            Some(follower) => tokio::select! {
                () = self.watch.wait() => {}
                () = follower.wait() => {}
            },
            None => self.watch.wait().await,
        }
    }

    /// The next chunks of the run that is followed. None: there are none yet, or the run is over and left.
    async fn chunks(&mut self, run: RunId, from: Seq) -> Result<Option<Happening>, StoreError> {
        if self.following.is_none() {
            if !self.is_there(&run).await? {
                // Its log is deleted: what it said is in the thread's messages, if it still counts.
                self.go_on_after(&run).await?;
                return Ok(None);
            }
            self.following = Some(self.runtime.follow(&run, from, self.deadline));
        }
        let Some(follower) = &mut self.following else { return Ok(None) };
        if let Some(frame) = follower.ready().await? {
            self.position.chunk = Some((run.clone(), from.max(frame.next())));
            let goes_on = frame.is_terminal() && self.position.writer.is_some();
            let to = frame.next() - Seq::from(goes_on);
            return Ok(Some(Happening::Chunks { run, frame, from, to }));
        }
        if follower.has_ended() {
            self.following = None;
            self.go_on_after(&run).await?;
        }
        Ok(None)
    }

    /// The run whose chunks come after those of `run`, if one continues it: without its `start`.
    async fn go_on_after(&mut self, run: &RunId) -> Result<(), StoreError> {
        self.position.chunk = None;
        let Some(writer) = self.position.writer.clone() else { return Ok(()) };
        let next = self.before(&writer, |earlier| earlier == run).await?;
        self.position.writer = (next != writer).then_some(writer);
        self.position.chunk = Some((next, 1));
        Ok(())
    }

    /// From `writer` back along the runs that it continues: the one right after that which is `reached`, or the first.
    async fn before(&self, writer: &RunId, reached: impl Fn(&RunId) -> bool) -> Result<RunId, StoreError> {
        let mut id = writer.clone();
        while let Some(run) = self.own_run(&id).await?
            && let Some(earlier) = run.continues
            && !reached(&earlier)
        {
            id = earlier;
        }
        Ok(id)
    }

    async fn is_there(&self, run: &RunId) -> Result<bool, StoreError> {
        let run = self.own_run(run).await?;
        Ok(run.is_some_and(|run| run.expires_at.is_none_or(|expires| expires > now_ms() / 1000)))
    }

    /// A run of this conversation; any other is the same as none.
    async fn own_run(&self, id: &RunId) -> Result<Option<Run>, StoreError> {
        let run = self.runtime.store().run(id).await?;
        Ok(run.filter(|run| run.owner.tenant == self.principal.tenant && run.thread_id.as_ref() == Some(&self.thread)))
    }

    async fn next_message(&mut self) -> Result<Option<Happening>, StoreError> {
        while let Some(message) = self.messages.front().cloned() {
            // Of what was read while others wrote, only what is in order counts; the rest is read again.
            if self.position.knows(&message) {
                self.messages.pop_front();
                continue;
            }
            let run = match &message.body {
                MessageBody::User { .. } => None,
                MessageBody::Assistant { run } => Some(run.clone()),
            };
            let record = match &run {
                Some(run) => self.runtime.store().run(run).await?,
                None => None,
            };
            self.messages.pop_front();
            (self.position.version, self.position.messages) = (message.version, message.n + 1);
            match (run, record) {
                (None, _) => return Ok(Some(Happening::Said(message))),
                (Some(run), Some(record)) => {
                    let first = self.before(&run, |_| false).await?;
                    self.position.writer = (first != run).then_some(run);
                    self.position.chunk = Some((first, 0));
                    return Ok(Some(Happening::Run(message.n, record)));
                }
                // So long ago that its log is deleted.
                (Some(_), None) => {}
            }
        }
        Ok(None)
    }

    /// The messages at the end of the thread that were not told yet.
    async fn new_messages(&self, thread: &Thread) -> Result<Vec<Message>, StoreError> {
        let mut new: Vec<Message> = Vec::new();
        let mut end = thread.length;
        while end > 0 {
            let begin = end.saturating_sub(PAGE);
            let page = self.runtime.store().messages(thread, begin, end).await?;
            let reaches = page.first().is_none_or(|first| self.position.knows(first));
            let unknown = page.into_iter().filter(|message| !self.position.knows(message));
            new = unknown.chain(new).collect();
            if reaches {
                break;
            }
            end = begin;
        }
        Ok(new)
    }
}
