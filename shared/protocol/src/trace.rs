//! Traces: what one request set going, in every process that has a part in it (W3C Trace Context).

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

/// Digits of a trace id, and of the span that the header names beside it.
const TRACE: usize = 32;
const SPAN: usize = 16;

/// Names a trace: 32 lower-case hexadecimal digits, not all of them zero. It is in log lines and says nothing about who
/// may do what.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(transparent)]
#[schemars(extend("pattern" = "^[0-9a-f]{32}$"))]
pub struct TraceId(String);

/// What was to be a [`TraceId`] is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a trace id has 32 lower-case hexadecimal digits, not all of them zero")]
pub struct NoTraceId;

impl TraceId {
    pub fn new(text: impl Into<String>) -> Result<Self, NoTraceId> {
        let text = text.into();
        if is_id(&text, TRACE) { Ok(TraceId(text)) } else { Err(NoTraceId) }
    }

    /// The trace that a `traceparent` header names, `00-<trace>-<span>-<flags>`; `None` where it cannot be read: then a
    /// new trace begins. Later versions may have more fields after these.
    pub fn of_traceparent(header: &str) -> Option<Self> {
        let mut fields = header.split('-');
        let (version, trace, span, flags) = (fields.next()?, fields.next()?, fields.next()?, fields.next()?);
        let of_version_0 = version != "00" || fields.next().is_none();
        let fits = is_hex(version, 2) && version != "ff" && is_id(span, SPAN) && is_hex(flags, 2) && of_version_0;
        Self::new(trace).ok().filter(|_| fits)
    }

    /// The caller's span in that header, where it can be read.
    pub fn span_of_traceparent(header: &str) -> Option<&str> {
        Self::of_traceparent(header).and_then(|_| header.split('-').nth(2))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn is_id(text: &str, digits: usize) -> bool {
    is_hex(text, digits) && text.bytes().any(|digit| digit != b'0')
}

fn is_hex(text: &str, digits: usize) -> bool {
    text.len() == digits && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

impl<'de> Deserialize<'de> for TraceId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::new(String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

impl fmt::Display for TraceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for TraceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_traceparent_names_its_trace_or_is_none() {
        let trace = "4bf92f3577b34da6a3ce929d0e0e4736";
        let good = format!("00-{trace}-00f067aa0ba902b7-01");
        let named = |header: &str| TraceId::of_traceparent(header).map(|id| id.to_string());
        for header in [good.as_str(), &good.replace("-01", "-00"), &format!("{good}-later").replacen("00", "01", 1)] {
            assert_eq!(named(header).as_deref(), Some(trace), "{header}");
            assert_eq!(TraceId::span_of_traceparent(header), Some("00f067aa0ba902b7"), "{header}");
        }
        for header in [
            "",
            "00",
            trace,
            &good[..54],
            &format!("{good}-later"),
            &good.to_uppercase(),
            &good.replacen("00", "ff", 1),
            &good.replacen("00", "0g", 1),
            &good.replace(trace, &"0".repeat(32)),
            &good.replace("00f067aa0ba902b7", &"0".repeat(16)),
            &good.replace("4bf9", "4bf\""),
            &good.replace("4bf9", "ü99"),
            &format!(" {good}"),
        ] {
            assert_eq!(named(header), None, "{header}");
        }
    }
}
