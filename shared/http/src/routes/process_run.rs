//! The background host: a signed dispatch over HTTP. The signature is the only way in; user tokens mean nothing here.

use std::time::Duration;

use axum::Json;
use axum::body::{Body, HttpBody, to_bytes};
use axum::extract::State;
use axum::http::StatusCode;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;
use tandem_auth::SignedDispatch;
use tandem_protocol::Code;

use crate::description::{Operation, operation};
use crate::{ApiError, App};

/// A dispatch holds ids and a signature. Nothing of what says that it is longer is read.
const MAX_BODY: usize = 4 * 1024;
/// How long it may take: nobody has signed in here.
const TIMEOUT: Duration = Duration::from_secs(5);

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "DispatchAccepted")]
pub(crate) struct Accepted {
    accepted: bool,
}

pub(crate) fn about() -> Operation {
    operation("processRun", "Service", "A signed dispatch, on the background host")
        .note("Foreground and background speak to each other here. The signature in the body is the only way in.")
        .public()
        .gives::<Accepted>(202, "The signature is good.", json!({"accepted": true}))
        .refuses([Code::Unauthenticated])
}

/// Accepts a dispatch and drives its run in a task of its own. 202 means that the signature is good, and no more.
pub(crate) async fn process(State(app): State<App>, body: Body) -> Result<(StatusCode, Json<Accepted>), ApiError> {
    let refused =
        || ApiError::new(Code::Unauthenticated, "The dispatch is not signed by this deployment, or it is too old.");
    if body.size_hint().lower() > MAX_BODY as u64 {
        return Err(refused());
    }
    let body = tokio::time::timeout(TIMEOUT, to_bytes(body, MAX_BODY)).await.map_err(|_| refused())?;
    let body = body.map_err(|_| refused())?;
    let dispatch = SignedDispatch::from_json(&body).map_err(|_| refused())?;
    let verified = app.runtime.verify(&dispatch).map_err(|reason| {
        tracing::warn!(%reason, "dispatch refused");
        refused()
    })?;
    let runtime = app.runtime.clone();
    app.runtime.tasks().spawn(async move {
        if let Err(error) = runtime.process(&verified, None).await {
            tracing::error!(run = %verified.run(), %error, "the dispatch could not be processed");
        }
    });
    Ok((StatusCode::ACCEPTED, Json(Accepted { accepted: true })))
}
