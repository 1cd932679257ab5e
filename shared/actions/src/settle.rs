//! Settling a call by its effect: what it has done and its outcome are stored together, and the stored one counts.

use serde_json::Value;
use tandem_protocol::{MAX_DEPTH, is_too_deep};
use tandem_store::{Commit, Outcome, Slot};

use crate::context::{Context, Stopped};
use crate::definition::Options;
use crate::redact::redacted;
use crate::run::{Ended, Job};
use crate::{ActionError, Effect};

/// Longest text of a failure, in bytes.
const MAX_FAILURE: usize = 4096;

/// Of something elsewhere, whose changes here lost their race.
pub(crate) const HAPPENED_AND_LOST: &str =
    "It has happened, but what it was to change here has changed in the meantime.";

/// What became of a run of an action.
pub(crate) enum Settled {
    By(Result<Value, ActionError>),
    /// The race for what it had read was lost: it is to run again. `happened`: what it does elsewhere it has done.
    Lost {
        ctx: Box<Context>,
        happened: bool,
    },
}

/// Commits what a run has done with its outcome. `before`: an earlier run of this call has done it elsewhere, and lost.
pub(crate) async fn settle(job: Job, mut ctx: Context, ended: Ended, before: bool) -> Result<Settled, ActionError> {
    match ctx.stopped.take() {
        Some(Stopped::Lost) => return Ok(Settled::Lost { ctx: Box::new(ctx), happened: false }),
        Some(Stopped::Settled(outcome)) => return Ok(Settled::By(result_of(outcome))),
        None => {}
    }
    let effect = job.effect();
    // Elsewhere it has happened, whatever becomes of it here: nobody is to be told to do it again.
    let returned = effect.is_elsewhere() && matches!(ended, Ended::Returned(Ok(_)));
    let happened = before || returned;
    if happened && job.slot.is_some() {
        // It is written down, however long that takes.
        ctx.state.unit.wait_until(None);
    }
    // What is rare is on the heap: each call would else carry the room for it.
    let result = match (ended, ctx.state.failure.take()) {
        (Ended::Broken(error), None) => return Ok(Settled::By(Box::pin(broken(&job, ctx, error, before)).await)),
        (Ended::Broken(error), Some(_)) if effect.is_elsewhere() => {
            return Ok(Settled::By(Box::pin(broken(&job, ctx, error, before)).await));
        }
        (_, Some(failure)) if happened || !effect.is_elsewhere() => {
            return Ok(Settled::By(Box::pin(unstored(&job, ctx, happened, failure)).await));
        }
        (_, Some(failure)) => return Ok(Settled::By(Box::pin(unclear(&job, failure)).await)),
        (Ended::Returned(Err(error)), None) if before && error.settles() => Err(anew(&error)),
        (Ended::Returned(result), None) => result.and_then(|output| fitting(&job.def.options, output)),
    };
    let outcome = match &result {
        Ok(output) => Outcome::Done(output.clone()),
        // The action itself cannot tell: the mail server did not answer.
        Err(ActionError::Unknown) if effect == Effect::External => {
            ctx.state.unit.discard_writes();
            Outcome::Unknown
        }
        Err(_) if happened && job.slot.is_none() && !returned => return Ok(Settled::By(result.map_err(unrepeatable))),
        Err(error) if !error.settles() => return Ok(Settled::By(Err(error.clone()))),
        Err(error) => {
            if !returned {
                ctx.state.unit.discard_writes();
            }
            failure(error)
        }
    };
    let plain = match effect {
        Effect::Read => true,
        // It never runs again: what it says of itself counts, whatever has changed since it read.
        Effect::External if !happened => true,
        // What has happened is done, and nothing here is to be changed.
        Effect::Keyed | Effect::External if happened && !ctx.state.unit.has_writes() => true,
        // Also a failure depends on what was read; without a place for it nobody stores it.
        Effect::Transactional | Effect::Checkpointed | Effect::Keyed | Effect::External => {
            job.slot.is_none() && (result.is_err() && !happened || !ctx.state.unit.has_writes())
        }
    };
    if plain {
        return Ok(Settled::By(match &job.slot {
            // What was read changes nothing: its place in the log is its one outcome.
            Some(_) if effect == Effect::Read => result_of(outcome),
            Some(slot) => put(&job, slot, &outcome).await,
            None => result.map_err(safe),
        }));
    }
    match ctx.conclude(&outcome).await {
        Ok(Commit::Committed(_)) if job.slot.is_some() => Ok(Settled::By(result_of(outcome))),
        Ok(Commit::Committed(_)) => Ok(Settled::By(result.map_err(safe))),
        Ok(Commit::Settled(stored)) => {
            keep_late(&job, &outcome, &stored).await;
            Ok(Settled::By(result_of(stored)))
        }
        Ok(Commit::Lost) if effect != Effect::External => Ok(Settled::Lost { ctx: Box::new(ctx), happened }),
        // It happened elsewhere and cannot run again; here its changes no longer fit.
        Ok(Commit::Lost) => Ok(Settled::By(job.fail(ActionError::failed("conflict", HAPPENED_AND_LOST)).await)),
        Err(error) => Ok(Settled::By(Box::pin(unstored(&job, ctx, happened, error)).await)),
    }
}

