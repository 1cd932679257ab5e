//! The store: everything that Tandem keeps, in one DynamoDB table, through aws-sdk-dynamodb.
//!
//! There is no storage trait. Locally the same client talks to an embedded DynamoDB engine, so the conditions
//! that guard production are the ones that run on a laptop.
//!
//! Every write that must not happen twice carries a `writer`, unique per logical write: a retry that meets its
//! own earlier success recognises it and reports success.

mod access;
mod answers;
mod error;
mod feed;
mod input;
mod intents;
mod items;
mod keys;
mod log;
mod log_writer;
mod messages;
mod outcomes;
mod removal;
mod requests;
mod runs;
mod spending;
mod start;
mod state;
mod table;
mod thread_list;
mod thread_watch;
mod threads;
mod turns;
mod under_way;
mod update;
mod watch;
mod write;

pub use access::Access;
pub use answers::AnswerParts;
pub use error::StoreError;
pub use feed::{Feed, Feeds};
pub use input::{ActionCall, Input};
pub use intents::{Intent, IntentKey};
pub use log::{Append, Frame, LogPage, MAX_CHUNK_BYTES, MAX_FRAME_BYTES, StoredChunk, Tail};
pub use log_writer::{AppendError, LogWriter, Rest};
pub use messages::{Message, MessageBody};
pub use outcomes::Outcome;
pub use requests::Asking;
pub use runs::{DueRun, EndWrite, RunEnd, RunWrite};
pub use spending::{Account, Hold};
pub use start::{ActionRefused, StartRefused, StartWrite, TurnBefore};
pub use state::{
    Attached, Author, CallPart, Change, Commit, Document, Line, List, MAX_ACTIVITY_BYTES, MAX_COMMIT_BYTES,
    MAX_DOCUMENTS, MAX_KEY_BYTES, MAX_STATE_FRAME_BYTES, MAX_VALUE_BYTES, OnCommit, PRESENCE_TTL, Present, Progress,
    ProgressPart, Scope, ScopeFollower, Slot, Snapshot, SnapshotCursor, StateError, StateFrame, Unit, Written,
};
pub use table::DUE_SHARDS;
pub use thread_list::ThreadList;
pub use thread_watch::ThreadWatch;
pub use threads::{AnsweredCall, Page, Thread};
pub use turns::{Decision, PendingApproval, Turn, TurnItem, TurnStop};
pub use under_way::MostRuns;
pub use write::Pause;

use aws_sdk_dynamodb::Client;

use crate::watch::Watches;

/// A handle to the table; cheap to clone.
#[derive(Debug, Clone)]
pub struct Store {
    pub(crate) db: Client,
    pub(crate) table: String,
    feeds: Feeds,
    /// The scopes that somebody follows in this process.
    scopes: Watches<state::ScopeSeen>,
    /// The threads that somebody follows in this process.
    watched_threads: Watches<thread_watch::ThreadSeen>,
    /// The commits of this process that wait for their turn at a scope.
    queues: state::Queues,
    /// Who is told of the commits of this handle.
    on_commit: state::Told,
    /// How long the log of a run is kept, in seconds.
    retention: i64,
}

/// How long logs are kept unless it is said otherwise: 30 days.
const RETENTION_SECONDS: i64 = 30 * 24 * 3600;
/// Items of a run go later than the run says, so that no reader finds half a log.
const SLACK_SECONDS: i64 = 24 * 3600;

impl Store {
    /// `table` must exist, see [`Store::create_table`].
    pub fn new(db: Client, table: impl Into<String>) -> Self {
        Store {
            db,
            table: table.into(),
            feeds: Feeds::default(),
            scopes: Watches::default(),
            watched_threads: Watches::default(),
            queues: state::Queues::default(),
            on_commit: state::Told::default(),
            retention: RETENTION_SECONDS,
        }
    }

    /// Keeps the logs of runs for so many days; messages are kept for ever.
    #[must_use]
    pub fn with_retention_days(self, days: u32) -> Self {
        Store { retention: i64::from(days) * 24 * 3600, ..self }
    }

    /// When the items of a run that is written now may go, in seconds since 1970.
    pub(crate) fn expiry(&self) -> i64 {
        now_ms() / 1000 + self.retention + SLACK_SECONDS
    }

    /// When a run that ends now stops being readable, in seconds since 1970.
    pub fn run_expiry(&self) -> i64 {
        now_ms() / 1000 + self.retention
    }

    /// The same table without what this process knows of running logs and followed scopes, as another process would have it.
    pub fn in_another_process(&self) -> Self {
        Store {
            feeds: Feeds::default(),
            scopes: Watches::default(),
            watched_threads: Watches::default(),
            queues: state::Queues::default(),
            ..self.clone()
        }
    }

    /// What this process knows of running logs, so that followers beside a holder need no reads.
    pub fn feeds(&self) -> &Feeds {
        &self.feeds
    }
}

/// Milliseconds since 1970. Shown and used to find candidates, never compared to decide who holds a run.
pub fn now_ms() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |age| i64::try_from(age.as_millis()).unwrap_or(i64::MAX))
}

/// An id that is unique and sorts by time: 32 hex digits.
pub fn new_id() -> String {
    uuid::Uuid::now_v7().simple().to_string()
}
