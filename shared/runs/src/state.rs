//! The life of a run, as a pure function: no store, no clock, no randomness.
//!
//! Every change of a run is: read it, apply an event here, write the result on the condition that the version
//! is still what was read. The tests and the model checker run this very function.

use tandem_protocol::{EndReason, Run, RunStatus};

/// Bounds of a run's life. Times are milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// `due_at` is kept at least this far ahead, and set to twice as far.
    pub due_ahead_ms: i64,
    pub max_continuations: u32,
    /// Attempts in a row without progress after which a run is given up.
    pub max_no_progress: u32,
    /// A run that is older is given up.
    pub max_age_ms: i64,
    /// Dispatches, over at least `never_claimed_ms`, after which a run that nobody claims is given up.
    pub max_dispatches: u32,
    pub never_claimed_ms: i64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            due_ahead_ms: 30_000,
            max_continuations: 20,
            max_no_progress: 3,
            max_age_ms: 90 * 60 * 1000,
            max_dispatches: 5,
            never_claimed_ms: 5 * 60 * 1000,
        }
    }
}

/// Something that happens to a run.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Event {
    /// Somebody takes the run who has seen `observed`: the version of the dispatch, or of its own reading.
    Claim {
        observed: u64,
        holder: String,
    },
    /// Somebody takes the run to end it. Should it go on after all, whoever held it has not failed.
    Displace {
        observed: u64,
        holder: String,
    },
    /// The holder is alive; `progressed`: since its last heartbeat a step finished or an outcome was stored.
    Heartbeat {
        attempt: u32,
        progressed: bool,
    },
    /// The holder's time is up.
    HandOver {
        attempt: u32,
        progressed: bool,
    },
    /// An observer saw no change for a lease, or a grace; an older dispatch is void.
    DispatchAgain {
        observed: u64,
    },
    End {
        by: EndBy,
        reason: EndReason,
    },
}

/// Who ends a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EndBy {
    Holder {
        attempt: u32,
    },
    /// A person, at any time.
    Anyone,
    /// An observer whose reason holds for the version it saw.
    Observer {
        observed: u64,
    },
}

/// Why an event does not apply. Refusals are values: nothing is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
pub enum Refused {
    #[error("the run does not exist")]
    Missing,
    #[error("the run has ended")]
    Ended(RunStatus),
    #[error("the run has changed since it was observed")]
    Moved,
    #[error("another attempt holds the run")]
    Displaced,
}

/// The run after `event`, or why it does not apply. `now` only moves `due_at` and `dispatched_at`.
pub fn apply(run: &Run, event: &Event, now: i64, limits: &Limits) -> Result<Run, Refused> {
    if run.status.is_terminal() {
        return Err(Refused::Ended(run.status));
    }
    let mut next = run.clone();
    next.version += 1;
    match event {
        Event::Claim { observed, holder } | Event::Displace { observed, holder } => {
            observed_is(run, *observed)?;
            next.status = RunStatus::Running;
            next.attempt += 1;
            next.holder = Some(holder.clone());
            next.dispatches = 0;
            next.handed_over = false;
            next.no_progress = match event {
                Event::Displace { .. } => next.no_progress.saturating_sub(1),
                // Until this attempt shows otherwise.
                _ => next.no_progress + 1,
            };
            next.due_at = Some(now + 2 * limits.due_ahead_ms);
        }
        Event::Heartbeat { attempt, progressed } => {
            held_by(run, *attempt)?;
            if *progressed {
                next.no_progress = 0;
            }
            // A moving index key costs extra writes: seldom.
            if run.due_at.is_none_or(|due| due < now + limits.due_ahead_ms) {
                next.due_at = Some(now + 2 * limits.due_ahead_ms);
            }
        }
        Event::HandOver { attempt, progressed } => {
            held_by(run, *attempt)?;
            if *progressed {
                next.no_progress = 0;
            }
            next.status = RunStatus::Dispatched;
            next.continuations += 1;
            next.handed_over = true;
            next.dispatches = 1;
            next.dispatched_at = now;
            next.due_at = Some(now + limits.due_ahead_ms);
        }
        Event::DispatchAgain { observed } => {
            observed_is(run, *observed)?;
            if run.dispatches == 0 {
                next.dispatched_at = now;
            }
            next.status = RunStatus::Dispatched;
            next.dispatches += 1;
            next.due_at = Some(now + limits.due_ahead_ms);
        }
        Event::End { by, reason } => {
            match by {
                EndBy::Holder { attempt } => held_by(run, *attempt)?,
                EndBy::Anyone => {}
                EndBy::Observer { observed } => observed_is(run, *observed)?,
            }
            next.status = reason.status();
            next.end_reason = Some(*reason);
            next.ended_at = Some(now);
            next.due_at = None;
        }
    }
    Ok(next)
}

/// What to do with a run that nobody seems to hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recovery {
    DispatchAgain,
    GiveUp(EndReason),
}

/// Whether a run that stopped moving is worth another attempt. Everybody who recovers or continues asks here.
pub fn recovery(run: &Run, now: i64, limits: &Limits) -> Recovery {
    let waited = now - run.dispatched_at >= limits.never_claimed_ms;
    if run.status == RunStatus::Dispatched && run.dispatches >= limits.max_dispatches && waited {
        return Recovery::GiveUp(EndReason::NeverClaimed);
    }
    if run.no_progress >= limits.max_no_progress {
        return Recovery::GiveUp(EndReason::NoProgress);
    }
    if run.continuations >= limits.max_continuations || now - run.created_at >= limits.max_age_ms {
        return Recovery::GiveUp(EndReason::RunBudgetExhausted);
    }
    Recovery::DispatchAgain
}

fn observed_is(run: &Run, observed: u64) -> Result<(), Refused> {
    if run.version == observed { Ok(()) } else { Err(Refused::Moved) }
}

fn held_by(run: &Run, attempt: u32) -> Result<(), Refused> {
    // After a hand-over the attempt is the same, but nobody holds the run.
    if run.attempt == attempt && run.status == RunStatus::Running { Ok(()) } else { Err(Refused::Displaced) }
}

#[cfg(test)]
#[path = "state_tests.rs"]
mod tests;
