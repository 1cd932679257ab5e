//! Reading a body with limits: of its length, which is counted while it is read, whatever the header says, and of the
//! time that it takes.

use std::time::Duration;

use axum::body::Body;
use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use tandem_actions::Form;
use tandem_protocol::{Code, Problem};

use crate::ApiError;

/// How much of a body that is too large is read and thrown away: a client that is still sending would see a broken
/// connection instead of the answer.
const DRAIN: usize = 32 * 1024 * 1024;

/// How long a body may take, whole.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The whole body, of at most `most` bytes.
pub(crate) async fn read(body: Body, most: usize) -> Result<Bytes, ApiError> {
    let late = |_| ApiError::new(Code::InvalidRequest, "The body did not arrive within 30 s.");
    tokio::time::timeout(TIMEOUT, read_all(body, most)).await.map_err(late)?
}

async fn read_all(mut body: Body, most: usize) -> Result<Bytes, ApiError> {
    let mut bytes = BytesMut::new();
    let mut seen = 0;
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| ApiError::new(Code::InvalidRequest, "The body broke off."))?;
        let Ok(data) = frame.into_data() else { continue };
        seen += data.len();
        if seen <= most {
            bytes.extend_from_slice(&data);
        } else if seen > DRAIN {
            break;
        }
    }
    if seen > most {
        return Err(ApiError::new(Code::TooLarge, format!("The body must be at most {most} bytes.")));
    }
    Ok(bytes.freeze())
}

/// Reads a JSON object; all faults come at once, each with its place. serde alone would take an array for a struct, field
/// after field, and stop at the first fault.
pub(crate) fn object<T: DeserializeOwned + JsonSchema + 'static>(bytes: &[u8]) -> Result<T, ApiError> {
    let object: Map<String, Value> = serde_json::from_slice(bytes).map_err(|error| {
        let problem = Problem::new(Code::InvalidRequest, "The body must be a JSON object.");
        ApiError(Box::new(problem.at("", error.to_string())))
    })?;
    Form::read(Value::Object(object)).map_err(ApiError::faults)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    /// A name that has no space in it.
    #[derive(Debug, Deserialize, JsonSchema)]
    #[serde(try_from = "String")]
    #[schemars(with = "String", extend("pattern" = "^[^ ]*$"))]
    struct Word;

    impl TryFrom<String> for Word {
        type Error = &'static str;

        fn try_from(text: String) -> Result<Self, Self::Error> {
            if text.contains(' ') { Err("must be one word") } else { Ok(Word) }
        }
    }

    #[derive(Debug, Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    #[allow(dead_code)]
    struct Asked {
        list: Vec<u32>,
        word: Option<Word>,
    }

    #[test]
    fn all_faults_come_at_once_with_their_places() {
        for (body, want) in [
            (r#"{"list": [1, "two"]}"#, &["/list/1 must be a whole number, not a text"][..]),
            (r#"{"list": [5000000000]}"#, &["/list/0 must be at most 4294967295"]),
            (r#"{"a/b.c~d": 1}"#, &["/list is missing", "/a~1b.c~0d is not a known field; known are: list, word"]),
            (r#"{"list": 1, "word": 2}"#, &["/list must be a list, not 1", "/word must be a text, not 2"]),
            (r#"{"list": [], "word": "a b"}"#, &["/word must be one word"]),
            ("{}", &["/list is missing"]),
        ] {
            let ApiError(problem) = object::<Asked>(body.as_bytes()).unwrap_err();
            let told: Vec<_> =
                problem.errors.iter().map(|fault| format!("{} {}", fault.pointer, fault.detail)).collect();
            assert_eq!((problem.code, told), (Code::InvalidInput, want.iter().map(|it| (*it).to_owned()).collect()));
        }
        for body in ["[[1]]", "{"] {
            let ApiError(problem) = object::<Asked>(body.as_bytes()).unwrap_err();
            assert_eq!((problem.code, problem.errors[0].pointer.as_str()), (Code::InvalidRequest, ""), "{body}");
        }
    }
}
