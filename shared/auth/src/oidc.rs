//! Sign-in by OpenID Connect: access tokens that an issuer has signed.
//!
//! The algorithm comes from the issuer's published key and never from the token, which can only name a key.
//! `oidc/keys.rs` knows which keys count, `oidc/cache.rs` when to ask for them again, `oidc/issuer.rs` how, and
//! `oidc/claims.rs` what a signed token must say.

mod cache;
mod claims;
mod issuer;
mod keys;
mod settings;

use std::time::{SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use jsonwebtoken::{Header, Validation, decode, decode_header};
use serde_json::{Map, Value};
use tandem_protocol::Principal;

use crate::authenticate::{AuthError, Authenticate, bearer};
use crate::config::ConfigError;
use cache::KeyCache;
use claims::TokenRefused;
use issuer::Issuer;
use keys::Key;

pub use settings::OidcSettings;

/// Longer tokens are refused unread.
const MAX_TOKEN_BYTES: usize = 16 * 1024;

/// Accepts the access tokens of one issuer for one audience. Share one for the life of a process: it holds the
/// issuer's keys.
#[derive(Debug)]
pub struct Oidc {
    settings: OidcSettings,
    keys: KeyCache,
}

impl Oidc {
    /// Asks nobody yet: the keys are fetched with the first token, so that a start does not depend on the issuer.
    pub fn new(settings: OidcSettings) -> Result<Self, ConfigError> {
        let keys = KeyCache::new(Issuer::new(&settings.issuer)?);
        Ok(Oidc { settings, keys })
    }

    /// [`Authenticate::authenticate`] at the time `now`, in seconds since 1970.
    pub async fn authenticate_at(&self, authorization: Option<&str>, now: i64) -> Result<Principal, AuthError> {
        let Some(authorization) = authorization else {
            let issuer = &self.settings.issuer;
            let detail = format!("Send `Authorization: Bearer <access token>` with a token from {issuer}.");
            return Err(AuthError::Unauthenticated { detail });
        };
        let token = bearer(authorization).filter(|token| token.len() <= MAX_TOKEN_BYTES);
        let token = token.ok_or(TokenRefused::Malformed)?;
        // Read before it is verified, and used for nothing but finding the key.
        let header = decode_header(token).map_err(|_| TokenRefused::Malformed)?;
        let key = self.keys.find(header.kid.as_deref(), header.alg, now).await?;
        let (header, claims) = verify(token, &key)?;
        Ok(claims::principal(header.typ.as_deref(), &claims, &self.settings, now)?)
    }
}

#[async_trait]
impl Authenticate for Oidc {
    async fn authenticate(&self, authorization: Option<&str>) -> Result<Principal, AuthError> {
        let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        self.authenticate_at(authorization, i64::try_from(since_1970.as_secs()).unwrap_or(i64::MAX)).await
    }

    fn issuer(&self) -> Option<&str> {
        Some(&self.settings.issuer)
    }

    fn public_url(&self) -> Option<&str> {
        self.settings.public_url.as_deref()
    }
}

impl From<TokenRefused> for AuthError {
    fn from(refused: TokenRefused) -> Self {
        AuthError::Unauthenticated { detail: refused.to_string() }
    }
}

/// What the token says, if `key` has signed it. The claims are not judged yet.
fn verify(token: &str, key: &Key) -> Result<(Header, Map<String, Value>), TokenRefused> {
    let mut signature_only = Validation::new(key.algorithm);
    signature_only.required_spec_claims.clear();
    signature_only.validate_exp = false;
    signature_only.validate_aud = false;
    let data = decode(token, &key.decoding, &signature_only).map_err(|_| TokenRefused::Signature)?;
    Ok((data.header, data.claims))
}
