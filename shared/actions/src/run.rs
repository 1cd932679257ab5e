//! Running a call that was let in: within its time, surviving its panic, again where a race was lost.

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures::FutureExt;
use serde_json::Value;
use tandem_store::{Line, Outcome, Pause, Slot, Store};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};
use tracing::Instrument;

use crate::context::Context;
use crate::definition::ActionDef;
use crate::resources::Resources;
use crate::settle::{self, HAPPENED_AND_LOST, Settled, failure, result_of, settle};
use crate::{ActionError, Call, Effect};

/// How often a function runs again because it lost the race for what it had read, within its time. Whoever wins is done, so
/// only more writers of one document than this could starve one.
const RUNS: u32 = 250;
/// The same where each run asks somebody elsewhere.
const RUNS_ELSEWHERE: u32 = 40;

/// A call that was let in.
#[derive(Clone)]
pub(crate) struct Job {
    pub(crate) def: ActionDef,
    pub(crate) call: Call,
    /// Where its outcome is stored, once; none: nowhere.
    pub(crate) slot: Option<Slot>,
    pub(crate) resources: Resources,
}

impl Job {
    pub(crate) fn effect(&self) -> Effect {
        self.def.options.effect
    }

    /// Stores a failure as the outcome, if there is a place for one, and gives what is stored then.
    pub(crate) async fn fail(&self, error: ActionError) -> Result<Value, ActionError> {
        fail(&self.call.store, self.slot.as_ref(), error).await
    }
}

/// Runs the action until it is settled.
pub(crate) async fn run(job: Job, input: Value) -> Result<Value, ActionError> {
    if job.call.cancel.is_cancelled() {
        return Err(ActionError::Cancelled);
    }
    if let Some(outcome) = settled(&job).await? {
        return result_of(outcome);
    }
    let begun = Instant::now();
    let runs = if job.effect().is_elsewhere() { RUNS_ELSEWHERE } else { RUNS };
    let (mut lost, mut since) = (Pause::up_to(runs), begun);
    let (mut step, mut line, mut before) = (0, None, false);
    loop {
        let mut ctx = Context::begin(&job).await?;
        let ended = guarded(&job, input.clone(), &mut ctx, begun).await;
        let settling = settle(job.clone(), ctx, ended, before);
        let settled = if job.effect().is_elsewhere() && job.slot.is_some() {
            // In a task of its own: whoever holds the run may be displaced by now and drop this call, and what has
            // happened elsewhere must still be written down. Only puts of what is absent are left to do.
            tokio::spawn(settling.in_current_span()).await.unwrap_or(Err(ActionError::Cancelled))
        } else {
            settling.await
        };
        let ctx = match settled? {
            Settled::By(result) => return result,
            Settled::Lost { ctx, happened } => {
                before = happened;
                ctx
            }
        };
        if ctx.step > step {
            // A slice has been committed since: the time for the next one began there.
            (step, lost, since) = (ctx.step, Pause::up_to(runs), *ctx.checkpointed.borrow());
        }
        let until = since + job.def.options.timeout;
        let again = lost.again().await;
        if again && line.is_none() {
            line = in_line(&job, &ctx, until).await;
        }
        if !again || Instant::now() >= until {
            let error = if before { ActionError::failed("conflict", HAPPENED_AND_LOST) } else { ActionError::Conflict };
            return Box::pin(settle::fail(&job, *ctx, error)).await;
        }
    }
}

/// Waits until none of this process that lost the same race runs again, where such runs are short.
async fn in_line(job: &Job, ctx: &Context, until: Instant) -> Option<Line> {
    let line = ctx.state.unit.line().filter(|_| job.effect() == Effect::Transactional)?;
    tokio::select! {
        line = line => Some(line),
        () = job.call.cancel.cancelled() => None,
        () = sleep_until(until.min(job.call.deadline)) => None,
    }
}

/// Stores a failure as the outcome, if there is a place for one, and gives what is stored then.
pub(crate) async fn fail(store: &Store, slot: Option<&Slot>, error: ActionError) -> Result<Value, ActionError> {
    match slot {
        Some(slot) if error.settles() => result_of(store.put_outcome(slot, &failure(&error)).await?),
        _ => Err(error),
    }
}

/// The outcome that exists already, where running in vain would cost or do something.
async fn settled(job: &Job) -> Result<Option<Outcome>, ActionError> {
    match (job.effect(), &job.slot) {
        (Effect::Checkpointed | Effect::Keyed | Effect::External, Some(slot)) => {
            Ok(job.call.store.outcome(slot).await?)
        }
        // The transaction, or the put of the outcome, finds it.
        (Effect::Read | Effect::Transactional, _) | (_, None) => Ok(None),
    }
}

/// How a run of the function ended.
pub(crate) enum Ended {
    Returned(Result<Value, ActionError>),
    /// It panicked, or took too long: what it wrote does not count.
    Broken(ActionError),
}

/// Runs the function once, within its time, and survives its panic.
async fn guarded(job: &Job, input: Value, ctx: &mut Context, begun: Instant) -> Ended {
    let Job { def, call, .. } = job;
    let mut checkpointed = ctx.checkpointed.subscribe();
    let timeout = def.options.timeout;
    let work = AssertUnwindSafe(def.handler.run(input, ctx)).catch_unwind();
    tokio::pin!(work);
    loop {
        let until = expires(&mut checkpointed, def.options.effect, begun, timeout);
        tokio::select! {
            // A result that is there counts, whatever else has happened by now.
            biased;
            done = &mut work => return match done {
                Ok(result) => Ended::Returned(result),
                Err(_) => {
                    // The text of a panic may hold anything; the hook has written it where such things belong.
                    tracing::error!(action = def.options.name, "an action panicked");
                    Ended::Broken(ActionError::failed("internal", "The action broke down: a fault on our side."))
                }
            },
            () = call.cancel.cancelled() => return Ended::Returned(Err(ActionError::Cancelled)),
            () = sleep_until(call.deadline) => {
                // The holder's time is up, not the action's: whoever takes the outcome's place next goes on.
                return match job.slot {
                    Some(_) => Ended::Returned(Err(ActionError::Cancelled)),
                    None => Ended::Broken(ActionError::Timeout(timeout)),
                };
            }
            () = sleep_until(until) => {
                if expires(&mut checkpointed, def.options.effect, begun, timeout) == until {
                    return Ended::Broken(ActionError::Timeout(timeout));
                }
            }
        }
    }
}

/// When the action's own time is up: for a checkpointed one it begins anew with every checkpoint.
fn expires(checkpointed: &mut watch::Receiver<Instant>, effect: Effect, begun: Instant, timeout: Duration) -> Instant {
    match effect {
        Effect::Checkpointed => *checkpointed.borrow() + timeout,
        Effect::Read | Effect::Transactional | Effect::Keyed | Effect::External => begun + timeout,
    }
}
