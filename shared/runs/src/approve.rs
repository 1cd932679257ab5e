//! Approvals: what people say to the calls that a run asked about. The first answer to a call stays; the one that
//! answers the last call starts the next run of the turn, in the same transaction.

use serde_json::Value;
use tandem_actions::ActionError;
use tandem_protocol::{AgentChat, ApprovalAnswer, Caller, MessageId, Principal, Run, RunId, ToolCallId};
use tandem_store::{
    Decision, Input, PendingApproval, StartRefused, StartWrite, StoreError, Thread, Turn, TurnBefore, new_id, now_ms,
};

use crate::admission::TooMany;
use crate::born::{run_id, unclaimed};
use crate::weigh::{Verdict, weigh};
use crate::{Runtime, StartError, Started};

/// How often a decision that lost a race reads again.
const TRIES: usize = 16;

/// What a person says to one call.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    pub approved: bool,
    /// What the call runs with instead of the model's input.
    pub input: Option<Value>,
    /// For the model and for people; at most 2,000 bytes are kept.
    pub reason: Option<String>,
}

/// What holds for a call now, whoever said it.
#[derive(Debug, Clone, PartialEq)]
pub struct Decided {
    pub approved: bool,
    /// Calls of the same run that nobody has answered yet.
    pub pending: usize,
    /// The run that goes on; none while calls are pending.
    pub next: Option<Started>,
}

