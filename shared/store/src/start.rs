//! Starting a run: everything that makes it exist, in one transaction.

use aws_sdk_dynamodb::types::TransactWriteItem;
use tandem_protocol::{Chunk, Run, RunId};

use crate::items::{n, s, to_item};
use crate::log::Append;
use crate::messages::{Message, MessageBody, message_item};
use crate::runs::run_item;
use crate::threads::{Thread, list_item, thread_item};
use crate::write::{Condition, Transacted};
use crate::{Input, Store, StoreError, Turn, keys};

/// A run that is to be started.
#[derive(Debug, Clone)]
pub struct StartWrite {
    pub run: Run,
    pub input: Input,
    /// The thread as it is afterwards; `thread_version` is what it was before, `None` for a new one.
    pub thread: Thread,
    pub thread_version: Option<u64>,
    pub turn: Turn,
    /// The run that the turn pointed to before; `None` for a new turn.
    pub follows: Option<RunId>,
    /// The user's message, unless it stays as it is (regenerate).
    pub user_message: Option<Message>,
}

/// Why a start did not happen; the caller reads again and decides again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StartRefused {
    /// The thread has changed, or its id is taken.
    pub thread_changed: bool,
    /// The turn points elsewhere, or somebody decided.
    pub turn_changed: bool,
}

impl Store {
    /// Creates run, input, first chunk, turn, messages and list entry, and makes the run the thread's active
    /// one: all or nothing.
    pub async fn start_run(&self, start: &StartWrite) -> Result<Result<(), StartRefused>, StoreError> {
        let StartWrite { run, input, thread, turn, .. } = start;
        let answer = Message {
            n: input.message_n,
            id: run.message_id.clone(),
            body: MessageBody::Assistant { run: run.run_id.clone() },
            author: None,
            version: thread.version,
            created_at: run.created_at,
        };
        let thread_condition = start.thread_version.map_or_else(Condition::absent, Condition::version);
        let turn_condition = match &start.follows {
            Some(run) => points_to(run, turn.version.saturating_sub(1)),
            None => Condition::absent(),
        };
        let turn_key = keys::turn(&thread.tenant, &thread.thread, &turn.turn);
        let mut operations = vec![
            self.put_operation(thread_item(thread)?, thread_condition),
            self.put_operation(to_item(&turn_key, turn)?, turn_condition),
        ];
        operations.extend(self.born(run, input)?);
        operations.push(self.replace_operation(message_item(thread, &answer)?));
        if let Some(message) = &start.user_message {
            operations.push(self.replace_operation(message_item(thread, message)?));
        }
        if start.thread_version.is_none() {
            operations.push(self.replace_operation(list_item(thread)));
        }
        match self.transact(operations).await? {
            Transacted::Committed => {
                self.nudge_thread(&thread.tenant, &thread.thread);
                Ok(Ok(()))
            }
            Transacted::Refused(reasons) => {
                let blocked = |at: usize| reasons.get(at).is_some_and(Option::is_some);
                Ok(Err(StartRefused { thread_changed: blocked(0), turn_changed: blocked(1) }))
            }
        }
    }
}

impl Store {
    /// Starts a run that carries out an action outside any thread. Another run of this id is given back as it is.
    pub async fn start_action(&self, run: &Run, input: &Input) -> Result<Result<(), Run>, StoreError> {
        match self.transact(self.born(run, input)?.into()).await? {
            Transacted::Committed => Ok(Ok(())),
            Transacted::Refused(_) => match self.run(&run.run_id).await? {
                Some(found) => Ok(Err(found)),
                None => Err(StoreError::corrupt(run.run_id.to_string(), "refused but absent")),
            },
        }
    }

    /// What every run begins with: its record, its input and its first chunk.
    fn born(&self, run: &Run, input: &Input) -> Result<[TransactWriteItem; 3], StoreError> {
        let first = Append::new(0, 0, &[Chunk::Start { message_id: run.message_id.clone(), message_metadata: None }])?;
        Ok([
            self.put_operation(run_item(run)?, Condition::absent()),
            self.put_operation(self.input_item(&run.run_id, input)?, Condition::absent()),
            self.put_operation(first.item(&run.run_id, self.expiry()), Condition::absent()),
        ])
    }
}

/// The turn points to this run, and nobody has decided anything since it was read.
fn points_to(run: &RunId, version: u64) -> Condition {
    Condition {
        text: "#run = :run AND (attribute_not_exists(#version) OR #version = :version)".into(),
        names: vec![("#run", "run"), ("#version", "version")],
        values: vec![(":run", s(run.as_str())), (":version", n(version))],
    }
}
