//! Makes up logs: any order of things that a runtime may write.

use serde_json::json;
use tandem_protocol::{AttemptReason, Chunk, FinishReason, HolderKind, ProgressData, ToolCallId, Transcript};

/// One decision of the writer; what it means depends on what is open.
pub(crate) type Choice = (u8, String);

/// Writes a log as the runtime does: every part is opened before it goes on, ids are never used again, and no step is
/// reset once the intent of its calls is stored.
#[derive(Default)]
struct Writer {
    log: Vec<Chunk>,
    ids: usize,
    attempt: u32,
    step: Option<Step>,
    ended: bool,
}

#[derive(Default)]
struct Step {
    text: Option<String>,
    reasoning: Option<String>,
    streaming: Option<(ToolCallId, String)>,
    ready: Vec<ToolCallId>,
    intended: Vec<ToolCallId>,
    called: bool,
}

/// The log that these decisions make.
pub(crate) fn log_of(choices: &[Choice]) -> Vec<Chunk> {
    let mut writer = Writer::default();
    writer.log.push(serde_json::from_value(json!({"type": "start", "messageId": "msg_1"})).unwrap());
    for (choice, text) in choices {
        writer.write(*choice, text);
    }
    writer.log
}

impl Writer {
    fn id(&mut self) -> String {
        self.ids += 1;
        format!("{}.{}", self.attempt, self.ids)
    }

    fn write(&mut self, choice: u8, text: &str) {
        if self.ended {
            return;
        }
        let id = self.id();
        let Some(mut step) = self.step.take() else {
            match choice % 8 {
                0 => self.end(&Step::default(), choice),
                1 => self.take_over(None),
                _ => {
                    self.log.push(Chunk::StartStep);
                    self.step = Some(Step::default());
                }
            }
            return;
        };
        match choice % 24 {
            0 => {
                // The holder disappears; the next one takes the log.
                self.take_over(Some(step));
                return;
            }
            1 => return self.end(&step, choice),
            2 => {
                self.close(&mut step);
                self.log.push(Chunk::continuing("soft_timeout"));
            }
            3 if !step.called => {
                self.log.push(Chunk::ResetStep);
                step = Step::default();
            }
            4..=7 => self.prose(&mut step, id, text, choice.is_multiple_of(2)),
            8..=10 if !step.called => self.input(&mut step, id, text),
            11..=13 if !step.ready.is_empty() => {
                self.close(&mut step);
                step.streaming = None;
                step.called = true;
                step.intended = std::mem::take(&mut step.ready);
                self.log.push(Chunk::calls(step.intended.clone()));
            }
            14 | 15 if !step.intended.is_empty() => {
                let data = ProgressData { label: text.into(), done: choice.into(), total: None };
                let id = step.intended[usize::from(choice / 24) % step.intended.len()].to_string();
                self.log.push(Chunk::DataProgress { id, data });
            }
            16..=19 if !step.intended.is_empty() => {
                let tool_call_id = step.intended.remove(0);
                self.log.push(match choice % 3 {
                    0 => Chunk::ToolOutputError { tool_call_id, error_text: text.into() },
                    _ => Chunk::ToolOutputAvailable { tool_call_id, output: json!({"said": text}) },
                });
            }
            20..=22 if step.ready.is_empty() && step.intended.is_empty() && step.streaming.is_none() => {
                self.close(&mut step);
                self.log.push(Chunk::MessageMetadata { message_metadata: json!({"usage": {"inputTokens": choice}}) });
                self.log.push(Chunk::FinishStep);
                return;
            }
            _ => self.log.push(Chunk::DataState {
                data: serde_json::from_value(json!({"scope": "user", "rev": 1})).unwrap(),
                transient: true,
            }),
        }
        self.step = Some(step);
    }

    fn prose(&mut self, step: &mut Step, id: String, text: &str, reasoning: bool) {
        let delta = text.to_owned();
        match (reasoning, step.text.clone(), step.reasoning.clone()) {
            (false, Some(id), _) => self.log.push(Chunk::TextDelta { id, delta }),
            (true, _, Some(id)) => self.log.push(Chunk::ReasoningDelta { id, delta }),
            (false, None, _) => {
                self.close(step);
                self.log.push(Chunk::TextStart { id: id.clone() });
                step.text = Some(id);
            }
            (true, _, None) => {
                self.close(step);
                self.log.push(Chunk::ReasoningStart { id: id.clone() });
                step.reasoning = Some(id);
            }
        }
    }

    fn input(&mut self, step: &mut Step, id: String, text: &str) {
        self.close(step);
        let tool_name = "email".to_owned();
        match step.streaming.take() {
            None => {
                let id = ToolCallId::new(id).unwrap();
                self.log.push(Chunk::ToolInputStart { tool_call_id: id.clone(), tool_name });
                step.streaming = Some((id, String::new()));
            }
            Some((id, _)) if text.contains('\r') => {
                let (input, error_text) = (json!(text), "not JSON".into());
                self.log.push(Chunk::ToolInputError { tool_call_id: id, tool_name, input, error_text });
            }
            Some((id, json)) if text.len() < 4 => {
                let delta = text.to_owned();
                self.log.push(Chunk::ToolInputDelta { tool_call_id: id.clone(), input_text_delta: delta });
                step.streaming = Some((id, json + text));
            }
            Some((id, _)) => {
                self.log.push(Chunk::ToolInputAvailable {
                    tool_call_id: id.clone(),
                    tool_name,
                    input: json!({"body": text}),
                });
                step.ready.push(id);
            }
        }
    }

    fn close(&mut self, step: &mut Step) {
        if let Some(id) = step.text.take() {
            self.log.push(Chunk::TextEnd { id });
        }
        if let Some(id) = step.reasoning.take() {
            let provider_metadata = (self.ids.is_multiple_of(2)).then(|| json!({"anthropic": {"signature": id}}));
            self.log.push(Chunk::ReasoningEnd { id, provider_metadata });
        }
    }

    fn take_over(&mut self, step: Option<Step>) {
        self.attempt += 1;
        self.log.push(Chunk::attempt(self.attempt, HolderKind::Background, AttemptReason::Recovered));
        self.step = step.map(|step| {
            if step.called {
                return step;
            }
            self.log.push(Chunk::ResetStep);
            Step::default()
        });
    }

    fn end(&mut self, step: &Step, choice: u8) {
        self.log.extend(Transcript::fold(&self.log).closing());
        if !choice.is_multiple_of(3) {
            self.give_up(step);
        }
        self.log.push(match choice % 3 {
            0 => Chunk::Finish { finish_reason: FinishReason::Stop, message_metadata: None },
            1 => Chunk::Abort { reason: None },
            _ => Chunk::Error { error_text: "It failed. [internal]".into() },
        });
        self.ended = true;
    }

    /// Calls that are left open are over with the run.
    fn give_up(&mut self, step: &Step) {
        let error_text = || "The run ended.".to_owned();
        if let Some((tool_call_id, json)) = step.streaming.clone() {
            let (tool_name, input) = ("email".into(), json!(json));
            self.log.push(Chunk::ToolInputError { tool_call_id, tool_name, input, error_text: error_text() });
        }
        for tool_call_id in step.ready.iter().chain(&step.intended).cloned() {
            self.log.push(Chunk::ToolOutputError { tool_call_id, error_text: error_text() });
        }
    }
}
