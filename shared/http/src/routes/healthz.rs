//! Liveness, without touching the store.

use axum::Json;
use axum::extract::State;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use crate::App;
use crate::description::{Operation, operation};

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Health {
    /// `ok`.
    status: &'static str,
    version: &'static str,
    foreground: bool,
    background: bool,
    /// Whether turns are dispatched at all: a variable that is missing in production shows here.
    durable_background: bool,
}

pub(crate) fn about() -> Operation {
    let example = json!({
        "status": "ok",
        "version": env!("CARGO_PKG_VERSION"),
        "foreground": true,
        "background": true,
        "durableBackground": true,
    });
    operation("getHealth", "Service", "Liveness").note("Does not touch the store.").public().gives::<Health>(
        200,
        "The process lives.",
        example,
    )
}

pub(crate) async fn show(State(app): State<App>) -> Json<Health> {
    Json(Health {
        status: "ok",
        version: env!("CARGO_PKG_VERSION"),
        foreground: app.hosts.foreground,
        background: app.hosts.background,
        durable_background: app.runtime.config().durable_background,
    })
}
