//! Dispatches: nothing is followed but what was signed.

use tandem_auth::{DEFAULT_SKEW_MS, DEFAULT_TTL_MS, DispatchKeys, SignedDispatch};
use tandem_protocol::RunId;

const NOW: i64 = 1_800_000_000_000;

fn keys() -> DispatchKeys {
    DispatchKeys::parse(r#"{"k": "0123456789abcdef0123456789abcdef"}"#).unwrap()
}

fn signed() -> SignedDispatch {
    keys().sign(&RunId::new("run_01a2b3c4").unwrap(), 7, NOW)
}

/// Whatever verifies says exactly what was signed.
pub(crate) fn check(bytes: &[u8]) {
    let Ok(dispatch) = SignedDispatch::from_json(bytes) else { return };
    if let Ok(verified) = keys().verify(&dispatch, NOW, DEFAULT_TTL_MS, DEFAULT_SKEW_MS) {
        assert_eq!(dispatch, signed());
        assert_eq!((verified.run(), verified.version()), (&signed().run_id, 7));
    }
    assert!(!format!("{dispatch:?}").contains(&signed().signature));
}

pub(crate) fn samples() -> Vec<Vec<u8>> {
    let other = SignedDispatch { version: 8, ..signed() };
    [signed(), other].iter().map(|dispatch| serde_json::to_vec(dispatch).unwrap()).collect()
}
