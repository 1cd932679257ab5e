//! Which pages of other origins may call, where nobody in front of this process answers that.

use std::str::FromStr;
use std::time::Duration;

use axum::http::{HeaderName, HeaderValue, Method, Uri};
use tower_http::cors::{AllowHeaders, AllowOrigin, CorsLayer};

/// What a page may read of an answer, besides its body.
const SHOWN: [&str; 8] = [
    "x-run-id",
    "x-thread-id",
    "x-workflow-run-id",
    "x-workflow-stream-tail-index",
    "x-request-id",
    "www-authenticate",
    "retry-after",
    "location",
];

/// Who answers CORS. Two answers are as good as none: a browser refuses them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Cors {
    /// Somebody in front, such as a Function URL, or nobody.
    #[default]
    Elsewhere,
    /// This process, for every origin: tokens travel in a header and never in cookies.
    Everybody,
    /// This process, for these origins.
    Origins(Vec<HeaderValue>),
}

/// Why a list of origins cannot be used.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("{0:?} is no origin: write it like https://www.example.com, without a path, or * alone for all")]
pub struct NoOrigin(String);

impl FromStr for Cors {
    type Err = NoOrigin;

    /// Origins with commas between them, or `*`. Empty: somebody else answers.
    fn from_str(text: &str) -> Result<Self, NoOrigin> {
        let origins: Vec<_> = text.split(',').map(str::trim).filter(|origin| !origin.is_empty()).collect();
        match origins[..] {
            [] => Ok(Cors::Elsewhere),
            ["*"] => Ok(Cors::Everybody),
            _ => origins.into_iter().map(origin).collect::<Result<_, _>>().map(Cors::Origins),
        }
    }
}

impl Cors {
    pub(crate) fn layer(self) -> Option<CorsLayer> {
        let origins = match self {
            Cors::Elsewhere => return None,
            Cors::Everybody => AllowOrigin::any(),
            Cors::Origins(origins) => AllowOrigin::list(origins),
        };
        let layer = CorsLayer::new()
            .allow_origin(origins)
            .allow_methods([Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE])
            // Not "*": that would leave out Authorization.
            .allow_headers(AllowHeaders::mirror_request())
            .expose_headers(SHOWN.map(HeaderName::from_static))
            .max_age(Duration::from_secs(3600));
        Some(layer)
    }
}

/// An origin as browsers send it: compared letter by letter, so what could never be equal is refused.
fn origin(text: &str) -> Result<HeaderValue, NoOrigin> {
    let refused = || NoOrigin(text.to_owned());
    let uri: Uri = text.parse().map_err(|_| refused())?;
    let (Some(scheme), Some(authority)) = (uri.scheme_str(), uri.authority()) else { return Err(refused()) };
    if text != format!("{scheme}://{authority}").to_lowercase() || !["http", "https"].contains(&scheme) {
        return Err(refused());
    }
    HeaderValue::from_str(text).map_err(|_| refused())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_origins_is_read() {
        assert_eq!("".parse(), Ok(Cors::Elsewhere));
        assert_eq!(" * ".parse(), Ok(Cors::Everybody));
        assert_eq!(
            "https://www.example.com".parse(),
            Ok(Cors::Origins(vec![HeaderValue::from_static("https://www.example.com")]))
        );
        let two = ["https://www.example.com", "http://localhost:5173"].map(HeaderValue::from_static);
        assert_eq!("https://www.example.com, http://localhost:5173".parse(), Ok(Cors::Origins(two.into())));
    }

    #[test]
    fn what_no_browser_sends_is_refused_by_name() {
        for text in ["https://a.example/", "a.example", "https://A.example", "ftp://a.example", "https://a.example,*"] {
            let error = text.parse::<Cors>().unwrap_err();
            assert!(error.to_string().contains("without a path"), "{text}: {error}");
        }
    }
}
