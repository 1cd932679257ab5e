//! The loop of a turn: settle what was begun, ask the model, run its calls, again.

use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;
use tandem_model::{ModelError, Request, ToolSpec};
use tandem_protocol::{CallState, Chunk, EndReason, FinishReason, Part, Run, ToolCall, Usage};
use tandem_store::{AppendError, LogWriter};
use tokio::time::Instant;

use crate::history::{self, History};
use crate::recorder::Recorder;
use crate::{Agent, Setup, Stop, TurnEnd, Turned, prompt};

/// An attempt at a turn, under way.
pub(crate) struct Turn<'a> {
    pub(crate) agent: &'a Agent,
    pub(crate) run: Run,
    pub(crate) log: Recorder<'a>,
    pub(crate) soft: Instant,
    pub(crate) hard: Instant,
    pub(crate) progressed: &'a AtomicBool,
}

pub(crate) async fn run(agent: &Agent, setup: Setup<'_>, log: &LogWriter) -> Turned {
    let Setup { run, transcript, soft, hard, progressed } = setup;
    let recorder = Recorder::new(log, transcript, run.run_id.clone(), run.attempt);
    let mut turn = Turn { agent, run, log: recorder, soft, hard, progressed };
    let end = match turn.work().await {
        Ok(reason) => TurnEnd::Finished(reason),
        Err(stop) => turn.stop(stop).await,
    };
    Turned { end, transcript: turn.log.transcript }
}

impl Turn<'_> {
    async fn work(&mut self) -> Result<FinishReason, Stop> {
        let prepared = prepare(self.agent, &self.run).await?;
        self.settle_open_step().await?;
        let mut reason = FinishReason::Stop;
        loop {
            let steps = &self.log.transcript.steps;
            let answered = steps.last().is_some_and(|step| step.finished && calls_of(&step.parts).next().is_none());
            if answered {
                return Ok(reason);
            }
            let open = self.log.transcript.open_step().is_some();
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
            reason = self.step(&prepared).await?;
        }
    }

    /// Asks the model and runs what it calls.
    async fn step(&mut self, prepared: &Prepared) -> Result<FinishReason, Stop> {
        let request = Request {
            system: prepared.system.clone(),
            messages: prepared.history.with(&self.log.transcript),
            tools: prepared.tools.clone(),
            max_tokens: self.agent.limits.max_output_tokens,
            retry: 0,
        };
        let (reason, usage) = self.ask(&*prepared.model, request).await?;
        let ready = self.open_calls(|state| matches!(state, CallState::Ready));
        if !ready.is_empty() {
            self.run_calls(ready).await?;
        }
        self.finish_step(usage).await?;
        Ok(reason)
    }

    /// A step whose intent was stored by an earlier attempt is never asked again: its calls are settled.
    async fn settle_open_step(&mut self) -> Result<(), Stop> {
        if !self.log.transcript.open_step().is_some_and(|step| step.called) {
            return Ok(());
        }
        let open = self.open_calls(|state| !state.is_settled());
        self.settle_calls(open).await?;
        self.finish_step(Usage::default()).await
    }

    async fn finish_step(&mut self, usage: Usage) -> Result<(), Stop> {
        let metadata = self.log.transcript.metadata.as_ref().and_then(|metadata| metadata.get("usage"));
        let mut total: Usage =
            metadata.and_then(|usage| serde_json::from_value(usage.clone()).ok()).unwrap_or_default();
        total += usage;
        let metadata = Chunk::MessageMetadata { message_metadata: json!({"usage": total}) };
        self.log.commit([metadata, Chunk::FinishStep]).await?;
        self.progressed.store(true, Ordering::Relaxed);
        Ok(())
    }

    fn open_calls(&self, wanted: impl Fn(&CallState) -> bool) -> Vec<ToolCall> {
        let parts = self.log.transcript.open_step().map_or(&[][..], |step| &step.parts);
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

/// What is the same for every step of an attempt.
struct Prepared {
    system: Vec<String>,
    history: History,
    tools: Vec<ToolSpec>,
    model: std::sync::Arc<dyn tandem_model::Model>,
}

async fn prepare(agent: &Agent, run: &Run) -> Result<Prepared, Stop> {
    let input = agent.store.input(&run.run_id).await?;
    let input = input.ok_or_else(|| Stop::Failed(EndReason::SetupFailed, "The run has no input.".into()))?;
    let model = agent.models.get(input.model.as_deref());
    let model = model.map_err(|unknown| Stop::Failed(EndReason::SetupFailed, unknown.to_string()))?;
    let (history, system) = tokio::try_join!(history::load(&agent.store, run, &input), prompt::system(agent, run))?;
    let tools = agent.registry.tools(&run.owner).into_iter().map(|tool| ToolSpec {
        name: tool.name,
        description: tool.description,
        schema: tool.schema,
    });
    Ok(Prepared { system, history, tools: tools.collect(), model })
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
