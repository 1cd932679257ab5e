//! The moves: whatever may happen next, in any order, to holders, observers and people.

use tandem_protocol::EndReason;
use tandem_runs::{EndBy, Event, Recovery, happened};

use crate::guards::{Bounds, Guards};
use crate::holder::{Holder, Op, next, taking};
use crate::log::{Entry, Frame, Log, Outcome, Put};
use crate::record::{PAST, PRESENT, Record};
use crate::world::{Broken, World};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Move {
    /// Somebody who has seen the present version takes the run: the background by its dispatch, the foreground after
    /// its grace, a reader that could not dispatch. A dispatch that is lost is one that never leads here.
    Claim,
    /// The same, and the reply is lost.
    ClaimUnanswered,
    /// A dispatch that comes late or twice: it carries an earlier version.
    ClaimVoid,
    /// An observer takes the holder, or the dispatch, for dead; it need not be.
    Recover,
    /// A person stops the run.
    Abort,
    Heartbeat(usize),
    /// A holder's request is carried out and answered.
    Step(usize),
    /// It is carried out, and the reply is lost.
    Unanswered(usize),
    /// The soft timeout: nothing new begins.
    TimeUp(usize),
    /// The hard timeout: nothing is waited for.
    OutOfTime(usize),
    /// The request that was no longer waited for arrives.
    Late(usize),
    /// The model's answer breaks off and is asked for again.
    BreakOff(usize),
    /// The model fails for good.
    Fail(usize),
}

/// The moves that may change `world`.
pub(crate) fn moves(world: &World, bounds: &Bounds, moves: &mut Vec<Move>) {
    if !world.run.has_ended() {
        if world.run.attempt < bounds.attempts {
            moves.extend([Move::Claim, Move::ClaimVoid]);
            if world.left.lost_replies > 0 {
                moves.push(Move::ClaimUnanswered);
            }
        }
        moves.extend([Move::Recover, Move::Abort]);
    }
    for (at, holder) in world.holders.iter().enumerate() {
        if holder.late.is_some() {
            moves.push(Move::Late(at));
        }
        let Some(op) = &holder.op else { continue };
        moves.push(Move::Step(at));
        if !world.run.has_ended() && !matches!(op, Op::End(_) | Op::HandOver) {
            moves.push(Move::Heartbeat(at));
        }
        if world.left.lost_replies > 0 && holder.resends.is_none() && !matches!(op, Op::ReadLog | Op::Act(_)) {
            moves.push(Move::Unanswered(at));
        }
        if holder.works() && world.left.timeouts > 0 {
            moves.extend([Move::TimeUp(at), Move::OutOfTime(at)]);
        }
        if holder.asks() {
            moves.push(Move::Fail(at));
            if world.left.broken_answers > 0 {
                moves.push(Move::BreakOff(at));
            }
        }
    }
}

