//! What the system refused, as a person at a terminal is told.

use reqwest::StatusCode;
use serde_json::Value;

/// An answer that is none of success.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) status: StatusCode,
    /// The problem; null where somebody in between answered with something else.
    pub(crate) body: Value,
    /// Whether a token was sent.
    pub(crate) signed_in: bool,
}

impl Refusal {
    /// The problem's code; empty where there is none.
    pub(crate) fn code(&self) -> &str {
        self.body["code"].as_str().unwrap_or_default()
    }

    /// What was asked for is not there, or not any more.
    pub(crate) fn is_gone(&self) -> bool {
        matches!(self.status, StatusCode::NOT_FOUND | StatusCode::GONE)
    }
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let told = told(self.status, &self.body);
        if self.status != StatusCode::UNAUTHORIZED {
            return f.write_str(&told);
        }
        let which = if self.signed_in { "another one" } else { "a token" };
        write!(f, "{}; give {which} with --token or TANDEM_TOKEN", told.trim_end_matches('.'))
    }
}

impl std::error::Error for Refusal {}

/// A refusal in one line. A fault on the other side has the request's id, by which its operator finds the cause.
pub(crate) fn told(status: StatusCode, body: &Value) -> String {
    let mut text = match body["detail"].as_str() {
        Some(detail) => format!("{status}: {detail}"),
        None => status.to_string(),
    };
    for fault in body["errors"].as_array().into_iter().flatten() {
        let at = fault["pointer"].as_str().unwrap_or_default();
        text.push_str(&format!(" {at} {}.", fault["detail"].as_str().unwrap_or_default()));
    }
    match body["requestId"].as_str() {
        Some(id) if status.is_server_error() => format!("{text} (request {id})"),
        _ => text,
    }
}
