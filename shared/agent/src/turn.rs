//! The loop of a turn: settle what was begun, ask the model, run its calls, again. Where a person must agree to a call
//! the run ends, and the next run of the turn goes on here.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::json;
use tandem_model::{ModelError, Request};
use tandem_protocol::{CallState, Caller, Chunk, EndReason, FinishReason, Part, Run, ToolCall, Usage};
use tandem_store::{AppendError, LogWriter, PendingApproval};
use tokio::time::Instant;

use crate::overflow::TooLong;
use crate::prepared::{Context, Prepared};
use crate::recorder::Recorder;
use crate::{Agent, Setup, Stop, TurnEnd, Turned};

/// An attempt at a turn, under way.
pub(crate) struct Turn<'a> {
    pub(crate) agent: &'a Agent,
    pub(crate) run: Run,
    /// The door that calls come through: the agent's, or the one of a person's action.
    pub(crate) caller: Caller,
    pub(crate) log: Recorder<'a>,
    pub(crate) soft: Instant,
    pub(crate) hard: Instant,
    pub(crate) whole: Duration,
    pub(crate) progressed: &'a AtomicBool,
    /// This attempt has done something that the next one need not do again.
    pub(crate) moved: AtomicBool,
    /// The least that was too long for the model, as far as is known.
    pub(crate) too_long: Option<TooLong>,
    /// Requests to models that were paid for.
    pub(crate) requests: u32,
    /// The model has begun to answer the last one.
    pub(crate) answering: bool,
}

pub(crate) async fn run(agent: &Agent, setup: Setup<'_>, log: &LogWriter) -> Turned {
    let Setup { run, prepared, transcript, soft, hard, whole, progressed } = setup;
    let recorder = Recorder::new(log, transcript, run.run_id.clone(), run.attempt);
    let caller = Caller::Agent;
    let mut turn = Turn {
        agent,
        run,
        caller,
        log: recorder,
        soft,
        hard,
        whole,
        progressed,
        moved: AtomicBool::new(false),
        too_long: None,
        requests: 0,
        answering: false,
    };
    let end = match turn.work(prepared).await {
        Ok(end) => end,
        Err(stop) => turn.stop(stop).await,
    };
    Turned { end, transcript: turn.log.transcript }
}

