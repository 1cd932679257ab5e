//! What goes wrong with actions, told as what the caller can do.

use std::time::Duration;

use tandem_protocol::{ActionName, Fault};
use tandem_store::StoreError;

/// Why a call has no result. The text is for people and for the model, and holds no secrets.
#[derive(Debug, Clone, thiserror::Error)]
pub enum ActionError {
    /// There is no such action, or it is not offered here. `near` are names that the caller may have meant.
    #[error("there is no action {name:?}{}", did_you_mean(.near))]
    NotFound { name: String, near: Vec<ActionName> },
    /// The caller has none of the roles that the action asks for.
    #[error("you may not call this action")]
    Forbidden,
    /// The input does not fit the schema: all faults that were found.
    #[error("the input does not fit: {}", list(.0))]
    Invalid(Vec<Fault>),
    /// The action ran and refused. `code` is stable, `message` is for people.
    #[error("{message} [{code}]")]
    Failed { code: String, message: String },
    /// It took longer than it may. What it changes elsewhere may have happened.
    #[error("it took longer than {} s", .0.as_secs())]
    Timeout(Duration),
    /// Others changed the same things again and again, or not what the caller expected: read again.
    #[error("somebody else changed it at the same time")]
    Conflict,
    /// More than one commit, or one answer, can hold; the text says what to do.
    #[error("{0}")]
    TooLarge(String),
    /// The run ended first: a transactional call has changed nothing, others may have.
    #[error("the run ended before this was done")]
    Closed,
    /// Its holder disappeared in the middle of an external effect, or the action cannot tell (it then returns this):
    /// it may or may not have happened.
    #[error("it may or may not have happened: check before you try again")]
    Unknown,
    /// The holder was told to stop, or its time is up. Nothing is stored; the effect decides who goes on.
    #[error("stopped before it was done")]
    Cancelled,
    /// Another request with the same idempotency key is being carried out: send the same again in a moment.
    #[error("the same call is under way: send it again in a moment, with the same key")]
    InProgress,
    /// The idempotency key was used with another input: choose a new one.
    #[error("this idempotency key was used with another input: choose a new key for a new call")]
    KeyReused,
    /// As many runs are under way as may be: try again after so many seconds.
    #[error("{text}")]
    TooMany { text: &'static str, retry_after: u32 },
    /// The store has no answer: try the same call again.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl ActionError {
    /// The action refuses: `code` in snake case, `message` for people.
    pub fn failed(code: impl Into<String>, message: impl Into<String>) -> Self {
        ActionError::Failed { code: code.into(), message: message.into() }
    }

    /// What it says, without the code behind it and the full stop: for a sentence that goes on.
    pub(crate) fn words(&self) -> String {
        let text = match self {
            ActionError::Failed { message, .. } => message.clone(),
            other => other.to_string(),
        };
        text.trim_end_matches('.').to_owned()
    }

    /// A stable code in snake case; an action's own where it refused.
    pub fn code(&self) -> &str {
        match self {
            ActionError::NotFound { .. } => "not_found",
            ActionError::Forbidden => "forbidden",
            ActionError::Invalid(_) => "invalid_input",
            ActionError::Failed { code, .. } => code,
            ActionError::Timeout(_) => "timeout",
            ActionError::Conflict => "conflict",
            ActionError::TooLarge(_) => "too_large",
            ActionError::Closed => "closed",
            ActionError::Unknown => "unknown",
            ActionError::Cancelled => "cancelled",
            ActionError::InProgress => "in_progress",
            ActionError::KeyReused => "key_reused",
            ActionError::TooMany { .. } => "throttled",
            ActionError::Store(_) => "store_unavailable",
        }
    }

    /// Whether this can be the outcome of a call. With the others nothing is settled: whoever goes on decides by the
    /// effect.
    pub(crate) fn settles(&self) -> bool {
        match self {
            ActionError::Cancelled
            | ActionError::Store(_)
            | ActionError::Closed
            | ActionError::Unknown
            | ActionError::InProgress
            | ActionError::KeyReused
            | ActionError::TooMany { .. } => false,
            ActionError::NotFound { .. }
            | ActionError::Forbidden
            | ActionError::Invalid(_)
            | ActionError::Failed { .. }
            | ActionError::Timeout(_)
            | ActionError::Conflict
            | ActionError::TooLarge(_) => true,
        }
    }

    /// A failure as `Outcome::Failed` holds it: its text ends with the code in brackets.
    pub fn from_stored(text: &str) -> Self {
        let is_code = |code: &str| code.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        let parts = text.strip_suffix(']').and_then(|text| text.rsplit_once(" ["));
        match parts.filter(|(_, code)| is_code(code)) {
            Some((message, code)) => ActionError::failed(code, message),
            None => ActionError::failed("action_failed", text),
        }
    }
}

/// Why a list of actions is not a registry: names the action and its fault.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the action {action:?}: {fault}")]
pub struct RegistryError {
    pub action: String,
    pub fault: String,
}

fn did_you_mean(near: &[ActionName]) -> String {
    if near.is_empty() {
        return String::new();
    }
    let names: Vec<_> = near.iter().map(ActionName::as_str).collect();
    format!("; did you mean {}?", names.join(" or "))
}

fn list(faults: &[Fault]) -> String {
    let at = |fault: &Fault| if fault.pointer.is_empty() { "the input".to_owned() } else { fault.pointer.clone() };
    let texts: Vec<_> = faults.iter().map(|fault| format!("{} {}", at(fault), fault.detail)).collect();
    texts.join("; ")
}
