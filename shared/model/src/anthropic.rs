//! Anthropic's Messages API.

use std::sync::OnceLock;

use async_trait::async_trait;
use rig_core::http_client::DynHttpClient;
use rig_core::providers::anthropic::{AnthropicConfig, Messages};

use crate::classify::Provider;
use crate::endpoint::{Endpoint, http_client};
use crate::rig::{self, Patient, SystemParts};
use crate::{Answer, Model, ModelError, Request, Timeouts};

const PROVIDER: Provider =
    Provider { name: "anthropic", credentials: "ANTHROPIC_API_KEY", base_url: "ANTHROPIC_BASE_URL" };

/// A Claude model at Anthropic, or behind a gateway that speaks the same wire.
pub struct Anthropic {
    name: String,
    model: String,
    endpoint: Endpoint,
    timeouts: Timeouts,
    /// Made by the first request: a cold start should not pay for it.
    client: OnceLock<Client>,
}

type Client = rig_core::Model<Messages, Patient<DynHttpClient>>;

impl Anthropic {
    pub fn new(model: &str, endpoint: Endpoint, timeouts: Timeouts) -> Self {
        let name = format!("anthropic/{model}");
        Self { name, model: model.to_owned(), endpoint, timeouts, client: OnceLock::new() }
    }

    fn connect(&self, key: &str) -> Result<Client, ModelError> {
        let mut config = AnthropicConfig::new(key);
        if let Some(url) = &self.endpoint.base_url {
            config = config.with_base_url(url);
        }
        let model = config.connect(http_client(&PROVIDER)?).completion(&self.model);
        // Cache marks on the last tool, the system prompt and the last message: a step reads what the one before wrote.
        let wire = model.wire.with_prompt_caching();
        Ok(rig_core::Model::new(wire, Patient::new(model.transport, self.timeouts)))
    }
}

#[async_trait]
impl Model for Anthropic {
    fn name(&self) -> &str {
        &self.name
    }

    async fn ask(&self, request: Request) -> Result<Answer, ModelError> {
        let key = self.endpoint.key(&PROVIDER)?;
        let client = match self.client.get() {
            Some(client) => client,
            None => {
                let client = self.connect(key)?;
                self.client.get_or_init(|| client)
            }
        };
        rig::ask(&PROVIDER, Some(key), client, rig::convert(request, SystemParts::Separate)?).await
    }
}
