//! What went wrong with a model, told as what the caller must do.

use std::time::Duration;

/// A failure of a model. `message` is safe to show to a person; it holds no key and no prompt.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ModelError {
    /// Overloaded (529, 503, `overloaded_error`): ask again, after `after` if the provider named it.
    #[error("{message}")]
    Overloaded { after: Option<Duration>, message: String },
    /// Too many requests (429): ask again, after `after` if the provider named it.
    #[error("{message}")]
    RateLimited { after: Option<Duration>, message: String },
    /// The connection failed, or the answer ended without its end marker: ask again.
    #[error("{message}")]
    Interrupted { message: String },
    /// The history does not fit the model: asking again the same way cannot help.
    #[error("{message}")]
    ContextTooLong { message: String },
    /// The provider will not answer this (content filter, refusal).
    #[error("{message}")]
    Refused { message: String },
    /// No usable key or credentials.
    #[error("{message}")]
    MissingCredentials { message: String },
    /// Anything else: asking again cannot help (bad request, unknown model, spent quota).
    #[error("{message}")]
    Permanent { message: String },
}

impl ModelError {
    /// Whether asking again can help.
    pub fn is_retryable(&self) -> bool {
        match self {
            ModelError::Overloaded { .. } | ModelError::RateLimited { .. } | ModelError::Interrupted { .. } => true,
            ModelError::ContextTooLong { .. }
            | ModelError::Refused { .. }
            | ModelError::MissingCredentials { .. }
            | ModelError::Permanent { .. } => false,
        }
    }

    /// A word for the log.
    pub fn kind(&self) -> &'static str {
        match self {
            ModelError::Overloaded { .. } => "overloaded",
            ModelError::RateLimited { .. } => "rate limited",
            ModelError::Interrupted { .. } => "interrupted",
            ModelError::ContextTooLong { .. } => "too long",
            ModelError::Refused { .. } => "refused",
            ModelError::MissingCredentials { .. } => "credentials",
            ModelError::Permanent { .. } => "permanent",
        }
    }

    /// How long the provider asks us to wait.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            ModelError::Overloaded { after, .. } | ModelError::RateLimited { after, .. } => *after,
            _ => None,
        }
    }
}
