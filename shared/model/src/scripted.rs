//! The scripted model: it reads the last thing the user wrote as a script and plays it, the same every time.
//! It is what tests, benchmarks and the first minutes of a new user run on; it needs no key and no network.
//!
//! It remembers nothing. Which answer of the script is due follows from the history: one per assistant message
//! since the script was written.

mod script;
mod writer;

use std::collections::VecDeque;

use async_trait::async_trait;
use futures::Stream;
use tandem_protocol::FinishReason;

use self::script::Script;
use self::writer::{Act, Writer, Written, length, tokens, word};
use crate::{Answer, Event, Message, Model, ModelError, Request, ToolSpec};

/// The model named `scripted`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Scripted;

#[async_trait]
impl Model for Scripted {
    fn name(&self) -> &str {
        "scripted"
    }

    async fn ask(&self, request: Request) -> Result<Answer, ModelError> {
        crate::started(play(acts(&request))).await
    }
}

fn acts(request: &Request) -> Vec<Act> {
    let (text, step) = due(&request.messages);
    let input = tokens(request_length(request));
    let Some(script) = Script::parse(text) else {
        let mut writer = Writer::new(input, request.retry, (0, 0));
        writer.text(&introduction(&request.tools));
        return writer.finish(FinishReason::Stop);
    };
    let mut writer = Writer::new(input, request.retry, script.words_before(step));
    for line in script.answer(step) {
        match writer.line(line) {
            Written::GoesOn => {}
            Written::Cut => return writer.finish(FinishReason::Length),
            Written::Failed => return writer.acts,
        }
    }
    if writer.cut {
        return writer.finish(FinishReason::Length);
    }
    if script.is_last(step) {
        writer.text("done");
    }
    let reason = if writer.calls == 0 { FinishReason::Stop } else { FinishReason::ToolCalls };
    writer.finish(reason)
}

/// The script and the number of answers it has had. A message of results alone does not begin a script.
fn due(messages: &[Message]) -> (&str, usize) {
    let mut answers = 0;
    for message in messages.iter().rev() {
        match message {
            Message::User { text: Some(text), .. } => return (text, answers),
            Message::User { text: None, .. } => {}
            Message::Assistant { .. } => answers += 1,
        }
    }
    ("", answers)
}

fn introduction(tools: &[ToolSpec]) -> String {
    let mut text = "I am the scripted model: no intelligence, no key and no network, but every part of this system \
                    works with me as with a real model. I do what you write, line by line: `/name {json}` calls an \
                    action, `@say 20 every 50ms` streams words, and everything else I say back.\n"
        .to_owned();
    let needs_nothing = |tool: &&ToolSpec| {
        tool.schema.get("required").and_then(|required| required.as_array()).is_none_or(Vec::is_empty)
    };
    let lists = |tool: &&ToolSpec| tool.name.starts_with("list") && needs_nothing(tool);
    match tools.iter().find(lists).or_else(|| tools.iter().find(needs_nothing)).or(tools.first()) {
        Some(tool) => {
            let names: Vec<_> = tools.iter().map(|tool| tool.name.as_str()).collect();
            text.push_str(&format!("The actions here are {}.\nTry this: /{} {{}}", names.join(", "), tool.name));
        }
        None => text.push_str("There are no actions here.\nTry this: @say 20 every 50ms"),
    }
    text
}

fn play(acts: Vec<Act>) -> impl Stream<Item = Result<Event, ModelError>> + Send {
    futures::stream::unfold(VecDeque::from(acts), |mut acts| async move {
        loop {
            match acts.pop_front()? {
                Act::Tell(event) => return Some((Ok(event), acts)),
                Act::Wait(time) if time.is_zero() => {}
                Act::Wait(time) => tokio::time::sleep(time).await,
                Act::Fail(error) => return Some((Err(error), VecDeque::new())),
                Act::Words { count: 0, .. } => {}
                Act::Words { reasoning, first, count, every } => {
                    // "As fast as possible" still lets others run.
                    if first % 64 == 0 {
                        tokio::task::yield_now().await;
                    }
                    if count > 1 {
                        acts.push_front(Act::Words { reasoning, first: first + 1, count: count - 1, every });
                        acts.push_front(Act::Wait(every));
                    }
                    let word = word(first);
                    let event = if reasoning { Event::ReasoningDelta(word) } else { Event::TextDelta(word) };
                    return Some((Ok(event), acts));
                }
            }
        }
    })
}

fn request_length(request: &Request) -> u64 {
    let system: u64 = request.system.iter().map(|part| length(part)).sum();
    let tools = request
        .tools
        .iter()
        .map(|tool| length(&tool.name) + length(&tool.description) + length(&tool.schema.to_string()));
    let messages = request.messages.iter().map(|message| match message {
        Message::User { results, text } => {
            results.iter().map(|result| length(&result.output)).sum::<u64>() + text.as_deref().map_or(0, length)
        }
        Message::Assistant { text, calls, .. } => {
            length(text) + calls.iter().map(|call| length(&call.name) + length(&call.input.to_string())).sum::<u64>()
        }
    });
    system + tools.sum::<u64>() + messages.sum::<u64>()
}

#[cfg(test)]
mod tests;
