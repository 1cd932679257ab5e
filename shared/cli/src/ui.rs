//! The user interface as static files at `/app/`, as CloudFront serves it on AWS: the same policy, the same fallback.

use std::path::{Path, PathBuf};

use axum::Router;
use axum::extract::Request;
use axum::http::{HeaderValue, Response, header};
use axum::middleware::{Next, from_fn};
use axum::response::Redirect;
use axum::routing::get;
use tower_http::services::{ServeDir, ServeFile};

/// What template.yaml allows, without an issuer: scripts are the interface's own files, and it talks to this server.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; \
                      font-src 'self'; manifest-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'; \
                      frame-ancestors 'none'";

/// Where the user interface was built to; none where it was not.
pub(crate) fn built(dir: &Path) -> Option<PathBuf> {
    dir.join("index.html").is_file().then(|| dir.to_owned())
}

/// The files of `dir` at `/app/`, and `/` leads there. A path that is no file is a place in the interface.
pub(crate) fn with_ui(router: Router, dir: &Path) -> Router {
    let places = ServeDir::new(dir).fallback(ServeFile::new(dir.join("index.html")));
    let files = Router::new()
        .nest_service("/assets", ServeDir::new(dir.join("assets")))
        .fallback_service(places)
        .layer(from_fn(protect));
    let to_app = || async { Redirect::temporary("/app/") };
    router.nest_service("/app/", files).route("/app", get(to_app)).route("/", get(to_app))
}

async fn protect(request: Request, next: Next) -> Response<axum::body::Body> {
    // Their names change with their content.
    let forever = request.uri().path().starts_with("/assets/");
    let mut response = next.run(request).await;
    let cache = match forever && response.status().is_success() {
        true => "public, max-age=31536000, immutable",
        false => "no-cache",
    };
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, cache),
    ] {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}
