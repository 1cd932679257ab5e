//! The transaction of a start.

use tandem_protocol::{
    AgentChat, EndReason, MessageId, Principal, Run, RunStatus, ThreadChoice, ThreadId, TraceId, TurnId, UserId,
};
use tandem_store::{
    Input, Message, MessageBody, MostRuns, StartWrite, StoreError, Thread, Turn, TurnBefore, TurnStop, new_id, now_ms,
};

use crate::born::{run_id, unclaimed};
use crate::plan::Wanted;

/// Length of a title made from the first message, in characters.
const TITLE: usize = 80;

/// What a start is written with besides what was asked for.
pub(crate) struct With {
    /// When a run becomes due, in milliseconds from now.
    pub(crate) due_ahead_ms: i64,
    /// When a run that ends now expires.
    pub(crate) run_expiry: i64,
    pub(crate) trace: Option<TraceId>,
    /// What may be under way at a time.
    pub(crate) most: MostRuns,
}

pub(crate) fn write(
    principal: &Principal,
    chat: &AgentChat,
    turn_id: &TurnId,
    thread: Option<Thread>,
    wanted: Wanted,
    stop: Option<&TurnStop>,
    with: With,
) -> Result<StartWrite, StoreError> {
    let stopped = stop.is_some_and(|stop| counts(stop, principal, thread.as_ref()));
    let Wanted { user_n, text, author, writes_message, follows } = wanted;
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
    thread.active = (!stopped).then(|| run_id.clone());
    // What a person was asked is refused by going on without an answer.
    thread.no_longer_awaits();
    thread.length = user_n + 2;
    if thread.title.is_empty() {
        thread.title = title(&text);
    }
    let run = Run {
        thread_id: Some(thread.thread.clone()),
        turn_id: Some(turn_id.clone()),
        trace: with.trace,
        counted_in: if stopped { Vec::new() } else { with.most.counted_in(principal) },
        ..unclaimed(&run_id, principal, now, now + with.due_ahead_ms)
    };
    let run = if stopped { aborted(run, with.run_expiry) } else { run };
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
        input: Input {
            text,
            author,
            model: chat.model.clone(),
            message_n: user_n + 1,
            decisions: Vec::new(),
            action: None,
        },
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
        follows: match (follows, stop) {
            (Some(turn), _) => TurnBefore::Run(turn.run),
            (None, Some(_)) => TurnBefore::Stop,
            (None, None) => TurnBefore::Nothing,
        },
        user_message,
        most: with.most,
    })
}

pub(crate) fn new_thread(principal: &Principal, thread: ThreadId, text: &str, now: i64) -> Thread {
    Thread { version: 0, ..Thread::new(principal, thread, title(text), now) }
}

/// Whether a stop counts: who made it starts the turn now, or gets at the thread.
fn counts(stop: &TurnStop, principal: &Principal, thread: Option<&Thread>) -> bool {
    let gets_at = |user: &UserId| {
        let who = Principal { user: user.clone(), ..principal.clone() };
        thread.is_some_and(|thread| thread.access(&who).is_some())
    };
    stop.stopped_by.iter().any(|user| *user == principal.user || gets_at(user))
}

/// The run of a turn that was stopped before it began.
fn aborted(run: Run, expires_at: i64) -> Run {
    Run {
        status: RunStatus::Aborted,
        end_reason: Some(EndReason::Aborted),
        dispatches: 0,
        ended_at: Some(run.created_at),
        due_at: None,
        expires_at: Some(expires_at),
        ..run
    }
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
mod tests {
    use super::*;

    #[test]
    fn titles_are_one_short_line() {
        assert_eq!(title("\n  Hello \nworld"), "Hello");
        assert_eq!(title(&"é".repeat(100)), format!("{}…", "é".repeat(80)));
    }
}
