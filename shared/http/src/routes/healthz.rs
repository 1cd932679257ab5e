//! Liveness, without touching the store.

use axum::Json;
use axum::extract::State;
use serde_json::{Value, json};

use crate::App;

pub(crate) async fn show(State(app): State<App>) -> Json<Value> {
    let config = app.runtime.config();
    Json(json!({
        "status": "ok",
        "version": env!("CARGO_PKG_VERSION"),
        "foreground": app.hosts.foreground,
        "background": app.hosts.background,
        // Whether turns are dispatched at all: a variable that is missing in production shows here.
        "durableBackground": config.durable_background,
    }))
}
