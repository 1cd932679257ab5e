//! The background host: a signed dispatch over HTTP. The signature is the only way in; user tokens mean nothing here.

use axum::Json;
use axum::body::{Body, to_bytes};
use axum::extract::State;
use axum::http::StatusCode;
use serde_json::{Value, json};
use tandem_auth::SignedDispatch;
use tandem_protocol::Code;

use crate::{ApiError, App};

/// A dispatch holds ids and a signature.
const MAX_BODY: usize = 4 * 1024;

/// Accepts a dispatch and drives its run in a task of its own. 202 means that the signature is good, and no more.
pub(crate) async fn process(State(app): State<App>, body: Body) -> Result<(StatusCode, Json<Value>), ApiError> {
    let refused =
        || ApiError::new(Code::Unauthenticated, "The dispatch is not signed by this deployment, or it is too old.");
    let body = to_bytes(body, MAX_BODY).await.map_err(|_| refused())?;
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
    Ok((StatusCode::ACCEPTED, Json(json!({"accepted": true}))))
}
