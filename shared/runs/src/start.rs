//! Starting a turn: what the request means for the thread as it is, and the transaction that makes it so.

use tandem_protocol::{AgentChat, Principal, Run, RunId, ThreadChoice, ThreadId, Transcript, Trigger, TurnId};
use tandem_store::{StartRefused, StartWrite, StoreError, Thread, TurnItem, new_id};

use crate::admission::TooMany;
use crate::born::name_from;
use crate::end::Ending;
use crate::plan::{Plan, plan};
use crate::start_write::{With, write};
use crate::state::EndBy;
use crate::tell::tell_end;
use crate::{Runtime, displace};

/// How often a start that lost a race reads again.
const TRIES: usize = 8;

/// A turn that has a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Started {
    pub run: Run,
    /// False: nobody needs to see to the run. The request repeats one that started it, or the turn was stopped before.
    pub fresh: bool,
}

#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error("there is no such thread")]
    ThreadNotFound,
    /// Another run is under way in the thread.
    #[error("the thread has a run under way")]
    Busy { active: RunId },
    /// The turn was said with another text. An edit takes its place, and says so.
    #[error("the turn was said with another text")]
    Taken,
    /// The message that is to be edited is not in the thread.
    #[error("there is no such message to edit")]
    NothingToEdit,
    /// Somebody else said the message that is to be edited, or to be answered again without what was said since.
    #[error("only who said a message may take back what came after it")]
    NotYours,
    /// The turn was answered so long ago that its run is deleted.
    #[error("the run has been deleted")]
    Expired,
    /// The model may not be chosen; the text names those that may.
    #[error("{0}")]
    UnknownModel(String),
    /// The message that is answered asks nothing, or the conversation has gone on without the answer.
    #[error("{0}")]
    NotAsked(String),
    /// The person, or the tenant, has as many runs under way as they may.
    #[error(transparent)]
    TooMany(#[from] TooMany),
    #[error(transparent)]
    Store(#[from] StoreError),
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
        let with = || With {
            due_ahead_ms: self.0.config.limits.due_ahead_ms,
            run_expiry: self.0.store.run_expiry(),
            trace: self.1.clone(),
            most: self.0.config.most.runs,
        };
        for _ in 0..TRIES {
            let (thread, turn) =
                tokio::join!(self.thread_of(principal, chat), self.turn_item(principal, chat, &turn_id));
            let (thread, item) = (thread?, turn?);
            let (turn, stop) = match item.clone() {
                Some(TurnItem::Turn(turn)) => (Some(turn), None),
                Some(TurnItem::Stop(stop)) => (None, Some(stop)),
                None => (None, None),
            };
            let said = match (&thread, &turn) {
                (Some(thread), Some(turn)) => self.0.store.message(thread, turn.message_n).await?,
                _ => None,
            };
            match plan(&principal.user, chat, &turn_id, thread.as_ref(), turn.as_ref(), said.as_ref()) {
                // The turn may have been read before the same request began it elsewhere, and the thread after: then
                // the thread is busy with this very turn.
                Plan::Busy(active) => {
                    if self.turn_item(principal, chat, &turn_id).await? == item {
                        return Err(StartError::Busy { active });
                    }
                }
                Plan::Taken => return Err(StartError::Taken),
                Plan::NothingToEdit => return Err(StartError::NothingToEdit),
                Plan::NotTheirs => return Err(StartError::NotYours),
                Plan::Repeat(run) => {
                    let run = self.0.store.run(&run).await?;
                    let run = run.ok_or(StartError::Expired)?;
                    return Ok(Started { run, fresh: false });
                }
                Plan::Run(wanted) => {
                    let write = write(principal, chat, &turn_id, thread, wanted, stop.as_ref(), with())?;
                    match self.0.store.start_run(&write, None).await? {
                        Ok(()) => return Ok(started(write)),
                        Err(StartRefused { full: Some(full), .. }) => return Err(TooMany::from(full).into()),
                        // Lost a race: what is there now decides.
                        Err(_) => {}
                    }
                }
                Plan::Interrupt(active, wanted) => {
                    let write = write(principal, chat, &turn_id, thread, wanted, stop.as_ref(), with())?;
                    if self.start_instead(&active, &write).await? {
                        return Ok(started(write));
                    }
                }
            }
        }
        Err(StartError::Store(StoreError::Unavailable("the thread changes too fast; try again".into())))
    }

    /// What is stored of the turn, also where its thread is not there yet.
    async fn turn_item(
        &self,
        principal: &Principal,
        chat: &AgentChat,
        turn: &TurnId,
    ) -> Result<Option<TurnItem>, StoreError> {
        match &chat.thread {
            ThreadChoice::New => Ok(None),
            ThreadChoice::Existing(id) | ThreadChoice::Named(id) => {
                self.0.store.turn_item(&principal.tenant, id, turn).await
            }
        }
    }

    /// Ends the run that is under way and starts the new one, both or neither. `false`: the thread or the turn is not as
    /// it was read, or the run has just ended by itself.
    async fn start_instead(&self, active: &RunId, write: &StartWrite) -> Result<bool, StartError> {
        let store = &self.0.store;
        let Some(run) = store.run(active).await? else {
            let detail = "the active run is not there".into();
            return Err(StoreError::Corrupt { key: active.to_string(), detail }.into());
        };
        let mut leaving = self.leaving(&run).await?;
        let mut tries = 0;
        loop {
            tries += 1;
            let Ok((ended, last)) = self.last(&leaving, EndBy::Anyone, &Ending::Abort)? else { return Ok(false) };
            match store.start_run(write, Some(&leaving.end(&ended, &last))).await? {
                Ok(()) => {
                    tracing::info!(run = %active, by = %write.run.run_id, "interrupted");
                    tell_end(&ended, &last.answer);
                    return Ok(true);
                }
                Err(refused) if refused.thread_changed || refused.turn_changed => {
                    self.let_go(&leaving).await?;
                    return Ok(false);
                }
                Err(StartRefused { full: Some(full), .. }) => {
                    self.let_go(&leaving).await?;
                    return Err(TooMany::from(full).into());
                }
                // Its holder wrote meanwhile.
                Err(refused) => {
                    if !self.look_again(&mut leaving, refused.settled).await? {
                        return Ok(false);
                    }
                    if tries >= displace::TRIES_WITH_START && !leaving.only_ends {
                        self.displace(&mut leaving).await?;
                    }
                }
            }
        }
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

fn started(write: StartWrite) -> Started {
    tracing::info!(run = %write.run.run_id, thread = %write.thread.thread, "started");
    let fresh = !write.run.status.is_terminal();
    if !fresh {
        tell_end(&write.run, &Transcript::default());
    }
    Started { run: write.run, fresh }
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
