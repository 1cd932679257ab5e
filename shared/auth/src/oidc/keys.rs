//! The keys that an issuer publishes (JWKS), and which of them signed a token.

use std::fmt;
use std::sync::Arc;

use jsonwebtoken::{Algorithm, DecodingKey};
use serde::Deserialize;
use serde_json::Value;

use super::claims::TokenRefused;

/// A public key with the one algorithm that it is for.
pub(super) struct Key {
    kid: Option<String>,
    pub(super) algorithm: Algorithm,
    pub(super) decoding: DecodingKey,
}

/// The usable keys of an issuer; never empty.
#[derive(Debug)]
pub(super) struct KeySet(Vec<Arc<Key>>);

/// What became of the search for a key.
#[derive(Debug)]
pub(super) enum Pick {
    Found(Arc<Key>),
    /// Not among these keys. The issuer may have a new one.
    Unknown,
    /// No new key can help.
    Refused(TokenRefused),
}

impl KeySet {
    /// Reads a JWKS document and leaves out keys for other purposes or of other kinds: issuers publish those too,
    /// and one of them must not make the rest unusable. `None` if nothing is left.
    pub(super) fn parse(json: &[u8]) -> Option<Self> {
        let document: Document = serde_json::from_slice(json).ok()?;
        let published = document.keys.into_iter().filter_map(|key| serde_json::from_value(key).ok());
        let keys: Vec<_> = published.filter_map(Key::from_published).map(Arc::new).collect();
        (!keys.is_empty()).then_some(KeySet(keys))
    }

    /// The key that a token header names. `algorithm` only tells keys apart: what is used is the key's own.
    pub(super) fn pick(&self, kid: Option<&str>, algorithm: Algorithm) -> Pick {
        if !is_accepted(algorithm) {
            return Pick::Refused(TokenRefused::Algorithm);
        }
        let of_that_name = || self.0.iter().filter(|key| kid.is_none() || key.kid.as_deref() == kid);
        let mut fitting = of_that_name().filter(|key| key.algorithm == algorithm);
        match (fitting.next(), fitting.next()) {
            (Some(key), None) => Pick::Found(Arc::clone(key)),
            // Two keys fit and the token does not say which: guessing would hide the issuer's fault.
            (Some(_), Some(_)) => Pick::Refused(TokenRefused::NoKeyNamed),
            (None, _) if kid.is_some() && of_that_name().next().is_some() => Pick::Refused(TokenRefused::Algorithm),
            (None, _) => Pick::Unknown,
        }
    }
}

/// Whether any key of ours could have this algorithm. No symmetric one: its key would have to be published.
pub(super) fn is_accepted(algorithm: Algorithm) -> bool {
    matches!(algorithm, Algorithm::RS256 | Algorithm::ES256 | Algorithm::EdDSA)
}

impl Key {
    fn from_published(published: Published) -> Option<Self> {
        let Published { kty, crv, alg, purpose, key_ops, kid, n, e, x, y } = published;
        let verifies = purpose.is_none_or(|purpose| purpose == "sig")
            && key_ops.is_none_or(|operations| operations.iter().any(|operation| operation == "verify"));
        let (name, algorithm, decoding) = match (kty.as_str(), crv.as_deref()) {
            ("RSA", None) => ("RS256", Algorithm::RS256, DecodingKey::from_rsa_components(&n?, &e?)),
            ("EC", Some("P-256")) => ("ES256", Algorithm::ES256, DecodingKey::from_ec_components(&x?, &y?)),
            ("OKP", Some("Ed25519")) => ("EdDSA", Algorithm::EdDSA, DecodingKey::from_ed_components(&x?)),
            _ => return None,
        };
        let fits = verifies && alg.is_none_or(|alg| alg == name);
        fits.then_some(Key { kid, algorithm, decoding: decoding.ok()? })
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Key").field("kid", &self.kid).field("algorithm", &self.algorithm).finish_non_exhaustive()
    }
}

#[derive(Deserialize)]
struct Document {
    keys: Vec<Value>,
}

