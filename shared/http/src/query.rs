//! The query of a request, read into a type. Its faults name the parameter, and so does an unknown one.

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
    let pairs: Vec<_> = form_urlencoded::parse(query.as_bytes()).filter(|(name, _)| !is_others(name)).collect();
    let twice = |(at, (name, _)): &(usize, &(_, _))| pairs[..*at].iter().any(|(before, _)| before == name);
    if let Some((_, (name, _))) = pairs.iter().enumerate().find(twice) {
        return Err(ApiError::invalid(&format!("?{name}"), "can be given once"));
    }
    let ours = form_urlencoded::Serializer::new(String::new()).extend_pairs(&pairs).finish();
    let ours = serde_urlencoded::Deserializer::new(form_urlencoded::parse(ours.as_bytes()));
    serde_path_to_error::deserialize(ours).map_err(|error| {
        let path = error.path().to_string();
        let name = if path == "." { "" } else { &path };
        ApiError::invalid(&format!("?{name}"), error.into_inner().to_string())
    })
}

/// What others put into an address, such as a cache's number, and the ticket, which has been read by then.
pub(crate) fn is_others(name: &str) -> bool {
    name == "ticket" || name == "lastEventId" || name.starts_with('_') || name.starts_with("utm_")
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
            ("limit=1&limit=2", "?limit", "once"),
            ("archive=true", "?archive", "unknown field `archive`, expected `limit` or `shared`"),
        ] {
            let ApiError(problem) = read::<Asked>(query).unwrap_err();
            let fault = &problem.errors[0];
            assert_eq!(fault.pointer, pointer, "{query}: {}", fault.detail);
            assert!(fault.detail.contains(says), "{query}: {}", fault.detail);
        }
        for query in ["limit=7&shared=true", "", "_=17&utm_source=mail&ticket=a.b&limit=7&lastEventId=3"] {
            assert!(read::<Asked>(query).is_ok(), "{query}");
        }
    }
}
