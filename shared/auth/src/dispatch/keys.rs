//! The keys that sign and verify dispatches.

use std::fmt;

use hmac::{Hmac, KeyInit, Mac};
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use sha2::Sha256;
use tandem_protocol::RunId;

use super::{DispatchRefused, PastDispatch, SignedDispatch, VerifiedDispatch, check_age};
use crate::config::{ConfigError, set};

/// Says what is signed. A new list of fields needs a new tag; no other MAC of ours may use this one.
const TAG: &[u8] = b"tandem.dispatch.v1";
/// Says that a key is made.
const DERIVE_TAG: &[u8] = b"tandem.derive.v1";
const VARIABLE: &str = "DISPATCH_KEYS";
const MIN_KEY_BYTES: usize = 16;
const SIGNATURE_BYTES: usize = 32;

/// Published with the source, so it protects nothing; see [`DispatchKeys::development`].
const DEVELOPMENT_KEY: &str = "tandem development key: for loopback only";

/// Keys by name: the first signs, any verifies, so that a key is exchanged without a pause (add the new one at the
/// end everywhere, then move it to the front, then drop the old one).
#[derive(Clone)]
pub struct DispatchKeys {
    signing: Key,
    others: Vec<Key>,
    /// It is the development key.
    published: bool,
}

#[derive(Clone)]
struct Key {
    kid: String,
    mac: Hmac<Sha256>,
}

impl DispatchKeys {
    /// Reads `{"kid": "key", ...}`, in the order of the text. Keys have 16 bytes or more.
    pub fn parse(json: &str) -> Result<Self, ConfigError> {
        // The parser's own message would repeat parts of the keys.
        let Entries(entries) = serde_json::from_str(json)
            .map_err(|error| bad(format!("is not a JSON object of texts (column {})", error.column())))?;
        let mut keys: Vec<Key> = Vec::with_capacity(entries.len());
        // Faults are told by position: in a list written the wrong way round, the name is the secret.
        for (position, (kid, key)) in (1..).zip(entries) {
            if kid.is_empty() || kid.len() > 64 || !kid.bytes().all(|byte| byte.is_ascii_graphic()) {
                return Err(bad(format!("has a name of key {position} that is not 1 to 64 visible characters")));
            }
            if keys.iter().any(|known| known.kid == kid) {
                return Err(bad(format!("has the name of key {position} twice")));
            }
            if key.len() < MIN_KEY_BYTES {
                return Err(bad(format!("has less than {MIN_KEY_BYTES} bytes in key {position}")));
            }
            if key == DEVELOPMENT_KEY {
                return Err(bad(format!("has the published development key as key {position}")));
            }
            keys.push(Key::new(kid, &key));
        }
        let mut keys = keys.into_iter();
        let signing = keys.next().ok_or_else(|| bad("holds no key"))?;
        Ok(DispatchKeys { signing, others: keys.collect(), published: false })
    }

    /// A fixed key that everybody knows, so that a developer's processes find each other without configuration.
    /// For loopback only: [`dispatch_keys`] gives it to nobody else, and [`Self::parse`] refuses it.
    pub fn development() -> Self {
        DispatchKeys { signing: Key::new("development".into(), DEVELOPMENT_KEY), others: Vec::new(), published: true }
    }

    /// Whether everybody knows the key.
    pub(crate) fn is_development(&self) -> bool {
        self.published
    }

    /// Signs the order to drive `run`, whose version is `version`, with the first key.
    pub fn sign(&self, run: &RunId, version: u64, now_ms: i64) -> SignedDispatch {
        let key = &self.signing;
        SignedDispatch {
            run_id: run.clone(),
            version,
            issued_at: now_ms,
            kid: key.kid.clone(),
            signature: hex::encode(key.mac_over(run, version, now_ms).finalize().into_bytes()),
        }
    }

    /// Checks signature and age. `ttl_ms` bounds the past, `skew_ms` the future.
    pub fn verify(
        &self,
        dispatch: &SignedDispatch,
        now_ms: i64,
        ttl_ms: u64,
        skew_ms: u64,
    ) -> Result<VerifiedDispatch, DispatchRefused> {
        self.check_signature(dispatch)?;
        check_age(dispatch.issued_at, now_ms, ttl_ms, skew_ms)?;
        Ok(VerifiedDispatch { run: dispatch.run_id.clone(), version: dispatch.version })
    }

