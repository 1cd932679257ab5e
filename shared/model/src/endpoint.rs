//! Where a provider is and the key to it.

use std::fmt;

use rig_reqwest::ReqwestClient;

use crate::ModelError;
use crate::classify::Provider;

/// A provider reached by HTTP with one key.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Endpoint {
    /// Without it nothing is sent.
    pub key: Option<String>,
    /// Instead of the provider's own address.
    pub base_url: Option<String>,
}

/// The key is never shown.
impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let key = self.key.as_ref().map(|_| "…");
        f.debug_struct("Endpoint").field("key", &key).field("base_url", &self.base_url).finish()
    }
}

impl Endpoint {
    pub(crate) fn key(&self, provider: &Provider) -> Result<&str, ModelError> {
        self.key.as_deref().ok_or_else(|| provider.missing_credentials())
    }
}

/// A client with no timeout of its own, as a good answer may take minutes, and with no redirects: a redirect
/// would carry the key to another host.
pub(crate) fn http_client(provider: &Provider) -> Result<ReqwestClient, ModelError> {
    let built = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).tcp_nodelay(true).build();
    built.map(ReqwestClient::from).map_err(|error| {
        tracing::warn!(provider = provider.name, %error, "no HTTP client");
        ModelError::Permanent { message: format!("{}: no HTTP client could be made", provider.name) }
    })
}
