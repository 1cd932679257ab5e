//! An issuer on a socket, its keys, and tokens made by hand, so that they can be wrong in any way.
//!
//! Whatever goes wrong here panics: that is how a test fails.
#![allow(clippy::unwrap_used)]

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use aws_lc_rs::encoding::{AsDer, PublicKeyX509Der};
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair, RSA_PKCS1_SHA256, RsaKeyPair,
};
use aws_lc_rs::{hmac, rsa::KeySize};
use axum::Router;
use axum::extract::State;
use axum::http::header::CONNECTION;
use axum::http::{HeaderValue, StatusCode};
use axum::middleware::map_response;
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::get;
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use serde_json::{Value, json};
use tokio::task::JoinHandle;

/// Serves a discovery document and a key set on a port of its own.
pub struct FakeIssuer {
    pub url: String,
    shared: Arc<Shared>,
    server: JoinHandle<()>,
}

struct Shared {
    url: String,
    keys: Mutex<Vec<SigningKey>>,
    fault: Mutex<&'static str>,
    fetches: AtomicUsize,
}

impl FakeIssuer {
    /// Listens, and publishes the public halves of `keys`.
    pub async fn start(keys: &[SigningKey]) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let shared = Arc::new(Shared {
            url: url.clone(),
            keys: Mutex::new(keys.to_vec()),
            fault: Mutex::default(),
            fetches: AtomicUsize::default(),
        });
        let app = Router::new()
            .route("/.well-known/openid-configuration", get(discovery))
            .route("/keys", get(key_set))
            .route("/elsewhere", get(published))
            .layer(map_response(close))
            .with_state(shared.clone());
        let server = tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
        FakeIssuer { url, shared, server }
    }

    /// From now on nobody listens.
    pub async fn stop(self) {
        self.server.abort();
        let _ = self.server.await;
    }

    /// From now on these keys.
    pub fn publish(&self, keys: &[SigningKey]) {
        *self.shared.keys.lock().unwrap() = keys.to_vec();
    }

    /// From now on this fault; an empty text ends it.
    pub fn fail_with(&self, fault: &'static str) {
        *self.shared.fault.lock().unwrap() = fault;
    }

    /// How often the discovery document was asked for.
    pub fn fetches(&self) -> usize {
        self.shared.fetches.load(Ordering::SeqCst)
    }
}

/// No connection outlives its answer, so that a stopped issuer is gone at once.
async fn close(mut response: Response) -> Response {
    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    response
}

async fn discovery(State(issuer): State<Arc<Shared>>) -> Response {
    issuer.fetches.fetch_add(1, Ordering::SeqCst);
    let fault = *issuer.fault.lock().unwrap();
    let (name, keys) = match fault {
        "status" => return StatusCode::BAD_GATEWAY.into_response(),
        "other issuer" => ("https://issuer.example".into(), format!("{}/keys", issuer.url)),
        "unsafe keys" => (issuer.url.clone(), issuer.url.replace("127.0.0.1", "0.0.0.0") + "/keys"),
        _ => (issuer.url.clone(), format!("{}/keys", issuer.url)),
    };
    axum::Json(json!({"issuer": name, "jwks_uri": keys, "id_token_signing_alg_values_supported": ["none", "HS256"]}))
        .into_response()
}

/// Each fault would still give the keys to a client that does not mind it.
async fn key_set(State(issuer): State<Arc<Shared>>) -> Response {
    let fault = *issuer.fault.lock().unwrap();
    match fault {
        "empty" => axum::Json(json!({"keys": []})).into_response(),
        "redirect" => Redirect::temporary("/elsewhere").into_response(),
        "endless" => (" ".repeat(2 * 1024 * 1024) + &issuer.key_set().to_string()).into_response(),
        _ => axum::Json(issuer.key_set()).into_response(),
    }
}

async fn published(State(issuer): State<Arc<Shared>>) -> Response {
    axum::Json(issuer.key_set()).into_response()
}

impl Shared {
    fn key_set(&self) -> Value {
        let keys: Vec<Value> = self.keys.lock().unwrap().iter().map(SigningKey::published).collect();
        json!({ "keys": keys })
    }
}

/// A private key with its name.
#[derive(Clone)]
pub struct SigningKey {
    kid: String,
    pub algorithm: &'static str,
    pair: Arc<Pair>,
}

