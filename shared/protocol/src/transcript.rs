//! The transcript: what a run's log says, as a pure function of its chunks.
//!
//! Resuming a run, showing a message and asking the model again all read this and nothing else.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{Chunk, FinishReason, MessageId, ProgressData, ToolCallId};

/// The fold of a run's chunks so far.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Transcript {
    pub message_id: Option<MessageId>,
    pub metadata: Option<Value>,
    pub steps: Vec<Step>,
    /// The highest attempt that took the log.
    pub attempt: u32,
    pub end: Option<End>,
}

/// How the log ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum End {
    Finish(FinishReason),
    Abort,
    Error(String),
}

/// One request to the model and the calls that it led to.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Step {
    pub parts: Vec<Part>,
    pub finished: bool,
    /// The intent of its calls is stored: the step may never be reset.
    pub called: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Part {
    Text { id: String, text: String, open: bool },
    Reasoning { id: String, text: String, open: bool, provider_metadata: Option<Value> },
    Call(ToolCall),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    pub id: ToolCallId,
    pub name: String,
    /// Null until the arguments are complete.
    pub input: Value,
    pub state: CallState,
    pub progress: Option<ProgressData>,
    /// Whether a person was asked, and what they said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<Approval>,
}

/// A question to a person about a call. Its id is the call's.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Approval {
    /// None: not answered yet.
    pub approved: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CallState {
    /// The arguments are still arriving; so far this text.
    Streaming(String),
    /// The arguments are complete; nothing has begun.
    Ready,
    /// A person is asked; nothing has begun.
    AwaitingApproval,
    /// A person agreed; nothing has begun.
    Approved,
    /// A person refused: the call never runs.
    Denied,
    /// The intent is stored: the call may have begun.
    Intended,
    Done(Value),
    Failed(String),
}

impl CallState {
    /// Nothing more will be said about the call.
    pub fn is_settled(&self) -> bool {
        matches!(self, CallState::Done(_) | CallState::Failed(_) | CallState::Denied)
    }
}

