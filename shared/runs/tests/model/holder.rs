//! What a holder does next, from what it knows of the log. Mirrors, for one scripted turn: runs/src/take.rs
//! (`taking`), agent/src/turn.rs (`work`, `settle_open_step`) and agent/src/calls.rs (`run_calls`, `settle_calls`).

use tandem_actions::Effect;
use tandem_protocol::EndReason;

use crate::guards::Guards;
use crate::log::{Call, CallId, Entry, Log, Outcome, State};
use crate::record::Record;

/// An attempt at the run. A holder that crashed or sleeps is one that makes no further move: there is no need to
/// say so, as every order of moves is explored, and also those in which it never moves again.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Holder {
    pub(crate) attempt: u32,
    /// What it is about to ask of the store; `None`: it has stopped.
    pub(crate) op: Option<Op>,
    /// The log as it knows it: what it read when it took the log, and its own frames.
    pub(crate) view: Log,
    /// Since its last heartbeat a step finished or an outcome was stored.
    pub(crate) progressed: bool,
    /// `op` was applied and its reply lost: it will be sent again. For a change of the record, what it was to be.
    pub(crate) resends: Option<Option<Record>>,
    /// A request that the holder no longer waits for, as its time was up: it may still arrive.
    pub(crate) late: Option<Op>,
}

/// One request to the store, or to the world outside.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Op {
    /// The claim, of which only the reply is missing.
    Claim,
    ReadLog,
    Take(Vec<Entry>),
    Append(Vec<Entry>),
    /// A transactional call: its writes and its outcome.
    Commit(CallId),
    /// An external call: looks for an outcome, then does it.
    Act(CallId),
    PutOutcome(CallId, Outcome),
    HandOver,
    End(EndReason),
}

impl Holder {
    /// After a claim.
    pub(crate) fn claimed(attempt: u32, op: Op, wanted: Option<Record>) -> Self {
        Holder { attempt, op: Some(op), view: Log::empty(), progressed: false, resends: wanted.map(Some), late: None }
    }

    /// A stopped holder knows nothing, so that states which differ in that are one.
    pub(crate) fn stop(&mut self) {
        self.op = None;
        self.progressed = false;
        self.resends = None;
        if self.late.is_none() {
            self.view = Log::empty();
        }
    }

    /// Whether it works on the turn, so that its time can be up.
    pub(crate) fn works(&self) -> bool {
        self.resends.is_none()
            && match &self.op {
                Some(Op::Append(entries)) => !entries.contains(&Entry::Continue),
                Some(Op::Commit(_) | Op::Act(_) | Op::PutOutcome(..)) => true,
                Some(Op::Claim | Op::ReadLog | Op::Take(_) | Op::HandOver | Op::End(_)) | None => false,
            }
    }

    /// Whether the model is answering.
    pub(crate) fn asks(&self) -> bool {
        let asked = |entry: &Entry| matches!(entry, Entry::Input(..) | Entry::TextStart(_) | Entry::TextEnd(_));
        self.works() && matches!(&self.op, Some(Op::Append(entries)) if entries.iter().any(asked))
    }
}

/// What a new holder says first: a step that is open and called nothing is void.
pub(crate) fn taking(view: &Log, attempt: u32) -> Op {
    let mut entries = vec![Entry::Attempt(attempt)];
    if view.facts().open.as_ref().is_some_and(|step| !step.called) {
        entries.push(Entry::ResetStep);
    }
    Op::Take(entries)
}

/// What follows when everything so far is stored.
pub(crate) fn next(view: &Log, attempt: u32, script: &[Effect], guards: &Guards) -> Op {
    let facts = view.facts();
    let Some(step) = &facts.open else {
        return if facts.answered { Op::End(EndReason::Completed) } else { Op::Append(vec![Entry::StartStep]) };
    };
    if let Some(call) = step.calls.iter().find(|call| call.state == State::Intended) {
        return if view.intent_of(call.id) == Some(attempt) { run(call, attempt) } else { settle(call, attempt) };
    }
    let ready: Vec<CallId> = step.calls.iter().filter(|call| call.state == State::Ready).map(|call| call.id).collect();
    let intent = Op::Append(vec![Entry::Intent(ready.clone())]);
    if !guards.intents_after_response && !ready.is_empty() {
        return intent;
    }
    // A step that an earlier attempt called is settled, not asked again.
    let settling = step.called && view.last_intent() != Some(attempt);
    let id = CallId { attempt, n: asked(view, attempt) };
    if facts.finished_steps == 0 && !settling {
        if let Some(effect) = script.get(step.calls.len()) {
            return Op::Append(vec![Entry::Input(id, *effect)]);
        }
        return if ready.is_empty() { Op::Append(vec![Entry::FinishStep]) } else { intent };
    }
    match facts.closing.first() {
        _ if settling => Op::Append(vec![Entry::FinishStep]),
        Some(open) => Op::Append(vec![open.clone(), Entry::FinishStep]),
        None => Op::Append(vec![Entry::TextStart(id)]),
    }
}

/// A call whose intent this holder stored.
fn run(call: &Call, attempt: u32) -> Op {
    match call.effect {
        Effect::Transactional => Op::Commit(call.id),
        Effect::External => Op::Act(call.id),
        _ => Op::PutOutcome(call.id, Outcome::Done(attempt)),
    }
}

/// A call whose intent an earlier attempt stored. To look for an outcome first and then to put one is the same as to
/// put one only where there is none, and to get what is there: so these are one move each.
fn settle(call: &Call, attempt: u32) -> Op {
    if call.effect.may_run_again() { run(call, attempt) } else { Op::PutOutcome(call.id, Outcome::Unknown) }
}

/// How many parts this attempt has named so far.
fn asked(view: &Log, attempt: u32) -> usize {
    let named = |entry: &&Entry| match entry {
        Entry::Input(id, _) | Entry::TextStart(id) => id.attempt == attempt,
        _ => false,
    };
    view.entries().filter(named).count()
}
