//! Asking the model: its answer becomes chunks as it arrives; what fails in passing is asked again.

use std::time::Duration;

use futures::StreamExt;
use serde_json::json;
use tandem_model::{Event, Model, ModelError, Request};
use tandem_protocol::{Chunk, FinishReason, Usage};
use tokio::time::Instant;
use tracing::field::Empty;
use tracing::{Instrument, Span};

use crate::Stop;
use crate::answer::{Answer, Block, CUT, OpenCall, TOO_MANY, legal};
use crate::overflow::{Fitting, LeftOut, TooLong};
use crate::turn::{Turn, calls_of, model_failed};

/// Requests for one step, the first included.
const TRIES: u32 = 5;
/// A provider that asks for a longer wait than this has failed, truthfully.
const LONGEST_WAIT: Duration = Duration::from_secs(600);
/// Calls that one step may make.
const MAX_CALLS: usize = 32;

impl Turn<'_> {
    /// Streams one complete answer into the log. An answer that breaks off is void: `reset-step`, and again,
    /// as long as that can help and fits before the soft timeout. A conversation that is too long is shortened until it
    /// fits or only the current question is left; later steps of the turn ask for less than what was too long.
    pub(crate) async fn ask(
        &mut self,
        model: &dyn Model,
        mut request: Request,
        mut history: Fitting,
    ) -> Result<(FinishReason, Usage), Stop> {
        if let Some(too_long) = &self.too_long {
            history = history.below(too_long.characters);
        }
        loop {
            self.say_left_out(history.left_out()).await?;
            request.messages = history.messages();
            let held = self.hold(model, &request).await?;
            let span = span_of(model, &request);
            let answered = self.answer(model, request.clone()).instrument(span).await?;
            if let Some(held) = &held {
                self.settle(held, &answered).await;
            }
            let error = match answered {
                Ok(finish) => return Ok(finish),
                Err(error) => error,
            };
            let characters = history.size();
            if matches!(error, ModelError::ContextTooLong { .. }) && history.shorten() {
                self.too_long = Some(TooLong { model: model.name().to_owned(), characters });
                let LeftOut { messages, characters } = history.left_out();
                tracing::warn!(run = %self.run.run_id, messages, characters, "the conversation is shortened");
                self.reset_step().await?;
                continue;
            }
            request.retry += 1;
            // Not the provider's words, which may repeat what it was sent: those are in the run.
            tracing::warn!(run = %self.run.run_id, retry = request.retry, error = error.kind(), "the model failed");
            let too_long = error.retry_after().is_some_and(|after| after > LONGEST_WAIT);
            if !error.is_retryable() || request.retry >= TRIES || too_long {
                return Err(model_failed(&error));
            }
            let wake = Instant::now() + pause(request.retry, error.retry_after());
            if wake >= self.soft {
                return Err(Stop::TimeUp);
            }
            self.reset_step().await?;
            tokio::time::sleep_until(wake).await;
        }
    }

    /// Says in the metadata of the answer what the model is not shown, and why.
    async fn say_left_out(&mut self, left_out: LeftOut) -> Result<(), Stop> {
        let said = json!(left_out);
        let known = self.log.transcript.metadata.as_ref().and_then(|metadata| metadata.get("leftOut"));
        if left_out == LeftOut::default() || known == Some(&said) {
            return Ok(());
        }
        let mut metadata = json!({"leftOut": said});
        if let Some(too_long) = &self.too_long {
            metadata["tooLong"] = json!(too_long);
        }
        Ok(self.log.push(Chunk::MessageMetadata { message_metadata: metadata }).await?)
    }

    /// What has arrived of an answer that is void is taken back.
    async fn reset_step(&mut self) -> Result<(), Stop> {
        if self.log.transcript.open_step().is_some_and(|step| !step.parts.is_empty()) {
            self.log.commit([Chunk::ResetStep]).await?;
        }
        Ok(())
    }

    async fn answer(
        &mut self,
        model: &dyn Model,
        request: Request,
    ) -> Result<Result<(FinishReason, Usage), ModelError>, Stop> {
        let (soft, began) = (self.soft, Instant::now());
        self.answering = false;
        let asked = tokio::time::timeout_at(soft, model.ask(request)).await.map_err(|_| Stop::TimeUp)?;
        let mut events = match asked {
            Ok(events) => events,
            Err(error) => return Ok(Err(error)),
        };
        self.answering = true;
        let first_ms = millis_since(began);
        let mut answer = Answer::default();
        loop {
            let event = tokio::time::timeout_at(soft, events.next()).await.map_err(|_| Stop::TimeUp)?;
            match event {
                Some(Ok(Event::Finish { reason, usage })) => {
                    if let Some(end) = answer.close_block() {
                        self.log.push(end).await?;
                    }
                    self.close_calls(&mut answer).await?;
                    if reason == FinishReason::ContentFilter && calls_of(self.open_parts()).next().is_none() {
                        let message = "The model declined to answer this.".into();
                        return Ok(Err(ModelError::Refused { message }));
                    }
                    let Usage { input_tokens, output_tokens, .. } = usage;
                    let span = Span::current();
                    span.record("gen_ai.usage.input_tokens", input_tokens);
                    span.record("gen_ai.usage.output_tokens", output_tokens);
                    span.record("gen_ai.response.finish_reasons", tracing::field::debug([reason]));
                    let (run, took_ms) = (&self.run.run_id, millis_since(began));
                    tracing::info!(%run, input_tokens, output_tokens, first_ms, took_ms, "the model answered");
                    return Ok(Ok((reason, usage)));
                }
                Some(Ok(event)) => self.record(&mut answer, event).await?,
                Some(Err(error)) => return Ok(Err(error)),
                None => {
                    let message = "The model's answer broke off.".into();
                    return Ok(Err(ModelError::Interrupted { message }));
                }
            }
        }
    }

    async fn record(&mut self, answer: &mut Answer, event: Event) -> Result<(), Stop> {
        match event {
            Event::TextDelta(delta) if delta.is_empty() => {}
            Event::TextDelta(delta) => self.say(answer, false, |id| Chunk::TextDelta { id, delta }).await?,
            Event::ReasoningDelta(delta) => self.say(answer, true, |id| Chunk::ReasoningDelta { id, delta }).await?,
            Event::ReasoningEnd { signed } => {
                self.say(answer, true, |id| Chunk::ReasoningEnd { id, provider_metadata: signed }).await?;
                answer.block = None;
            }
            Event::CallStart { index, name } => {
                let Some(id) = self.log.call_id() else { return Ok(()) };
                let name = legal(&name);
                answer.calls.push(OpenCall {
                    index,
                    id: id.clone(),
                    name: name.clone(),
                    json: String::new(),
                    ended: false,
                });
                let start = Chunk::ToolInputStart { tool_call_id: id, tool_name: name };
                self.log.push_all(answer.close_block().into_iter().chain([start]).collect()).await?;
            }
            Event::CallDelta { index, json } => {
                if let Some(call) = answer.call(index) {
                    call.json.push_str(&json);
                    let tool_call_id = call.id.clone();
                    self.log.push(Chunk::ToolInputDelta { tool_call_id, input_text_delta: json }).await?;
                }
            }
            Event::CallEnd { index } => {
                let over = answer.calls.iter().filter(|call| call.ended).count() >= MAX_CALLS;
                if let Some(call) = answer.call(index) {
                    call.ended = true;
                    let chunk = if over { call.refused(TOO_MANY) } else { call.complete() };
                    self.log.push(chunk).await?;
                }
            }
            Event::Finish { .. } => {}
        }
        Ok(())
    }

    /// A chunk of the open text or reasoning block; of a new one where the kind changes, which begins with its first chunk.
    async fn say(
        &mut self,
        answer: &mut Answer,
        reasoning: bool,
        chunk: impl FnOnce(String) -> Chunk,
    ) -> Result<(), Stop> {
        if let Some(block) = &answer.block
            && block.reasoning == reasoning
        {
            return Ok(self.log.push(chunk(block.id.clone())).await?);
        }
        let id = self.log.part_id();
        let start =
            if reasoning { Chunk::ReasoningStart { id: id.clone() } } else { Chunk::TextStart { id: id.clone() } };
        let end = answer.close_block();
        answer.block = Some(Block { id: id.clone(), reasoning });
        Ok(self.log.push_all(end.into_iter().chain([start, chunk(id)]).collect()).await?)
    }

    /// Calls whose arguments never ended were cut at the output limit: they are over, and the model is told.
    async fn close_calls(&mut self, answer: &mut Answer) -> Result<(), Stop> {
        for call in answer.calls.iter().filter(|call| !call.ended) {
            self.log.push(call.refused(CUT)).await?;
        }
        Ok(())
    }

    fn open_parts(&self) -> &[tandem_protocol::Part] {
        self.log.transcript.open_step().map_or(&[], |step| &step.parts)
    }
}

/// A request to a model, by the names that OpenTelemetry has for generative AI.
fn span_of(model: &dyn Model, request: &Request) -> Span {
    let (provider, id) = model.name().split_once('/').unwrap_or((model.name(), model.name()));
    tracing::info_span!(
        "chat",
        gen_ai.operation.name = "chat",
        gen_ai.provider.name = if provider == "bedrock" { "aws.bedrock" } else { provider },
        gen_ai.request.model = id,
        gen_ai.request.max_tokens = request.max_tokens,
        gen_ai.response.finish_reasons = Empty,
        gen_ai.usage.input_tokens = Empty,
        gen_ai.usage.output_tokens = Empty,
    )
}

fn millis_since(began: Instant) -> u64 {
    u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX)
}

/// How long to wait before the next try: what the provider asks for, else doubling from half a second, with
/// jitter so that many runs do not come back together.
fn pause(retry: u32, asked: Option<Duration>) -> Duration {
    let own = Duration::from_millis(250 << retry.min(6));
    let spread = u64::try_from(tandem_store::now_ms()).unwrap_or(0) % 100;
    let own = own + own * u32::try_from(spread).unwrap_or(0) / 200;
    asked.map_or(own, |asked| asked.max(own))
}