impl Transcript {
    pub fn fold<'a>(chunks: impl IntoIterator<Item = &'a Chunk>) -> Self {
        let mut transcript = Self::default();
        for chunk in chunks {
            transcript.apply(chunk);
        }
        transcript
    }

    /// Adds one chunk. A chunk that names a part which is not there is ignored: a log holds none.
    pub fn apply(&mut self, chunk: &Chunk) {
        match chunk {
            Chunk::Start { message_id, message_metadata } => {
                self.message_id = Some(message_id.clone());
                self.add_metadata(message_metadata.as_ref());
            }
            Chunk::MessageMetadata { message_metadata } => self.add_metadata(Some(message_metadata)),
            Chunk::StartStep => self.steps.push(Step::default()),
            Chunk::ResetStep => {
                if let Some(step) = self.steps.last_mut().filter(|step| !step.finished) {
                    step.parts.clear();
                }
            }
            Chunk::FinishStep => {
                if let Some(step) = self.steps.last_mut() {
                    step.finished = true;
                }
            }
            Chunk::TextStart { id } => {
                self.push(Part::Text { id: id.clone(), text: String::new(), open: true });
            }
            Chunk::ReasoningStart { id } => {
                self.push(Part::Reasoning { id: id.clone(), text: String::new(), open: true, provider_metadata: None })
            }
            Chunk::TextDelta { id: of, delta } | Chunk::ReasoningDelta { id: of, delta } => {
                if let Some(Part::Text { text, .. } | Part::Reasoning { text, .. }) = self.prose(of) {
                    text.push_str(delta);
                }
            }
            // Every one of that name and kind, as a log that is not ours may have opened several: an end leaves none open.
            Chunk::TextEnd { id: of } => {
                for part in self.parts_mut() {
                    if let Part::Text { id, open, .. } = part
                        && id == of
                    {
                        *open = false;
                    }
                }
            }
            Chunk::ReasoningEnd { id: of, provider_metadata: signed } => {
                for part in self.parts_mut() {
                    if let Part::Reasoning { id, open, provider_metadata, .. } = part
                        && id == of
                        && *open
                    {
                        *open = false;
                        provider_metadata.clone_from(signed);
                    }
                }
            }
            Chunk::ToolInputStart { tool_call_id, tool_name } => {
                self.put_call(tool_call_id, tool_name, Value::Null, CallState::Streaming(String::new()));
            }
            Chunk::ToolInputDelta { tool_call_id, input_text_delta } => {
                if let Some(ToolCall { state: CallState::Streaming(text), .. }) = self.call_mut(tool_call_id) {
                    text.push_str(input_text_delta);
                }
            }
            Chunk::ToolInputAvailable { tool_call_id, tool_name, input } => {
                self.put_call(tool_call_id, tool_name, input.clone(), CallState::Ready);
            }
            Chunk::ToolInputError { tool_call_id, tool_name, input, error_text } => {
                self.put_call(tool_call_id, tool_name, input.clone(), CallState::Failed(error_text.clone()));
            }
            Chunk::ToolOutputAvailable { tool_call_id, output } => {
                self.settle(tool_call_id, CallState::Done(output.clone()));
            }
            Chunk::ToolOutputError { tool_call_id, error_text } => {
                self.settle(tool_call_id, CallState::Failed(error_text.clone()));
            }
            Chunk::ToolApprovalRequest { tool_call_id, .. } => self.ask(tool_call_id),
            Chunk::ToolApprovalResponse { approval_id, approved, reason } => {
                let answer = Approval { approved: Some(*approved), reason: reason.clone() };
                self.answer(approval_id, answer);
            }
            Chunk::ToolOutputDenied { tool_call_id } => self.settle(tool_call_id, CallState::Denied),
            Chunk::DataCall { data, .. } => {
                if let Some(step) = self.steps.last_mut() {
                    step.called = true;
                }
                for id in &data.tool_call_ids {
                    self.settle(id, CallState::Intended);
                }
            }
            Chunk::DataProgress { id, data } => {
                if let Some(call) = self.calls_mut().find(|call| call.id.as_str() == id) {
                    call.progress = Some(data.clone());
                }
            }
            Chunk::DataAttempt { data, .. } => self.attempt = self.attempt.max(data.attempt),
            Chunk::DataContinue { .. } | Chunk::DataState { .. } => {}
            Chunk::Finish { finish_reason, message_metadata } => {
                self.add_metadata(message_metadata.as_ref());
                self.end = Some(End::Finish(*finish_reason));
            }
            Chunk::Abort { .. } => self.end = Some(End::Abort),
            Chunk::Error { error_text } => self.end = Some(End::Error(error_text.clone())),
        }
    }

    /// What a run that continues this one begins with: everything but the end.
    #[must_use]
    pub fn continued(self) -> Self {
        Transcript { end: None, attempt: 0, ..self }
    }

    /// Refuses what was asked and never answered, as the conversation went on.
    pub fn supersede(&mut self) {
        for call in self.calls_mut().filter(|call| call.state == CallState::AwaitingApproval) {
            call.state = CallState::Denied;
            call.approval = Some(Approval { approved: Some(false), reason: Some("superseded".into()) });
        }
    }

    /// The calls of the last step that a person has not answered yet.
    pub fn awaiting(&self) -> impl Iterator<Item = &ToolCall> {
        let parts = self.steps.last().map_or(&[][..], |step| &step.parts);
        parts.iter().filter_map(|part| match part {
            Part::Call(call) if call.state == CallState::AwaitingApproval => Some(call),
            _ => None,
        })
    }

    /// The step that has begun and not finished.
    pub fn open_step(&self) -> Option<&Step> {
        self.steps.last().filter(|step| !step.finished)
    }

    /// The chunks that close what is open, in order; needed before a hand-over and before a terminal chunk
    /// other than `finish`.
    pub fn closing(&self) -> Vec<Chunk> {
        let open = self.open_step().into_iter().flat_map(|step| &step.parts);
        open.filter_map(|part| match part {
            Part::Text { id, open: true, .. } => Some(Chunk::TextEnd { id: id.clone() }),
            Part::Reasoning { id, open: true, .. } => {
                Some(Chunk::ReasoningEnd { id: id.clone(), provider_metadata: None })
            }
            _ => None,
        })
        .collect()
    }

    pub fn calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.steps.iter().flat_map(|step| &step.parts).filter_map(|part| match part {
            Part::Call(call) => Some(call),
            _ => None,
        })
    }

    /// The parts of the AI SDK's `UIMessage` that a stock client ends up with after the same chunks.
    pub fn ui_parts(&self) -> Vec<Value> {
        let mut parts = Vec::new();
        for step in &self.steps {
            parts.push(json!({"type": "step-start"}));
            parts.extend(step.parts.iter().flat_map(ui_part));
        }
        parts
    }

    fn add_metadata(&mut self, more: Option<&Value>) {
        let Some(more) = more else { return };
        match (self.metadata.as_mut().and_then(Value::as_object_mut), more.as_object()) {
            (Some(known), Some(more)) => known.extend(more.clone()),
            _ => self.metadata = Some(more.clone()),
        }
    }

    fn push(&mut self, part: Part) {
        match self.steps.last_mut() {
            Some(step) => step.parts.push(part),
            None => self.steps.push(Step { parts: vec![part], ..Step::default() }),
        }
    }

    /// Those of the last step.
    fn parts_mut(&mut self) -> impl Iterator<Item = &mut Part> {
        self.steps.last_mut().into_iter().flat_map(|step| &mut step.parts)
    }

    fn prose(&mut self, of: &str) -> Option<&mut Part> {
        self.steps.last_mut()?.parts.iter_mut().rev().find(|part| match part {
            Part::Text { id, .. } | Part::Reasoning { id, .. } => id == of,
            Part::Call(_) => false,
        })
    }

    fn calls_mut(&mut self) -> impl Iterator<Item = &mut ToolCall> {
        self.steps.iter_mut().rev().flat_map(|step| &mut step.parts).filter_map(|part| match part {
            Part::Call(call) => Some(call),
            _ => None,
        })
    }

    fn call_mut(&mut self, id: &ToolCallId) -> Option<&mut ToolCall> {
        self.calls_mut().find(|call| call.id == *id)
    }

    fn put_call(&mut self, id: &ToolCallId, name: &str, input: Value, state: CallState) {
        match self.call_mut(id) {
            Some(call) => {
                call.input = input;
                call.state = state;
            }
            None => {
                let (id, name) = (id.clone(), name.into());
                self.push(Part::Call(ToolCall { id, name, input, state, progress: None, approval: None }));
            }
        }
    }

    fn ask(&mut self, id: &ToolCallId) {
        if let Some(call) = self.call_mut(id).filter(|call| !call.state.is_settled()) {
            call.state = CallState::AwaitingApproval;
            call.approval = Some(Approval::default());
        }
    }

    /// What a person said to a call. A refusal is over with `tool-output-denied`.
    fn answer(&mut self, id: &ToolCallId, answer: Approval) {
        if let Some(call) = self.call_mut(id).filter(|call| call.state == CallState::AwaitingApproval) {
            if answer.approved == Some(true) {
                call.state = CallState::Approved;
            }
            call.approval = Some(answer);
        }
    }

    /// Moves a call on; a settled call stays as it is.
    fn settle(&mut self, id: &ToolCallId, state: CallState) {
        if let Some(call) = self.call_mut(id).filter(|call| !call.state.is_settled()) {
            call.state = state;
        }
    }
}

