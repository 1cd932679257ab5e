//! Sign-in against an issuer on a real socket, with tokens made by hand.

#![allow(clippy::unwrap_used)]

use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use tandem_auth::{AuthError, Oidc, OidcSettings, authenticator_from_env};
use tandem_testkit::issuer::{self, FakeIssuer, SigningKey, b64, pem};

const NOW: i64 = 1_800_000_000;

fn oidc(issuer: &FakeIssuer) -> Oidc {
    Oidc::new(OidcSettings {
        issuer: issuer.url.clone(),
        audiences: vec!["tandem".into()],
        tenant_claim: None,
        roles_claim: "roles".into(),
        public_url: None,
    })
    .unwrap()
}

fn claims(issuer: &FakeIssuer) -> Value {
    json!({
        "iss": issuer.url, "aud": "tandem", "exp": NOW + 300, "sub": "ada", "org_id": "acme", "roles": ["admin"],
    })
}

fn with(mut claims: Value, name: &str, value: Value) -> Value {
    claims[name] = value;
    claims
}

fn without(mut claims: Value, name: &str) -> Value {
    claims.as_object_mut().unwrap().remove(name);
    claims
}

async fn sign_in(oidc: &Oidc, token: &str, now: i64) -> Result<String, AuthError> {
    let principal = oidc.authenticate_at(Some(&format!("Bearer {token}")), now).await?;
    Ok(format!("{}/{} {}", principal.tenant, principal.user, principal.roles.join("+")))
}

/// Whether the token is let in at NOW (`None`), or a word of the text with which it is refused.
#[track_caller]
fn check(what: &str, got: Result<String, AuthError>, token: &str, want: Option<&str>) {
    match (got, want) {
        (Ok(principal), None) => assert_eq!(principal, "acme/ada admin", "{what}"),
        (Err(AuthError::Unauthenticated { detail }), Some(want)) => {
            assert!(detail.contains(want), "{what}: {detail}");
            let parts = token.split('.').filter(|part| part.len() > 8);
            assert!(parts.into_iter().all(|part| !detail.contains(part)), "{what}: the text shows the token");
        }
        (got, want) => panic!("{what}: {got:?} instead of {want:?}"),
    }
}

#[tokio::test]
async fn a_signed_token_is_let_in_whatever_the_kind_of_key() {
    let keys = [SigningKey::rsa("r"), SigningKey::ec("c"), SigningKey::ed("d")];
    let issuer = FakeIssuer::start(&keys).await;
    let oidc = oidc(&issuer);
    for key in &keys {
        let token = key.token(&claims(&issuer));
        check(key.algorithm, sign_in(&oidc, &token, NOW).await, &token, None);
    }
    assert_eq!(issuer.fetches(), 1);
}

/// As with Cognito, where the page has a client of its own and a program with a secret another, and no token has `aud`.
#[tokio::test]
async fn a_token_for_any_of_the_audiences_is_let_in() {
    let key = SigningKey::rsa("r");
    let issuer = FakeIssuer::start(std::slice::from_ref(&key)).await;
    let set = |name: &str| match name {
        "OIDC_ISSUER" => Some(issuer.url.clone()),
        "OIDC_AUDIENCE" => Some("page, program".to_owned()),
        _ => None,
    };
    let oidc = Oidc::new(OidcSettings::from_env(set).unwrap().unwrap()).unwrap();
    let cognito = with(without(claims(&issuer), "aud"), "token_use", json!("access"));
    for (client, want) in
        [("page", None), ("program", None), ("page, program", Some("another audience")), ("tandem", Some("another"))]
    {
        let token = key.token(&with(cognito.clone(), "client_id", json!(client)));
        check(client, sign_in(&oidc, &token, NOW).await, &token, want);
    }
}

