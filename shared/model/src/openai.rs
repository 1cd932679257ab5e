//! OpenAI's Chat Completions, the wire that most other providers and local servers speak too.

use std::sync::OnceLock;

use async_trait::async_trait;
use rig_core::catalog::Catalog;
use rig_core::completion::Reasoning;
use rig_core::http_client::DynHttpClient;
use rig_core::providers::openai::OpenAIConfig;
use rig_core::providers::openai::wire::Chat;

use crate::classify::Provider;
use crate::endpoint::{Endpoint, http_client};
use crate::rig::{self, Patient, SystemParts};
use crate::{Answer, Model, ModelError, Request, Timeouts};

const PROVIDER: Provider = Provider { name: "openai", credentials: "OPENAI_API_KEY", base_url: "OPENAI_BASE_URL" };

/// A model at OpenAI, or at whatever answers `/chat/completions` under the base URL.
pub struct OpenAi {
    name: String,
    model: String,
    endpoint: Endpoint,
    timeouts: Timeouts,
    /// Made by the first request: a cold start should not pay for it.
    client: OnceLock<Client>,
}

type Client = rig_core::Model<Chat, Patient<DynHttpClient>>;

impl OpenAi {
    pub fn new(model: &str, endpoint: Endpoint, timeouts: Timeouts) -> Self {
        let name = format!("openai/{model}");
        Self { name, model: model.to_owned(), endpoint, timeouts, client: OnceLock::new() }
    }

    fn connect(&self, key: &str) -> Result<Client, ModelError> {
        let mut config = OpenAIConfig::new(key);
        if let Some(url) = &self.endpoint.base_url {
            config = config.with_base_url(url);
        }
        let model = config.connect(http_client(&PROVIDER)?).chat(&self.model);
        Ok(rig_core::Model::new(model.wire, Patient::new(model.transport, self.timeouts)))
    }

    /// Some models take tools on this wire only while they do not reason.
    fn tools_need_reasoning_off(&self) -> bool {
        Catalog::builtin()
            .resolve(&self.name)
            .is_some_and(|model| model.compat.chat_tools_need_reasoning_off && model.reasoning.can_disable)
    }
}

#[async_trait]
impl Model for OpenAi {
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
        let mut request = rig::convert(request, SystemParts::Joined)?;
        if !request.tools.is_empty() && self.tools_need_reasoning_off() {
            request = request.reasoning(Reasoning::Off);
        }
        rig::ask(&PROVIDER, Some(key), client, request).await
    }
}