impl World {
    /// The world after a move; `None`: it changes nothing.
    pub(crate) fn after(&self, made: Move, bounds: &Bounds, guards: &Guards) -> Option<World> {
        let mut world = self.clone();
        match made {
            Move::Claim => world.claim(PRESENT, false, guards),
            Move::ClaimUnanswered => world.claim(PRESENT, true, guards),
            Move::ClaimVoid => world.claim(PAST, false, guards),
            Move::Recover => world.recover(guards),
            Move::Abort => drop(world.end(EndBy::Anyone, EndReason::Aborted, None, guards)),
            Move::Heartbeat(at) => {
                let Holder { attempt, progressed, .. } = world.holders[at];
                if world.change(&Event::Heartbeat { attempt, progressed }).is_ok() {
                    world.holders[at].progressed = false;
                }
            }
            Move::Step(at) => {
                let op = world.holders[at].op.clone()?;
                let reply = world.carry_out(at, &op, guards);
                world.holders[at].resends = None;
                world.go_on(at, op, reply, bounds, guards);
            }
            Move::Unanswered(at) => {
                let op = world.holders[at].op.clone()?;
                let wanted = match world.carry_out(at, &op, guards) {
                    // Refused for good: to hear it twice changes nothing.
                    Reply::Occupied | Reply::Refused => return None,
                    Reply::Changed(record) => Some(*record),
                    Reply::Log(_) | Reply::Outcome(_) | Reply::Acted => None,
                };
                world.left.lost_replies -= 1;
                world.holders[at].resends = Some(wanted);
            }
            Move::TimeUp(at) => {
                world.left.timeouts -= 1;
                let holder = &mut world.holders[at];
                let mut last = holder.view.facts().closing.clone();
                last.push(Entry::Continue);
                let dropped = holder.op.replace(Op::Append(last));
                // A call that is cut off is no longer waited for; a chunk was not sent yet.
                holder.late = dropped.filter(|op| !matches!(op, Op::Append(_)));
            }
            Move::OutOfTime(at) => {
                world.left.timeouts -= 1;
                let holder = &mut world.holders[at];
                holder.late = holder.op.replace(Op::HandOver);
            }
            Move::Late(at) => {
                let op = world.holders[at].late.take()?;
                world.carry_out(at, &op, guards);
                if world.holders[at].op.is_none() {
                    world.holders[at].stop();
                }
            }
            Move::BreakOff(at) => {
                let holder = &mut world.holders[at];
                let open = holder.view.facts().open.as_ref()?;
                if open.calls.is_empty() && open.texts == 0 {
                    return None;
                }
                holder.op = Some(Op::Append(vec![Entry::ResetStep]));
                world.left.broken_answers -= 1;
            }
            Move::Fail(at) => world.holders[at].op = Some(Op::End(EndReason::ModelFailed)),
        }
        (world != *self).then_some(world)
    }

    fn claim(&mut self, observed: u64, unanswered: bool, guards: &Guards) {
        let asked = if guards.claim_version { observed } else { self.run.version };
        let attempt = self.run.attempt + 1;
        // Unique per claim: an attempt is claimed once.
        let Ok(claimed) = self.change(&Event::Claim { observed: asked, holder: attempt.to_string() }) else { return };
        if observed == PAST {
            self.broken = Some(Broken::VoidClaim);
        }
        self.holders.push(match unanswered {
            false => Holder::claimed(attempt, Op::ReadLog, None),
            true => {
                self.left.lost_replies -= 1;
                Holder::claimed(attempt, Op::Claim, Some(Record { version: self.run.version, ..claimed }))
            }
        });
    }

    /// Mirrors `recover` of runs/src/observe.rs. What an observer saw of an earlier version is refused by the
    /// version, so only one who has seen the present one matters.
    fn recover(&mut self, guards: &Guards) {
        let observed = self.run.version;
        match self.run.recovery() {
            Recovery::GiveUp(reason) => drop(self.end(EndBy::Observer { observed }, reason, None, guards)),
            Recovery::DispatchAgain => drop(self.change(&Event::DispatchAgain { observed })),
        }
    }

    fn carry_out(&mut self, at: usize, op: &Op, guards: &Guards) -> Reply {
        let Holder { attempt, progressed, .. } = self.holders[at];
        let first = self.holders[at].view.next();
        match op {
            // Sent again, it meets its own success: runs/src/transition.rs.
            Op::Claim | Op::HandOver if self.holders[at].resends.is_some() => self.meets_itself(at, op),
            Op::Claim => Reply::Refused,
            Op::ReadLog => Reply::Log(self.log.clone()),
            Op::Take(entries) | Op::Append(entries) => {
                match self.append(Frame { first, attempt, entries: entries.clone() }, guards) {
                    Put::Stored(log) => Reply::Log(log),
                    Put::Occupied => Reply::Occupied,
                }
            }
            Op::Commit(call) => {
                self.begins(*call);
                let (stored, put) = self.put_outcome(*call, Outcome::Done(attempt));
                if put {
                    self.commits += 1;
                    if self.run.has_ended() {
                        self.broken = Some(Broken::CommittedAfterEnd);
                    }
                }
                Reply::Outcome(stored)
            }
            Op::Act(call) => match self.outcome(*call) {
                Some(stored) => Reply::Outcome(stored),
                None => {
                    self.begins(*call);
                    self.acts += 1;
                    Reply::Acted
                }
            },
            Op::PutOutcome(call, outcome) => Reply::Outcome(self.put_outcome(*call, *outcome).0),
            Op::HandOver => match self.change(&Event::HandOver { attempt, progressed }) {
                Ok(record) => Reply::Changed(Box::new(Record { version: PRESENT, ..record })),
                Err(_) => Reply::Refused,
            },
            // The token of the transaction makes a repetition succeed.
            Op::End(_) if self.holders[at].resends.is_some() => Reply::Acted,
            Op::End(reason) => {
                let known = self.holders[at].view.clone();
                match self.end(EndBy::Holder { attempt }, *reason, Some(&known), guards) {
                    Ok(()) => Reply::Acted,
                    Err(_) => Reply::Refused,
                }
            }
        }
    }

