//! From an HTTP request to the event of a Function URL (payload format 2.0).

use axum::http::{HeaderMap, Method, Uri, Version, header};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use serde_json::{Map, Value, json};
use time::OffsetDateTime;

/// What the host knows beside the request itself.
#[derive(Debug, Clone)]
pub(super) struct Arrival {
    pub(super) request_id: String,
    pub(super) source_ip: String,
    pub(super) at: OffsetDateTime,
}

/// The parts of a request that make its event.
#[derive(Debug)]
pub(super) struct Request<'a> {
    pub(super) method: &'a Method,
    pub(super) uri: &'a Uri,
    pub(super) version: Version,
    pub(super) headers: &'a HeaderMap,
    pub(super) body: &'a Bytes,
}

/// The event as JSON.
pub(super) fn event(request: &Request<'_>, arrival: &Arrival) -> Value {
    let host = text(request.headers, header::HOST.as_str()).unwrap_or_default();
    let query = request.uri.query().unwrap_or_default();
    let mut event = json!({
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": request.uri.path(),
        "rawQueryString": query,
        "headers": headers(request.headers, arrival),
        "requestContext": {
            "accountId": "anonymous",
            "apiId": host.split('.').next(),
            "domainName": host,
            "domainPrefix": host.split('.').next(),
            "http": {
                "method": request.method.as_str(),
                "path": request.uri.path(),
                "protocol": format!("{:?}", request.version),
                "sourceIp": arrival.source_ip,
                "userAgent": text(request.headers, header::USER_AGENT.as_str()),
            },
            "requestId": arrival.request_id,
            "routeKey": "$default",
            "stage": "$default",
            "time": common_log_time(arrival.at),
            "timeEpoch": arrival.at.unix_timestamp() * 1000 + i64::from(arrival.at.millisecond()),
        },
        "isBase64Encoded": false,
    });
    if !query.is_empty() {
        event["queryStringParameters"] = query_parameters(query);
    }
    if let Some(cookies) = text(request.headers, header::COOKIE.as_str()) {
        event["cookies"] = cookies.split("; ").collect();
    }
    if !request.body.is_empty() {
        let (body, encoded) = body(request.headers, request.body);
        event["body"] = body.into();
        event["isBase64Encoded"] = encoded.into();
    }
    event
}

/// Names in lower case, repeated values joined by commas, and what the front adds.
fn headers(headers: &HeaderMap, arrival: &Arrival) -> Value {
    let mut all: Map<String, Value> =
        headers.keys().map(|name| (name.to_string(), text(headers, name.as_str()).into())).collect();
    all.insert("x-forwarded-for".into(), arrival.source_ip.clone().into());
    all.insert("x-forwarded-proto".into(), "https".into());
    all.insert("x-forwarded-port".into(), "443".into());
    all.into()
}

fn text(headers: &HeaderMap, name: &str) -> Option<String> {
    let mut values = headers.get_all(name).iter().map(|value| String::from_utf8_lossy(value.as_bytes()));
    let first = values.next()?.into_owned();
    Some(values.fold(first, |all, value| all + "," + &value))
}

/// Decoded, repeated ones joined by commas. `lambda_http` reads `rawQueryString` instead.
fn query_parameters(query: &str) -> Value {
    let mut parameters: Map<String, Value> = Map::new();
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let (name, value) = (percent_decoded(name), percent_decoded(value));
        match parameters.get_mut(&name) {
            Some(Value::String(all)) => *all = format!("{all},{value}"),
            _ => drop(parameters.insert(name, value.into())),
        }
    }
    parameters.into()
}

fn percent_decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let hex = (bytes[at] == b'%').then(|| text.get(at + 1..at + 3)).flatten();
        match hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) => {
                decoded.push(byte);
                at += 3;
            }
            None => {
                decoded.push(if bytes[at] == b'+' { b' ' } else { bytes[at] });
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&decoded).into_owned()
}

/// JSON and text travel as they are, everything else in base64.
fn body(headers: &HeaderMap, body: &Bytes) -> (String, bool) {
    let content_type = text(headers, header::CONTENT_TYPE.as_str()).unwrap_or_default();
    let plain = content_type.starts_with("application/json") || content_type.starts_with("text/");
    match std::str::from_utf8(body) {
        Ok(text) if plain => (text.to_owned(), false),
        _ => (BASE64_STANDARD.encode(body), true),
    }
}

/// As in `12/Mar/2020:19:03:58 +0000`.
fn common_log_time(at: OffsetDateTime) -> String {
    let month = at.month().to_string();
    let (hour, minute, second) = at.to_hms();
    format!("{:02}/{:.3}/{}:{hour:02}:{minute:02}:{second:02} +0000", at.day(), month, at.year())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_becomes_the_event_of_the_documentation() {
        let mut headers = HeaderMap::new();
        for (name, value) in [
            ("host", "abc.lambda-url.us-east-1.on.aws"),
            ("cookie", "a=1; b=2"),
            ("x-twice", "1"),
            ("user-agent", "agent"),
        ] {
            headers.append(name, value.parse().unwrap());
        }
        headers.append("x-twice", "2".parse().unwrap());
        let request = Request {
            method: &Method::POST,
            uri: &"/my/p%20th?a=1&a=%C3%A4&b=x+y&c".parse().unwrap(),
            version: Version::HTTP_11,
            headers: &headers,
            body: &Bytes::from_static(&[0xff, 0x00]),
        };
        let arrival = Arrival {
            request_id: "id".into(),
            source_ip: "127.0.0.1".into(),
            at: OffsetDateTime::from_unix_timestamp(1_583_348_638).unwrap(),
        };
        let expected = json!({
            "version": "2.0",
            "routeKey": "$default",
            "rawPath": "/my/p%20th",
            "rawQueryString": "a=1&a=%C3%A4&b=x+y&c",
            "cookies": ["a=1", "b=2"],
            "headers": {
                "host": "abc.lambda-url.us-east-1.on.aws",
                "cookie": "a=1; b=2",
                "x-twice": "1,2",
                "user-agent": "agent",
                "x-forwarded-for": "127.0.0.1",
                "x-forwarded-proto": "https",
                "x-forwarded-port": "443",
            },
            "queryStringParameters": {"a": "1,ä", "b": "x y", "c": ""},
            "requestContext": {
                "accountId": "anonymous",
                "apiId": "abc",
                "domainName": "abc.lambda-url.us-east-1.on.aws",
                "domainPrefix": "abc",
                "http": {
                    "method": "POST",
                    "path": "/my/p%20th",
                    "protocol": "HTTP/1.1",
                    "sourceIp": "127.0.0.1",
                    "userAgent": "agent",
                },
                "requestId": "id",
                "routeKey": "$default",
                "stage": "$default",
                "time": "04/Mar/2020:19:03:58 +0000",
                "timeEpoch": 1_583_348_638_000_u64,
            },
            "body": "/wA=",
            "isBase64Encoded": true,
        });
        assert_eq!(event(&request, &arrival), expected);
    }
}
