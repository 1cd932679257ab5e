//! Asking an issuer for its keys: the discovery document, then the key set that it names.

use std::time::Duration;

use reqwest::redirect::Policy;
use reqwest::{Client, Url};
use serde::Deserialize;

use super::keys::KeySet;
use crate::config::ConfigError;
use crate::endpoint::is_trustworthy;

/// For both documents together: a caller is waiting.
const TIMEOUT: Duration = Duration::from_secs(5);
const MAX_DOCUMENT_BYTES: usize = 1024 * 1024;

/// Where keys come from.
#[derive(Debug)]
pub(super) struct Issuer {
    /// As configured; the discovery document must say the same.
    name: String,
    discovery: Url,
    client: Client,
}

/// Why the keys could not be had. For the log.
#[derive(Debug, thiserror::Error)]
pub(super) enum FetchError {
    #[error("no answer within {TIMEOUT:?}")]
    Timeout,
    #[error("{0}: {1:?}")]
    Transport(Url, reqwest::Error),
    #[error("{0} answers with status {1}")]
    Status(Url, u16),
    #[error("{0} is longer than {MAX_DOCUMENT_BYTES} bytes")]
    TooLong(Url),
    #[error("{0} is not a discovery document")]
    Discovery(Url),
    #[error("the issuer calls itself {0:?}; set OIDC_ISSUER to exactly that")]
    OtherIssuer(String),
    #[error("the address of the keys is neither https nor loopback")]
    UnsafeKeys,
    #[error("{0} holds no key for RS256, ES256 or EdDSA signatures")]
    NoKeys(Url),
}

/// The part of a discovery document that we use.
#[derive(Deserialize)]
struct Discovery {
    issuer: String,
    jwks_uri: String,
}

impl Issuer {
    pub(super) fn new(name: &str) -> Result<Self, ConfigError> {
        let bad = |problem: &str| {
            let way_out =
                "Set it to the issuer's address as it appears in `iss`, for example https://example.eu.auth0.com/";
            ConfigError::new("OIDC_ISSUER", problem, way_out)
        };
        let url = Url::parse(name).map_err(|_| bad("is not an address"))?;
        if !is_trustworthy(&url) {
            return Err(bad("must begin with https:// and hold no user name (http:// is for loopback only)"));
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err(bad("must hold neither ? nor #"));
        }
        let discovery = format!("{}/.well-known/openid-configuration", name.trim_end_matches('/'));
        let discovery = Url::parse(&discovery).map_err(|_| bad("is not an address"))?;
        // A redirect would lead past the check of the address.
        let client = Client::builder().redirect(Policy::none()).timeout(TIMEOUT).build();
        let client = client.map_err(|_| bad("cannot be asked, as no TLS roots could be loaded"))?;
        Ok(Issuer { name: name.into(), discovery, client })
    }

    /// Both documents anew: the address of the keys may have changed as well.
    pub(super) async fn fetch(&self) -> Result<KeySet, FetchError> {
        tokio::time::timeout(TIMEOUT, self.fetch_both()).await.map_err(|_| FetchError::Timeout)?
    }

    async fn fetch_both(&self) -> Result<KeySet, FetchError> {
        let discovery = self.get(&self.discovery).await?;
        let discovery: Discovery =
            serde_json::from_slice(&discovery).map_err(|_| FetchError::Discovery(self.discovery.clone()))?;
        if discovery.issuer != self.name {
            return Err(FetchError::OtherIssuer(discovery.issuer));
        }
        let address = Url::parse(&discovery.jwks_uri).ok().filter(is_trustworthy).ok_or(FetchError::UnsafeKeys)?;
        let keys = self.get(&address).await?;
        KeySet::parse(&keys).ok_or(FetchError::NoKeys(address))
    }

    async fn get(&self, url: &Url) -> Result<Vec<u8>, FetchError> {
        let failed = |error: reqwest::Error| FetchError::Transport(url.clone(), error.without_url());
        let mut response = self.client.get(url.clone()).send().await.map_err(failed)?;
        if response.status() != reqwest::StatusCode::OK {
            return Err(FetchError::Status(url.clone(), response.status().as_u16()));
        }
        let mut body = Vec::new();
        while let Some(piece) = response.chunk().await.map_err(failed)? {
            if body.len() + piece.len() > MAX_DOCUMENT_BYTES {
                return Err(FetchError::TooLong(url.clone()));
            }
            body.extend_from_slice(&piece);
        }
        Ok(body)
    }
}
