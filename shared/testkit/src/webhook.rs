//! The other side of a keyed effect: a webhook that removes duplicates by their `Idempotency-Key`.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::Router;
use axum::extract::{Json, State};
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// A webhook on a loopback port. It takes a text the first time that it sees its key, answers every request, and
/// remembers all of them. It is gone when this is dropped.
#[derive(Debug)]
pub struct Webhook {
    url: String,
    deliveries: Deliveries,
    task: JoinHandle<()>,
}

/// A request that arrived with a key.
#[derive(Debug, Clone, PartialEq)]
pub struct Delivery {
    /// The header `Idempotency-Key`.
    pub key: String,
    pub body: Value,
    /// Whether it counted; false: a repetition of one before it.
    pub counted: bool,
}

#[derive(Debug, Clone, Default)]
struct Deliveries(Arc<Mutex<Vec<Delivery>>>);

impl Webhook {
    pub async fn open() -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let url = format!("http://{}/hooks/test", listener.local_addr()?);
        let deliveries = Deliveries::default();
        let router = Router::new().route("/hooks/test", post(take)).with_state(deliveries.clone());
        let task = tokio::spawn(async move {
            // It ends with the task.
            let _ = axum::serve(listener, router).await;
        });
        Ok(Webhook { url, deliveries, task })
    }

    /// Where to post to.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// All requests so far whose body has this `text`, in their order.
    pub fn deliveries_of(&self, text: &str) -> Vec<Delivery> {
        self.deliveries.lock().iter().filter(|delivery| delivery.body["text"] == text).cloned().collect()
    }
}

impl Drop for Webhook {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Deliveries {
    fn lock(&self) -> MutexGuard<'_, Vec<Delivery>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// 200 whether it counts or not, as a client that repeats itself wants it; 400 without a key.
async fn take(State(deliveries): State<Deliveries>, headers: HeaderMap, Json(body): Json<Value>) -> StatusCode {
    let Some(key) = headers.get("idempotency-key").and_then(|key| key.to_str().ok()).map(str::to_owned) else {
        return StatusCode::BAD_REQUEST;
    };
    let mut deliveries = deliveries.lock();
    let counted = deliveries.iter().all(|before| before.key != key);
    deliveries.push(Delivery { key, body, counted });
    StatusCode::OK
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use serde_json::json;

    use super::*;

    #[tokio::test]
    async fn a_key_counts_once_and_nothing_counts_without() {
        let webhook = Webhook::open().await.unwrap();
        let post = |key: Option<&'static str>, text: &'static str| {
            let request = reqwest::Client::new().post(webhook.url()).json(&json!({"text": text}));
            let request = key.into_iter().fold(request, |request, key| request.header("Idempotency-Key", key));
            async move { request.send().await.unwrap().status().as_u16() }
        };
        for (key, status) in [(Some("a"), 200), (Some("a"), 200), (None, 400), (Some("b"), 200)] {
            assert_eq!(post(key, "hello").await, status);
        }
        assert_eq!(post(Some("c"), "other").await, 200);
        let seen: Vec<_> = webhook.deliveries_of("hello").into_iter().map(|seen| (seen.key, seen.counted)).collect();
        assert_eq!(seen, [("a".to_owned(), true), ("a".to_owned(), false), ("b".to_owned(), true)]);
    }
}
