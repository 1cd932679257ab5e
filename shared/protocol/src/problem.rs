//! Errors on the wire: RFC 9457 `application/problem+json`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A problem with a stable code. `detail` is for people and says what to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Problem {
    /// `about:blank`, as the code says it all.
    #[serde(rename = "type")]
    pub kind: String,
    pub title: String,
    pub status: u16,
    pub detail: String,
    pub code: Code,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<Fault>,
    /// With `thread_busy`: the run to wait for or to stop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub active_run_id: Option<String>,
    /// With `conflict` about a document: what it is now; null: it does not exist.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub current: Option<serde_json::Value>,
    /// Seconds to wait before trying again; also sent as `Retry-After`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after: Option<u32>,
}

/// One fault of an input.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Fault {
    /// JSON pointer into the input (`/emailId`), or a query parameter as `?after`.
    pub pointer: String,
    pub detail: String,
}

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $status:literal, $code:literal, $title:literal;)*) => {
        /// Stable codes of problems.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "snake_case")]
        pub enum Code { $($(#[$doc])* $name,)* }

        impl Code {
            /// Every code, for the documentation.
            pub const ALL: &[Code] = &[$(Code::$name,)*];

            pub fn status(self) -> u16 {
                match self { $(Code::$name => $status,)* }
            }
            pub fn as_str(self) -> &'static str {
                match self { $(Code::$name => $code,)* }
            }
            pub fn title(self) -> &'static str {
                match self { $(Code::$name => $title,)* }
            }
        }
    };
}

codes! {
    InvalidRequest = 400, "invalid_request", "The request cannot be read";
    InvalidInput = 400, "invalid_input", "The input does not fit the schema";
    Unauthenticated = 401, "unauthenticated", "Sign in first";
    Forbidden = 403, "forbidden", "Not allowed";
    /// An agent calls, and a person must agree first; `detail` says how.
    ApprovalRequired = 403, "approval_required", "A person must agree first";
    /// The person who was asked did not agree.
    Denied = 403, "denied", "A person did not agree";
    NotFound = 404, "not_found", "There is no such thing, or it is not yours";
    MethodNotAllowed = 405, "method_not_allowed", "Wrong method";
    /// The thread has a run under way.
    ThreadBusy = 409, "thread_busy", "The thread is busy";
    Conflict = 409, "conflict", "Somebody else changed it";
    /// Another request with the same idempotency key is being carried out: send the same again in a moment.
    InProgress = 409, "in_progress", "It is under way";
    /// It changes something elsewhere, and was cut off in the middle: check before trying again, with a new key.
    OutcomeUnknown = 409, "outcome_unknown", "It may or may not have happened";
    Expired = 410, "expired", "The log has been deleted";
    TooLarge = 413, "too_large", "Too large";
    /// The action ran and refused; `detail` says why.
    ActionFailed = 422, "action_failed", "The action refused";
    /// The idempotency key was sent before with another input.
    KeyReused = 422, "key_reused", "The idempotency key belongs to another input";
    Throttled = 429, "throttled", "Too many requests";
    Internal = 500, "internal", "A fault on our side";
    StoreUnavailable = 503, "store_unavailable", "The store does not answer";
    Timeout = 504, "timeout", "It took too long";
}

impl Problem {
    pub fn new(code: Code, detail: impl Into<String>) -> Self {
        Problem {
            kind: "about:blank".into(),
            title: code.title().into(),
            status: code.status(),
            detail: detail.into(),
            code,
            request_id: None,
            errors: Vec::new(),
            active_run_id: None,
            current: None,
            retry_after: None,
        }
    }

    /// Adds the place of a fault.
    #[must_use]
    pub fn at(mut self, pointer: impl Into<String>, detail: impl Into<String>) -> Self {
        self.errors.push(Fault { pointer: pointer.into(), detail: detail.into() });
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_the_same_word_in_rust_and_on_the_wire() {
        for code in Code::ALL {
            assert_eq!(serde_json::to_value(code).unwrap(), code.as_str());
        }
    }
}
