//! `GET /.well-known/oauth-protected-resource`: who gives out the tokens (RFC 9728). It says how to sign in, so it needs no
//! signing in.

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, Uri};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;
use tandem_protocol::Code;

use crate::description::{Operation, operation};
use crate::{ApiError, App, sign_in};

const NO_ISSUER: &str = "No issuer is set here: OIDC_ISSUER and OIDC_AUDIENCE name one.";
const NO_ADDRESS: &str = "The address of this service cannot be told: send one plain Host header, or set PUBLIC_URL.";

/// Where tokens for this service come from, and how they are sent.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ResourceMetadata {
    /// What the tokens are for: the address that is called.
    resource: String,
    /// The OpenID Connect issuer.
    authorization_servers: Vec<String>,
    bearer_methods_supported: Vec<&'static str>,
}

fn about(id: &'static str, summary: &'static str, resource: &str) -> Operation {
    let example = json!({
        "resource": resource,
        "authorization_servers": ["https://issuer.example.com/"],
        "bearer_methods_supported": ["header"],
    });
    operation(id, "Service", summary)
        .note("RFC 9728. A 401 names it in `WWW-Authenticate`. There is none where no issuer is set.")
        .public()
        .gives::<ResourceMetadata>(200, "The issuer.", example)
        .refuses([Code::NotFound])
}

pub(crate) fn about_all() -> Operation {
    about("getResourceMetadata", "How programs sign in", "https://tandem.example.com")
}

pub(crate) fn about_mcp() -> Operation {
    about("getMcpResourceMetadata", "How MCP clients sign in", "https://tandem.example.com/mcp")
}

/// The part of the service whose path stands behind the document's own is the resource.
pub(crate) async fn show(
    State(app): State<App>,
    uri: Uri,
    headers: HeaderMap,
) -> Result<Json<ResourceMetadata>, ApiError> {
    let part = uri.path().strip_prefix(sign_in::DOCUMENT).unwrap_or_default();
    let none = |text| move || ApiError::not_found(text);
    let issuer = app.authenticate.issuer().ok_or_else(none(NO_ISSUER))?;
    let base = sign_in::base(&app, sign_in::only_host(&headers)).ok_or_else(none(NO_ADDRESS))?;
    Ok(Json(ResourceMetadata {
        resource: format!("{base}{part}"),
        authorization_servers: vec![issuer.to_owned()],
        bearer_methods_supported: vec!["header"],
    }))
}
