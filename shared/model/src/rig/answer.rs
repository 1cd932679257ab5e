//! rig's stream as our events, the same on every wire.

use std::collections::{HashMap, VecDeque};

use futures::{Stream, StreamExt};
use rig_core::completion::{CompletionResponse, FinishReason as RigFinish};
use rig_core::message::{AssistantContent, Origin};
use rig_core::streaming::{CompletionStream, Item, PartKind, StreamEvent};
use tandem_protocol::{FinishReason, Usage};

use super::replay;
use crate::classify::{Provider, classify};
use crate::{Event, ModelError};

/// The events of `stream`. An error is the last item; `secret` is not in it.
pub(super) fn events(
    provider: &'static Provider,
    secret: Option<String>,
    stream: CompletionStream,
) -> impl Stream<Item = Result<Event, ModelError>> + Send {
    let reading = Reading { stream: Some(stream), secret, translation: Translation::default(), ready: VecDeque::new() };
    futures::stream::unfold(reading, move |mut reading| async move {
        loop {
            if let Some(event) = reading.ready.pop_front() {
                return Some((event, reading));
            }
            reading.read(provider).await?;
        }
    })
}

struct Reading {
    /// None once the answer has ended, well or badly.
    stream: Option<CompletionStream>,
    translation: Translation,
    ready: VecDeque<Result<Event, ModelError>>,
    secret: Option<String>,
}

impl Reading {
    async fn read(&mut self, provider: &'static Provider) -> Option<()> {
        match self.stream.as_mut()?.next().await {
            Some(Ok(Item::Event(event))) => {
                let stream = self.stream.as_ref()?;
                let events = self.translation.event(event, || stream.partial().origin);
                self.ready.extend(events.into_iter().map(Ok));
            }
            // rig has logged its kind and size.
            Some(Ok(Item::Unknown(_))) => {}
            Some(Err(error)) => {
                self.stream = None;
                self.ready.push_back(Err(classify(provider, self.secret.as_deref(), &error)));
            }
            None => {
                let ended = self.stream.take()?.finish().await;
                let events = ended
                    .map_err(|error| classify(provider, self.secret.as_deref(), &error))
                    .and_then(|response| std::mem::take(&mut self.translation).finish(provider, &response));
                match events {
                    Ok(events) => self.ready.extend(events.into_iter().map(Ok)),
                    Err(error) => self.ready.push_back(Err(error)),
                }
            }
        }
        Some(())
    }
}

/// What has been told of the answer so far.
#[derive(Default)]
struct Translation {
    calls: Vec<Call>,
    /// rig's part of each call.
    parts: HashMap<usize, usize>,
    /// The part of the reasoning block whose end has not been told.
    reasoning: Option<usize>,
    /// The part that the model wrote last. What rig tells of parts while it closes them does not count.
    last: Option<usize>,
}

struct Call {
    part: usize,
    ended: bool,
    fragments: usize,
    /// `{}` arrived as the first fragment. rig writes that itself when no argument arrived at all, which we tell
    /// as no fragment, so it is held back until more follows.
    empty: bool,
}

impl Translation {
    fn event(&mut self, event: StreamEvent, origin: impl FnOnce() -> Origin) -> Vec<Event> {
        let part = event.part().index();
        if !matches!(event, StreamEvent::End { .. } | StreamEvent::Arguments { .. }) {
            self.last = Some(part);
        }
        match event {
            StreamEvent::Start { kind: PartKind::ToolCall, name: Some(name), .. } => {
                let index = self.calls.len();
                self.calls.push(Call { part, ended: false, fragments: 0, empty: false });
                self.parts.insert(part, index);
                self.after_reasoning(Event::CallStart { index: index as u32, name: name.into() })
            }
            StreamEvent::Start { kind: PartKind::Reasoning, .. } => {
                let before = self.end_reasoning();
                self.reasoning = Some(part);
                before
            }
            StreamEvent::Start { .. } => Vec::new(),
            StreamEvent::Text { text, .. } => self.after_reasoning(Event::TextDelta(text)),
            StreamEvent::Reasoning { text, .. } => {
                // A wire without block borders goes on with a block whose end we have told: that is a new one.
                self.reasoning = Some(part);
                vec![Event::ReasoningDelta(text)]
            }
            StreamEvent::Arguments { json, .. } => self.arguments(part, json),
            StreamEvent::End { content, .. } => self.end(part, &content, origin),
        }
    }

