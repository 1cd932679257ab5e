//! The query of a request, read into a type. Its faults come at once and name their parameters, unknown ones among them.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use tandem_actions::Form;
use tandem_protocol::{Fault, pointer};

use crate::ApiError;

/// What a request asks by its query.
pub(crate) struct Query<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned + JsonSchema + 'static> FromRequestParts<S> for Query<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        read(parts.uri.query().unwrap_or_default()).map(Query)
    }
}

fn pairs(query: &str) -> Vec<(String, String)> {
    form_urlencoded::parse(query.as_bytes())
        .filter(|(name, _)| !is_others(name))
        .map(|(n, v)| (n.into(), v.into()))
        .collect()
}

fn read<T: DeserializeOwned + JsonSchema + 'static>(query: &str) -> Result<T, ApiError> {
    let (mut asked, mut faults) = (Vec::<(String, String)>::new(), Vec::new());
    for (name, text) in pairs(query) {
        if asked.iter().any(|(before, _)| *before == name) {
            faults.push(Fault { pointer: format!("?{name}"), detail: "can be given once".into() });
        } else {
            asked.push((name, text));
        }
    }
    for Fault { pointer, detail } in Form::of::<T>().faults_of_text(&asked) {
        let name = pointer::name(pointer.trim_start_matches('/'));
        faults.push(Fault { pointer: format!("?{name}"), detail });
    }
    if !faults.is_empty() {
        return Err(ApiError::faults(faults));
    }
    // From the text: some routes read a number themselves.
    let ours = form_urlencoded::Serializer::new(String::new()).extend_pairs(&asked).finish();
    let ours = serde_urlencoded::Deserializer::new(form_urlencoded::parse(ours.as_bytes()));
    serde_path_to_error::deserialize(ours).map_err(|error| {
        let path = error.path().to_string();
        let name = if path == "." { "" } else { &path };
        ApiError::invalid(&format!("?{name}"), error.into_inner().to_string())
    })
}

/// What others put into an address, such as a cache's number, and the ticket, which has been read by then.
pub(crate) fn is_others(name: &str) -> bool {
    name == "ticket" || name == "lastEventId" || is_added(name)
}

/// What caches and newsletters add to any address.
pub(crate) fn is_added(name: &str) -> bool {
    name.starts_with('_') || name.starts_with("utm_")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Debug, Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields, rename_all = "camelCase")]
    #[allow(dead_code)]
    struct Asked {
        limit: Option<u32>,
        #[serde(default)]
        shared: bool,
    }

    #[test]
    fn all_faults_come_at_once_and_name_their_parameters() {
        for (query, want) in [
            ("limit=abc", &["?limit must be a whole number, not a text"][..]),
            ("shared=yes", &["?shared must be true or false, not a text"]),
            ("limit=5000000000", &["?limit must be at most 4294967295"]),
            ("limit=1&limit=2", &["?limit can be given once"]),
            (
                "limit=abc&shared=yes&arch/ive=true&limit=2",
                &[
                    "?limit can be given once",
                    "?limit must be a whole number, not a text",
                    "?shared must be true or false, not a text",
                    "?arch/ive is not a known field; known are: limit, shared",
                ],
            ),
        ] {
            let ApiError(problem) = read::<Asked>(query).unwrap_err();
            let told: Vec<_> =
                problem.errors.iter().map(|fault| format!("{} {}", fault.pointer, fault.detail)).collect();
            assert_eq!(told, want, "{query}");
        }
        for query in ["limit=7&shared=true", "", "_=17&utm_source=mail&ticket=a.b&limit=7&lastEventId=3"] {
            assert!(read::<Asked>(query).is_ok(), "{query}");
        }
    }
}
