//! A stock client, written anew and small.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

/// What a stock client makes of a stream: the rules of the AI SDK's `processUIMessageStream` (npm `ai` 7), for the
/// chunks that we write.
#[derive(Default)]
pub(crate) struct Client {
    parts: Vec<Map<String, Value>>,
    /// Open text and reasoning parts, by id.
    open: HashMap<String, usize>,
    raw: HashMap<String, String>,
}

impl Client {
    pub(crate) fn hear(&mut self, chunk: &Value) {
        let text = |field: &str| chunk[field].as_str().unwrap().to_owned();
        match chunk["type"].as_str().unwrap() {
            "start-step" => self.push(json!({"type": "step-start"})),
            "text-start" => self.begin(text("id"), json!({"type": "text", "text": "", "state": "streaming"})),
            "reasoning-start" => self.begin(text("id"), json!({"type": "reasoning", "text": "", "state": "streaming"})),
            "text-delta" | "reasoning-delta" => {
                let part = &mut self.parts[self.open[&text("id")]];
                let said = part["text"].as_str().unwrap().to_owned() + &text("delta");
                part.insert("text".into(), said.into());
            }
            "text-end" | "reasoning-end" => {
                let part = &mut self.parts[self.open.remove(&text("id")).unwrap()];
                part.insert("state".into(), "done".into());
                if let Some(metadata) = chunk.get("providerMetadata") {
                    part.insert("providerMetadata".into(), metadata.clone());
                }
            }
            "tool-input-start" => {
                self.raw.insert(text("toolCallId"), String::new());
                self.tool(chunk, "input-streaming", &[]);
            }
            "tool-input-delta" => {
                let raw = self.raw.get_mut(&text("toolCallId")).unwrap();
                raw.push_str(&text("inputTextDelta"));
                let raw = raw.clone();
                self.tool(chunk, "input-streaming", &[("rawInput", raw.into())]);
            }
            "tool-input-available" => self.tool(chunk, "input-available", &[("input", chunk["input"].clone())]),
            "tool-input-error" => {
                let fields = [("input", chunk["input"].clone()), ("errorText", chunk["errorText"].clone())];
                self.tool(chunk, "output-error", &fields);
            }
            "tool-output-available" => {
                let input = self.input_of(chunk);
                self.tool(chunk, "output-available", &[("input", input), ("output", chunk["output"].clone())]);
            }
            "tool-output-error" => {
                let input = self.input_of(chunk);
                self.tool(chunk, "output-error", &[("input", input), ("errorText", chunk["errorText"].clone())]);
            }
            "reset-step" => {
                let step = self.parts.iter().rposition(|part| part["type"] == "step-start");
                self.parts.truncate(step.map_or(0, |step| step + 1));
                self.open.clear();
                self.raw.clear();
            }
            kind if kind.starts_with("data-") && chunk.get("transient") != Some(&json!(true)) => {
                let same = |part: &&mut Map<String, Value>| part["type"] == kind && part.get("id") == chunk.get("id");
                match self.parts.iter_mut().find(same) {
                    Some(part) => drop(part.insert("data".into(), chunk["data"].clone())),
                    None => self.push(chunk.clone()),
                }
            }
            _ => {}
        }
    }

    fn push(&mut self, part: Value) {
        self.parts.push(part.as_object().unwrap().clone());
    }

    fn begin(&mut self, id: String, part: Value) {
        self.open.insert(id, self.parts.len());
        self.push(part);
    }

    fn find(&self, chunk: &Value) -> Option<usize> {
        self.parts.iter().rposition(|part| part.get("toolCallId") == Some(&chunk["toolCallId"]))
    }

    fn input_of(&self, chunk: &Value) -> Value {
        self.parts[self.find(chunk).unwrap()]["input"].clone()
    }

    /// Replaces everything but the name and the place of a call's part.
    fn tool(&mut self, chunk: &Value, state: &str, fields: &[(&str, Value)]) {
        let at = self.find(chunk);
        let kind = match at {
            Some(at) => self.parts[at]["type"].clone(),
            None => format!("tool-{}", chunk["toolName"].as_str().unwrap()).into(),
        };
        let mut part = Map::from_iter([
            ("type".into(), kind),
            ("toolCallId".into(), chunk["toolCallId"].clone()),
            ("state".into(), state.into()),
        ]);
        part.extend(fields.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
        match at {
            Some(at) => self.parts[at] = part,
            None => self.parts.push(part),
        }
    }

    pub(crate) fn parts(&self) -> Vec<Value> {
        self.parts.iter().cloned().map(Value::Object).collect()
    }
}
