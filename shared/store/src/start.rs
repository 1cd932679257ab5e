//! Starting a run: everything that makes it exist, in one transaction.

use tandem_protocol::{Chunk, MessageId, Run, RunId};

use crate::items::{s, to_item};
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
    /// The turn points elsewhere.
    pub turn_changed: bool,
}

impl Store {
    /// Creates run, input, first chunk, turn, messages and list entry, and makes the run the thread's active
    /// one: all or nothing.
    pub async fn start_run(&self, start: &StartWrite) -> Result<Result<(), StartRefused>, StoreError> {
        let StartWrite { run, input, thread, turn, .. } = start;
        let first = Append::new(0, 0, &[Chunk::Start { message_id: run.message_id.clone(), message_metadata: None }])?;
        let answer = Message {
            n: input.message_n,
            id: MessageId::of_run(&run.run_id),
            body: MessageBody::Assistant { run: run.run_id.clone() },
            author: None,
            version: thread.version,
            created_at: run.created_at,
        };
        let thread_condition = start.thread_version.map_or_else(Condition::absent, Condition::version);
        let turn_condition = start.follows.as_ref().map_or_else(Condition::absent, points_to);
        let turn_key = keys::turn(&thread.tenant, &thread.thread, &turn.turn);
        let mut operations = vec![
            self.put_operation(thread_item(thread)?, thread_condition),
            self.put_operation(to_item(&turn_key, turn)?, turn_condition),
            self.put_operation(run_item(run)?, Condition::absent()),
            self.put_operation(self.input_item(&run.run_id, input)?, Condition::absent()),
            self.put_operation(first.item(&run.run_id, self.expiry()), Condition::absent()),
            self.replace_operation(message_item(thread, &answer)?),
        ];
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

fn points_to(run: &RunId) -> Condition {
    Condition { text: "#run = :run".into(), names: vec![("#run", "run")], values: vec![(":run", s(run.as_str()))] }
}