impl Turn<'_> {
    async fn work(&mut self, prepared: Prepared) -> Result<TurnEnd, Stop> {
        let input = prepared.input?;
        if let Some(action) = &input.action {
            return self.carry_out(action).await;
        }
        // What was approved runs whatever has become of the model since.
        self.settle_last_step(&input.decisions).await?;
        let Some(context) = prepared.context else {
            return Err(Stop::Failed(EndReason::Internal, "The run was not prepared.".into()));
        };
        let context = context?;
        let mut reason = FinishReason::Stop;
        loop {
            let steps = &self.log.transcript.steps;
            let open = self.log.transcript.open_step().is_some();
            let answered = steps.last().is_some_and(|step| step.finished && calls_of(&step.parts).next().is_none());
            if answered {
                return Ok(TurnEnd::Finished(reason));
            }
            if !open && self.log.transcript.awaiting().next().is_some() {
                return Ok(TurnEnd::AwaitingApproval);
            }
            if !open && steps.len() >= self.agent.limits.max_steps as usize {
                let text = format!("The run was stopped after {} steps.", self.agent.limits.max_steps);
                return Err(Stop::Failed(EndReason::TooManySteps, text));
            }
            if Instant::now() >= self.soft {
                return Err(Stop::TimeUp);
            }
            if !open {
                self.log.push(Chunk::StartStep).await?;
            }
            reason = self.step(&context).await?;
        }
    }

    /// Asks the model and runs what it calls.
    async fn step(&mut self, context: &Context) -> Result<FinishReason, Stop> {
        let request = Request {
            system: context.system.clone(),
            messages: Vec::new(),
            tools: context.tools.clone(),
            max_tokens: self.agent.limits.max_output_tokens,
            retry: 0,
        };
        if self.too_long.is_none() {
            let told = TooLong::told(self.log.transcript.metadata.as_ref());
            let told = told.or_else(|| context.history.too_long.clone());
            // Another model takes more, or less: that it did not is no news of this one.
            self.too_long = told.filter(|told| told.model == context.model.name());
        }
        let history = context.history.with(&self.log.transcript);
        let (reason, usage) = self.ask(&*context.model, request, history).await?;
        let ready = self.last_calls(|state| matches!(state, CallState::Ready));
        let (asks, direct): (Vec<_>, Vec<_>) = ready.into_iter().partition(|call| self.needs_approval(call));
        if !direct.is_empty() {
            self.run_calls(direct).await?;
        }
        self.finish_step(usage, &asks).await?;
        Ok(reason)
    }

    /// A step whose intent was stored by an earlier attempt is never asked again: its calls are settled. So are calls
    /// that an earlier run of the turn asked a person about.
    async fn settle_last_step(&mut self, decisions: &[PendingApproval]) -> Result<(), Stop> {
        let called = self.log.transcript.open_step().is_some_and(|step| step.called);
        let announced = self.announce(decisions).await?;
        let begun = self.last_calls(|state| matches!(state, CallState::Intended));
        let approved = self.last_calls(|state| matches!(state, CallState::Approved));
        let went_on = announced || !begun.is_empty() || !approved.is_empty();
        self.settle_calls(begun).await?;
        if !approved.is_empty() {
            self.run_calls(approved).await?;
        }
        if called {
            // The rest of the step: it waits for the person who has not been asked yet.
            let asks = self.last_calls(|state| matches!(state, CallState::Ready));
            self.finish_step(Usage::default(), &asks).await
        } else if went_on {
            Ok(self.log.commit([Chunk::FinishStep]).await?)
        } else {
            Ok(())
        }
    }

    /// Ends a step, with the questions to a person that it leaves.
    pub(crate) async fn finish_step(&mut self, usage: Usage, asks: &[ToolCall]) -> Result<(), Stop> {
        let metadata = self.log.transcript.metadata.as_ref().and_then(|metadata| metadata.get("usage"));
        let mut total: Usage =
            metadata.and_then(|usage| serde_json::from_value(usage.clone()).ok()).unwrap_or_default();
        total += usage;
        let metadata = Chunk::MessageMetadata { message_metadata: json!({"usage": total}) };
        let mut chunks: Vec<Chunk> = asks.iter().map(|call| Chunk::approval_request(&call.id)).collect();
        chunks.extend([metadata, Chunk::FinishStep]);
        let calls = self.log.transcript.open_step().is_some_and(|step| calls_of(&step.parts).next().is_some());
        self.log.push_all(chunks).await?;
        if calls {
            self.log.commit([]).await?;
        }
        // The last step is stored with the end of the run, which is near.
        self.progress();
        Ok(())
    }

    /// A step has finished, an outcome is stored, or a call has something to say.
    pub(crate) fn progress(&self) {
        self.progressed.store(true, Ordering::Relaxed);
        self.moved.store(true, Ordering::Relaxed);
    }

    /// Calls of the last step in such a state.
    pub(crate) fn last_calls(&self, wanted: impl Fn(&CallState) -> bool) -> Vec<ToolCall> {
        let parts = self.log.transcript.steps.last().map_or(&[][..], |step| &step.parts);
        calls_of(parts).filter(|call| wanted(&call.state)).cloned().collect()
    }

    /// Says in the log why work stops, where the log is still ours.
    async fn stop(&mut self, stop: Stop) -> TurnEnd {
        match stop {
            Stop::TimeUp => {
                let mut last = self.log.transcript.closing();
                last.push(Chunk::continuing("soft_timeout"));
                match self.log.commit(last).await {
                    Ok(()) => TurnEnd::TimeUp,
                    Err(error) => failed_append(error),
                }
            }
            Stop::Failed(reason, text) => TurnEnd::Failed(reason, text),
            Stop::Append(error) => failed_append(error),
            Stop::Store(error) => TurnEnd::StoreFailed(error),
        }
    }
}

fn failed_append(error: AppendError) -> TurnEnd {
    match error {
        AppendError::Displaced | AppendError::Closed => TurnEnd::Displaced,
        AppendError::Store(error) => TurnEnd::StoreFailed(error),
        AppendError::TooLarge(_) => TurnEnd::Failed(EndReason::Internal, error.to_string()),
    }
}

pub(crate) fn calls_of(parts: &[Part]) -> impl Iterator<Item = &ToolCall> {
    parts.iter().filter_map(|part| match part {
        Part::Call(call) => Some(call),
        Part::Text { .. } | Part::Reasoning { .. } => None,
    })
}

/// The end of a run that a model's failure leads to.
pub(crate) fn model_failed(error: &ModelError) -> Stop {
    let reason = match error {
        ModelError::Overloaded { .. } => EndReason::ModelOverloaded,
        ModelError::RateLimited { .. } => EndReason::ModelRateLimited,
        ModelError::ContextTooLong { .. } => EndReason::ContextTooLong,
        ModelError::Refused { .. } => EndReason::ModelRefused,
        ModelError::MissingCredentials { .. } => EndReason::MissingCredentials,
        ModelError::Interrupted { .. } | ModelError::Permanent { .. } => EndReason::ModelFailed,
    };
    Stop::Failed(reason, error.to_string())
}
