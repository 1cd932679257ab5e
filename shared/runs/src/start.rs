//! Starting a turn: what the request means for the thread as it is, and the transaction that makes it so.

use tandem_protocol::{AgentChat, MessageId, Principal, Run, RunId, ThreadChoice, ThreadId, Trigger, TurnId};
use tandem_store::{Input, Message, MessageBody, StartWrite, StoreError, Thread, Turn, new_id, now_ms};

use crate::Runtime;
use crate::born::{name_from, run_id, unclaimed};

/// How often a start that lost a race reads again.
const TRIES: usize = 8;
/// Length of a title made from the first message, in characters.
const TITLE: usize = 80;

/// A turn that has a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Started {
    pub run: Run,
    /// False: the request repeats one that started this run before.
    pub fresh: bool,
}

#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error("there is no such thread")]
    ThreadNotFound,
    /// Another run is under way in the thread.
    #[error("the thread has a run under way")]
    Busy { active: RunId },
    /// The turn was answered so long ago that its run is deleted.
    #[error("the run has been deleted")]
    Expired,
    /// The model may not be chosen; the text names those that may.
    #[error("{0}")]
    UnknownModel(String),
    /// The message that is answered asks nothing, or the conversation has gone on without the answer.
    #[error("{0}")]
    NotAsked(String),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// What a request means for a thread.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Plan {
    /// The request was answered before.
    Repeat(RunId),
    Run(Wanted),
    Busy(RunId),
}

/// A run for the user's message at `user_n`; everything after it is dropped.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Wanted {
    user_n: u64,
    text: String,
    /// The message is new or edited.
    writes_message: bool,
    /// The turn as it is so far.
    follows: Option<Turn>,
}

impl Runtime {
    /// Starts the turn, or finds the run that an earlier request like this one started.
    pub async fn start(&self, principal: &Principal, chat: &AgentChat) -> Result<Started, StartError> {
        if let Err(unknown) = self.0.agent.models().get(chat.model.as_deref()) {
            return Err(StartError::UnknownModel(unknown.to_string()));
        }
        if let Trigger::Answer { message, answers } = &chat.trigger {
            return self.answer(principal, chat, message, answers).await;
        }
        let fresh_turn = || TurnId::new(format!("m-{}", new_id())).map_err(|e| StoreError::Rejected(e.to_string()));
        let turn_id = chat.turn.clone().map_or_else(fresh_turn, Ok)?;
        let chat = &with_thread(principal, chat)?;
        for _ in 0..TRIES {
            let thread = self.thread_of(principal, chat).await?;
            let turn = match &thread {
                Some(thread) => self.0.store.turn(&thread.tenant, &thread.thread, &turn_id).await?,
                None => None,
            };
            let said = match (&thread, &turn) {
                (Some(thread), Some(turn)) => self.0.store.message(thread, turn.message_n).await?,
                _ => None,
            };
            match plan(chat, &turn_id, thread.as_ref(), turn.as_ref(), said.as_ref()) {
                Plan::Busy(active) => return Err(StartError::Busy { active }),
                Plan::Repeat(run) => {
                    let run = self.0.store.run(&run).await?;
                    let run = run.ok_or(StartError::Expired)?;
                    return Ok(Started { run, fresh: false });
                }
                Plan::Run(wanted) => {
                    let due_at = now_ms() + self.0.config.limits.due_ahead_ms;
                    let write = write(principal, chat, &turn_id, thread, wanted, due_at)?;
                    if self.0.store.start_run(&write).await?.is_ok() {
                        tracing::info!(run = %write.run.run_id, thread = %write.thread.thread, "started");
                        return Ok(Started { run: write.run, fresh: true });
                    }
                    // Lost a race: what is there now decides.
                }
            }
        }
        Err(StartError::Store(StoreError::Unavailable("the thread changes too fast; try again".into())))
    }

    /// The thread that the request means; `None`: it is new.
    pub(crate) async fn thread_of(
        &self,
        principal: &Principal,
        chat: &AgentChat,
    ) -> Result<Option<Thread>, StartError> {
        let id = match &chat.thread {
            ThreadChoice::New => return Ok(None),
            ThreadChoice::Existing(id) | ThreadChoice::Named(id) => id,
        };
        match (self.0.store.any_thread(&principal.tenant, id).await?, &chat.thread) {
            (Some(thread), _) if thread.access(principal).is_some() => Ok(Some(thread)),
            (None, ThreadChoice::Named(_)) => Ok(None),
            // A foreign thread answers like an unknown one.
            _ => Err(StartError::ThreadNotFound),
        }
    }
}

/// A named turn without a thread gets the thread that every repeat of the request gets.
fn with_thread(principal: &Principal, chat: &AgentChat) -> Result<AgentChat, StoreError> {
    let mut chat = chat.clone();
    if let (ThreadChoice::New, Some(turn)) = (&chat.thread, &chat.turn) {
        let name = name_from(&format!("{}\0{turn}", principal.user));
        chat.thread = ThreadChoice::Named(ThreadId::new(name).map_err(|e| StoreError::Rejected(e.to_string()))?);
    }
    Ok(chat)
}

