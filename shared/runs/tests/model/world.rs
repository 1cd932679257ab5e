//! Everything that exists: the stored items, the holders, and what the world outside has seen.

use tandem_protocol::EndReason;
use tandem_runs::{EndBy, Event, Refused};

use crate::guards::{Bounds, Guards};
use crate::holder::Holder;
use crate::log::{CallId, Entry, Frame, Log, Outcome, Put, State};
use crate::record::{PAST, PRESENT, Record};

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct World {
    pub(crate) run: Record,
    pub(crate) log: Log,
    /// In the order in which they were put.
    pub(crate) outcomes: Vec<(CallId, Outcome)>,
    /// The run is its thread's active one.
    pub(crate) active: bool,
    /// The holder of attempt n is at n - 1.
    pub(crate) holders: Vec<Holder>,
    /// How often the transactional action's writes were committed.
    pub(crate) commits: u8,
    /// How often the external action was done.
    pub(crate) acts: u8,
    pub(crate) left: Left,
    /// A promise that a move has broken.
    pub(crate) broken: Option<Broken>,
}

/// What may still happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Left {
    pub(crate) lost_replies: u8,
    pub(crate) broken_answers: u8,
    pub(crate) timeouts: u8,
}

/// Promises about moves rather than about states.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Broken {
    /// Writes of a transactional action were committed after the run had ended.
    CommittedAfterEnd,
    /// A call began whose intent is not in the log.
    BeganWithoutIntent,
    /// A claim succeeded though the run had changed since its claimant saw it.
    VoidClaim,
    /// A holder stopped as displaced though the run was still its own.
    StoppedForNothing,
}

impl World {
    /// A run that has just been started, and dispatched.
    pub(crate) fn started(bounds: &Bounds) -> Self {
        let first = Frame { first: 0, attempt: 0, entries: vec![Entry::Start] };
        let Put::Stored(log) = Log::empty().put(first, true) else { unreachable!("the log is empty") };
        let Bounds { lost_replies, broken_answers, timeouts, .. } = *bounds;
        World {
            run: Record::started(),
            log,
            outcomes: Vec::new(),
            active: true,
            holders: Vec::new(),
            commits: 0,
            acts: 0,
            left: Left { lost_replies, broken_answers, timeouts },
            broken: None,
        }
    }

    /// Reads, applies and writes on condition of the version. A write that loses is applied again to what stands
    /// there then, so this is one move at the moment of the write that wins.
    pub(crate) fn change(&mut self, event: &Event) -> Result<Record, Refused> {
        let next = self.run.apply(event)?;
        self.write(next.clone());
        Ok(next)
    }

    fn write(&mut self, next: Record) {
        let version = next.version;
        self.run = next;
        let name = |held: u64| if held == version { PRESENT } else { PAST };
        for wanted in self.holders.iter_mut().filter_map(|holder| holder.resends.as_mut()?.as_mut()) {
            wanted.version = name(wanted.version);
        }
        self.run.version = PRESENT;
    }

    pub(crate) fn outcome(&self, call: CallId) -> Option<Outcome> {
        self.outcomes.iter().find(|(id, _)| *id == call).map(|(_, outcome)| *outcome)
    }

    /// Puts the outcome unless there is one, and gives what is stored then, and whether it is the one given.
    pub(crate) fn put_outcome(&mut self, call: CallId, outcome: Outcome) -> (Outcome, bool) {
        match self.outcome(call) {
            Some(stored) => (stored, false),
            None => {
                self.outcomes.push((call, outcome));
                (outcome, true)
            }
        }
    }

    pub(crate) fn append(&mut self, frame: Frame, guards: &Guards) -> Put {
        let put = self.log.put(frame, guards.position_fence);
        if let Put::Stored(log) = &put {
            self.log = log.clone();
        }
        put
    }

    /// The one end. Mirrors `end` and `last_frame` of runs/src/end.rs and `end_run` of store/src/runs.rs: every round
    /// of their loop that commits has met everything as it was read, so it is one move. `known`: the log as its
    /// holder knows it; with the fence it is read again where it has grown.
    pub(crate) fn end(
        &mut self,
        by: EndBy,
        reason: EndReason,
        known: Option<&Log>,
        guards: &Guards,
    ) -> Result<(), Refused> {
        let next = self.run.apply(&Event::End { by, reason })?;
        let log = match known {
            Some(known) if !guards.position_fence || *known == self.log => known.clone(),
            _ => self.log.clone(),
        };
        let facts = log.facts();
        let mut entries = facts.closing.clone();
        entries.push(match reason {
            EndReason::Completed => Entry::Finish,
            EndReason::Aborted => Entry::Abort,
            _ => Entry::Error,
        });
        if guards.closed_outcomes {
            for call in facts.calls.iter().filter(|call| call.state == State::Intended) {
                self.put_outcome(call.id, Outcome::Closed);
            }
        }
        self.append(Frame { first: log.next(), attempt: next.attempt, entries }, guards);
        self.active = false;
        self.write(next);
        Ok(())
    }

    /// Notes that a call begins.
    pub(crate) fn begins(&mut self, call: CallId) {
        if self.log.intent_of(call).is_none() {
            self.broken = Some(Broken::BeganWithoutIntent);
        }
    }

    /// Stops a holder that was refused: somebody else must have the run, or it has ended.
    pub(crate) fn displaced(&mut self, at: usize) {
        let attempt = self.holders[at].attempt;
        let gone = self.run.has_ended() || self.run.attempt > attempt || self.run.holder != Some(attempt);
        let dispatched = self.run.status == tandem_protocol::RunStatus::Dispatched;
        if !gone && !dispatched {
            self.broken = Some(Broken::StoppedForNothing);
        }
        self.holders[at].stop();
    }
}