/// Why an answer does not count. Nothing was written.
#[derive(Debug, thiserror::Error)]
pub enum DecideError {
    #[error("there is no such run, or it asked nothing about this call")]
    NotFound,
    /// The run is not at its end yet, or the conversation went on without the answer.
    #[error("{0}")]
    NotAsked(&'static str),
    /// Somebody else's turn: the call would run with their rights.
    #[error("only who asked the agent may agree to what it does for them; you may refuse it")]
    NotYours,
    /// The input that is approved does not fit the action.
    #[error(transparent)]
    Input(ActionError),
    /// There is no room for the run that would go on.
    #[error(transparent)]
    TooMany(#[from] TooMany),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Runtime {
    /// Records what `by`, who gets at the thread, says to one call of `run`. Only who asked the agent may agree.
    pub async fn decide(
        &self,
        by: &Principal,
        run: &Run,
        call: &ToolCallId,
        answer: &Answer,
    ) -> Result<Decided, DecideError> {
        let (Some(thread_id), Some(turn_id)) = (&run.thread_id, &run.turn_id) else {
            return Err(DecideError::NotFound);
        };
        let (store, tenant) = (&self.0.store, &run.owner.tenant);
        for _ in 0..TRIES {
            let (thread, turn) =
                tokio::try_join!(store.any_thread(tenant, thread_id), store.turn(tenant, thread_id, turn_id),)?;
            let (Some(thread), Some(turn)) = (thread, turn) else { return Err(DecideError::NotFound) };
            // Deleted, or shared no longer, since the caller looked.
            if thread.access(by).is_none() {
                return Err(DecideError::NotFound);
            }
            if answer.approved && by.user != run.owner.user {
                return Err(DecideError::NotYours);
            }
            let decision = || self.decision(by, &turn, call, answer);
            match weigh(run, &thread, &turn, call, decision)? {
                Verdict::Answered => return self.decided_before(run, call, &turn).await,
                Verdict::Told { approved, pending } => return Ok(Decided { approved, pending, next: None }),
                Verdict::Write { approvals, pending } => {
                    if store.put_decisions(&thread, &turn, approvals).await? {
                        return Ok(Decided { approved: answer.approved, pending, next: None });
                    }
                }
                Verdict::Start(approvals) => {
                    let write = self.next_run(by, run, thread, turn, approvals).await?;
                    match store.start_run(&write, None).await? {
                        Ok(()) => {
                            tracing::info!(run = %write.run.run_id, continues = %run.run_id, "started");
                            let next = Some(Started { run: write.run, fresh: true });
                            return Ok(Decided { approved: answer.approved, pending: 0, next });
                        }
                        Err(StartRefused { full: Some(full), .. }) => return Err(TooMany::from(full).into()),
                        Err(_) => {}
                    }
                }
            }
            // Lost a race: what is there now decides.
        }
        Err(StoreError::Unavailable("the approvals change too fast; try again".into()).into())
    }

    /// What was said to a call of a run that another one has followed.
    async fn decided_before(&self, run: &Run, call: &ToolCallId, turn: &Turn) -> Result<Decided, DecideError> {
        let superseded = DecideError::NotAsked("The message was answered again, so nothing was run.");
        let mut id: RunId = turn.run.clone();
        loop {
            let Some(later) = self.0.store.run(&id).await? else { return Err(superseded) };
            match &later.continues {
                Some(before) if *before == run.run_id => {
                    let input = self.0.store.input(&later.run_id).await?;
                    let decisions = input.map(|input| input.decisions).unwrap_or_default();
                    let said = decisions.into_iter().find(|said| said.call == *call).ok_or(DecideError::NotFound)?;
                    let approved = said.decision.is_some_and(|decision| decision.approved);
                    return Ok(Decided { approved, pending: 0, next: Some(Started { run: later, fresh: false }) });
                }
                Some(before) => id = before.clone(),
                None => return Err(superseded),
            }
        }
    }

    fn decision(
        &self,
        by: &Principal,
        turn: &Turn,
        call: &ToolCallId,
        answer: &Answer,
    ) -> Result<Decision, DecideError> {
        let input = answer.input.as_ref().filter(|_| answer.approved);
        let asked = turn.approvals.iter().find(|asked| asked.call == *call);
        if let (Some(input), Some(asked)) = (input, asked) {
            let checked = self.0.agent.registry().check(&asked.name, input.clone(), by, Caller::Agent);
            checked.map_err(DecideError::Input)?;
        }
        Ok(Decision {
            approved: answer.approved,
            input: input.map(Value::to_string),
            reason: answer.reason.as_deref().map(short).filter(|reason| !reason.is_empty()),
            by: by.user.clone(),
        })
    }

    /// The run that goes on with the message of `before`.
    async fn next_run(
        &self,
        by: &Principal,
        before: &Run,
        thread: Thread,
        turn: Turn,
        decisions: Vec<PendingApproval>,
    ) -> Result<StartWrite, StoreError> {
        let store = &self.0.store;
        let input = store.input(&before.run_id).await?;
        let input = input
            .ok_or_else(|| StoreError::Corrupt { key: before.run_id.to_string(), detail: "it has no input".into() })?;
        let run_id = run_id(&new_id())?;
        let now = now_ms();
        let mut thread = Thread { active: Some(run_id.clone()), version: thread.version + 1, ..thread };
        let thread_version = Some(thread.version - 1);
        thread.no_longer_awaits();
        // With the rights of who asked, as they are now where it is they who answer.
        let owner = if by.user == before.owner.user { by } else { &before.owner };
        let most = self.0.config.most.runs;
        let run = Run {
            thread_id: before.thread_id.clone(),
            turn_id: before.turn_id.clone(),
            continues: Some(before.run_id.clone()),
            message_id: before.message_id.clone(),
            trace: self.1.clone(),
            counted_in: most.counted_in(owner),
            ..unclaimed(&run_id, owner, now, now + self.0.config.limits.due_ahead_ms)
        };
        Ok(StartWrite {
            run,
            input: Input { decisions, ..input },
            thread_version,
            thread,
            follows: TurnBefore::Run(before.run_id.clone()),
            turn: Turn {
                run: run_id,
                message_id: Some(before.message_id.clone()),
                approvals: Vec::new(),
                version: turn.version + 1,
                ..turn
            },
            user_message: None,
            most,
        })
    }

    /// Records what a stock client's message answers, and gives the run that goes on. A repeat gives the same run.
    pub(crate) async fn answer(
        &self,
        by: &Principal,
        chat: &AgentChat,
        message: &MessageId,
        answers: &[ApprovalAnswer],
    ) -> Result<Started, StartError> {
        let unknown = || StartError::NotAsked("The message is none that asked for an approval.".into());
        let thread = self.thread_of(by, chat).await?.ok_or_else(unknown)?;
        let first = message.run().ok_or_else(unknown)?;
        let first = self.0.store.run(&first).await?.filter(|run| run.thread_id.as_ref() == Some(&thread.thread));
        let first = first.filter(|run| run.owner.tenant == by.tenant).ok_or_else(unknown)?;
        let turn = first.turn_id.as_ref().ok_or_else(unknown)?;
        let mut next = None;
        for ApprovalAnswer { call, approved, reason } in answers {
            let turn = self.0.store.turn(&thread.tenant, &thread.thread, turn).await?.ok_or_else(unknown)?;
            let asked = self.who_asked(&turn, call).await?.ok_or_else(unknown)?;
            let answer = Answer { approved: *approved, input: None, reason: reason.clone() };
            let decided = self.decide(by, &asked, call, &answer).await.map_err(|error| match error {
                DecideError::Store(error) => StartError::Store(error),
                DecideError::TooMany(too_many) => StartError::TooMany(too_many),
                other => StartError::NotAsked(other.to_string()),
            })?;
            next = decided.next;
        }
        next.ok_or_else(|| StartError::NotAsked("Other calls of the message wait for an answer too.".into()))
    }

    /// The run of a turn that asked about a call: its latest, or one that the latest goes on from.
    async fn who_asked(&self, turn: &Turn, call: &ToolCallId) -> Result<Option<Run>, StoreError> {
        let mut asked = turn.approvals.iter().any(|asked| asked.call == *call);
        let mut id = turn.run.clone();
        loop {
            let Some(run) = self.0.store.run(&id).await? else { return Ok(None) };
            if asked {
                return Ok(Some(run));
            }
            let Some(before) = run.continues else { return Ok(None) };
            let input = self.0.store.input(&id).await?;
            asked = input.is_some_and(|input| input.decisions.iter().any(|said| said.call == *call));
            id = before;
        }
    }
}

/// A reason of at most 2,000 bytes.
fn short(reason: &str) -> String {
    let mut end = reason.len().min(2_000);
    while !reason.is_char_boundary(end) {
        end -= 1;
    }
    reason[..end].trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_reason_is_cut_at_a_character() {
        assert_eq!(short("  no  "), "no");
        assert!(short(&"é".repeat(1_500)).len() <= 2_000);
    }
}
