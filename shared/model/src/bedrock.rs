//! Amazon Bedrock's ConverseStream.

use std::fmt;

use async_trait::async_trait;
use aws_config::retry::RetryConfig;
use aws_config::stalled_stream_protection::StalledStreamProtectionConfig;
use aws_config::timeout::TimeoutConfig;
use aws_config::{BehaviorVersion, Region};
use aws_credential_types::provider::{ProvideCredentials, SharedCredentialsProvider};
use rig_bedrock::client::BedrockRuntime;
use rig_bedrock::completion::Converse;
use tokio::sync::OnceCell;

use crate::classify::Provider;
use crate::rig::{self, Patient, SystemParts};
use crate::{Answer, Model, ModelError, Request, Timeouts};

const PROVIDER: Provider = Provider {
    name: "bedrock",
    credentials: "AWS credentials (the function's role, AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY)",
    base_url: "AWS_ENDPOINT_URL_BEDROCK_RUNTIME",
};

/// Where Bedrock is. What is not set here comes from the SDK's own chain: environment, profile, role.
#[derive(Clone, Default)]
pub struct BedrockEndpoint {
    pub region: Option<String>,
    pub url: Option<String>,
    pub credentials: Option<SharedCredentialsProvider>,
    /// The key in AWS_BEARER_TOKEN_BEDROCK: the SDK sends it, and needs no credentials.
    pub bearer: Option<String>,
}

/// The key is never shown.
impl fmt::Debug for BedrockEndpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bearer = self.bearer.as_ref().map(|_| "…");
        f.debug_struct("BedrockEndpoint")
            .field("region", &self.region)
            .field("url", &self.url)
            .field("bearer", &bearer)
            .finish_non_exhaustive()
    }
}

/// A model or inference profile on Bedrock.
pub struct Bedrock {
    name: String,
    model: String,
    endpoint: BedrockEndpoint,
    timeouts: Timeouts,
    /// Made by the first request: finding region and credentials may take calls of its own.
    client: OnceCell<Client>,
}

type Client = rig_core::Model<Converse, Patient<BedrockRuntime>>;

impl Bedrock {
    pub fn new(model: &str, endpoint: BedrockEndpoint, timeouts: Timeouts) -> Self {
        let name = format!("bedrock/{model}");
        Self { name, model: model.to_owned(), endpoint, timeouts, client: OnceCell::new() }
    }

    async fn connect(&self) -> Result<Client, ModelError> {
        // Retries are the caller's alone. The SDK would cut a stream that is silent for 5 s; the one watch is `Patient`.
        let mut loader = aws_config::defaults(BehaviorVersion::latest())
            .retry_config(RetryConfig::disabled())
            .stalled_stream_protection(StalledStreamProtectionConfig::disabled())
            .timeout_config(TimeoutConfig::disabled());
        if let Some(region) = &self.endpoint.region {
            loader = loader.region(Region::new(region.clone()));
        }
        if let Some(credentials) = &self.endpoint.credentials {
            loader = loader.credentials_provider(credentials.clone());
        }
        let config = loader.load().await;
        if config.region().is_none() {
            let message = "bedrock: no region is known: set AWS_REGION".into();
            return Err(ModelError::Permanent { message });
        }
        if self.endpoint.bearer.is_none() {
            check_credentials(config.credentials_provider()).await?;
        }
        let mut client = aws_sdk_bedrockruntime::config::Builder::from(&config);
        client.set_endpoint_url(self.endpoint.url.clone().or(config.endpoint_url().map(str::to_owned)));
        let client = aws_sdk_bedrockruntime::Client::from_conf(client.build());
        let transport = Patient::new(BedrockRuntime::from(client), self.timeouts);
        Ok(rig_core::Model::new(Converse::new(&self.model), transport))
    }
}

/// The SDK would report missing credentials as a failed connection, which the caller would try again.
async fn check_credentials(provider: Option<SharedCredentialsProvider>) -> Result<(), ModelError> {
    let provider = provider.ok_or_else(|| PROVIDER.missing_credentials())?;
    provider.provide_credentials().await.map(drop).map_err(|error| {
        tracing::warn!(%error, "no AWS credentials");
        PROVIDER.missing_credentials()
    })
}

#[async_trait]
impl Model for Bedrock {
    fn name(&self) -> &str {
        &self.name
    }

    async fn ask(&self, request: Request) -> Result<Answer, ModelError> {
        let client = self.client.get_or_try_init(|| self.connect()).await?;
        rig::ask(&PROVIDER, self.endpoint.bearer.as_deref(), client, rig::convert(request, SystemParts::Separate)?)
            .await
    }
}