/// Stores the failure of a run as the outcome, if there is a place for one, and gives what is stored then. That of a long
/// call only if nobody else has gone on with it since.
pub(crate) async fn fail(job: &Job, ctx: Context, error: ActionError) -> Result<Value, ActionError> {
    if job.effect() != Effect::Checkpointed || job.slot.is_none() || !error.settles() {
        return job.fail(error).await;
    }
    let outcome = failure(&error);
    match ctx.fail(&outcome).await? {
        Commit::Committed(_) => result_of(outcome),
        Commit::Settled(stored) => result_of(stored),
        Commit::Lost => Err(ActionError::Cancelled),
    }
}

/// What is told where nothing can be committed here.
async fn unstored(job: &Job, ctx: Context, happened: bool, error: ActionError) -> Result<Value, ActionError> {
    match error {
        // Where there is a place for its outcome, whoever goes on decides by that.
        ActionError::Store(_) if happened && job.slot.is_none() => Err(ActionError::Unknown),
        error if happened && error.settles() => {
            let text =
                format!("It has happened, but what it was to change here could not be stored: {}.", error.words());
            job.fail(ActionError::failed(error.code(), text)).await
        }
        error => fail(job, ctx, error).await,
    }
}

/// What is told where the action could not read what it needed, before what it does elsewhere or after it.
async fn unclear(job: &Job, error: ActionError) -> Result<Value, ActionError> {
    match (job.effect(), &job.slot) {
        // Where there is a place for its outcome, whoever goes on decides by that.
        (_, Some(_)) if !error.settles() => Err(error),
        (Effect::External, Some(slot)) => put(job, slot, &Outcome::Unknown).await,
        (Effect::External, None) => Err(ActionError::Unknown),
        (_, None) if !error.settles() => Err(ActionError::Unknown),
        _ => job.fail(perhaps(&error)).await,
    }
}

/// A run that panicked or took too long. What it changes elsewhere may have happened all the same.
async fn broken(job: &Job, ctx: Context, error: ActionError, before: bool) -> Result<Value, ActionError> {
    let told = || if before { anew(&error) } else { perhaps(&error) };
    tracing::warn!(action = job.def.options.name, code = error.code(), "an action broke off");
    match (job.effect(), &job.slot) {
        (Effect::Read, Some(_)) => result_of(failure(&error)),
        (Effect::Read | Effect::Transactional | Effect::Checkpointed, _) => fail(job, ctx, error).await,
        (Effect::External, Some(slot)) => put(job, slot, &Outcome::Unknown).await,
        (Effect::Keyed, Some(slot)) => put(job, slot, &failure(&told())).await,
        (Effect::Keyed | Effect::External, None) => Err(told()),
    }
}

/// A failure of a run after one that has done it elsewhere.
fn anew(error: &ActionError) -> ActionError {
    let text = format!("It has happened, but failed when its changes here were to be made anew: {}.", error.words());
    ActionError::failed(error.code(), text)
}

/// Of a call that has happened and has no place for its outcome: nobody is to be told to send it again.
fn unrepeatable(error: ActionError) -> ActionError {
    if error.settles() { safe(error) } else { ActionError::Unknown }
}

/// A failure that does not tell whether it happened elsewhere.
fn perhaps(error: &ActionError) -> ActionError {
    let text = format!("{}, and may have happened all the same: check before you try again", error.words());
    ActionError::failed(error.code(), text)
}

/// Puts an outcome beside which nothing is written, and gives what is stored then.
async fn put(job: &Job, slot: &Slot, outcome: &Outcome) -> Result<Value, ActionError> {
    let stored = job.call.store.put_outcome(slot, outcome).await?;
    keep_late(job, outcome, &stored).await;
    result_of(stored)
}

/// Keeps what came of a call whose outcome others have stored by now, beside that outcome and never in its place.
async fn keep_late(job: &Job, late: &Outcome, stored: &Outcome) {
    let Some(slot) = job.slot.as_ref().filter(|_| job.effect().is_elsewhere()) else { return };
    if matches!(stored, Outcome::Unknown | Outcome::Closed) && !matches!(late, Outcome::Unknown | Outcome::Closed) {
        // What was told does not change by it, so neither does a failure to keep it.
        if let Err(error) = job.call.store.put_late_result(slot, late).await {
            tracing::warn!(%error, action = job.def.options.name, "a late result could not be kept");
        }
    }
}

/// The result, if it is no longer and no deeper than it may be.
fn fitting(options: &Options, output: Value) -> Result<Value, ActionError> {
    let (has, most) = (output.to_string().len(), options.max_output);
    let (code, fault) = if has > most {
        ("output_too_large", format!("has {has} bytes, at most {most} can be returned"))
    } else if is_too_deep(&output) {
        ("output_too_deep", format!("is nested too deeply, at most {MAX_DEPTH} levels can be returned"))
    } else {
        return Ok(output);
    };
    let text = match options.effect.is_elsewhere() {
        true => format!("It was done, and is not to be done again; only its result cannot be shown: it {fault}."),
        false => format!("The result {fault}: ask for less at a time."),
    };
    Err(ActionError::failed(code, text))
}

/// The stored form of an error; its text ends with the code in brackets.
pub(crate) fn failure(error: &ActionError) -> Outcome {
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

/// What a stored outcome means to who called.
pub fn result_of(outcome: Outcome) -> Result<Value, ActionError> {
    match outcome {
        Outcome::Done(output) => Ok(output),
        Outcome::Failed(text) => Err(ActionError::from_stored(&text)),
        Outcome::Unknown => Err(ActionError::Unknown),
        Outcome::Closed => Err(ActionError::Closed),
    }
}
