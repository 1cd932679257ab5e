//! `GET /openapi.json`: the description of the API. It holds no data, and says how to sign in, so it needs no signing in.

use axum::Json;
use axum::extract::State;
use serde_json::{Value, json};

use crate::App;
use crate::description::{self, Operation, operation};

pub(crate) fn about() -> Operation {
    operation("getDescription", "Service", "The description of the API, as OpenAPI 3.1").public().gives::<Value>(
        200,
        "This document.",
        json!({"openapi": "3.1.1"}),
    )
}

pub(crate) async fn show(State(app): State<App>) -> Json<Value> {
    Json(description::describe(app.runtime.agent().registry(), app.authenticate.must_sign_in()))
}