#[tokio::test]
async fn a_forged_token_is_refused() {
    let key = SigningKey::rsa("r");
    let ec = SigningKey::ec("c");
    let issuer = FakeIssuer::start(&[key.clone(), ec.clone()]).await;
    let oidc = oidc(&issuer);
    let claims = claims(&issuer);
    let good = key.token(&claims);
    let (message, signature) = good.rsplit_once('.').unwrap();
    let payload = b64(claims.to_string());
    let header = |header: Value| b64(header.to_string());
    let hs256 = |secret: &[u8]| issuer::hs256(&json!({"alg": "HS256", "kid": "r"}), &claims, secret);
    let admin = b64(with(claims.clone(), "sub", json!("root")).to_string());

    let cases = [
        ("good", good.clone(), None),
        ("alg none", format!("{}.{payload}.", header(json!({"alg": "none", "kid": "r"}))), Some("not a signed token")),
        ("alg none, signed", format!("{}.{payload}.{signature}", header(json!({"alg": "none"}))), Some("not a signed")),
        ("HS256 with the PEM", hs256(pem(&key).as_bytes()), Some("not accepted")),
        ("HS256 with the modulus", hs256(key.modulus().as_bytes()), Some("not accepted")),
        ("HS256 with nothing", hs256(b""), Some("not accepted")),
        ("no alg", format!("{}.{payload}.{signature}", header(json!({"kid": "r"}))), Some("not a signed token")),
        ("RS512 in name", key.token_as(&json!({"alg": "RS512", "kid": "r"}), &claims), Some("not accepted")),
        ("another kind of key", ec.token_as(&json!({"alg": "ES256", "kid": "r"}), &claims), Some("not accepted")),
        ("RS256 over an EC key", key.token_as(&json!({"alg": "RS256", "kid": "c"}), &claims), Some("not accepted")),
        ("wrong key", SigningKey::rsa("r").token(&claims), Some("signature does not fit")),
        ("its own key along", key.token_with_own_key(&claims), Some("signature does not fit")),
        ("empty signature", format!("{message}."), Some("signature does not fit")),
        ("no signature", message.into(), Some("not a signed token")),
        ("cut signature", good[..good.len() - 4].into(), Some("signature does not fit")),
        ("padded signature", format!("{good}=="), Some("signature does not fit")),
        (
            "changed payload",
            format!("{}.{admin}.{signature}", message.split_once('.').unwrap().0),
            Some("does not fit"),
        ),
        ("dot behind", format!("{good}."), Some("not a signed token")),
        ("dot before", format!(".{good}"), Some("not a signed token")),
        ("dot within", good.replacen('.', "..", 1), Some("not a signed token")),
        ("four parts", format!("{good}.{signature}"), Some("not a signed token")),
        ("dots alone", "..".into(), Some("not a signed token")),
        ("dev principal", "dev.acme.ada".into(), Some("not a signed token")),
        ("noise", "x".repeat(100), Some("not a signed token")),
        ("enormous", key.token(&with(claims.clone(), "x", json!("x".repeat(20_000)))), Some("not a signed token")),
        ("payload not JSON", key.sign_parts(&json!({"alg": "RS256", "kid": "r"}), "{"), Some("does not fit")),
        ("payload a list", key.sign_parts(&json!({"alg": "RS256", "kid": "r"}), "[]"), Some("does not fit")),
        ("exp 1e400", key.sign_parts(&json!({"alg": "RS256", "kid": "r"}), r#"{"exp":1e400}"#), Some("does not fit")),
        (
            "unknown crit",
            key.token_as(&json!({"alg": "RS256", "kid": "r", "crit": ["x"]}), &claims),
            Some("does not fit"),
        ),
        (
            "log-out token",
            key.token_as(&json!({"alg": "RS256", "kid": "r", "typ": "logout+jwt"}), &claims),
            Some("purpose"),
        ),
        ("no kid, one RSA key", key.token_as(&json!({"alg": "RS256"}), &claims), None),
    ];
    for (what, token, want) in cases {
        check(what, sign_in(&oidc, &token, NOW).await, &token, want);
    }
    for header in [None, Some(""), Some("Bearer"), Some(good.as_str()), Some("Basic YTpi")] {
        let got = oidc.authenticate_at(header, NOW).await;
        assert!(matches!(got, Err(AuthError::Unauthenticated { .. })), "{header:?}");
    }
    assert_eq!(issuer.fetches(), 1);
}

#[tokio::test]
async fn a_signed_token_must_be_for_us_and_for_now() {
    let key = SigningKey::ec("c");
    let issuer = FakeIssuer::start(std::slice::from_ref(&key)).await;
    let oidc = oidc(&issuer);
    let good = claims(&issuer);
    let client = with(without(good.clone(), "aud"), "client_id", json!("tandem"));
    for (what, claims, want) in [
        ("good", good.clone(), None),
        ("wrong iss", with(good.clone(), "iss", json!("https://issuer.example")), Some("another issuer")),
        ("no iss", without(good.clone(), "iss"), Some("`iss`")),
        ("wrong aud", with(good.clone(), "aud", json!("other")), Some("another audience")),
        ("aud list", with(good.clone(), "aud", json!(["other", "tandem"])), None),
        ("aud list of others", with(good.clone(), "aud", json!(["other"])), Some("another audience")),
        ("no aud", without(good.clone(), "aud"), Some("`aud`")),
        ("client of an unknown kind of token", client.clone(), Some("`aud`")),
        ("client of an access token", with(client.clone(), "token_use", json!("access")), None),
        ("client of an id token", with(client, "token_use", json!("id")), Some("Send the access token")),
        ("id token", with(good.clone(), "token_use", json!("id")), Some("Send the access token")),
        ("exp 1 s ago", with(good.clone(), "exp", json!(NOW - 1)), None),
        ("exp 120 s ago", with(good.clone(), "exp", json!(NOW - 120)), Some("expired")),
        ("no exp", without(good.clone(), "exp"), Some("`exp`")),
        ("nbf in the future", with(good.clone(), "nbf", json!(NOW + 120)), Some("not valid yet")),
        ("nbf almost now", with(good.clone(), "nbf", json!(NOW + 30)), None),
        ("no sub", without(good.clone(), "sub"), Some("`sub`")),
    ] {
        let token = key.token(&claims);
        check(what, sign_in(&oidc, &token, NOW).await, &token, want);
    }
}

#[tokio::test]
async fn a_new_key_is_found_and_an_old_one_ends() {
    let (old, new) = (SigningKey::ec("old"), SigningKey::ed("new"));
    let issuer = FakeIssuer::start(std::slice::from_ref(&old)).await;
    let oidc = oidc(&issuer);
    let (old_token, new_token) = (old.token(&claims(&issuer)), new.token(&claims(&issuer)));
    let check = |what, got, want| check(what, got, "", want);

    check("before the rotation", sign_in(&oidc, &old_token, NOW).await, None);
    let nobodys = SigningKey::ec("x").token(&claims(&issuer));
    check("an unknown key", sign_in(&oidc, &nobodys, NOW + 1).await, Some("does not publish the key"));
    issuer.publish(&[old.clone(), new.clone()]);
    check("too soon", sign_in(&oidc, &new_token, NOW + 29).await, Some("does not publish the key"));
    assert_eq!(issuer.fetches(), 2);
    check("after the floor", sign_in(&oidc, &new_token, NOW + 30).await, None);
    check("the old one too", sign_in(&oidc, &old_token, NOW + 30).await, None);
    assert_eq!(issuer.fetches(), 3);
    issuer.publish(std::slice::from_ref(&new));
    check("an unknown key", sign_in(&oidc, &nobodys, NOW + 60).await, Some("key"));
    check("withdrawn", sign_in(&oidc, &old_token, NOW + 61).await, Some("does not publish the key"));
    assert_eq!(issuer.fetches(), 5);
}

/// The issuer publishes a key and signs with it at once, just after we have asked.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_notices_that_the_issuer_changes_its_key_under_load() {
    let mut keys = vec![SigningKey::ec("0")];
    let issuer = FakeIssuer::start(&keys).await;
    let oidc = Arc::new(oidc(&issuer));
    let clock = Arc::new(AtomicI64::new(NOW));
    let tokens = Arc::new(Mutex::new(vec![keys[0].token(&claims(&issuer))]));
    let over = Arc::new(AtomicBool::new(false));
    let callers: Vec<_> = (0..8)
        .map(|caller| {
            let (oidc, clock, tokens, over) = (oidc.clone(), clock.clone(), tokens.clone(), over.clone());
            tokio::spawn(async move {
                let mut calls = 0;
                while !over.load(Ordering::SeqCst) {
                    // The newest token, and one that was issued before and holds still.
                    let token = {
                        let tokens = tokens.lock().unwrap();
                        tokens[tokens.len().saturating_sub(1 + caller % 2)].clone()
                    };
                    sign_in(&oidc, &token, clock.load(Ordering::SeqCst)).await.unwrap();
                    calls += 1;
                    tokio::task::yield_now().await;
                }
                calls
            })
        })
        .collect();
    for rotation in 1..=6 {
        let new = SigningKey::ec(&rotation.to_string());
        let token = new.token(&claims(&issuer));
        keys.push(new);
        issuer.publish(&keys);
        tokens.lock().unwrap().push(token.clone());
        sign_in(&oidc, &token, clock.load(Ordering::SeqCst)).await.unwrap();
        clock.fetch_add(if rotation % 2 == 1 { 30 } else { 0 }, Ordering::SeqCst);
    }
    over.store(true, Ordering::SeqCst);
    for caller in callers {
        assert!(caller.await.unwrap() > 0);
    }
}

#[tokio::test]
async fn an_issuer_that_is_down_stops_nobody_it_has_let_in() {
    let key = SigningKey::ec("c");
    let issuer = FakeIssuer::start(std::slice::from_ref(&key)).await;
    let oidc = oidc(&issuer);
    let token = key.token(&with(claims(&issuer), "exp", json!(NOW + 1_000_000)));
    let unknown = SigningKey::ec("x").token(&claims(&issuer));
    let day = 24 * 60 * 60;

    assert!(sign_in(&oidc, &token, NOW).await.is_ok());
    for fault in ["status", "empty", "other issuer", "unsafe keys", "redirect", "endless"] {
        issuer.fail_with(fault);
        assert!(sign_in(&oidc, &token, NOW + day).await.is_ok(), "{fault}");
        let got = sign_in(&oidc, &token, NOW + day + 1).await;
        assert!(matches!(got, Err(AuthError::Unavailable { retry_after: 1.., .. })), "{fault}: {got:?}");
        let got = sign_in(&oidc, &unknown, NOW + 50).await;
        assert!(matches!(got, Err(AuthError::Unavailable { .. })), "{fault}: {got:?}");
    }
    issuer.fail_with("");
    assert!(sign_in(&oidc, &token, NOW + 2 * day).await.is_ok());
    issuer.stop().await;
    assert!(sign_in(&oidc, &token, NOW + 3 * day).await.is_ok());
    let got = sign_in(&oidc, &token, NOW + 3 * day + 1).await;
    assert!(matches!(got, Err(AuthError::Unavailable { .. })), "{got:?}");
}

#[tokio::test]
async fn an_issuer_that_was_down_at_the_start_is_asked_again() {
    let key = SigningKey::ec("c");
    let issuer = FakeIssuer::start(std::slice::from_ref(&key)).await;
    issuer.fail_with("status");
    let oidc = oidc(&issuer);
    let token = key.token(&claims(&issuer));
    let got = sign_in(&oidc, &token, NOW).await;
    assert!(matches!(got, Err(AuthError::Unavailable { retry_after: 2, .. })), "{got:?}");
    issuer.fail_with("");
    assert!(sign_in(&oidc, &token, NOW + 1).await.is_err());
    assert!(sign_in(&oidc, &token, NOW + 2).await.is_ok());
    assert_eq!(issuer.fetches(), 2);
}

#[tokio::test]
async fn many_callers_at_once_are_one_question_to_the_issuer() {
    let key = SigningKey::ec("c");
    let issuer = FakeIssuer::start(std::slice::from_ref(&key)).await;
    let oidc = Arc::new(oidc(&issuer));
    let token = key.token(&claims(&issuer));
    let callers: Vec<_> = (0..20)
        .map(|_| {
            let (oidc, token) = (oidc.clone(), token.clone());
            tokio::spawn(async move { sign_in(&oidc, &token, NOW).await })
        })
        .collect();
    for caller in callers {
        assert!(caller.await.unwrap().is_ok());
    }
    assert_eq!(issuer.fetches(), 1);
}

#[tokio::test]
async fn the_environment_configures_it_and_the_clock_is_the_real_one() {
    let key = SigningKey::ec("c");
    let issuer = FakeIssuer::start(std::slice::from_ref(&key)).await;
    let authenticator = authenticator_from_env(|name| match name {
        "OIDC_ISSUER" => Some(issuer.url.clone()),
        "OIDC_AUDIENCE" => Some("tandem".into()),
        "OIDC_TENANT_CLAIM" => Some("https://claims.example/tenant".into()),
        "OIDC_ROLES_CLAIM" => Some("cognito:groups".into()),
        _ => None,
    })
    .unwrap();
    let now = i64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()).unwrap();
    let claims = json!({
        "iss": issuer.url, "aud": "tandem", "sub": "auth0|1", "exp": now + 60,
        "https://claims.example/tenant": "acme", "cognito:groups": ["ops"],
    });
    let header = |claims: &Value| format!("Bearer {}", key.token(claims));
    let principal = authenticator.authenticate(Some(&header(&claims))).await.unwrap();
    assert_eq!(
        serde_json::to_value(principal).unwrap(),
        json!({"tenant": "acme", "user": "auth0~7C1", "roles": ["ops"]})
    );
    let expired = with(claims.clone(), "exp", json!(now - 120));
    assert!(authenticator.authenticate(Some(&header(&expired))).await.is_err());
    let no_tenant = without(claims, "https://claims.example/tenant");
    assert!(authenticator.authenticate(Some(&header(&no_tenant))).await.is_err());
}
