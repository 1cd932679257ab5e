//! Faults of the store, told as what the caller can do.

use aws_sdk_dynamodb::error::{ProvideErrorMetadata, SdkError};

/// A store call that has no usable answer. A failed condition is not an error: calls that have one return it.
#[derive(Debug, Clone, thiserror::Error)]
pub enum StoreError {
    /// Throttled, timed out or unreachable, also after retries: try again later. A write may have happened.
    #[error("the store does not answer: {0}")]
    Unavailable(String),
    /// The store refuses the request: a fault of this code or of its permissions.
    #[error("the store refuses the request: {0}")]
    Rejected(String),
    /// An item is not what this code writes.
    #[error("the item {key} cannot be read: {detail}")]
    Corrupt { key: String, detail: String },
}

impl StoreError {
    pub(crate) fn corrupt(key: impl Into<String>, detail: impl ToString) -> Self {
        StoreError::Corrupt { key: key.into(), detail: detail.to_string() }
    }
}

/// Whether the same request may succeed a moment later.
pub(crate) fn is_passing(code: &str) -> bool {
    matches!(
        code,
        "TransactionConflictException"
            | "TransactionInProgressException"
            | "ProvisionedThroughputExceededException"
            | "ThrottlingException"
            | "RequestLimitExceeded"
            | "InternalServerError"
            | "ServiceUnavailable"
    )
}

impl<E: ProvideErrorMetadata + std::error::Error + 'static, R: std::fmt::Debug> From<SdkError<E, R>> for StoreError {
    fn from(error: SdkError<E, R>) -> Self {
        match &error {
            SdkError::ServiceError(service) => {
                let code = service.err().code().unwrap_or("unknown");
                let text = format!("{code}: {}", service.err().message().unwrap_or_default());
                if is_passing(code) { StoreError::Unavailable(text) } else { StoreError::Rejected(text) }
            }
            SdkError::ConstructionFailure(_) => StoreError::Rejected(error.to_string()),
            _ => StoreError::Unavailable(error.to_string()),
        }
    }
}
