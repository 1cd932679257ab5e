//! The body of `POST /api/agent-chat`, in its native form and in the AI SDK's.

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::{Code, MessageId, Problem, ThreadId, ToolCallId, TurnId, pointer};

/// Longest user message, in bytes of UTF-8.
pub const MAX_MESSAGE_BYTES: usize = 100_000;

/// What the caller asks for.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentChat {
    pub thread: ThreadChoice,
    /// The user's text, not empty except where approvals are answered. For `Trigger::Regenerate` it is what the
    /// client shows; the store decides.
    pub text: String,
    /// Absent: a new one is made.
    pub turn: Option<TurnId>,
    pub trigger: Trigger,
    /// A model of `MODELS`; absent: the configured one.
    pub model: Option<String>,
    /// A run that is under way in the thread is stopped for this turn, instead of this turn being refused.
    pub interrupts: bool,
}

/// Which thread the turn belongs to.
#[derive(Debug, Clone, PartialEq)]
pub enum ThreadChoice {
    New,
    /// `threadId`: must exist.
    Existing(ThreadId),
    /// The AI SDK's `id`: created when unknown.
    Named(ThreadId),
}

#[derive(Debug, Clone, PartialEq)]
pub enum Trigger {
    /// A new message; with a known turn a repeat, which must say the same.
    Submit,
    /// The client edited a message that it had sent before, so what came after it goes even where the content is
    /// the same (`edit`, or the AI SDK's `submit-message` with a `messageId`). `must_exist`: else it is refused, and not said as a
    /// new one, as it is where the AI SDK says again what was never stored.
    Edit { must_exist: bool },
    /// Answer the message again. `replaces` is the answer that the client replaces, if it names one.
    Regenerate { replaces: Option<MessageId> },
    /// What a person says to the calls that the assistant's `message` asked about.
    Answer { message: MessageId, answers: Vec<ApprovalAnswer> },
}

/// A person's answer as a stock client sends it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApprovalAnswer {
    pub call: ToolCallId,
    pub approved: bool,
    pub reason: Option<String>,
}

/// A body that cannot be used; becomes the problem of the same name.
pub type AgentChatError = Box<Problem>;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Body {
    message: Option<Value>,
    thread_id: Option<Value>,
    turn_id: Option<Value>,
    model: Option<Value>,
    when_busy: Option<Value>,
    edit: Option<Value>,
    id: Option<Value>,
    messages: Option<Value>,
    trigger: Option<Value>,
    message_id: Option<Value>,
    #[serde(flatten)]
    others: Map<String, Value>,
}

impl AgentChat {
    /// Reads a body as JSON, whatever its content type: one of the stock transports sends text/plain.
    /// Unknown fields are refused in the native form, and ignored in the AI SDK's, to which clients add their own. All
    /// faults are reported at once.
    pub fn parse(body: &[u8]) -> Result<Self, AgentChatError> {
        // Not read as the struct at once: serde would take an array for it, field after field.
        let object: Result<Map<String, Value>, _> = serde_json::from_slice(body);
        let body: Body = object.and_then(|object| serde_json::from_value(Value::Object(object))).map_err(|e| {
            Box::new(Problem::new(Code::InvalidRequest, "The body must be a JSON object.").at("", e.to_string()))
        })?;
        let mut faults = Faults::default();
        for name in body.others.keys().filter(|_| body.messages.is_none()) {
            let fault = "is unknown: there are message, threadId, turnId, edit, model and whenBusy";
            faults.add::<()>(pointer::of(name), fault);
        }
        let parsed = match (&body.message, &body.messages) {
            (Some(message), None) => native(&body, message, &mut faults),
            (None, Some(messages)) => ai_sdk(&body, messages, &mut faults),
            (Some(_), Some(_)) => faults.add("/messages", "send either message or messages, not both"),
            (None, None) => {
                faults.add("/message", "is missing: send {\"message\": \"...\"} or the AI SDK's {id, messages}")
            }
        };
        let interrupts = match body.when_busy.as_ref().map(Value::as_str) {
            None | Some(Some("reject")) => false,
            Some(Some("interrupt")) => true,
            Some(_) => {
                faults.add::<()>("/whenBusy", "must be \"reject\" or \"interrupt\"");
                false
            }
        };
        match parsed {
            Some(chat) if faults.0.is_empty() => Ok(AgentChat { interrupts, ..chat }),
            _ => Err(faults.problem()),
        }
    }
}

