//! Dispatches: the order of one process to another to drive a run, signed (runs.md, Dispatch signature).
//!
//! The signature covers a list of fields and never bytes of JSON, so a body that was parsed and printed again on
//! its way still verifies. It says that the order is ours and fresh; a second use is made harmless by the run's
//! version, which has moved by then.

mod keys;
#[cfg(test)]
mod tests;

use std::fmt;

use serde::{Deserialize, Serialize};
use tandem_protocol::{Code, Problem, RunId};

pub use keys::{DispatchKeys, dispatch_keys};

/// How old a dispatch may be, in milliseconds, unless DISPATCH_TTL_MS says otherwise.
pub const DEFAULT_TTL_MS: u64 = 300_000;
/// How far ahead of ours the signer's clock may be, in milliseconds.
pub const DEFAULT_SKEW_MS: u64 = 300_000;

/// An order to drive `run_id`, as it travels. Nothing in it may be believed before [`DispatchKeys::verify`].
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SignedDispatch {
    pub run_id: RunId,
    /// The run's version when this was signed; the claim is conditional on it.
    pub version: u64,
    /// Milliseconds since 1970 on the signer's clock.
    pub issued_at: i64,
    /// Name of the key.
    pub kid: String,
    /// HMAC-SHA256 as 64 lower-case hexadecimal digits.
    pub signature: String,
}

impl SignedDispatch {
    /// Reads the JSON form. Anything unreadable (`NaN`, `1e400`, a wrong type) is a refusal like the others.
    pub fn from_json(json: &[u8]) -> Result<Self, DispatchRefused> {
        serde_json::from_slice(json).map_err(|_| DispatchRefused::Malformed)
    }
}

impl fmt::Debug for SignedDispatch {
    /// Without the signature: whoever reads the log must not be able to send it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SignedDispatch")
            .field("run_id", &self.run_id)
            .field("version", &self.version)
            .field("issued_at", &self.issued_at)
            .field("kid", &self.kid)
            .finish_non_exhaustive()
    }
}

/// A dispatch that is ours and fresh. Only [`DispatchKeys::verify`] makes one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifiedDispatch {
    run: RunId,
    version: u64,
}

impl VerifiedDispatch {
    /// The run to drive.
    pub fn run(&self) -> &RunId {
        &self.run
    }

    /// The version that the claim must find.
    pub fn version(&self) -> u64 {
        self.version
    }
}

/// A dispatch that is ours, of any age. It says which run was to be driven once, and no more: nobody claims a run with
/// it. Only [`DispatchKeys::verify_past`] makes one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PastDispatch {
    run: RunId,
    version: u64,
}

impl PastDispatch {
    /// The run that was to be driven.
    pub fn run(&self) -> &RunId {
        &self.run
    }

    /// The run's version at that time.
    pub fn version(&self) -> u64 {
        self.version
    }
}

/// Why a dispatch is not followed. Asking again with the same dispatch cannot help; the sender signs a new one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum DispatchRefused {
    #[error("the dispatch cannot be read")]
    Malformed,
    #[error("the dispatch names a key that is not in DISPATCH_KEYS here; both sides need a common key")]
    UnknownKey,
    #[error("the signature does not fit the dispatch")]
    Signature,
    #[error("the dispatch is too old")]
    TooOld,
    #[error("the dispatch was signed in the future; check the clocks")]
    InTheFuture,
}

impl From<DispatchRefused> for Problem {
    fn from(refused: DispatchRefused) -> Self {
        Problem::new(Code::Unauthenticated, format!("{refused}."))
    }
}

/// Past and future are judged each by its own limit: the absolute difference would let a stamp from the future
/// be used for twice as long.
fn check_age(issued_at: i64, now_ms: i64, ttl_ms: u64, skew_ms: u64) -> Result<(), DispatchRefused> {
    // In i128 no difference of two stamps overflows.
    let age = i128::from(now_ms) - i128::from(issued_at);
    if age > i128::from(ttl_ms) {
        Err(DispatchRefused::TooOld)
    } else if -age > i128::from(skew_ms) {
        Err(DispatchRefused::InTheFuture)
    } else {
        Ok(())
    }
}