/// A key as published (RFC 7517), as far as we use it.
#[derive(Deserialize)]
struct Published {
    kty: String,
    crv: Option<String>,
    alg: Option<String>,
    #[serde(rename = "use")]
    purpose: Option<String>,
    key_ops: Option<Vec<String>>,
    kid: Option<String>,
    n: Option<String>,
    e: Option<String>,
    x: Option<String>,
    y: Option<String>,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn set(keys: Value) -> Option<KeySet> {
        KeySet::parse(json!({ "keys": keys }).to_string().as_bytes())
    }

    /// Numbers that decode; no signature is checked here.
    fn rsa(kid: &str) -> Value {
        json!({"kty": "RSA", "kid": kid, "n": "AQAB", "e": "AQAB"})
    }

    fn changed(mut key: Value, name: &str, value: Value) -> Value {
        key[name] = value;
        key
    }

    #[test]
    fn only_keys_that_verify_what_we_accept_are_kept() {
        let ec = json!({"kty": "EC", "crv": "P-256", "kid": "1", "x": "AQAB", "y": "AQAB"});
        let ed = json!({"kty": "OKP", "crv": "Ed25519", "kid": "1", "x": "AQAB"});
        for (key, want) in [
            (rsa("1"), true),
            (ec.clone(), true),
            (ed.clone(), true),
            (changed(rsa("1"), "alg", json!("RS256")), true),
            (changed(rsa("1"), "use", json!("sig")), true),
            (changed(rsa("1"), "key_ops", json!(["verify"])), true),
            (changed(rsa("1"), "unknown", json!({"a": 1})), true),
            (changed(rsa("1"), "alg", json!("RS512")), false),
            (changed(rsa("1"), "alg", json!("HS256")), false),
            (changed(rsa("1"), "use", json!("enc")), false),
            (changed(rsa("1"), "key_ops", json!(["encrypt"])), false),
            (changed(rsa("1"), "n", json!("***")), false),
            (changed(rsa("1"), "n", json!(null)), false),
            (changed(ec, "crv", json!("P-384")), false),
            (changed(ed, "crv", json!("X25519")), false),
            (json!({"kty": "oct", "kid": "1", "k": "AQAB"}), false),
            (json!({"kid": "1"}), false),
            (json!("key"), false),
        ] {
            assert_eq!(set(json!([key])).is_some(), want, "{key}");
            // Beside a good key it does no harm.
            let both = set(json!([key, rsa("good")])).unwrap();
            assert!(matches!(both.pick(Some("good"), Algorithm::RS256), Pick::Found(_)), "{key}");
        }
        for document in ["", "[]", "{}", r#"{"keys":{}}"#, r#"{"keys":[]}"#, "<html>"] {
            assert!(KeySet::parse(document.as_bytes()).is_none(), "{document}");
        }
    }

    #[test]
    fn a_token_can_only_name_a_key() {
        let ec = json!({"kty": "EC", "crv": "P-256", "kid": "c", "x": "AQAB", "y": "AQAB"});
        let keys = set(json!([rsa("a"), rsa("b"), ec])).unwrap();
        for (kid, algorithm, want) in [
            (Some("a"), Algorithm::RS256, "Found"),
            (Some("c"), Algorithm::ES256, "Found"),
            (Some("d"), Algorithm::RS256, "Unknown"),
            // Another algorithm than the key's.
            (Some("a"), Algorithm::ES256, "Refused(Algorithm"),
            (Some("a"), Algorithm::HS256, "Refused(Algorithm"),
            (Some("a"), Algorithm::PS256, "Refused(Algorithm"),
            (Some("d"), Algorithm::HS256, "Refused(Algorithm"),
            (Some("d"), Algorithm::HS512, "Refused(Algorithm"),
            // Without a name: only if there is no choice.
            (None, Algorithm::ES256, "Found"),
            (None, Algorithm::RS256, "Refused(NoKeyNamed"),
            (None, Algorithm::EdDSA, "Unknown"),
        ] {
            let got = format!("{:?}", keys.pick(kid, algorithm));
            assert!(got.starts_with(want), "{kid:?} {algorithm:?}: {got}");
        }
    }
}
