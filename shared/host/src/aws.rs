//! Clients of AWS, with time limits that fit the runtime's.

use std::time::Duration;

use aws_config::retry::RetryConfig;
use aws_config::timeout::TimeoutConfig;
use aws_config::{BehaviorVersion, Region, SdkConfig};
use aws_credential_types::Credentials;
use tandem_auth::is_local_url;

use crate::env;

/// DynamoDB, with limits well below a lease: a call that hangs must not look like a dead holder.
pub async fn dynamodb() -> aws_sdk_dynamodb::Client {
    let mut config = aws_config::defaults(BehaviorVersion::latest())
        .retry_config(RetryConfig::standard().with_max_attempts(4))
        .timeout_config(timeouts(Duration::from_secs(2), Duration::from_secs(8)));
    if is_local_store() && env("AWS_ACCESS_KEY_ID").is_none() {
        // A local engine asks for a signature and does not check it.
        config = config
            .credentials_provider(Credentials::new("local", "local", None, None, "local"))
            .region(Region::new("us-east-1"));
    }
    aws_sdk_dynamodb::Client::new(&config.load().await)
}

/// Lambda, for dispatches. A repeated invocation is harmless, as only one claim wins; but no attempt may take long.
pub(crate) async fn lambda() -> aws_sdk_lambda::Client {
    let config: SdkConfig = aws_config::defaults(BehaviorVersion::latest())
        .retry_config(RetryConfig::standard().with_max_attempts(2))
        .timeout_config(timeouts(Duration::from_secs(3), Duration::from_secs(5)))
        .load()
        .await;
    aws_sdk_lambda::Client::new(&config)
}

/// Whether the store is an engine on this machine and not AWS.
pub fn is_local_store() -> bool {
    let endpoint = env("AWS_ENDPOINT_URL_DYNAMODB").or_else(|| env("AWS_ENDPOINT_URL"));
    endpoint.is_some_and(|url| is_local_url(&url))
}

fn timeouts(attempt: Duration, operation: Duration) -> TimeoutConfig {
    TimeoutConfig::builder()
        .connect_timeout(Duration::from_secs(1))
        .operation_attempt_timeout(attempt)
        .operation_timeout(operation)
        .build()
}
