//! A webhook on a socket that removes duplicates by their key and counts what is left.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::routing::post;

#[derive(Clone, Default)]
pub(crate) struct Webhook {
    /// How often each key was sent.
    keys: Arc<Mutex<BTreeMap<String, u32>>>,
    pub(crate) url: String,
}

impl Webhook {
    pub(crate) async fn start() -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let webhook = Webhook { url, ..Webhook::default() };
        let router = Router::new().route("/", post(take)).with_state(webhook.clone());
        tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        webhook
    }

    /// Texts that were taken, and requests that came.
    pub(crate) fn counts(&self) -> (usize, u32) {
        let keys = self.keys.lock().unwrap();
        (keys.len(), keys.values().sum())
    }
}

async fn take(State(webhook): State<Webhook>, headers: HeaderMap) {
    let key = headers["idempotency-key"].to_str().unwrap().to_owned();
    // Long enough for others to come in the meantime.
    tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    *webhook.keys.lock().unwrap().entry(key).or_default() += 1;
}
