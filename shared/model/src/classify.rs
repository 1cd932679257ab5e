//! What a provider's failure means to the caller. One table for all wires.
//!
//! rig's own verdict is not enough: it takes an `overloaded_error` in mid-answer for final, spent quota for
//! worth a retry, and knows no "history too long".

use std::time::Duration;

use rig_core::ProviderResponseError;
use rig_core::error::ProviderError;
use rig_core::http_client;
use serde_json::Value;

use crate::ModelError;

/// How a provider is called in messages.
#[derive(Debug)]
pub(crate) struct Provider {
    pub name: &'static str,
    /// What to set when it has, or takes, no credentials.
    pub credentials: &'static str,
    /// The variable that says where it is.
    pub base_url: &'static str,
}

impl Provider {
    pub(crate) fn missing_credentials(&self) -> ModelError {
        ModelError::MissingCredentials {
            message: format!("{} has no credentials: set {}", self.name, self.credentials),
        }
    }
}

/// `secret`: what the request was sent with. Some providers, and gateways before them, say back what they were sent.
pub(crate) fn classify(provider: &Provider, secret: Option<&str>, error: &ProviderError) -> ModelError {
    let name = provider.name;
    let told = |text: &str| short(&without(secret, text));
    match error {
        ProviderError::ProviderResponse(reply) | ProviderError::InvalidAuthentication(reply) => {
            Failure::of(reply, secret).verdict(provider)
        }
        ProviderError::Provider(message) => Failure::told(&without(secret, message)).verdict(provider),
        ProviderError::Truncated => {
            ModelError::Interrupted { message: format!("{name}: the answer ended without its end marker") }
        }
        ProviderError::Http(error) => transport(provider, error),
        ProviderError::Request(cause) if is_header(cause.as_ref()) => ModelError::MissingCredentials {
            message: format!(
                "{name}: the key is no key: it holds a line break or the like; set {}",
                provider.credentials
            ),
        },
        ProviderError::Json(_) | ProviderError::Response(_) => {
            tracing::debug!(provider = name, error = told(&error.to_string()), "unreadable answer");
            ModelError::Interrupted { message: format!("{name}: the answer could not be read") }
        }
        other => ModelError::Permanent { message: format!("{name}: {}", told(&other.to_string())) },
    }
}

/// The text without the secret. Whole, before it is cut: half a key is too much as well.
fn without(secret: Option<&str>, text: &str) -> String {
    match secret.filter(|secret| !secret.is_empty()) {
        Some(secret) => text.replace(secret, "[hidden]"),
        None => text.to_owned(),
    }
}

fn transport(provider: &Provider, error: &http_client::Error) -> ModelError {
    let name = provider.name;
    match error {
        http_client::Error::InvalidContentType(_) => ModelError::Permanent {
            message: format!("{name}: the answer is no event stream; is {} right?", provider.base_url),
        },
        http_client::Error::Instance(cause) => {
            ModelError::Interrupted { message: format!("the connection to {name} failed: {}", root(cause.as_ref())) }
        }
        http_client::Error::StreamEnded => {
            ModelError::Interrupted { message: format!("the connection to {name} failed: it was closed") }
        }
        other => ModelError::Permanent { message: format!("{name}: {}", short(&other.to_string())) },
    }
}

