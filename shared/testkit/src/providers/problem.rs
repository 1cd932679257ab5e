//! How each provider says that something is wrong, word for word where their documentation gives the words.

use std::time::Duration;

use serde_json::{Value, json};
use tandem_model::ModelError;

use super::Wire;

/// What is wrong.
#[derive(Debug, Clone, PartialEq)]
pub enum Problem {
    Overloaded {
        after: Option<Duration>,
    },
    RateLimited {
        after: Option<Duration>,
    },
    /// No money, or no allowance, left.
    SpentQuota,
    TooLong,
    /// The key is wrong.
    Unauthorised,
    /// The key is right and may not do this.
    Forbidden,
    BadRequest,
    /// An internal error of the provider's.
    Broken,
}

/// The HTTP response for a problem.
pub(super) struct Told {
    pub(super) status: u16,
    /// `error.type` at Anthropic, `error.code` at OpenAI, the exception at AWS.
    pub(super) code: &'static str,
    pub(super) message: &'static str,
}

impl Problem {
    pub(super) fn told(&self, wire: Wire) -> Told {
        let (status, code, message) = match (wire, self) {
            (Wire::Anthropic, Problem::Overloaded { .. }) => (529, "overloaded_error", "Overloaded"),
            (Wire::Anthropic, Problem::RateLimited { .. }) => {
                (429, "rate_limit_error", "This request would exceed your organization's rate limit")
            }
            (Wire::Anthropic, Problem::SpentQuota) => {
                (400, "invalid_request_error", "Your credit balance is too low to access the Anthropic API")
            }
            (Wire::Anthropic, Problem::TooLong) => {
                (400, "invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum")
            }
            (Wire::Anthropic, Problem::Unauthorised) => (401, "authentication_error", "invalid x-api-key"),
            (Wire::Anthropic, Problem::Forbidden) => {
                (403, "permission_error", "Your API key does not have permission to use the specified resource")
            }
            (Wire::Anthropic, Problem::BadRequest) => (400, "invalid_request_error", "max_tokens: must be positive"),
            (Wire::Anthropic, Problem::Broken) => (500, "api_error", "Internal server error"),
            (Wire::OpenAi, Problem::Overloaded { .. }) => (503, "server_overloaded", "The engine is overloaded"),
            (Wire::OpenAi, Problem::RateLimited { .. }) => (429, "rate_limit_exceeded", "Rate limit reached"),
            (Wire::OpenAi, Problem::SpentQuota) => (429, "insufficient_quota", "You exceeded your current quota"),
            (Wire::OpenAi, Problem::TooLong) => {
                (400, "context_length_exceeded", "This model's maximum context length is 128000 tokens")
            }
            (Wire::OpenAi, Problem::Unauthorised) => (401, "invalid_api_key", "Incorrect API key provided: te**st"),
            (Wire::OpenAi, Problem::Forbidden) => (403, "unsupported_country", "Country not supported"),
            (Wire::OpenAi, Problem::BadRequest) => (400, "invalid_value", "Invalid value: 'x'"),
            (Wire::OpenAi, Problem::Broken) => (500, "server_error", "The server had an error"),
            (Wire::Bedrock, Problem::Overloaded { .. }) => {
                (503, "ServiceUnavailableException", "Bedrock is unable to process your request.")
            }
            (Wire::Bedrock, Problem::RateLimited { .. }) => {
                (429, "ThrottlingException", "Too many requests, please wait before trying again.")
            }
            (Wire::Bedrock, Problem::SpentQuota) => (400, "ServiceQuotaExceededException", "Too many tokens per day"),
            (Wire::Bedrock, Problem::TooLong) => (400, "ValidationException", "Input is too long for requested model."),
            (Wire::Bedrock, Problem::Unauthorised) => {
                (403, "UnrecognizedClientException", "The security token included in the request is invalid.")
            }
            (Wire::Bedrock, Problem::Forbidden) => {
                (403, "AccessDeniedException", "You don't have access to the model with the specified model ID.")
            }
            (Wire::Bedrock, Problem::BadRequest) => (400, "ValidationException", "Malformed input request"),
            (Wire::Bedrock, Problem::Broken) => (500, "InternalServerException", "Internal server error"),
        };
        Told { status, code, message }
    }

    /// The body, which is also what comes in mid-answer.
    pub(super) fn body(&self, wire: Wire) -> Value {
        let Told { status, code, message } = self.told(wire);
        let kind = if status >= 500 { "server_error" } else { "invalid_request_error" };
        match wire {
            Wire::Anthropic => json!({"type": "error", "error": {"type": code, "message": message}}),
            Wire::OpenAi => {
                json!({"error": {"message": message, "type": kind, "param": null, "code": code}})
            }
            Wire::Bedrock => json!({"message": message}),
        }
    }

    pub(super) fn after(&self) -> Option<Duration> {
        match self {
            Problem::Overloaded { after } | Problem::RateLimited { after } => *after,
            _ => None,
        }
    }

    /// What the provider says where the scripted model fails, unless it breaks off without a word.
    pub(super) fn of(error: &ModelError) -> Option<Self> {
        Some(match error {
            ModelError::Overloaded { after, .. } => Problem::Overloaded { after: *after },
            ModelError::RateLimited { after, .. } => Problem::RateLimited { after: *after },
            ModelError::Interrupted { .. } => return None,
            ModelError::ContextTooLong { .. } => Problem::TooLong,
            ModelError::MissingCredentials { .. } => Problem::Unauthorised,
            ModelError::Refused { .. } | ModelError::Permanent { .. } => Problem::BadRequest,
        })
    }
}