/// What a request means, from what is stored and nothing else.
fn plan(chat: &AgentChat, id: &TurnId, thread: Option<&Thread>, turn: Option<&Turn>, said: Option<&Message>) -> Plan {
    let length = thread.map_or(0, |thread| thread.length);
    // The turn's message, if an edit further up has not dropped it.
    let said = said.filter(|message| message.id == MessageId::from(id));
    let said = said.and_then(|message| match &message.body {
        MessageBody::User { text } => Some(text),
        MessageBody::Assistant { .. } => None,
    });
    let active = thread.and_then(|thread| thread.active.clone());
    let wanted = match (&chat.trigger, turn, said) {
        (Trigger::Submit | Trigger::Edit, Some(turn), Some(text)) => {
            let is_last = turn.message_n + 2 >= length;
            if *text == chat.text && (is_last || chat.trigger == Trigger::Submit) {
                return Plan::Repeat(turn.run.clone());
            }
            Plan::Run(Wanted {
                user_n: turn.message_n,
                text: chat.text.clone(),
                writes_message: true,
                follows: Some(turn.clone()),
            })
        }
        (Trigger::Regenerate { replaces }, Some(turn), Some(text)) => {
            let current = turn.message();
            // Clients may choose ids that look like ours: the user's own message is no answer.
            let asked = MessageId::from(id);
            let moved = replaces.as_ref().is_some_and(|replaced| *replaced != current && *replaced != asked);
            let running = replaces.is_none() && active.as_ref() == Some(&turn.run);
            if moved || running {
                return Plan::Repeat(turn.run.clone());
            }
            Plan::Run(Wanted {
                user_n: turn.message_n,
                text: text.clone(),
                writes_message: false,
                follows: Some(turn.clone()),
            })
        }
        // A message that is not there: new, or never stored as its first request was refused.
        (_, turn, _) => {
            Plan::Run(Wanted { user_n: length, text: chat.text.clone(), writes_message: true, follows: turn.cloned() })
        }
    };
    active.map_or(wanted, Plan::Busy)
}

fn write(
    principal: &Principal,
    chat: &AgentChat,
    turn_id: &TurnId,
    thread: Option<Thread>,
    wanted: Wanted,
    due_at: i64,
) -> Result<StartWrite, StoreError> {
    let Wanted { user_n, text, writes_message, follows } = wanted;
    let now = now_ms();
    let run_id = run_id(&new_id())?;
    let version = thread.as_ref().map(|thread| thread.version);
    let mut thread = match (thread, &chat.thread) {
        (Some(thread), _) => thread,
        (None, ThreadChoice::Named(id) | ThreadChoice::Existing(id)) => new_thread(principal, id.clone(), &text, now),
        (None, ThreadChoice::New) => {
            let id = ThreadId::new(new_id()).map_err(|e| StoreError::Rejected(e.to_string()))?;
            new_thread(principal, id, &text, now)
        }
    };
    thread.version = version.unwrap_or(0) + 1;
    thread.active = Some(run_id.clone());
    // What a person was asked is refused by going on without an answer.
    thread.awaiting = None;
    thread.length = user_n + 2;
    if thread.title.is_empty() {
        thread.title = title(&text);
    }
    let run = Run {
        thread_id: Some(thread.thread.clone()),
        turn_id: Some(turn_id.clone()),
        ..unclaimed(&run_id, principal, now, due_at)
    };
    let user_message = writes_message.then(|| Message {
        n: user_n,
        id: MessageId::from(turn_id),
        body: MessageBody::User { text: text.clone() },
        author: Some(principal.user.clone()),
        version: thread.version,
        created_at: now,
    });
    Ok(StartWrite {
        run,
        input: Input { text, model: chat.model.clone(), message_n: user_n + 1, decisions: Vec::new(), action: None },
        thread,
        thread_version: version,
        turn: Turn {
            turn: turn_id.clone(),
            run: run_id,
            message_n: user_n,
            message_id: None,
            approvals: Vec::new(),
            version: follows.as_ref().map_or(0, |turn| turn.version + 1),
        },
        follows: follows.map(|turn| turn.run),
        user_message,
    })
}

fn new_thread(principal: &Principal, thread: ThreadId, text: &str, now: i64) -> Thread {
    Thread { version: 0, ..Thread::new(principal, thread, title(text), now) }
}

/// A title from the first line of a message.
fn title(text: &str) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let mut title: String = line.chars().take(TITLE).collect();
    if line.chars().count() > TITLE {
        title.push('…');
    }
    title
}

#[cfg(test)]
#[path = "start_tests.rs"]
mod tests;