enum Pair {
    Rsa(RsaKeyPair),
    Ec(EcdsaKeyPair),
    Ed(Ed25519KeyPair),
}

impl SigningKey {
    /// A new key for RS256.
    pub fn rsa(kid: &str) -> Self {
        Self::new(kid, "RS256", Pair::Rsa(RsaKeyPair::generate(KeySize::Rsa2048).unwrap()))
    }

    /// A new key for ES256.
    pub fn ec(kid: &str) -> Self {
        Self::new(kid, "ES256", Pair::Ec(EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING).unwrap()))
    }

    /// A new key for EdDSA.
    pub fn ed(kid: &str) -> Self {
        Self::new(kid, "EdDSA", Pair::Ed(Ed25519KeyPair::generate().unwrap()))
    }

    fn new(kid: &str, algorithm: &'static str, pair: Pair) -> Self {
        SigningKey { kid: kid.into(), algorithm, pair: Arc::new(pair) }
    }

    /// A token as the issuer would make it.
    pub fn token(&self, claims: &Value) -> String {
        self.token_as(&json!({"alg": self.algorithm, "kid": self.kid, "typ": "JWT"}), claims)
    }

    /// A token with any header.
    pub fn token_as(&self, header: &Value, claims: &Value) -> String {
        self.sign_parts(header, &claims.to_string())
    }

    /// A token of a key of nobody's that brings its own public key along.
    pub fn token_with_own_key(&self, claims: &Value) -> String {
        let own = SigningKey::rsa(&self.kid);
        own.token_as(&json!({"alg": "RS256", "kid": self.kid, "jwk": own.published()}), claims)
    }

    /// A signed token whose payload need not be JSON.
    pub fn sign_parts(&self, header: &Value, payload: &str) -> String {
        let message = format!("{}.{}", b64(header.to_string()), b64(payload));
        let random = SystemRandom::new();
        let signature = match &*self.pair {
            Pair::Rsa(pair) => {
                let mut signature = vec![0; pair.public_modulus_len()];
                pair.sign(&RSA_PKCS1_SHA256, &random, message.as_bytes(), &mut signature).unwrap();
                signature
            }
            Pair::Ec(pair) => pair.sign(&random, message.as_bytes()).unwrap().as_ref().to_vec(),
            Pair::Ed(pair) => pair.sign(message.as_bytes()).as_ref().to_vec(),
        };
        format!("{message}.{}", b64(signature))
    }

    /// The public modulus of an RSA key, as published.
    pub fn modulus(&self) -> String {
        self.published()["n"].as_str().unwrap().to_owned()
    }

    fn published(&self) -> Value {
        let mut key = match &*self.pair {
            Pair::Rsa(pair) => {
                let public = pair.public_key();
                let (n, e) = (public.modulus().big_endian_without_leading_zero(), public.exponent());
                json!({"kty": "RSA", "n": b64(n), "e": b64(e.big_endian_without_leading_zero())})
            }
            Pair::Ec(pair) => {
                let (x, y) = pair.public_key().as_ref()[1..].split_at(32);
                json!({"kty": "EC", "crv": "P-256", "x": b64(x), "y": b64(y)})
            }
            Pair::Ed(pair) => json!({"kty": "OKP", "crv": "Ed25519", "x": b64(pair.public_key())}),
        };
        key["kid"] = json!(self.kid);
        key["alg"] = json!(self.algorithm);
        key["use"] = json!("sig");
        key
    }
}

/// A token "signed" with a secret that everybody knows.
pub fn hs256(header: &Value, claims: &Value, secret: &[u8]) -> String {
    let message = format!("{}.{}", b64(header.to_string()), b64(claims.to_string()));
    let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, secret), message.as_bytes());
    format!("{message}.{}", b64(tag))
}

/// The public key as a PEM file: what a confused verifier would take for an HMAC secret.
pub fn pem(key: &SigningKey) -> String {
    let Pair::Rsa(pair) = &*key.pair else { panic!("not an RSA key") };
    let der: PublicKeyX509Der<'_> = pair.public_key().as_der().unwrap();
    let text = STANDARD.encode(der.as_ref());
    let lines: Vec<&str> = text.as_bytes().chunks(64).map(|line| std::str::from_utf8(line).unwrap()).collect();
    format!("-----BEGIN PUBLIC KEY-----\n{}\n-----END PUBLIC KEY-----\n", lines.join("\n"))
}

/// Base64 as tokens have it.
pub fn b64(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}
