use super::*;

const NOW: i64 = 1_800_000_000_000;
const MINUTE: i64 = 60_000;
const SECOND: i64 = 1_000;

fn keys(json: &str) -> DispatchKeys {
    DispatchKeys::parse(json).unwrap()
}

fn two_keys() -> DispatchKeys {
    keys(r#"{"new":"0123456789abcdef-new","old":"0123456789abcdef-old"}"#)
}

fn run(id: &str) -> RunId {
    RunId::new(id).unwrap()
}

fn verify(keys: &DispatchKeys, dispatch: &SignedDispatch) -> Result<VerifiedDispatch, DispatchRefused> {
    keys.verify(dispatch, NOW, DEFAULT_TTL_MS, DEFAULT_SKEW_MS)
}

#[test]
fn a_dispatch_of_ours_is_followed() {
    let dispatch = two_keys().sign(&run("run_1"), 7, NOW);
    assert_eq!(verify(&two_keys(), &dispatch), Ok(VerifiedDispatch { run: run("run_1"), version: 7 }));
}

#[test]
fn the_signed_bytes_stay_the_same_from_release_to_release() {
    let dispatch = DispatchKeys::development().sign(&run("run_1"), 7, NOW);
    assert_eq!(
        serde_json::to_value(&dispatch).unwrap(),
        serde_json::json!({
            "runId": "run_1",
            "version": 7,
            "issuedAt": NOW,
            "kid": "development",
            "signature": "363c289fb68d96af2c1868cbe85da1ca6bfde985ad1f825f6135bbce99ab475c",
        })
    );
}

#[test]
fn a_signature_is_good_for_nothing_else() {
    let keys = two_keys();
    let good = keys.sign(&run("run_1"), 7, NOW);
    for (what, changed) in [
        ("run", SignedDispatch { run_id: run("run_2"), ..good.clone() }),
        ("version", SignedDispatch { version: 8, ..good.clone() }),
        ("time", SignedDispatch { issued_at: NOW + 1, ..good.clone() }),
        ("kid", SignedDispatch { kid: "old".into(), ..good.clone() }),
        ("moved border", SignedDispatch { run_id: run("run_17"), version: 0, ..good.clone() }),
    ] {
        assert_eq!(verify(&keys, &changed), Err(DispatchRefused::Signature), "{what}");
    }
    let unknown = SignedDispatch { kid: "other".into(), ..good };
    assert_eq!(verify(&keys, &unknown), Err(DispatchRefused::UnknownKey));
}

#[test]
fn two_names_for_one_key_are_two_keys() {
    let keys = keys(r#"{"a":"the same key twice","b":"the same key twice"}"#);
    let dispatch = SignedDispatch { kid: "b".into(), ..keys.sign(&run("run_1"), 1, NOW) };
    assert_eq!(verify(&keys, &dispatch), Err(DispatchRefused::Signature));
}

#[test]
fn past_and_future_have_their_own_limits() {
    for (stamp, want) in [
        (NOW, Ok(())),
        (NOW - 5 * MINUTE + SECOND, Ok(())),
        (NOW - 5 * MINUTE, Ok(())),
        (NOW - 5 * MINUTE - SECOND, Err(DispatchRefused::TooOld)),
        (NOW + 59 * SECOND, Ok(())),
        (NOW + MINUTE, Ok(())),
        (NOW + 61 * SECOND, Err(DispatchRefused::InTheFuture)),
        (NOW + 10 * 365 * 24 * 60 * MINUTE, Err(DispatchRefused::InTheFuture)),
        (0, Err(DispatchRefused::TooOld)),
        (-1, Err(DispatchRefused::TooOld)),
        (i64::MIN, Err(DispatchRefused::TooOld)),
        (i64::MAX, Err(DispatchRefused::InTheFuture)),
    ] {
        let dispatch = two_keys().sign(&run("run_1"), 1, stamp);
        let got = two_keys().verify(&dispatch, NOW, 300_000, 60_000).map(|_| ());
        assert_eq!(got, want, "{stamp}");
    }
    let skew = i64::try_from(DEFAULT_SKEW_MS).unwrap();
    assert!(verify(&two_keys(), &two_keys().sign(&run("run_1"), 1, NOW + skew)).is_ok());
    assert!(verify(&two_keys(), &two_keys().sign(&run("run_1"), 1, NOW + skew + 1)).is_err());
    // Limits without end are limits too, not an overflow.
    for stamp in [i64::MIN, i64::MAX] {
        let dispatch = two_keys().sign(&run("run_1"), 1, stamp);
        assert!(two_keys().verify(&dispatch, NOW, u64::MAX, u64::MAX).is_ok());
        assert!(two_keys().verify(&dispatch, -NOW, 0, 0).is_err());
    }
}

#[test]
fn a_strange_signature_is_refused_and_nothing_else_happens() {
    let keys = two_keys();
    let good = keys.sign(&run("run_1"), 7, NOW);
    let refused = |signature: String| {
        let dispatch = SignedDispatch { signature, ..good.clone() };
        assert_eq!(verify(&keys, &dispatch), Err(DispatchRefused::Signature), "{:?}", dispatch.signature);
    };
    let text = &good.signature;
    for strange in [
        String::new(),
        text[..62].into(),
        text[..63].into(),
        format!("{text}0"),
        format!("{text}00"),
        format!("{text}{text}"),
        text.to_uppercase(),
        format!("{} ", &text[..63]),
        format!("0x{}", &text[2..]),
        "g".repeat(64),
        "é".repeat(32),
        "0".repeat(64),
        "\0".repeat(64),
    ] {
        refused(strange);
    }
    let mut random = Random(1);
    for round in 0..1000 {
        let mut bytes = text.clone().into_bytes();
        match round % 4 {
            // One digit changed, noise of any length, noise in digits, a piece cut out.
            0 => {
                let at = random.below(64);
                bytes[at] = if bytes[at] == b'0' { b'1' } else { b'0' };
            }
            1 => bytes = (0..random.below(200)).map(|_| random.byte()).collect(),
            2 => bytes = (0..64).map(|_| b"0123456789abcdef"[random.below(16)]).collect(),
            _ => {
                bytes.remove(random.below(64));
            }
        }
        refused(String::from_utf8_lossy(&bytes).into_owned());
    }
}

#[test]
fn json_printed_again_on_its_way_still_verifies() {
    let good = two_keys().sign(&run("run_1"), 7, NOW);
    let json = format!(
        " {{ \"signature\":\"{}\",\"kid\" : \"\\u006eew\",\n\"issuedAt\":{NOW},\"runId\":\"run\\u005f1\",\"version\":7}} ",
        good.signature
    );
    assert_eq!(SignedDispatch::from_json(json.as_bytes()).as_ref(), Ok(&good));
    for (from, to) in [
        ("\"version\":7", "\"version\":-7"),
        ("\"version\":7", "\"version\":7.5"),
        ("\"version\":7", "\"version\":NaN"),
        ("\"version\":7", "\"version\":1e400"),
        ("\"version\":7", "\"version\":\"7\""),
        ("\"version\":7", "\"version\":18446744073709551616"),
        ("\"kid\"", "\"kit\""),
        ("run\\u005f1", "run#1"),
        ("run\\u005f1", ""),
        ("}", ""),
    ] {
        let broken = json.replacen(from, to, 1);
        assert_ne!(broken, json);
        assert_eq!(SignedDispatch::from_json(broken.as_bytes()), Err(DispatchRefused::Malformed), "{broken}");
    }
}

#[test]
fn the_first_key_signs_and_any_verifies() {
    // The names sort the other way round.
    let both = keys(r#"{"z":"0123456789abcdef-new","a":"0123456789abcdef-old"}"#);
    let old = keys(r#"{"a":"0123456789abcdef-old"}"#);
    assert_eq!(both.sign(&run("run_1"), 1, NOW).kid, "z");
    assert!(verify(&both, &old.sign(&run("run_1"), 1, NOW)).is_ok());
    assert_eq!(verify(&old, &both.sign(&run("run_1"), 1, NOW)), Err(DispatchRefused::UnknownKey));
    let other = keys(r#"{"a":"0123456789abcdef-other"}"#);
    assert_eq!(verify(&other, &old.sign(&run("run_1"), 1, NOW)), Err(DispatchRefused::Signature));
}

/// `scripts/rotate-dispatch-keys.py` goes through these lists, each time until all processes have the next one.
#[test]
fn at_no_step_of_a_rotation_is_a_dispatch_refused() {
    let (old, new) = (r#""old":"old-key-0123456789""#, r#""new":"new-key-0123456789""#);
    let steps = [old.to_owned(), format!("{old},{new}"), format!("{new},{old}"), new.to_owned()];
    let steps: Vec<DispatchKeys> = steps.iter().map(|list| keys(&format!("{{{list}}}"))).collect();
    for (n, signer) in steps.iter().enumerate() {
        let dispatch = signer.sign(&run("run_1"), 3, NOW);
        for (m, verifier) in steps.iter().enumerate() {
            let neighbours = n.abs_diff(m) <= 1;
            let got = verify(verifier, &dispatch);
            assert!(got.is_ok() || !neighbours, "step {n} to step {m}: {got:?}");
        }
    }
    // Why no step may be left out.
    assert_eq!(verify(&steps[0], &steps[2].sign(&run("run_1"), 3, NOW)), Err(DispatchRefused::UnknownKey));
}

#[test]
fn bad_keys_are_refused_without_showing_them() {
    for (json, want) in [
        ("", "not a JSON object"),
        ("hidden-key-hidden-key", "not a JSON object"),
        ("\"hidden-key-hidden-key\"", "not a JSON object"),
        ("[\"hidden-key-hidden-key\"]", "not a JSON object"),
        ("{\"a\":{\"hidden-key\":1}}", "not a JSON object"),
        ("{\"a\":\"hidden-key-hidden-key\"} x", "not a JSON object"),
        ("{}", "no key"),
        ("{\"a\":\"hidden-key-15b\"}", "less than 16 bytes in key 1"),
        ("{\"a\":\"hidden-key-hidden-key\",\"b\":\"\"}", "less than 16 bytes in key 2"),
        ("{\"\":\"hidden-key-hidden-key\"}", "key 1"),
        ("{\"a b\":\"hidden-key-hidden-key\"}", "key 1"),
        ("{\"a\":\"hidden-key-hidden-key\",\"a\":\"hidden-key-hidden-kez\"}", "the name of key 2 twice"),
        ("{\"hidden-key-hidden-key\":\"a\"}", "less than 16 bytes in key 1"),
        ("{\"a\":\"tandem development key: for loopback only\"}", "published development key"),
    ] {
        let error = DispatchKeys::parse(json).unwrap_err().to_string();
        assert!(error.starts_with("DISPATCH_KEYS") && error.contains(want), "{json}: {error}");
        assert!(error.contains("openssl rand") && !error.contains("hidden"), "{json}: {error}");
    }
    assert!(DispatchKeys::parse(r#"{"a":"0123456789abcdef"}"#).is_ok());
}

#[test]
fn without_keys_nothing_starts_but_on_loopback() {
    let unset = |_: &str| None;
    let blank = |_: &str| Some(" ".to_owned());
    let given = |name: &str| (name == "DISPATCH_KEYS").then(|| r#"{"k":"0123456789abcdef"}"#.to_owned());
    assert_eq!(dispatch_keys(unset, false).unwrap_err().variable, "DISPATCH_KEYS");
    assert_eq!(dispatch_keys(blank, false).unwrap_err().variable, "DISPATCH_KEYS");
    assert_eq!(dispatch_keys(unset, true).unwrap().sign(&run("run_1"), 1, NOW).kid, "development");
    for on_loopback in [true, false] {
        assert_eq!(dispatch_keys(given, on_loopback).unwrap().sign(&run("run_1"), 1, NOW).kid, "k");
    }
}

#[test]
fn nothing_secret_is_printed() {
    let keys = two_keys();
    let dispatch = keys.sign(&run("run_1"), 7, NOW);
    assert_eq!(format!("{keys:?}"), r#"DispatchKeys["new", "old"]"#);
    assert!(!format!("{dispatch:?}").contains(&dispatch.signature));
}

/// Repeatable noise (xorshift).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, end: u64) -> usize {
        usize::try_from(self.next() % end).unwrap()
    }

    fn byte(&mut self) -> u8 {
        self.next().to_be_bytes()[0]
    }
}

#[test]
fn a_derived_key_is_of_one_purpose_and_one_key() {
    let (one, other) = (two_keys().derive("one"), two_keys().derive("other"));
    let names = |keys: &[(String, [u8; 32])]| keys.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
    assert_eq!((names(&one), names(&other)), (vec!["new".to_owned(), "old".to_owned()], names(&one)));
    assert_eq!(one, two_keys().derive("one"));
    let all: std::collections::BTreeSet<_> = one.iter().chain(&other).map(|(_, key)| *key).collect();
    assert_eq!(all.len(), 4);
}

#[test]
fn a_dispatch_of_the_past_must_be_ours_and_may_have_any_age() {
    let keys = two_keys();
    for stamp in [i64::MIN, 0, NOW, i64::MAX] {
        let old = keys.sign(&run("run_1"), 7, stamp);
        assert_eq!(keys.verify_past(&old), Ok(PastDispatch { run: run("run_1"), version: 7 }));
        let changed = SignedDispatch { version: 8, ..old.clone() };
        assert_eq!(keys.verify_past(&changed), Err(DispatchRefused::Signature));
        let unknown = SignedDispatch { kid: "other".into(), ..old };
        assert_eq!(keys.verify_past(&unknown), Err(DispatchRefused::UnknownKey));
    }
}
