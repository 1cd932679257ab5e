//! OTLP's JSON: what a collector takes at `/v1/traces`.

use serde_json::{Map, Value, json};

use super::Open;

/// The span that has closed now.
pub(super) fn span(name: &str, open: &Open, ended: u64) -> Value {
    let mut span = json!({
        "traceId": open.trace,
        "spanId": open.id,
        "name": title(name, &open.fields),
        "kind": kind(name),
        "startTimeUnixNano": open.began.to_string(),
        "endTimeUnixNano": ended.to_string(),
        "attributes": open.fields.iter().filter_map(|(name, value)| attribute(name, value)).collect::<Vec<_>>(),
    });
    if let Some(parent) = &open.parent {
        span["parentSpanId"] = parent.as_str().into();
    }
    span
}

/// The request that brings spans of one process. `resource`: what that process is.
pub(super) fn request(resource: &[(String, String)], spans: Vec<Value>) -> Value {
    let resource: Vec<_> = resource.iter().map(|(name, value)| pair(name, json!({"stringValue": value}))).collect();
    json!({
        "resourceSpans": [{
            "resource": {"attributes": resource},
            "scopeSpans": [{"scope": {"name": "tandem", "version": env!("CARGO_PKG_VERSION")}, "spans": spans}],
        }]
    })
}

/// As the conventions for generative AI have it: the operation, and on what.
fn title(name: &str, fields: &Map<String, Value>) -> String {
    let text = |name: &str| fields.get(name).and_then(Value::as_str);
    let on = ["gen_ai.tool.name", "gen_ai.request.model", "gen_ai.agent.name"].into_iter().find_map(text);
    match (text("gen_ai.operation.name"), on) {
        (Some(operation), Some(on)) => format!("{operation} {on}"),
        _ => name.to_owned(),
    }
}

/// OTLP's numbers: internal, server, client, producer.
fn kind(name: &str) -> u8 {
    match name {
        "request" => 2,
        "chat" => 3,
        "dispatch" => 4,
        _ => 1,
    }
}

/// What may leave the process: names, numbers and ids. A path may have somebody's words in it.
fn attribute(name: &str, value: &Value) -> Option<Value> {
    let key = match name {
        "run" => "tandem.run.id",
        "attempt" => "tandem.run.attempt",
        "method" => "http.request.method",
        _ if name.starts_with("gen_ai.") => name,
        _ => return None,
    };
    let value = match value {
        // A list in the log lines' words.
        Value::String(text) if name == "gen_ai.response.finish_reasons" => {
            let reasons = text.trim_matches(['[', ']']).split(", ").map(|one| one.trim_matches('"'));
            json!({"arrayValue": {"values": reasons.map(|one| json!({"stringValue": one})).collect::<Vec<_>>()}})
        }
        Value::String(text) => json!({"stringValue": text}),
        Value::Number(number) => json!({"intValue": number.to_string()}),
        Value::Bool(is) => json!({"boolValue": is}),
        _ => return None,
    };
    Some(pair(key, value))
}

fn pair(key: &str, value: Value) -> Value {
    json!({"key": key, "value": value})
}
