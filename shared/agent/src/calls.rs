//! Running the calls of a step: the intent first, then reads side by side and everything else in order.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use futures::StreamExt;
use futures::stream::FuturesUnordered;
use serde_json::Value;
use tandem_actions::{ActionError, Call, Effect, Entry, Registry, result_of};
use tandem_protocol::{Chunk, ProgressData, StateData, ToolCall, ToolCallId};
use tandem_store::{Outcome, Slot};
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tracing::{Instrument, Span};

use crate::Stop;
use crate::turn::Turn;

/// A call, by the names that OpenTelemetry has for generative AI.
fn span_of(call: &ToolCall, registry: &Registry) -> Span {
    tracing::info_span!(
        "execute_tool",
        gen_ai.operation.name = "execute_tool",
        gen_ai.tool.name = known(registry, &call.name),
        gen_ai.tool.call.id = %call.id,
        gen_ai.tool.type = "function",
    )
}

/// The name of an action for the log; one that the model has made up is what it says, and not for the log.
fn known<'a>(registry: &'a Registry, name: &str) -> &'a str {
    registry.get(name).map_or("unknown", |entry| entry.name())
}

/// Of a call that an earlier holder began: the model has made the name up, or this version has no such action any more.
const GONE: &str = "There is no such action. If there was one when this began, it may have happened: check before you do it in another way.";

/// What a call under way has to say.
enum Report {
    Progress(ToolCallId, ProgressData),
    /// It has changed documents.
    Changed(StateData),
}