    fn arguments(&mut self, part: usize, json: String) -> Vec<Event> {
        let Some(&at) = self.parts.get(&part) else { return Vec::new() };
        let Some(call) = self.calls.get_mut(at) else { return Vec::new() };
        let index = at as u32;
        call.fragments += 1;
        if call.fragments == 1 && json == "{}" {
            call.empty = true;
            return Vec::new();
        }
        self.last = Some(part);
        let mut events = Vec::new();
        if std::mem::take(&mut call.empty) {
            events.push(Event::CallDelta { index, json: "{}".into() });
        }
        events.push(Event::CallDelta { index, json });
        events
    }

    fn end(&mut self, part: usize, content: &AssistantContent, origin: impl FnOnce() -> Origin) -> Vec<Event> {
        match content {
            AssistantContent::Reasoning(_) if self.reasoning == Some(part) => {
                self.reasoning = None;
                let signed = content.native_item().and_then(|_| replay::signed(&origin(), content));
                vec![Event::ReasoningEnd { signed }]
            }
            AssistantContent::ToolCall(_) => {
                if let Some(call) = self.parts.get(&part).and_then(|at| self.calls.get_mut(*at)) {
                    call.ended = true;
                }
                Vec::new()
            }
            _ => Vec::new(),
        }
    }

    /// The end of the answer. Only now is it known which calls are whole.
    fn finish(mut self, provider: &Provider, response: &CompletionResponse) -> Result<Vec<Event>, ModelError> {
        let reason = finish_reason(provider, response, self.calls.len())?;
        let mut events = self.end_reasoning();
        for (index, call) in self.calls.iter().enumerate() {
            // At the token limit the call that the model was writing is cut, even where its arguments happen to parse.
            let cut = reason == FinishReason::Length && self.last == Some(call.part);
            if call.ended && !cut {
                events.push(Event::CallEnd { index: index as u32 });
            }
        }
        events.push(Event::Finish { reason, usage: usage(response) });
        Ok(events)
    }

    /// A wire without block borders ends its reasoning when something else follows; what it would want back is
    /// known only at the end of the answer, and is left out.
    fn after_reasoning(&mut self, event: Event) -> Vec<Event> {
        let mut events = self.end_reasoning();
        events.push(event);
        events
    }

    fn end_reasoning(&mut self) -> Vec<Event> {
        self.reasoning.take().map(|_| Event::ReasoningEnd { signed: None }).into_iter().collect()
    }
}

fn finish_reason(provider: &Provider, response: &CompletionResponse, calls: usize) -> Result<FinishReason, ModelError> {
    let refusal = response.raw.pointer("/choices/0/message/refusal").and_then(|refusal| refusal.as_str());
    let refused = |text: Option<&str>| {
        let text = text.filter(|text| !text.trim().is_empty()).unwrap_or("its content filter stopped the answer");
        ModelError::Refused { message: format!("{} refused to answer: {text}", provider.name) }
    };
    let interrupted = |text: &str| ModelError::Interrupted { message: format!("{}: {text}", provider.name) };
    if let Some(text) = refusal.filter(|text| !text.trim().is_empty()) {
        return Err(refused(Some(text)));
    }
    match (response.finish_reason(), response.error.as_deref()) {
        (Some(RigFinish::ContentFilter), error) => Err(refused(error)),
        (None, error) => Err(interrupted(error.unwrap_or("the answer ended without a reason"))),
        (Some(_), Some(error)) => Err(interrupted(error)),
        (Some(RigFinish::Length), None) => Ok(FinishReason::Length),
        (Some(RigFinish::ToolCalls), None) if calls == 0 => {
            Err(interrupted("the answer promised a call but named none"))
        }
        (Some(RigFinish::ToolCalls), None) => Ok(FinishReason::ToolCalls),
        (Some(RigFinish::Stop), None) => Ok(FinishReason::Stop),
        // `malformed_tool_use` and `malformed_model_output` (Bedrock), `error` (gateways): nothing usable was said.
        (Some(RigFinish::Other(reason)), None) if reason == "error" || reason.starts_with("malformed") => {
            Err(interrupted(&format!("the answer ended with `{reason}`")))
        }
        (Some(_), None) => Ok(FinishReason::Other),
    }
}

fn usage(response: &CompletionResponse) -> Usage {
    let usage = &response.usage;
    Usage {
        input_tokens: usage.input_tokens.unwrap_or_default(),
        output_tokens: usage.output_tokens.unwrap_or_default(),
        cached_input_tokens: usage.cached_input_tokens.unwrap_or_default(),
        reasoning_tokens: usage.reasoning_tokens.unwrap_or_default(),
    }
}