const NOTHING_ANSWERED: &str = "answers no approval: send the user's message last, or the parts whose approvals are \
                                answered";

#[derive(Default)]
struct Faults(Vec<(String, String)>);

impl Faults {
    fn add<T>(&mut self, pointer: impl Into<String>, detail: impl Into<String>) -> Option<T> {
        self.0.push((pointer.into(), detail.into()));
        None
    }

    fn problem(self) -> AgentChatError {
        let is = |text: &str| self.0.iter().any(|(_, detail)| detail.starts_with(text));
        let code = match (is("is too long"), is(NOTHING_ANSWERED)) {
            (true, _) => Code::TooLarge,
            (false, true) => Code::Conflict,
            (false, false) => Code::InvalidInput,
        };
        let detail = "The request has faults; each is listed with the place where it is.";
        Box::new(self.0.into_iter().fold(Problem::new(code, detail), |problem, (at, text)| problem.at(at, text)))
    }

    fn id<T: std::str::FromStr<Err = crate::IdError>>(&mut self, pointer: &str, value: &Option<Value>) -> Option<T> {
        match value {
            None | Some(Value::Null) => None,
            Some(Value::String(text)) => match text.parse() {
                Ok(id) => Some(id),
                Err(e) => self.add(pointer, e.to_string()),
            },
            Some(_) => self.add(pointer, "must be a text"),
        }
    }
}

fn native(body: &Body, message: &Value, faults: &mut Faults) -> Option<AgentChat> {
    if body.id.is_some() {
        faults.add::<()>("/id", "goes with messages; with message, threadId names the thread");
    }
    let thread: Option<ThreadId> = faults.id("/threadId", &body.thread_id);
    let turn: Option<TurnId> = faults.id("/turnId", &body.turn_id);
    let (text, named) = user_message("/message", message, faults);
    if let (Some(turn), Some(named)) = (&turn, &named)
        && turn != named
    {
        faults.add::<()>("/turnId", "differs from the id of the message; a turn has the id of its message");
    }
    let turn = turn.or(named);
    let trigger = match body.edit.as_ref().map(Value::as_bool) {
        None | Some(Some(false)) => Trigger::Submit,
        Some(Some(true)) => Trigger::Edit { must_exist: true },
        Some(None) => return faults.add("/edit", "must be true or false"),
    };
    if matches!(trigger, Trigger::Edit { .. }) && (thread.is_none() || turn.is_none()) && faults.0.is_empty() {
        faults.add::<()>("/edit", "needs threadId, and the turnId of the message that is edited");
    }
    Some(AgentChat {
        thread: thread.map_or(ThreadChoice::New, ThreadChoice::Existing),
        text: text?,
        turn,
        trigger,
        model: model(body, faults),
        interrupts: false,
    })
}

fn ai_sdk(body: &Body, messages: &Value, faults: &mut Faults) -> Option<AgentChat> {
    let thread: Option<ThreadId> = faults.id("/id", &body.id);
    if thread.is_none() && faults.0.is_empty() {
        faults.add::<()>("/id", "is missing: with WorkflowChatTransport set prepareSendMessagesRequest to send it");
    }
    let trigger = match body.trigger.as_ref().map(Value::as_str) {
        None | Some(Some("submit-message")) => match faults.id::<MessageId>("/messageId", &body.message_id) {
            None => Trigger::Submit,
            Some(_) => Trigger::Edit { must_exist: false },
        },
        // The AI SDK names an answer, the user's message or nothing; it always sends the message to answer last.
        Some(Some("regenerate-message")) => {
            let named: Option<MessageId> = faults.id("/messageId", &body.message_id);
            Trigger::Regenerate { replaces: named.filter(|message| message.run().is_some()) }
        }
        Some(_) => return faults.add("/trigger", "must be submit-message or regenerate-message"),
    };
    let Some(list) = messages.as_array() else {
        return faults.add("/messages", "must be an array of messages");
    };
    if let (Trigger::Submit | Trigger::Edit { .. }, Some(last)) = (&trigger, list.last())
        && last["role"] == "assistant"
    {
        let answer = answers(&format!("/messages/{}", list.len() - 1), last, faults);
        return Some(AgentChat {
            thread: ThreadChoice::Named(thread?),
            text: String::new(),
            turn: None,
            trigger: answer?,
            model: None,
            interrupts: false,
        });
    }
    let user = list.iter().enumerate().rev().find(|(_, message)| message["role"] == "user");
    let Some((at, user)) = user else {
        return faults.add("/messages", "must hold a message of the user");
    };
    let (text, turn) = user_message(&format!("/messages/{at}"), user, faults);
    let thread = ThreadChoice::Named(thread?);
    Some(AgentChat { thread, text: text?, turn, trigger, model: model(body, faults), interrupts: false })
}

