//! Dispatch as an asynchronous Lambda invocation.

use aws_sdk_lambda::Client;
use aws_sdk_lambda::primitives::Blob;
use aws_sdk_lambda::types::InvocationType;
use tandem_auth::SignedDispatch;

use super::{Dispatch, DispatchError};

/// Invokes the background function with `InvocationType: Event`.
pub struct LambdaDispatch {
    client: Client,
    function: String,
}

impl LambdaDispatch {
    /// `function`: name or ARN of the background function.
    pub fn new(client: Client, function: impl Into<String>) -> Self {
        LambdaDispatch { client, function: function.into() }
    }
}

#[async_trait::async_trait]
impl Dispatch for LambdaDispatch {
    async fn dispatch(&self, dispatch: &SignedDispatch) -> Result<(), DispatchError> {
        let payload = serde_json::to_vec(dispatch).map_err(|e| DispatchError(e.to_string()))?;
        let call = self
            .client
            .invoke()
            .function_name(&self.function)
            .invocation_type(InvocationType::Event)
            .payload(Blob::new(payload));
        match call.send().await {
            Ok(_) => Ok(()),
            Err(error) => {
                use aws_sdk_lambda::error::ProvideErrorMetadata;
                Err(DispatchError(error.code().map_or_else(|| error.to_string(), str::to_owned)))
            }
        }
    }
}
