//! What a request means for a thread as it is: pure, from what is stored and nothing else.

use tandem_protocol::{AgentChat, MessageId, RunId, Trigger, TurnId, UserId};
use tandem_store::{Message, MessageBody, Thread, Turn};

/// What a request means for a thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Plan {
    /// The request was answered before.
    Repeat(RunId),
    Run(Wanted),
    /// The run that is under way ends for this one.
    Interrupt(RunId, Wanted),
    Busy(RunId),
    /// The turn was said with another text, and nothing tells that this one is to take its place.
    Taken,
    /// What is to be edited is not there.
    NothingToEdit,
    /// Somebody else said what is to be edited, or to be answered again without what was said since.
    NotTheirs,
}

/// A run for the user's message at `user_n`; everything after it is dropped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Wanted {
    pub(crate) user_n: u64,
    pub(crate) text: String,
    /// Who said it, where that is somebody else.
    pub(crate) author: Option<UserId>,
    /// The message is new or edited.
    pub(crate) writes_message: bool,
    /// The turn as it is so far.
    pub(crate) follows: Option<Turn>,
}

/// What a request means.
pub(crate) fn plan(
    by: &UserId,
    chat: &AgentChat,
    id: &TurnId,
    thread: Option<&Thread>,
    turn: Option<&Turn>,
    said: Option<&Message>,
) -> Plan {
    let length = thread.map_or(0, |thread| thread.length);
    // The turn's message, if an edit further up has not dropped it.
    let said = said.filter(|message| message.id == MessageId::from(id));
    // Its author, where that is somebody else.
    let others = said.and_then(|message| message.author.as_ref()).filter(|author| *author != by);
    let said = said.and_then(|message| match &message.body {
        MessageBody::User { text } => Some(text),
        MessageBody::Assistant { .. } => None,
    });
    let active = thread.and_then(|thread| thread.active.clone());
    let wanted = match (&chat.trigger, turn, said) {
        (Trigger::Submit, Some(turn), Some(text)) => {
            return if *text == chat.text { Plan::Repeat(turn.run.clone()) } else { Plan::Taken };
        }
        (Trigger::Edit { .. }, Some(_), Some(_)) if others.is_some() => return Plan::NotTheirs,
        (Trigger::Edit { .. }, Some(turn), Some(text)) => {
            let is_last = turn.message_n + 2 >= length;
            if *text == chat.text && is_last {
                return Plan::Repeat(turn.run.clone());
            }
            Wanted {
                user_n: turn.message_n,
                text: chat.text.clone(),
                author: None,
                writes_message: true,
                follows: Some(turn.clone()),
            }
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
            // The last answer is anybody's to try again; what was said since goes only with its author's word.
            if others.is_some() && turn.message_n + 2 < length {
                return Plan::NotTheirs;
            }
            Wanted {
                user_n: turn.message_n,
                text: text.clone(),
                author: others.cloned(),
                writes_message: false,
                follows: Some(turn.clone()),
            }
        }
        (Trigger::Edit { must_exist: true }, ..) => return Plan::NothingToEdit,
        // A message that is not there: new, or never stored as its first request was refused.
        (_, turn, _) => Wanted {
            user_n: length,
            text: chat.text.clone(),
            author: None,
            writes_message: true,
            follows: turn.cloned(),
        },
    };
    match active {
        None => Plan::Run(wanted),
        Some(active) if chat.interrupts => Plan::Interrupt(active, wanted),
        Some(active) => Plan::Busy(active),
    }
}

#[cfg(test)]
#[path = "plan_tests.rs"]
mod tests;