/// The approvals that an assistant's message answers.
fn answers(at: &str, message: &Value, faults: &mut Faults) -> Option<Trigger> {
    let id: Option<MessageId> = faults.id(&format!("{at}/id"), &message.get("id").cloned());
    let parts = message["parts"].as_array().map_or(&[][..], Vec::as_slice);
    let mut answers = Vec::new();
    for (n, part) in parts.iter().enumerate().filter(|(_, part)| part["state"] == "approval-responded") {
        let approval = &part["approval"];
        let call: Option<ToolCallId> = faults.id(&format!("{at}/parts/{n}/approval/id"), &approval.get("id").cloned());
        match (call, approval["approved"].as_bool()) {
            (Some(call), Some(approved)) => {
                let reason = approval["reason"].as_str().map(str::to_owned);
                answers.push(ApprovalAnswer { call, approved, reason });
            }
            _ => faults.add(format!("{at}/parts/{n}/approval"), "must hold id and approved").unwrap_or(()),
        }
    }
    if answers.is_empty() && faults.0.is_empty() {
        return faults.add(at, NOTHING_ANSWERED);
    }
    match id {
        Some(message) => Some(Trigger::Answer { message, answers }),
        None if message["id"].is_null() => faults.add(format!("{at}/id"), "is missing: an answer names its message"),
        None => None,
    }
}

fn model(body: &Body, faults: &mut Faults) -> Option<String> {
    match &body.model {
        None | Some(Value::Null) => None,
        Some(Value::String(name)) if !name.is_empty() => Some(name.clone()),
        Some(_) => faults.add("/model", "must be the name of a model"),
    }
}

/// The text and the id of a user's message: a text, or a `UIMessage` whose parts are texts.
fn user_message(at: &str, message: &Value, faults: &mut Faults) -> (Option<String>, Option<TurnId>) {
    if let Value::String(text) = message {
        return (checked(at, text, faults), None);
    }
    let turn = faults.id(&format!("{at}/id"), &message.get("id").cloned());
    let Some(parts) = message.get("parts").and_then(Value::as_array) else {
        return (faults.add(at, "must be a text, or a message with parts"), turn);
    };
    let (mut texts, before) = (Vec::new(), faults.0.len());
    for (n, part) in parts.iter().enumerate() {
        let refused = match (part["type"].as_str(), part["text"].as_str()) {
            (Some("text"), Some(text)) => {
                texts.push(text);
                continue;
            }
            (Some(kind), _) if kind.starts_with("data-") => continue,
            (Some("file"), _) => "Files are not taken: send what they say as text.",
            _ => "must be a text part: other kinds are not taken",
        };
        faults.add::<()>(format!("{at}/parts/{n}"), refused);
    }
    let text = texts.join("\n");
    let text = if faults.0.len() == before { checked(&format!("{at}/parts"), &text, faults) } else { None };
    (text, turn)
}

fn checked(at: &str, text: &str, faults: &mut Faults) -> Option<String> {
    if text.trim().is_empty() {
        return faults.add(at, "must hold more than white space");
    }
    if text.len() > MAX_MESSAGE_BYTES {
        return faults.add(at, format!("is too long: at most {MAX_MESSAGE_BYTES} bytes"));
    }
    if text.contains('\0') {
        return faults.add(at, "must not hold NUL characters");
    }
    Some(text.to_owned())
}

#[cfg(test)]
#[path = "request_tests.rs"]
mod tests;
