//! Lines of a script as what the answer does, decided before it begins.

use std::time::Duration;

use tandem_protocol::{FinishReason, Usage};

use super::script::{Failing, Line};
use crate::{Event, ModelError};

/// One thing that the answer does.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Act {
    Tell(Event),
    /// `count` deltas of one word each, numbered from `first`.
    Words {
        reasoning: bool,
        first: u64,
        count: u32,
        every: Duration,
    },
    Wait(Duration),
    Fail(ModelError),
}

/// What a line did to the answer.
pub(super) enum Written {
    GoesOn,
    /// The token limit: only the finish is missing.
    Cut,
    Failed,
}

/// Turns lines into acts and counts what they cost.
#[derive(Default)]
pub(super) struct Writer {
    pub(super) acts: Vec<Act>,
    input: u64,
    retry: u32,
    /// Words told by `@say` and `@think` so far.
    said: u64,
    thought: u64,
    /// Characters.
    output: u64,
    reasoning: u64,
    /// A reasoning block is open.
    thinking: bool,
    /// Text came before, and its last character is no space.
    flush: bool,
    /// Whole calls.
    pub(super) calls: u32,
    /// Failures that earlier lines of this answer stand for.
    failed: u32,
    /// The next call is where the token limit lies.
    pub(super) cut: bool,
}

impl Writer {
    /// `input` in tokens; `words` that earlier answers told with `@say` and `@think`.
    pub(super) fn new(input: u64, retry: u32, (said, thought): (u64, u64)) -> Self {
        Self { input, retry, said, thought, ..Self::default() }
    }

    pub(super) fn line(&mut self, line: &Line) -> Written {
        match line {
            Line::Text(text) => self.text(text),
            Line::Say { count: 0, .. } | Line::Think { count: 0, .. } => {}
            Line::Say { count, every } => {
                self.end_reasoning();
                if std::mem::take(&mut self.flush) {
                    self.output += 1;
                    self.acts.push(Act::Tell(Event::TextDelta("\n".into())));
                }
                self.words(false, *count, *every);
            }
            Line::Think { count, every } => {
                self.thinking = true;
                self.words(true, *count, *every);
            }
            Line::Wait(time) => self.acts.push(Act::Wait(*time)),
            Line::Cut => self.cut = true,
            Line::Fail { how, times } => return self.fail(*how, *times),
            Line::Call { name, arguments } => return self.call(name, arguments),
        }
        Written::GoesOn
    }

    pub(super) fn text(&mut self, text: &str) {
        self.end_reasoning();
        let text = if self.flush { format!("\n{text}") } else { text.to_owned() };
        self.output += length(&text);
        self.flush = !text.ends_with(char::is_whitespace);
        self.acts.push(Act::Tell(Event::TextDelta(text)));
    }

    fn words(&mut self, reasoning: bool, count: u32, every: Duration) {
        let (told, output) =
            if reasoning { (&mut self.thought, &mut self.reasoning) } else { (&mut self.said, &mut self.output) };
        let first = *told + 1;
        *told += u64::from(count);
        *output += words_length(*told) - words_length(first - 1);
        self.acts.push(Act::Words { reasoning, first, count, every });
    }

    fn call(&mut self, name: &str, arguments: &str) -> Written {
        self.end_reasoning();
        let index = self.calls;
        self.calls += 1;
        self.acts.push(Act::Tell(Event::CallStart { index, name: name.to_owned() }));
        self.output += length(name) + length(arguments);
        let sent: String = match self.cut {
            true => arguments.chars().take(arguments.chars().count() / 2).collect(),
            false => arguments.to_owned(),
        };
        for json in fragments(&sent) {
            self.acts.push(Act::Tell(Event::CallDelta { index, json }));
        }
        if !self.cut {
            return Written::GoesOn;
        }
        // The call that was cut has no end.
        self.calls = index;
        Written::Cut
    }

    fn fail(&mut self, how: Failing, times: u32) -> Written {
        self.failed = self.failed.saturating_add(times);
        if self.retry >= self.failed {
            return Written::GoesOn;
        }
        if matches!(how, Failing::Truncated | Failing::MidStream) {
            self.text("half an answ");
        }
        self.acts.push(Act::Fail(match how {
            Failing::Overloaded => {
                ModelError::Overloaded { after: None, message: "scripted: overloaded, as the script asks".into() }
            }
            Failing::RateLimit => ModelError::RateLimited {
                after: Some(Duration::from_millis(100)),
                message: "scripted: too many requests, as the script asks".into(),
            },
            Failing::Context => ModelError::ContextTooLong {
                message: "scripted: the conversation is too long, as the script asks".into(),
            },
            Failing::Truncated => ModelError::Interrupted {
                message: "scripted: the answer ended without its end marker, as the script asks".into(),
            },
            Failing::MidStream => ModelError::Overloaded {
                after: None,
                message: "scripted: overloaded in mid-answer, as the script asks".into(),
            },
        }));
        Written::Failed
    }

    fn end_reasoning(&mut self) {
        if std::mem::take(&mut self.thinking) {
            self.acts.push(Act::Tell(Event::ReasoningEnd { signed: None }));
        }
    }

    pub(super) fn finish(mut self, reason: FinishReason) -> Vec<Act> {
        self.end_reasoning();
        self.acts.extend((0..self.calls).map(|index| Act::Tell(Event::CallEnd { index })));
        let usage = Usage {
            input_tokens: self.input,
            output_tokens: tokens(self.output + self.reasoning),
            cached_input_tokens: 0,
            reasoning_tokens: tokens(self.reasoning),
        };
        self.acts.push(Act::Tell(Event::Finish { reason, usage }));
        self.acts
    }
}

pub(super) fn word(number: u64) -> String {
    format!("w{number} ")
}

/// Characters of the words 1 to `last`.
fn words_length(last: u64) -> u64 {
    let mut length = 3 * last;
    let mut digits = 10;
    while digits <= last {
        length += last - digits + 1;
        digits *= 10;
    }
    length
}

/// Pieces of eight characters, or three pieces if that is fewer.
fn fragments(arguments: &str) -> Vec<String> {
    let characters: Vec<char> = arguments.chars().collect();
    let size = characters.len().div_ceil(3).max(8);
    characters.chunks(size).map(|piece| piece.iter().collect()).collect()
}

pub(super) fn length(text: &str) -> u64 {
    text.chars().count() as u64
}

/// Four characters to the token, as most tokenisers come out.
pub(super) fn tokens(characters: u64) -> u64 {
    characters.div_ceil(4)
}
