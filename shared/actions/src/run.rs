//! Running a call that was let in, and settling it by its effect.

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures::FutureExt;
use serde_json::Value;
use tandem_store::{Commit, Outcome, Pause};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use crate::context::{Context, Stopped};
use crate::definition::{ActionDef, Options};
use crate::redact::redacted;
use crate::{ActionError, Call, Effect};

/// How often a function runs again because it lost the race for what it had read.
const RUNS: u32 = 40;
/// Longest result whatever an action says: its item must fit into the store, beside what else is in a transaction.
const MAX_STORED_OUTPUT: usize = 380 * 1024;
/// Longest text of a failure, in bytes.
const MAX_FAILURE: usize = 4096;

/// Runs the action until it is settled.
pub(crate) async fn run(def: &ActionDef, input: Value, call: &Call) -> Result<Value, ActionError> {
    if call.cancel.is_cancelled() {
        return Err(ActionError::Cancelled);
    }
    if let Some(outcome) = settled(def.options.effect, call).await? {
        return returned(outcome);
    }
    let begun = Instant::now();
    let mut lost = Pause::up_to(RUNS);
    let mut step = 0;
    loop {
        let mut ctx = Context::begin(call, def.options.effect).await?;
        if ctx.step > step {
            (step, lost) = (ctx.step, Pause::up_to(RUNS));
        }
        let result = guarded(def, input.clone(), &mut ctx, call, begun).await;
        if let Some(result) = settle(&def.options, &mut ctx, call, result).await? {
            return result;
        }
        if !lost.again().await {
            return fail(call, ActionError::Conflict).await;
        }
    }
}

/// Stores a failure as the outcome, if this is a tool call, and gives what is stored then.
pub(crate) async fn fail(call: &Call, error: ActionError) -> Result<Value, ActionError> {
    match (&error, call.slot()) {
        // Nothing is settled by these: whoever goes on decides by the effect.
        (ActionError::Cancelled | ActionError::Store(_) | ActionError::Closed | ActionError::Unknown, _) => Err(error),
        (_, None) => Err(error),
        (_, Some(slot)) => returned(call.store.put_outcome(&slot, &failure(&error)).await?),
    }
}

/// The outcome that exists already, where running in vain would cost or do something.
async fn settled(effect: Effect, call: &Call) -> Result<Option<Outcome>, ActionError> {
    match (effect, call.slot()) {
        (Effect::Checkpointed | Effect::Keyed | Effect::External, Some(slot)) => Ok(call.store.outcome(&slot).await?),
        // The transaction, or the put of the outcome, finds it.
        (Effect::Read | Effect::Transactional, _) | (_, None) => Ok(None),
    }
}

/// How a run of the function ended.
enum Ended {
    Returned(Result<Value, ActionError>),
    /// It panicked, or took too long: what it wrote does not count.
    Broken(ActionError),
}

/// Runs the function once, within its time, and survives its panic.
async fn guarded(def: &ActionDef, input: Value, ctx: &mut Context, call: &Call, begun: Instant) -> Ended {
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
                // The holder's time is up, not the action's: another holder goes on. Without a run there is none.
                return match call.slot() {
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

/// Commits what a run has done with its outcome. None: the race was lost, run again.
async fn settle(
    options: &Options,
    ctx: &mut Context,
    call: &Call,
    ended: Ended,
) -> Result<Option<Result<Value, ActionError>>, ActionError> {
    match ctx.stopped.take() {
        Some(Stopped::Lost) => return Ok(None),
        Some(Stopped::Settled(outcome)) => return Ok(Some(returned(outcome))),
        None => {}
    }
    if let Some(failure) = ctx.state.failure.take() {
        return Err(ActionError::Store(failure));
    }
    let result = match ended {
        Ended::Broken(error) => return Ok(Some(fail(call, error).await)),
        Ended::Returned(result) => result.and_then(|output| fitting(options, output)),
    };
    let outcome = match &result {
        Ok(output) => Outcome::Done(output.clone()),
        Err(error @ (ActionError::Cancelled | ActionError::Store(_) | ActionError::Closed | ActionError::Unknown)) => {
            return Ok(Some(Err(error.clone())));
        }
        Err(error) => {
            ctx.state.unit.discard_writes();
            failure(error)
        }
    };
    let plain = match options.effect {
        Effect::Read => true,
        // Also a failure depends on what was read; without a tool call nobody stores it.
        Effect::Transactional | Effect::Checkpointed | Effect::Keyed | Effect::External => {
            call.slot().is_none() && (result.is_err() || !ctx.state.unit.has_writes())
        }
    };
    if plain {
        return Ok(Some(match call.slot() {
            Some(slot) => returned(call.store.put_outcome(&slot, &outcome).await?),
            None => result.map_err(safe),
        }));
    }
    match ctx.conclude(&outcome).await {
        Ok(Commit::Committed(_)) if call.slot().is_some() => Ok(Some(returned(outcome))),
        Ok(Commit::Committed(_)) => Ok(Some(result.map_err(safe))),
        Ok(Commit::Settled(stored)) => Ok(Some(returned(stored))),
        Ok(Commit::Lost) if options.effect != Effect::External => Ok(None),
        // It happened elsewhere and cannot run again; here its changes no longer fit.
        Ok(Commit::Lost) => {
            let text = "It has happened, but what it was to change here has changed in the meantime.";
            Ok(Some(fail(call, ActionError::failed("conflict", text)).await))
        }
        Err(error) => Ok(Some(fail(call, error).await)),
    }
}

/// The result, if it is no longer than it may be.
fn fitting(options: &Options, output: Value) -> Result<Value, ActionError> {
    let (has, most) = (output.to_string().len(), options.max_output.min(MAX_STORED_OUTPUT));
    if has <= most {
        return Ok(output);
    }
    let text = format!("The result has {has} bytes, at most {most} can be returned: ask for less at a time.");
    Err(ActionError::failed("output_too_large", text))
}

/// The stored form of an error; its text ends with the code in brackets.
fn failure(error: &ActionError) -> Outcome {
    let mut message = redacted(&error.to_string());
    let code = format!(" [{}]", error.code());
    if let Some(bare) = message.strip_suffix(&code) {
        message.truncate(bare.len());
    }
    let end = (0..=MAX_FAILURE.min(message.len())).rev().find(|at| message.is_char_boundary(*at)).unwrap_or(0);
    message.truncate(end);
    Outcome::Failed(message + &code)
}

/// An error without the secrets that an action may have put into its text.
fn safe(error: ActionError) -> ActionError {
    match error {
        ActionError::Failed { code, message } => ActionError::Failed { code, message: redacted(&message) },
        other => other,
    }
}

/// What a stored outcome means to the caller.
fn returned(outcome: Outcome) -> Result<Value, ActionError> {
    match outcome {
        Outcome::Done(output) => Ok(output),
        Outcome::Failed(text) => Err(ActionError::from_stored(&text)),
        Outcome::Unknown => Err(ActionError::Unknown),
        Outcome::Closed => Err(ActionError::Closed),
    }
}