    /// Mirrors the loop of `transition` in runs/src/transition.rs for a change that was applied: `happened` recognises
    /// it, or it is refused from what is found.
    fn meets_itself(&self, at: usize, op: &Op) -> Reply {
        let Some(Some(wanted)) = &self.holders[at].resends else { return Reply::Refused };
        let Holder { attempt, progressed, .. } = self.holders[at];
        let event = match op {
            // Of a claim only its holder and its attempt are recognised.
            Op::Claim => Event::Claim { observed: PAST, holder: attempt.to_string() },
            _ => Event::HandOver { attempt, progressed },
        };
        match happened(&event, &wanted.run(), &self.run.run()) {
            true => Reply::Changed(Box::new(self.run.clone())),
            false => Reply::Refused,
        }
    }

    /// What a holder makes of the answer to its request.
    fn go_on(&mut self, at: usize, op: Op, reply: Reply, bounds: &Bounds, guards: &Guards) {
        let attempt = self.holders[at].attempt;
        let holder = &mut self.holders[at];
        match (op, reply) {
            (Op::Claim, Reply::Changed(_)) => holder.op = Some(Op::ReadLog),
            (Op::ReadLog, Reply::Log(log)) => {
                let later = log.frames().iter().any(|frame| frame.attempt > attempt);
                if log.has_ended() || (guards.attempt_check && later) {
                    return self.displaced(at);
                }
                holder.op = Some(taking(&log, attempt));
                holder.view = log;
            }
            // The holder before wrote in between: read that too.
            (Op::Take(_), Reply::Occupied) => holder.op = Some(Op::ReadLog),
            (Op::Take(entries) | Op::Append(entries), Reply::Log(_)) => {
                let frame = Frame { first: holder.view.next(), attempt, entries: entries.clone() };
                holder.view = own(&holder.view, frame);
                holder.progressed |= entries.contains(&Entry::FinishStep);
                holder.op = Some(match entries.last() {
                    Some(Entry::Continue) => Op::HandOver,
                    _ => next(&holder.view, attempt, bounds.calls, guards),
                });
            }
            (Op::Commit(call) | Op::Act(call) | Op::PutOutcome(call, _), Reply::Outcome(stored)) => {
                holder.progressed = true;
                holder.op = Some(Op::Append(vec![Entry::Output(call, stored)]));
            }
            (Op::Act(call), Reply::Acted) => holder.op = Some(Op::PutOutcome(call, Outcome::Done(attempt))),
            // What it then does as an observer of the run, anybody may do: see `recover`.
            (Op::HandOver, Reply::Changed(_)) | (Op::End(_), Reply::Acted) => holder.stop(),
            (_, Reply::Occupied | Reply::Refused) => self.displaced(at),
            (op, _) => unreachable!("{op:?} is never answered so"),
        }
    }
}

/// A holder's own view after its frame was stored: it knows of no other.
fn own(view: &Log, frame: Frame) -> Log {
    match view.put(frame, true) {
        Put::Stored(log) => log,
        Put::Occupied => unreachable!("a holder appends behind what it knows"),
    }
}

/// The answer to a request.
enum Reply {
    Log(Log),
    Occupied,
    Outcome(Outcome),
    Changed(Box<Record>),
    Refused,
    /// It is done; there is nothing to say.
    Acted,
}
