//! A history that does not fit the model, made shorter: a long conversation must not fail for ever.
//!
//! Long results that the model has read are cut first, then older messages are left out, then the results that it has
//! not read yet are cut, last the older steps of the answer that is being given go. What is left out is summed up by its
//! beginnings, within a budget, by no model: a summary that needs a model can fail or wait just where the answer already
//! has.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tandem_model::{Message, ToolResult};

use crate::digest;

/// Characters that are left of a tool result.
const RESULT: usize = 4_000;
/// What the note of a cut may take: a result that is longer by no more than this is left alone.
const NOTE: usize = 100;

/// What the model is not shown of a conversation. It stands in the metadata of the answer as `leftOut`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub(crate) struct LeftOut {
    /// Questions and answers before the current question.
    pub messages: usize,
    /// Characters of results, and of steps of the answer itself.
    pub characters: usize,
}

/// What a model did not take, in characters. It stands in the metadata of the answer as `tooLong`, so that the next step and
/// the next turn do not ask for as much again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TooLong {
    pub(crate) model: String,
    pub(crate) characters: usize,
}

impl TooLong {
    /// What the metadata of an answer tells.
    pub(crate) fn told(metadata: Option<&Value>) -> Option<Self> {
        Self::deserialize(metadata?.get("tooLong")?).ok()
    }
}

/// A history on its way to the model: valid, however often it is shortened.
#[derive(Debug, Clone)]
pub(crate) struct Fitting {
    messages: Vec<Message>,
    left_out: LeftOut,
    /// What is left out, oldest first: before the current question, and of the answer to it.
    older: Vec<Message>,
    steps: Vec<Message>,
}

impl Fitting {
    /// A history whose first `older` messages were not even read.
    pub(crate) fn new(messages: Vec<Message>, older: usize) -> Self {
        let left_out = LeftOut { messages: older, characters: 0 };
        Fitting { messages, left_out, older: Vec::new(), steps: Vec::new() }
    }

    /// Shortens it until it is smaller than what was too long, as far as it can be shortened.
    pub(crate) fn below(mut self, too_long: usize) -> Self {
        while self.size() >= too_long && self.shorten() {}
        self
    }

    /// In characters, without the notes of what is left out.
    pub(crate) fn size(&self) -> usize {
        self.messages.iter().map(digest::characters).sum()
    }

    /// Shortens it, by more with each call. `false`: nothing is left to shorten.
    pub(crate) fn shorten(&mut self) -> bool {
        // The last message holds what came out of the last step, which the model has not read yet.
        let (read, all) = (self.messages.len().saturating_sub(1), self.messages.len());
        self.cut_results(read) || self.drop_older() || self.cut_results(all) || self.drop_steps()
    }

    pub(crate) fn left_out(&self) -> LeftOut {
        self.left_out
    }

    /// What is sent: the messages that are left, the first with a note of what is not.
    pub(crate) fn messages(&self) -> Vec<Message> {
        let mut messages = self.messages.clone();
        if let Some(Message::User { text: Some(text), .. }) = messages.first_mut() {
            if self.left_out.messages > 0 {
                let what = format!("[The {} older messages of this conversation are left out", self.left_out.messages);
                *text = format!("{}\n\n{text}", digest::note(&what, &self.older));
            }
            if !self.steps.is_empty() {
                let what = "[The first steps of your answer to this are left out";
                *text = format!("{text}\n\n{}", digest::note(what, &self.steps));
            }
        }
        messages
    }

    /// Where people said something, but for the first of them.
    fn questions(&self) -> Vec<usize> {
        (1..self.messages.len()).filter(|at| is_question(&self.messages[*at])).collect()
    }

    /// Cuts the long results of so many messages.
    fn cut_results(&mut self, messages: usize) -> bool {
        let before = self.left_out.characters;
        for message in &mut self.messages[..messages] {
            let Message::User { results, .. } = message else { continue };
            self.left_out.characters += results.iter_mut().map(cut).sum::<usize>();
        }
        self.left_out.characters > before
    }

    /// Leaves out the older half of what was said before the current question.
    fn drop_older(&mut self) -> bool {
        let (questions, half) = (self.questions(), self.messages.len() / 2);
        let Some(begin) = questions.iter().find(|at| **at >= half).or(questions.last()) else { return false };
        self.drop_before(*begin);
        true
    }

    /// Leaves out what stands before a question. The results beside it belong to calls that go too.
    fn drop_before(&mut self, question: usize) {
        let dropped: Vec<Message> = self.messages.drain(..question).collect();
        self.left_out.messages += 2 * dropped.iter().filter(|message| is_question(message)).count();
        self.older.extend(dropped);
        if let Some(Message::User { results, .. }) = self.messages.first_mut() {
            self.older.push(Message::User { results: std::mem::take(results), text: None });
        }
    }

    /// Leaves out the older half of the steps that have answered the current question; the last one stays.
    fn drop_steps(&mut self) -> bool {
        // The question, then a call and its result for each step.
        let steps = self.messages.len().saturating_sub(1) / 2;
        if steps < 2 {
            return false;
        }
        let dropped: Vec<Message> = self.messages.drain(1..=steps / 2 * 2).collect();
        self.left_out.characters += dropped.iter().map(digest::characters).sum::<usize>();
        self.steps.extend(dropped);
        true
    }
}

fn is_question(message: &Message) -> bool {
    matches!(message, Message::User { text: Some(_), .. })
}

/// Cuts a result that is too long; the characters that are left out.
fn cut(result: &mut ToolResult) -> usize {
    let Some((end, _)) = result.output.char_indices().nth(RESULT) else { return 0 };
    let left_out = result.output[end..].chars().count();
    if left_out <= NOTE {
        return 0;
    }
    result.output.truncate(end);
    let note = format!(" [{left_out} more characters are left out, as the conversation is too long.]");
    result.output.push_str(&note);
    left_out
}

#[cfg(test)]
#[path = "overflow_tests.rs"]
mod tests;
