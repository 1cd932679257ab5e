//! The start of a streamed HTTP response: a JSON prelude and eight NUL bytes, then the body.

use axum::http::header::SET_COOKIE;
use axum::http::{HeaderName, HeaderValue, StatusCode};
use serde::Deserialize;
use serde_json::{Map, Value};

/// The content type that announces a prelude.
pub(super) const CONTENT_TYPE: &str = "application/vnd.awslambda.http-integration-response";
const DELIMITER: [u8; 8] = [0; 8];
/// Longer than any set of headers; whoever has not sent the delimiter by then does not send one.
const MAX_BYTES: usize = 64 * 1024;

/// Status and headers of a response.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) status: StatusCode,
    pub(super) headers: Vec<(HeaderName, HeaderValue)>,
}

/// Collects a prelude from chunks that may be cut anywhere.
#[derive(Debug, Default)]
pub(super) struct Prelude {
    seen: Vec<u8>,
}

/// What a chunk made of the prelude.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Progress {
    Incomplete,
    /// The prelude is complete; the bytes after it are the body's first.
    Complete(Head, Vec<u8>),
    Malformed,
}

impl Prelude {
    pub(super) fn push(&mut self, chunk: &[u8]) -> Progress {
        self.seen.extend_from_slice(chunk);
        let Some(end) = self.seen.windows(DELIMITER.len()).position(|window| window == DELIMITER) else {
            return if self.seen.len() > MAX_BYTES { Progress::Malformed } else { Progress::Incomplete };
        };
        let body = self.seen[end + DELIMITER.len()..].to_vec();
        match head(&self.seen[..end]) {
            Some(head) => Progress::Complete(head, body),
            None => Progress::Malformed,
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Json {
    #[serde(default)]
    status_code: Option<u16>,
    #[serde(default)]
    headers: Map<String, Value>,
    #[serde(default)]
    cookies: Vec<String>,
}

fn head(bytes: &[u8]) -> Option<Head> {
    let json: Json = serde_json::from_slice(bytes).ok()?;
    let status = StatusCode::from_u16(json.status_code.unwrap_or(200)).ok()?;
    let mut headers = Vec::new();
    for (name, value) in json.headers {
        let name = HeaderName::try_from(name).ok()?;
        match value {
            Value::Array(values) => {
                for value in values {
                    headers.push((name.clone(), header_value(&value)?));
                }
            }
            value => headers.push((name, header_value(&value)?)),
        }
    }
    for cookie in json.cookies {
        headers.push((SET_COOKIE, HeaderValue::try_from(cookie).ok()?));
    }
    Some(Head { status, headers })
}

fn header_value(value: &Value) -> Option<HeaderValue> {
    match value {
        Value::String(text) => HeaderValue::try_from(text).ok(),
        Value::Number(number) => HeaderValue::try_from(number.to_string()).ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prelude_may_be_cut_anywhere() {
        let json = r#"{"statusCode":201,"headers":{"x-a":"1","x-b":["2","3"]},"cookies":["c=1; Path=/"]}"#;
        let whole = [json.as_bytes(), &[0; 8], b"body\0"].concat();
        let header = |name: &'static str, value| (HeaderName::from_static(name), HeaderValue::from_static(value));
        let headers =
            vec![header("x-a", "1"), header("x-b", "2"), header("x-b", "3"), header("set-cookie", "c=1; Path=/")];
        for cut in 0..json.len() + 8 {
            let mut prelude = Prelude::default();
            assert_eq!(prelude.push(&whole[..cut]), Progress::Incomplete, "cut at {cut}");
            let head = Head { status: StatusCode::CREATED, headers: headers.clone() };
            assert_eq!(prelude.push(&whole[cut..]), Progress::Complete(head, b"body\0".to_vec()), "cut at {cut}");
        }
    }

    #[test]
    fn what_is_no_prelude_is_malformed() {
        let cases = [
            [b"not json".to_vec(), vec![0; 8]].concat(),
            [br#"{"statusCode":7}"#.to_vec(), vec![0; 8]].concat(),
            vec![b' '; MAX_BYTES + 1],
        ];
        for case in cases {
            assert_eq!(Prelude::default().push(&case), Progress::Malformed);
        }
    }
}
