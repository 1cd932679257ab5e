//! Starting a run: everything that makes it exist, in one transaction.

use aws_sdk_dynamodb::types::TransactWriteItem;
use tandem_protocol::{Chunk, CountedIn, Run, RunId, RunStatus, ToolCallId, Transcript};

use crate::answers::answer_item;
use crate::items::{Item, n, s, to_item};
use crate::log::Append;
use crate::messages::{Message, MessageBody, message_item};
use crate::runs::{RunEnd, run_item};
use crate::threads::{Thread, list_item, thread_item};
use crate::under_way::MostRuns;
use crate::write::{Blocked, Condition, Transacted};
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
    /// What is stored of the turn before.
    pub follows: TurnBefore,
    /// The user's message, unless it stays as it is (regenerate).
    pub user_message: Option<Message>,
    /// What the numbers that the run is counted in may reach.
    pub most: MostRuns,
}

/// What is stored of a turn before a start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TurnBefore {
    Nothing,
    /// It points to this run.
    Run(RunId),
    /// Somebody stopped it before it began.
    Stop,
}

/// Why a start did not happen; the caller reads again and decides again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StartRefused {
    /// The thread has changed, or its id is taken.
    pub thread_changed: bool,
    /// The turn points elsewhere, or somebody decided or stopped it.
    pub turn_changed: bool,
    /// Calls of the run that was to be interrupted which have an outcome by now.
    pub settled: Vec<ToolCallId>,
    /// So many runs are under way that there is no room, and nothing else was in the way.
    pub full: Option<CountedIn>,
}

/// Why a run for an action did not start.
#[derive(Debug, Clone, PartialEq)]
pub enum ActionRefused {
    /// There is a run of this id.
    Exists(Box<Run>),
    /// So many runs are under way that there is no room.
    Full(CountedIn),
}

impl Store {
    /// Creates run, input, first chunk, turn, messages and list entry, and makes the run the thread's active
    /// one: all or nothing. `interrupts`: the end of the run that was active before, in the same transaction.
    pub async fn start_run(
        &self,
        start: &StartWrite,
        interrupts: Option<&RunEnd<'_>>,
    ) -> Result<Result<(), StartRefused>, StoreError> {
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
            TurnBefore::Run(run) => points_to(run, turn.version.saturating_sub(1)),
            TurnBefore::Nothing => Condition::absent(),
            TurnBefore::Stop => Condition::stop(),
        };
        let turn_key = keys::turn(&thread.tenant, &thread.thread, &turn.turn);
        let mut operations = match interrupts {
            Some(end) => self.end_operations(end).await?,
            None => Vec::new(),
        };
        let thread_at = operations.len();
        operations.push(self.put_operation(thread_item(thread)?, thread_condition));
        operations.push(self.put_operation(to_item(&turn_key, turn)?, turn_condition));
        operations.extend(self.born(run, input)?);
        operations.push(self.replace_operation(message_item(thread, &answer)?));
        if let Some(message) = &start.user_message {
            operations.push(self.replace_operation(message_item(thread, message)?));
        }
        if start.thread_version.is_none() {
            operations.push(self.replace_operation(list_item(thread)));
        }
        if run.status.is_terminal() {
            operations.push(self.replace_operation(whole_answer(thread, run)?));
        }
        let counts = self.counts(Some((run, start.most)), interrupts.map(|end| end.next));
        let counts = counts.push_to(&mut operations);
        match self.transact(operations).await? {
            Transacted::Committed => {
                interrupts.inspect(|end| self.ended(end));
                self.nudge_thread(&thread.tenant, &thread.thread);
                Ok(Ok(()))
            }
            Transacted::Refused(reasons) => {
                let blocked = |at: usize| reasons.get(at).is_some_and(Option::is_some);
                let settled = interrupts.map(|end| end.settled(&reasons)).unwrap_or_default();
                let (thread_changed, turn_changed) = (blocked(thread_at), blocked(thread_at + 1));
                Ok(Err(StartRefused { thread_changed, turn_changed, settled, full: full(&counts, &reasons) }))
            }
        }
    }

    /// Starts a run that carries out an action outside any thread. Another run of this id is given back as it is.
    pub async fn start_action(
        &self,
        run: &Run,
        input: &Input,
        most: MostRuns,
    ) -> Result<Result<(), ActionRefused>, StoreError> {
        let mut operations = self.born(run, input)?.to_vec();
        let counts = self.counts(Some((run, most)), None).push_to(&mut operations);
        let reasons = match self.transact(operations).await? {
            Transacted::Committed => return Ok(Ok(())),
            Transacted::Refused(reasons) => reasons,
        };
        if let Some(counted) = full(&counts, &reasons) {
            return Ok(Err(ActionRefused::Full(counted)));
        }
        match self.run(&run.run_id).await? {
            Some(found) => Ok(Err(ActionRefused::Exists(Box::new(found)))),
            None => Err(StoreError::corrupt(run.run_id.to_string(), "refused but absent")),
        }
    }

    /// What every run begins with: its record, its input and its first chunk.
    fn born(&self, run: &Run, input: &Input) -> Result<[TransactWriteItem; 3], StoreError> {
        let first = Append::new(0, 0, &first_chunks(run))?;
        Ok([
            self.put_operation(run_item(run)?, Condition::absent()),
            self.put_operation(self.input_item(&run.run_id, input)?, Condition::absent()),
            self.put_operation(first.item(&run.run_id, self.expiry()), Condition::absent()),
        ])
    }
}

/// The number that had no room, where nothing else was in the way: what else has changed may have made room.
fn full(counts: &[(usize, CountedIn)], reasons: &[Option<Blocked>]) -> Option<CountedIn> {
    let mut blocked = reasons.iter().enumerate().filter(|(_, reason)| reason.is_some()).map(|(at, _)| at);
    let (first, _) = counts.first()?;
    let at = blocked.next().filter(|at| at >= first)?;
    counts.iter().find(|(place, _)| *place == at).map(|(_, counted)| *counted)
}

/// How the log of a run begins; all of it, where the run was stopped before it began.
fn first_chunks(run: &Run) -> Vec<Chunk> {
    let mut chunks = vec![Chunk::Start { message_id: run.message_id.clone(), message_metadata: None }];
    if run.status == RunStatus::Aborted {
        chunks.push(Chunk::Abort { reason: None });
    }
    chunks
}

/// What a run says that was stopped before it began: a run that has ended has its answer beside the thread.
fn whole_answer(thread: &Thread, run: &Run) -> Result<Item, StoreError> {
    let mut transcript = Transcript::default();
    first_chunks(run).iter().for_each(|chunk| transcript.apply(chunk));
    answer_item(&thread.tenant, &thread.thread, &run.run_id, &transcript)
}

/// The turn points to this run, and nobody has decided anything since it was read.
fn points_to(run: &RunId, version: u64) -> Condition {
    Condition {
        text: "#run = :run AND (attribute_not_exists(#version) OR #version = :version)".into(),
        names: vec![("#run", "run"), ("#version", "version")],
        values: vec![(":run", s(run.as_str())), (":version", n(version))],
    }
}