fn ui_part(part: &Part) -> Vec<Value> {
    let state = |open: &bool| if *open { "streaming" } else { "done" };
    match part {
        Part::Text { text, open, .. } => vec![json!({"type": "text", "text": text, "state": state(open)})],
        Part::Reasoning { text, open, provider_metadata, .. } => {
            let mut part = json!({"type": "reasoning", "text": text, "state": state(open)});
            if let Some(metadata) = provider_metadata {
                part["providerMetadata"] = metadata.clone();
            }
            vec![part]
        }
        Part::Call(call) => ui_call(call),
    }
}

fn ui_call(call: &ToolCall) -> Vec<Value> {
    let kind = format!("tool-{}", call.name);
    let mut part = json!({"type": kind, "toolCallId": call.id});
    match &call.state {
        CallState::Streaming(text) => {
            part["state"] = "input-streaming".into();
            part["rawInput"] = text.clone().into();
        }
        CallState::Ready | CallState::Intended => part["state"] = "input-available".into(),
        CallState::AwaitingApproval if call.approval.as_ref().is_some_and(|asked| asked.approved.is_some()) => {
            part["state"] = "approval-responded".into();
        }
        CallState::AwaitingApproval => part["state"] = "approval-requested".into(),
        CallState::Approved => part["state"] = "approval-responded".into(),
        CallState::Denied => part["state"] = "output-denied".into(),
        CallState::Done(output) => {
            part["state"] = "output-available".into();
            part["output"] = output.clone();
        }
        CallState::Failed(text) => {
            part["state"] = "output-error".into();
            part["errorText"] = text.clone().into();
        }
    }
    if !call.input.is_null() {
        part["input"] = call.input.clone();
    }
    if let Some(Approval { approved, reason }) = &call.approval {
        let mut approval = json!({"id": call.id});
        if let Some(approved) = approved {
            approval["approved"] = (*approved).into();
        }
        if let Some(reason) = reason {
            approval["reason"] = reason.clone().into();
        }
        part["approval"] = approval;
    }
    let progress = call.progress.as_ref().map(|p| json!({"type": "data-progress", "id": call.id, "data": p}));
    std::iter::once(part).chain(progress).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chunks(list: &[Value]) -> Vec<Chunk> {
        list.iter().map(|value| serde_json::from_value(value.clone()).unwrap()).collect()
    }

    fn fold(list: &[Value]) -> Transcript {
        Transcript::fold(&chunks(list))
    }

    #[test]
    fn a_turn_folds_into_the_message_that_a_client_shows() {
        let t = fold(&[
            json!({"type": "start", "messageId": "msg_1"}),
            json!({"type": "start-step"}),
            json!({"type": "text-start", "id": "t1"}),
            json!({"type": "text-delta", "id": "t1", "delta": "Hel"}),
            json!({"type": "text-delta", "id": "t1", "delta": "lo"}),
            json!({"type": "text-end", "id": "t1"}),
            json!({"type": "tool-input-start", "toolCallId": "c1", "toolName": "email"}),
            json!({"type": "tool-input-delta", "toolCallId": "c1", "inputTextDelta": "{}"}),
            json!({"type": "tool-input-available", "toolCallId": "c1", "toolName": "email", "input": {}}),
            json!({"type": "data-call", "data": {"toolCallIds": ["c1"]}, "transient": true}),
            json!({"type": "data-progress", "id": "c1", "data": {"label": "x", "done": 1}}),
            json!({"type": "tool-output-available", "toolCallId": "c1", "output": {"ok": true}}),
            json!({"type": "finish-step"}),
            json!({"type": "finish", "finishReason": "stop"}),
        ]);
        assert_eq!(
            t.ui_parts(),
            [
                json!({"type": "step-start"}),
                json!({"type": "text", "text": "Hello", "state": "done"}),
                json!({"type": "tool-email", "toolCallId": "c1", "state": "output-available",
                       "output": {"ok": true}, "input": {}}),
                json!({"type": "data-progress", "id": "c1", "data": {"label": "x", "done": 1}}),
            ]
        );
        assert_eq!(t.end, Some(End::Finish(FinishReason::Stop)));
    }

    #[test]
    fn a_reset_step_loses_its_parts_and_stays_open() {
        let t = fold(&[
            json!({"type": "start-step"}),
            json!({"type": "text-start", "id": "t1"}),
            json!({"type": "text-delta", "id": "t1", "delta": "gone"}),
            json!({"type": "reset-step"}),
            json!({"type": "text-start", "id": "t2"}),
            json!({"type": "text-delta", "id": "t2", "delta": "kept"}),
        ]);
        let step = t.open_step().unwrap();
        assert_eq!(step.parts, [Part::Text { id: "t2".into(), text: "kept".into(), open: true }]);
        assert_eq!(t.closing(), [Chunk::TextEnd { id: "t2".into() }]);
    }

    #[test]
    fn an_end_closes_whatever_has_its_name_and_kind() {
        let mut t = fold(&[
            json!({"type": "start-step"}),
            json!({"type": "reasoning-start", "id": "p"}),
            json!({"type": "text-start", "id": "p"}),
            json!({"type": "text-start", "id": "p"}),
        ]);
        let closing = t.closing();
        assert_eq!(closing.len(), 3);
        closing.iter().for_each(|chunk| t.apply(chunk));
        assert_eq!(t.closing(), []);
    }

    #[test]
    fn the_first_outcome_of_a_call_stays() {
        let t = fold(&[
            json!({"type": "start-step"}),
            json!({"type": "tool-input-available", "toolCallId": "c1", "toolName": "email", "input": {}}),
            json!({"type": "tool-output-error", "toolCallId": "c1", "errorText": "no"}),
            json!({"type": "tool-output-available", "toolCallId": "c1", "output": 1}),
        ]);
        assert_eq!(t.calls().next().unwrap().state, CallState::Failed("no".into()));
    }
}
