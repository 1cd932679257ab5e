//! The query of a request, read into a type. Its faults name the parameter.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use serde::de::DeserializeOwned;

use crate::ApiError;

/// What a request asks by its query.
pub(crate) struct Query<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for Query<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        read(parts.uri.query().unwrap_or_default()).map(Query)
    }
}

fn read<T: DeserializeOwned>(query: &str) -> Result<T, ApiError> {
    let pairs = serde_urlencoded::Deserializer::new(form_urlencoded::parse(query.as_bytes()));
    serde_path_to_error::deserialize(pairs).map_err(|error| {
        let path = error.path().to_string();
        // A parameter that came twice is a fault of the whole; its text names it.
        let name = if path == "." { "" } else { &path };
        ApiError::invalid(&format!("?{name}"), error.into_inner().to_string())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields, rename_all = "camelCase")]
    #[allow(dead_code)]
    struct Asked {
        limit: Option<u32>,
        #[serde(default)]
        shared: bool,
    }

    #[test]
    fn faults_name_their_parameter() {
        for (query, pointer, says) in [
            ("limit=abc", "?limit", "invalid digit"),
            ("shared=yes", "?shared", "`true` or `false`"),
            ("limit=1&limit=2", "?", "duplicate field `limit`"),
            ("archive=true", "?archive", "unknown field `archive`, expected `limit` or `shared`"),
        ] {
            let ApiError(problem) = read::<Asked>(query).unwrap_err();
            let fault = &problem.errors[0];
            assert_eq!(fault.pointer, pointer, "{query}: {}", fault.detail);
            assert!(fault.detail.contains(says), "{query}: {}", fault.detail);
        }
        assert!(read::<Asked>("limit=7&shared=true").is_ok() && read::<Asked>("").is_ok());
    }
}