    /// Checks the signature and not the age, for a dispatch that could not be delivered.
    pub fn verify_past(&self, dispatch: &SignedDispatch) -> Result<PastDispatch, DispatchRefused> {
        self.check_signature(dispatch)?;
        Ok(PastDispatch { run: dispatch.run_id.clone(), version: dispatch.version })
    }

    fn check_signature(&self, dispatch: &SignedDispatch) -> Result<(), DispatchRefused> {
        let SignedDispatch { run_id, version, issued_at, kid, signature } = dispatch;
        let key = self.all().find(|key| key.kid == *kid).ok_or(DispatchRefused::UnknownKey)?;
        let signature = decode(signature).ok_or(DispatchRefused::Signature)?;
        // Compares in constant time.
        key.mac_over(run_id, *version, *issued_at).verify_slice(&signature).map_err(|_| DispatchRefused::Signature)
    }

    /// Keys for another purpose, made from these: one for each, by its name, the one to use first. Nobody can tell a
    /// key of one purpose from those of others.
    pub fn derive(&self, purpose: &str) -> Vec<(String, [u8; SIGNATURE_BYTES])> {
        self.all().map(|key| (key.kid.clone(), key.derive(purpose))).collect()
    }

    fn all(&self) -> impl Iterator<Item = &Key> {
        std::iter::once(&self.signing).chain(&self.others)
    }
}

impl fmt::Debug for DispatchKeys {
    /// Names only.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DispatchKeys")?;
        f.debug_list().entries(self.all().map(|key| &key.kid)).finish()
    }
}

/// The keys of this process, from DISPATCH_KEYS. Without it the development key is used if `everything_on_loopback`
/// (every address that this process listens on, calls or stores at); else start-up must not go on.
pub fn dispatch_keys(
    lookup: impl Fn(&str) -> Option<String>,
    everything_on_loopback: bool,
) -> Result<DispatchKeys, ConfigError> {
    match set(&lookup, VARIABLE) {
        Some(json) => DispatchKeys::parse(&json),
        None if everything_on_loopback => Ok(DispatchKeys::development()),
        None => Err(bad("is not set, and not every address in use is loopback")),
    }
}

impl Key {
    fn new(kid: String, key: &str) -> Self {
        let mac = Hmac::new_from_slice(key.as_bytes()).expect("HMAC takes a key of any length");
        Key { kid, mac }
    }

    fn derive(&self, purpose: &str) -> [u8; SIGNATURE_BYTES] {
        // Another first field than a dispatch has, so that neither can stand for the other.
        let mut mac = self.mac.clone();
        for field in [DERIVE_TAG, purpose.as_bytes()] {
            mac.update(&(field.len() as u64).to_be_bytes());
            mac.update(field);
        }
        mac.finalize().into_bytes().into()
    }

    /// Each field is preceded by its length: no two lists of fields give the same bytes.
    fn mac_over(&self, run: &RunId, version: u64, issued_at: i64) -> Hmac<Sha256> {
        let fields =
            [TAG, run.as_str().as_bytes(), &version.to_be_bytes(), &issued_at.to_be_bytes(), self.kid.as_bytes()];
        let mut mac = self.mac.clone();
        for field in fields {
            mac.update(&(field.len() as u64).to_be_bytes());
            mac.update(field);
        }
        mac
    }
}

/// 64 lower-case digits and nothing else: one signature has one spelling.
fn decode(signature: &str) -> Option<[u8; SIGNATURE_BYTES]> {
    if signature.bytes().any(|byte| byte.is_ascii_uppercase()) {
        return None;
    }
    let mut bytes = [0; SIGNATURE_BYTES];
    hex::decode_to_slice(signature, &mut bytes).ok()?;
    Some(bytes)
}

fn bad(problem: impl Into<String>) -> ConfigError {
    let way_out = "Set it to the same JSON in foreground and background, such as {\"k1\": \"<key>\"} with a key from \
                   `openssl rand -hex 32`";
    ConfigError::new(VARIABLE, problem, way_out)
}

/// The object's entries as they are written: a map would drop all but one of two keys with one name.
struct Entries(Vec<(String, String)>);

impl<'de> Deserialize<'de> for Entries {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct AsWritten;

        impl<'de> Visitor<'de> for AsWritten {
            type Value = Entries;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of texts")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Entries, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Entries(entries))
            }
        }

        deserializer.deserialize_map(AsWritten)
    }
}
