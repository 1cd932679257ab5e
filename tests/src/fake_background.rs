//! A background that records what it is sent and runs nothing.

use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use serde_json::Value;
use tokio::net::TcpListener;

/// Answers every dispatch with one status, as if it had taken it, and drops it.
#[derive(Debug)]
pub struct FakeBackground {
    url: String,
    seen: Arc<Mutex<Vec<Value>>>,
}

impl FakeBackground {
    pub async fn answering(status: u16) -> Self {
        let seen: Arc<Mutex<Vec<Value>>> = Arc::default();
        let status = StatusCode::from_u16(status).unwrap();
        let record = async move |State(seen): State<Arc<Mutex<Vec<Value>>>>, body: String| {
            seen.lock().unwrap().push(serde_json::from_str(&body).unwrap());
            status
        };
        let router = Router::new().fallback(record).with_state(Arc::clone(&seen));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, router).await });
        FakeBackground { url, seen }
    }

    pub fn url(&self) -> &str {
        &self.url
    }

    /// The dispatches so far.
    pub fn seen(&self) -> Vec<Value> {
        self.seen.lock().unwrap().clone()
    }
}
