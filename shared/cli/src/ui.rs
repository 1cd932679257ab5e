//! The user interface as static files at `/app/`, as CloudFront serves it on AWS: the same policy, the same fallback.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use axum::extract::{Request, State};
use axum::http::{HeaderValue, Response, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Redirect;
use axum::routing::get;
use axum::{Json, Router};
use serde_json::{Value, json};
use tandem_auth::OidcSettings;
use tower_http::services::{ServeDir, ServeFile};

/// What other places are told of the address that a person comes from.
const REFERRER: &str = "no-referrer";
/// Who may show the interface in a frame, for browsers that do not read the policy.
const FRAMES: &str = "DENY";

/// Where the user interface was built to; none where it was not.
pub(crate) fn built(dir: &Path) -> Option<PathBuf> {
    dir.join("index.html").is_file().then(|| dir.to_owned())
}

/// How people sign in at the user interface.
#[derive(Debug)]
pub(crate) struct SignIn {
    /// What `config.json` must say.
    config: Value,
    /// The issuer's address without a path.
    origin: String,
}

impl SignIn {
    /// With the OIDC_ variables, `UI_CLIENT_ID`, the client id that the issuer knows the user interface by, and `UI_SCOPE`,
    /// what it asks the issuer for where that is not what the interface itself would say.
    pub(crate) fn from_env(lookup: impl Fn(&str) -> Option<String>) -> Result<Option<Self>> {
        let (Some(oidc), Some(client)) = (OidcSettings::from_env(&lookup)?, lookup("UI_CLIENT_ID")) else {
            return Ok(None);
        };
        let origin = reqwest::Url::parse(&oidc.issuer).context("OIDC_ISSUER is not an address")?.origin();
        let tenant = oidc.tenant_claim.as_deref().unwrap_or("org_id");
        let mut config = json!({"oidc": {
            "authority": oidc.issuer, "clientId": client, "audience": oidc.audiences.first(), "tenantClaim": tenant,
        }});
        if let Some(scope) = lookup("UI_SCOPE") {
            config["oidc"]["scope"] = scope.trim().into();
        }
        Ok(Some(SignIn { config, origin: origin.ascii_serialization() }))
    }
}

/// The files of `dir` at `/app/`, and `/` leads there. A path that is no file is a place in the interface.
pub(crate) fn with_ui(router: Router, dir: &Path, sign_in: Option<SignIn>) -> Result<Router> {
    let places = ServeDir::new(dir).fallback(ServeFile::new(dir.join("index.html")));
    let mut files = Router::new().nest_service("/assets", ServeDir::new(dir.join("assets"))).fallback_service(places);
    let policy = policy(sign_in.as_ref())?;
    if let Some(SignIn { config, .. }) = sign_in {
        files = files.route("/config.json", get(move || async move { Json(config) }));
    }
    let files = files.layer(from_fn_with_state(policy, protect));
    let to_app = || async { Redirect::temporary("/app/") };
    Ok(router.nest_service("/app/", files).route("/app", get(to_app)).route("/", get(to_app)))
}

/// What template.yaml allows: scripts are the interface's own files, and it talks to this server and to the issuer.
fn policy(sign_in: Option<&SignIn>) -> Result<HeaderValue> {
    let origin = sign_in.map(|sign_in| sign_in.origin.as_str());
    let connects = origin.map(|origin| format!(" {origin}")).unwrap_or_default();
    // Signing in again without a word needs a frame.
    let frames = origin.map(|origin| format!("frame-src {origin}; ")).unwrap_or_default();
    let policy = format!(
        "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; \
         font-src 'self'; manifest-src 'self'; connect-src 'self'{connects}; {frames}base-uri 'none'; \
         form-action 'self'; frame-ancestors 'none'"
    );
    HeaderValue::from_str(&policy).context("OIDC_ISSUER holds characters that no address has")
}

async fn protect(State(policy): State<HeaderValue>, request: Request, next: Next) -> Response<axum::body::Body> {
    // Their names change with their content.
    let forever = request.uri().path().starts_with("/assets/");
    let mut response = next.run(request).await;
    let cache = match forever && response.status().is_success() {
        true => "public, max-age=31536000, immutable",
        false => "no-cache",
    };
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, policy),
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
        (header::X_FRAME_OPTIONS, HeaderValue::from_static(FRAMES)),
        (header::REFERRER_POLICY, HeaderValue::from_static(REFERRER)),
        (header::CACHE_CONTROL, HeaderValue::from_static(cache)),
    ] {
        response.headers_mut().insert(name, value);
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The policy of CloudFront, in which the issuer stands and whatever else a deployment talks to.
    fn deployed() -> String {
        let template = include_str!("../../../template.yaml");
        let from = template.find("default-src").unwrap();
        let to = template[from..].find("- Issuer:").unwrap();
        template[from..from + to].split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn the_other_headers_are_the_deployed_ones_too() {
        let template = include_str!("../../../template.yaml");
        for line in [
            "ContentTypeOptions: { Override: true }".to_owned(),
            format!("FrameOptions: {{ FrameOption: {FRAMES}, Override: true }}"),
            format!("ReferrerPolicy: {{ ReferrerPolicy: {REFERRER}, Override: true }}"),
        ] {
            assert!(template.contains(&line), "{line}");
        }
    }

    #[test]
    fn the_interface_is_told_what_to_ask_the_issuer_for() {
        let told = |more: &[(&str, &str)]| {
            let set = [("OIDC_ISSUER", "https://issuer.example/realm"), ("OIDC_AUDIENCE", "page, program")];
            let set = [&set[..], &[("UI_CLIENT_ID", "page")], more].concat();
            let lookup = |name: &str| set.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
            SignIn::from_env(lookup).unwrap().unwrap().config
        };
        let mut want = json!({"oidc": {
            "authority": "https://issuer.example/realm", "clientId": "page", "audience": "page", "tenantClaim": "org_id",
        }});
        assert_eq!(told(&[]), want);
        want["oidc"]["scope"] = "openid profile".into();
        assert_eq!(told(&[("UI_SCOPE", " openid profile ")]), want);
    }

    #[tokio::test]
    async fn every_file_has_them() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("index.html"), "<p>").unwrap();
        let router = with_ui(Router::new(), dir.path(), None).unwrap();
        for path in ["/app/", "/app/index.html", "/app/some/place"] {
            let request = Request::builder().uri(path).body(axum::body::Body::empty()).unwrap();
            let headers = tower::ServiceExt::oneshot(router.clone(), request).await.unwrap().headers().clone();
            assert_eq!([&headers["x-frame-options"], &headers["referrer-policy"]], [FRAMES, REFERRER], "{path}");
            assert!(headers["content-security-policy"].to_str().unwrap().contains("frame-ancestors 'none'"), "{path}");
        }
    }

    #[test]
    fn the_policy_here_is_the_deployed_one() {
        let deployed = deployed();
        let sign_in = SignIn { config: Value::Null, origin: "https://issuer.example".into() };
        let with = deployed.replace("https://${Issuer}", &sign_in.origin).replace(" ${UiConnectSources}", "");
        assert_eq!(policy(Some(&sign_in)).unwrap(), with.as_str());
        let without = with.replace(" frame-src https://issuer.example;", "").replace(" https://issuer.example", "");
        assert_eq!(policy(None).unwrap(), without.as_str());
        // Nothing runs that the interface did not bring.
        assert_eq!(without.split("; ").find(|rule| rule.starts_with("script-src")), Some("script-src 'self'"));
    }
}