/// Our only header that is not fixed is the one with the key.
fn is_header(cause: &(dyn std::error::Error + Send + Sync + 'static)) -> bool {
    cause.downcast_ref::<http::Error>().is_some_and(|error| error.is::<http::header::InvalidHeaderValue>())
}

/// The innermost cause: the outer ones only say that a request failed, and where it went.
fn root(error: &(dyn std::error::Error + 'static)) -> String {
    let mut cause = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    short(&cause.to_string())
}

/// What the provider answered.
#[derive(Debug, Default)]
struct Failure {
    /// None in mid-answer, where the status was 200 long ago.
    status: Option<u16>,
    /// Lower case: `error.type` and `error.code` of the body, the AWS exception.
    codes: Vec<String>,
    message: String,
    refusal: bool,
    after: Option<Duration>,
}

impl Failure {
    fn of(reply: &ProviderResponseError, secret: Option<&str>) -> Self {
        let whole = without(secret, &reply.body);
        let body = serde_json::from_str::<Value>(&whole).unwrap_or_default();
        let text = |pointer: &str| body.pointer(pointer).and_then(Value::as_str);
        let codes = ["/error/type", "/error/code", "/type", "/code", "/__type"].into_iter().filter_map(text);
        let message = ["/error/message", "/message", "/Message", "/error"].into_iter().find_map(text);
        Self {
            status: reply.status.map(|status| status.as_u16()).filter(|status| !(200..300).contains(status)),
            codes: reply.code.as_deref().into_iter().chain(codes).map(str::to_lowercase).collect(),
            message: short(message.unwrap_or(&whole)),
            refusal: reply.refusal,
            after: reply.headers.as_ref().and_then(retry_after),
        }
    }

    /// A failure of which only rig's own text is left. It names an AWS exception in brackets.
    fn told(message: &str) -> Self {
        let code = message.rsplit_once('(').and_then(|(_, rest)| rest.strip_suffix(')'));
        Self { codes: code.map(str::to_lowercase).into_iter().collect(), message: short(message), ..Self::default() }
    }

    fn verdict(self, provider: &Provider) -> ModelError {
        let (name, said) = (provider.name, &self.message);
        if self.is_too_long() {
            return ModelError::ContextTooLong { message: format!("the conversation is too long for {name}: {said}") };
        }
        if self.is_spent() {
            return ModelError::Permanent { message: format!("{name}: the quota is used up: {said}") };
        }
        if self.is_unauthorised() {
            // Not the provider's words: some repeat the key.
            return ModelError::MissingCredentials {
                message: format!("{name} does not accept the credentials: check {}", provider.credentials),
            };
        }
        if self.is_refusal() {
            return ModelError::Refused { message: format!("{name} refused to answer: {said}") };
        }
        if self.is_overload() {
            return ModelError::Overloaded { after: self.after, message: format!("{name} is overloaded: {said}") };
        }
        if self.is_rate_limit() {
            return ModelError::RateLimited {
                after: self.after,
                message: format!("{name} takes no more requests for now: {said}"),
            };
        }
        if self.is_passing() {
            return ModelError::Interrupted { message: format!("{name} failed: {said}") };
        }
        ModelError::Permanent { message: format!("{name}: {said}") }
    }

    fn is_too_long(&self) -> bool {
        const SAID: [&str; 11] = [
            "prompt is too long",
            "input is too long",
            "maximum context length",
            "context window",
            "context limit",
            "context length",
            "too many input tokens",
            "input tokens exceeded",
            "request too large",
            "request is too large",
            "request exceeds the maximum size",
        ];
        let final_status = self.status.is_none_or(|status| (400..500).contains(&status));
        self.status == Some(413)
            || self.has(&["context_length_exceeded", "request_too_large"])
            || final_status && self.says(&SAID)
    }

    /// Waiting seconds does not help: money or a day's allowance is used up.
    fn is_spent(&self) -> bool {
        let billing =
            ["insufficient_quota", "billing_hard_limit_reached", "billing_error", "servicequotaexceededexception"];
        self.status == Some(402)
            || self.has(&billing)
            || self.says(&["credit balance is too low", "exceeded your current quota"])
            || self.is_rate_limit() && self.says(&["per day", "daily"])
    }

    fn is_unauthorised(&self) -> bool {
        self.status == Some(401)
            || self.has(&[
                "authentication_error",
                "invalid_api_key",
                "unrecognizedclientexception",
                "expiredtokenexception",
                "invalidsignatureexception",
                "incompletesignatureexception",
                "missingauthenticationtokenexception",
                "invalidclienttokenid",
            ])
    }

    fn is_refusal(&self) -> bool {
        self.refusal
            || self.has(&["content_filter", "content_policy_violation", "responsibleaipolicyviolation", "refusal"])
    }

    fn is_overload(&self) -> bool {
        let codes = ["overloaded_error", "serviceunavailableexception", "modelnotreadyexception", "server_overloaded"];
        matches!(self.status, Some(503 | 529)) || self.has(&codes)
    }

    fn is_rate_limit(&self) -> bool {
        let codes = ["rate_limit_error", "rate_limit_exceeded", "throttlingexception", "toomanyrequestsexception"];
        self.status == Some(429) || self.has(&codes)
    }

    /// A fault of the provider's that the next request need not meet. In mid-answer that is every fault that is
    /// not the request's.
    fn is_passing(&self) -> bool {
        const OURS: [&str; 6] = [
            "invalid_request_error",
            "not_found_error",
            "permission_error",
            "validationexception",
            "accessdeniedexception",
            "resourcenotfoundexception",
        ];
        match self.status {
            // 424 is Bedrock's "the model failed".
            Some(status) => matches!(status, 408 | 424 | 425 | 500..),
            None => !self.codes.is_empty() && !self.has(&OURS),
        }
    }

    fn has(&self, codes: &[&str]) -> bool {
        self.codes.iter().any(|code| codes.contains(&code.as_str()))
    }

    fn says(&self, texts: &[&str]) -> bool {
        let message = self.message.to_lowercase();
        texts.iter().any(|text| message.contains(text))
    }
}

/// `retry-after-ms`, or `retry-after` in seconds or as a date; a date is counted from the answer's own `date`.
fn retry_after(headers: &http::HeaderMap) -> Option<Duration> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    if let Some(millis) = text("retry-after-ms").and_then(|text| text.parse::<f64>().ok()) {
        return Duration::try_from_secs_f64(millis / 1000.0).ok();
    }
    let after = text("retry-after")?;
    if let Ok(seconds) = after.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let seconds = (date(after)? - date(text("date")?)?).max(0);
    Some(Duration::from_secs(seconds.unsigned_abs()))
}

fn date(text: &str) -> Option<i64> {
    use aws_smithy_types::date_time::{DateTime, Format};
    DateTime::from_str(text, Format::HttpDate).ok().map(|date| date.secs())
}

/// One line of at most 300 characters.
fn short(text: &str) -> String {
    const LIMIT: usize = 300;
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.is_empty() {
        return "no reason given".into();
    }
    match line.char_indices().nth(LIMIT) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

#[cfg(test)]
mod tests;
