//! An answer of a model as it arrives: the block that is open, and the calls whose arguments are coming.

use serde_json::{Value, json};
use tandem_actions::is_too_deep;
use tandem_protocol::{Chunk, ToolCallId};

pub(crate) const CUT: &str =
    "The arguments are incomplete: the output limit was reached. Nothing was run. Call again with shorter arguments.";
pub(crate) const TOO_MANY: &str = "Too many calls in one step. Nothing was run. Call again in the next step.";

/// What has arrived of an answer.
#[derive(Default)]
pub(crate) struct Answer {
    pub(crate) block: Option<Block>,
    pub(crate) calls: Vec<OpenCall>,
}

pub(crate) struct Block {
    pub(crate) id: String,
    pub(crate) reasoning: bool,
}

pub(crate) struct OpenCall {
    pub(crate) index: u32,
    pub(crate) id: ToolCallId,
    pub(crate) name: String,
    pub(crate) json: String,
    pub(crate) ended: bool,
}

impl Answer {
    /// What ends the open block.
    pub(crate) fn close_block(&mut self) -> Option<Chunk> {
        let Block { id, reasoning } = self.block.take()?;
        Some(if reasoning { Chunk::ReasoningEnd { id, provider_metadata: None } } else { Chunk::TextEnd { id } })
    }

    pub(crate) fn call(&mut self, index: u32) -> Option<&mut OpenCall> {
        self.calls.iter_mut().rev().find(|call| call.index == index && !call.ended)
    }
}

impl OpenCall {
    /// No arguments at all mean an empty object; anything else must be one.
    pub(crate) fn complete(&self) -> Chunk {
        let text = if self.json.trim().is_empty() { "{}" } else { &self.json };
        match serde_json::from_str::<Value>(text) {
            Ok(Value::Null) => self.available(json!({})),
            // Stored, it could not be read again.
            Ok(input) if is_too_deep(&input) => self.refused("The arguments are nested too deeply. Nothing was run."),
            Ok(input @ Value::Object(_)) => self.available(input),
            Ok(_) => self.refused("The arguments must be a JSON object. Nothing was run."),
            Err(error) => self.refused(&format!("The arguments are not valid JSON ({error}). Nothing was run.")),
        }
    }

    pub(crate) fn available(&self, input: Value) -> Chunk {
        Chunk::ToolInputAvailable { tool_call_id: self.id.clone(), tool_name: self.name.clone(), input }
    }

    pub(crate) fn refused(&self, text: &str) -> Chunk {
        Chunk::ToolInputError {
            tool_call_id: self.id.clone(),
            tool_name: self.name.clone(),
            input: Value::String(self.json.clone()),
            error_text: text.into(),
        }
    }
}

/// A tool name that every provider accepts in a history: models invent others.
pub(crate) fn legal(name: &str) -> String {
    let clean = |c: char| if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '_' };
    let name: String = name.chars().take(64).map(clean).collect();
    if name.is_empty() { "unnamed".into() } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_a_model_invents_is_legal_in_a_history() {
        let long = "x".repeat(100);
        for name in ["brain</x>", "", " ", "a b", "größe", "look.it.up", "\u{0}", &long] {
            let legal = legal(name);
            assert!((1..=64).contains(&legal.len()), "{name:?} became {legal:?}");
            let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
            assert!(legal.chars().all(fits), "{name:?} became {legal:?}");
        }
        assert_eq!(legal("list-emails_2"), "list-emails_2");
    }
}