impl Turn<'_> {
    /// Stores the intent of `calls` and runs them.
    pub(crate) async fn run_calls(&mut self, calls: Vec<ToolCall>) -> Result<(), Stop> {
        if self.needs_more_time(&calls) || Instant::now() >= self.soft {
            return Err(Stop::TimeUp);
        }
        self.log.commit([Chunk::calls(calls.iter().map(|call| call.id.clone()).collect())]).await?;
        self.run_in_order(calls).await
    }

    /// Whether somebody with more time is to take calls that cannot be repeated: they begin only where they can end. That is
    /// so once in any case, as a foreground has the least; and then for whoever has spent their time on something else, which
    /// the next one need not do again. Who comes to these calls first would only pass them on for ever.
    fn needs_more_time(&self, calls: &[ToolCall]) -> bool {
        let entries = calls.iter().filter_map(|call| self.agent.registry().get(&call.name));
        let longest = entries.filter(|entry| !entry.effect().may_run_again()).map(Entry::timeout).max();
        let left = self.hard.saturating_duration_since(Instant::now());
        let Some(longest) = longest.filter(|longest| *longest > left) else { return false };
        self.run.continuations == 0 || (self.moved.load(Ordering::Relaxed) && longest <= self.whole)
    }

    /// Settles calls whose intent an earlier attempt stored: what has an outcome shows it, what may run again
    /// does, and of the rest nobody knows.
    pub(crate) async fn settle_calls(&mut self, calls: Vec<ToolCall>) -> Result<(), Stop> {
        let mut again = Vec::new();
        if !calls.is_empty() {
            // Nothing that changes something is done by a holder that has not taken the log.
            self.log.commit([]).await?;
        }
        for call in calls {
            let slot = Slot::Call { run: self.run.run_id.clone(), call: call.id.clone() };
            let stored = self.agent.store.outcome(&slot).await?;
            let outcome = match stored {
                Some(outcome) => outcome,
                None if self.agent.registry().effect(&call.name).is_some_and(Effect::may_run_again) => {
                    again.push(call);
                    continue;
                }
                None => {
                    let known = self.agent.registry().get(&call.name).is_some();
                    let outcome = if known { Outcome::Unknown } else { Outcome::Failed(GONE.into()) };
                    self.agent.store.put_outcome(&slot, &outcome).await?
                }
            };
            // In the model's order, also towards those that run again.
            self.run_in_order(std::mem::take(&mut again)).await?;
            self.show(&call.id, result_of(outcome)).await?;
        }
        self.run_in_order(again).await
    }

    async fn run_in_order(&mut self, calls: Vec<ToolCall>) -> Result<(), Stop> {
        let mut rest = calls.into_iter().peekable();
        while let Some(first) = rest.next() {
            let mut together = vec![first];
            while self.effect(&together[0]).is_parallel()
                && let Some(next) = rest.next_if(|next| self.effect(next).is_parallel())
            {
                together.push(next);
            }
            self.run_together(together).await?;
        }
        Ok(())
    }

    async fn run_together(&mut self, calls: Vec<ToolCall>) -> Result<(), Stop> {
        if !matches!(self.effect(&calls[0]), Effect::Read | Effect::Transactional) {
            // Whoever is displaced by now learns it before something happens elsewhere.
            self.log.commit([]).await?;
        }
        let (reporter, mut reports) = mpsc::unbounded_channel();
        let registry = Arc::clone(self.agent.registry());
        let mut running: FuturesUnordered<_> = calls
            .into_iter()
            .map(|call| {
                let registry = Arc::clone(&registry);
                let context = self.call(&call, reporter.clone());
                let span = span_of(&call, &registry);
                let work = async move {
                    let began = Instant::now();
                    let result = registry.call(&call.name, call.input, context).await;
                    let took_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
                    let error = result.as_ref().err().map(ActionError::code);
                    tracing::info!(action = known(&registry, &call.name), error, took_ms, "the call returned");
                    (call.id, result)
                };
                work.instrument(span)
            })
            .collect();
        drop(reporter);
        loop {
            tokio::select! {
                biased;
                Some(report) = reports.recv() => self.show_report(report).await?,
                done = running.next() => match done {
                    Some((id, result)) => {
                        // First what it has said on the way.
                        while let Ok(report) = reports.try_recv() {
                            self.show_report(report).await?;
                        }
                        self.show(&id, result).await?;
                    }
                    None => return Ok(()),
                },
            }
        }
    }

    fn call(&self, call: &ToolCall, reporter: mpsc::UnboundedSender<Report>) -> Call {
        let (id, changes) = (call.id.clone(), reporter.clone());
        // Nobody listens any more when the call is being given up.
        let store = self.agent.store.telling(Arc::new(move |scope, rev| {
            let _ = changes.send(Report::Changed(StateData { scope: scope.to_string(), rev }));
        }));
        Call {
            store,
            principal: self.run.owner.clone(),
            caller: self.caller,
            run: Some(self.run.run_id.clone()),
            thread: self.run.thread_id.clone(),
            turn: self.run.turn_id.clone(),
            tool_call: Some(call.id.clone()),
            once: None,
            idempotency_key: Call::key_of(&self.run.run_id, &call.id),
            started_at: self.run.created_at,
            deadline: self.hard,
            cancel: CancellationToken::new(),
            progress: Some(Arc::new(move |data| {
                let _ = reporter.send(Report::Progress(id.clone(), data));
            })),
        }
    }

    async fn show_report(&mut self, report: Report) -> Result<(), Stop> {
        self.progress();
        let chunk = match report {
            Report::Progress(id, data) => Chunk::DataProgress { id: id.to_string(), data },
            Report::Changed(data) => Chunk::DataState { data, transient: true },
        };
        Ok(self.log.push(chunk).await?)
    }

    /// Shows an outcome that is stored.
    async fn show(&mut self, id: &ToolCallId, result: Result<Value, ActionError>) -> Result<(), Stop> {
        let chunk = match result {
            Ok(output) => Chunk::ToolOutputAvailable { tool_call_id: id.clone(), output },
            // No outcome: another attempt goes on with it, by its effect.
            Err(ActionError::Cancelled) => return Err(Stop::TimeUp),
            Err(ActionError::Store(error)) => return Err(Stop::Store(error)),
            Err(error) => Chunk::ToolOutputError { tool_call_id: id.clone(), error_text: error.to_string() },
        };
        self.progress();
        // Soon, and with what comes next: whoever takes the run over finds it, or does what changes nothing again.
        Ok(self.log.push(chunk).await?)
    }

    fn effect(&self, call: &ToolCall) -> Effect {
        // An unknown name runs nothing: its outcome is an error.
        self.agent.registry().effect(&call.name).unwrap_or(Effect::Read)
    }
}
