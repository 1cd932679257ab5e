//! Spans as a trace of OpenTelemetry, for a collector: docs/decisions/0013 says why without its crates.
//!
//! A trace's id is a field of the outermost spans (`trace_id`), as it comes from the request and stands with the run. The
//! span that attends to a run in the process that started it has an id made from the run's, so that whoever drives the run
//! in another process can name its parent without being told.

mod exporter;
mod otlp;

pub(crate) use exporter::{export_for_ever, exporter_from_env};
pub use exporter::{flush_traces, has_traces};

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Map, Value};
use tracing::span::{Attributes, Id, Record};
use tracing::{Subscriber, field};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::{LookupSpan, SpanRef};

use crate::said::Said;
use exporter::Exporter;

/// The span whose id is made from its run's.
const ATTEND: &str = "attend";

/// Digits of a span's id.
const DIGITS: usize = 16;

/// Hands spans over as they close.
pub(crate) struct Traces(pub(crate) Arc<Exporter>);

/// A span that has not closed yet, with what it says.
struct Open {
    trace: String,
    id: String,
    parent: Option<String>,
    began: u64,
    fields: Map<String, Value>,
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Traces {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        let mut fields = fields_of(|said| attributes.record(said));
        if let Some(open) = Open::new(span.name(), &mut fields, around(&span)) {
            span.extensions_mut().insert(Open { fields, ..open });
        }
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        if let Some(open) = span.extensions_mut().get_mut::<Open>() {
            open.fields.extend(fields_of(|said| values.record(said)));
        }
    }

    fn on_close(&self, id: Id, context: Context<'_, S>) {
        let Some(span) = context.span(&id) else { return };
        let closed = span.extensions_mut().remove::<Open>();
        if let Some(open) = closed {
            self.0.keep(otlp::span(span.name(), &open, now()));
        }
    }
}

impl Open {
    /// `around`: trace and id of the nearest span around it. `None` where it belongs to no trace.
    fn new(name: &str, fields: &mut Map<String, Value>, around: Option<(String, String)>) -> Option<Self> {
        let mut text = |name: &str| fields.remove(name).and_then(|value| value.as_str().map(str::to_owned));
        let (own, caller) = (text("trace_id"), text("parent_span_id"));
        let of_run = fields.get("run").and_then(Value::as_str).and_then(id_of_run);
        let (trace, parent) = match (own, around) {
            (Some(own), Some((trace, id))) if own == trace => (trace, Some(id)),
            // The request of somebody who follows a run is another trace than the run's.
            (Some(own), _) => (own, caller.or_else(|| of_run.clone())),
            (None, Some((trace, id))) => (trace, Some(id)),
            (None, None) => return None,
        };
        let id = of_run.filter(|_| name == ATTEND).unwrap_or_else(new_id);
        let parent = parent.filter(|parent| *parent != id);
        Some(Open { trace, id, parent, began: now(), fields: Map::new() })
    }
}

/// Trace and id of the nearest span around one.
fn around<'a, S: LookupSpan<'a>>(span: &SpanRef<'a, S>) -> Option<(String, String)> {
    span.scope().skip(1).find_map(|span| {
        let extensions = span.extensions();
        extensions.get::<Open>().map(|open| (open.trace.clone(), open.id.clone()))
    })
}

fn fields_of(record: impl FnOnce(&mut dyn field::Visit)) -> Map<String, Value> {
    let mut said = Said::default();
    record(&mut said);
    said.fields
}

/// The last digits of a run's id, which are random, where they are digits.
fn id_of_run(run: &str) -> Option<String> {
    let digits = run.get(run.len().checked_sub(DIGITS)?..)?;
    let fits = digits.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f')) && digits.contains(|c| c != '0');
    fits.then(|| digits.to_owned())
}

fn new_id() -> String {
    let id = tandem_store::new_id();
    id[id.len() - DIGITS..].to_owned()
}

/// Nanoseconds since 1970.
fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use tracing_subscriber::layer::SubscriberExt;

    use super::*;

    const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
    const RUN: &str = "run_01a22d3cf2d270c9b27f51f8e697e19b";

    /// The spans that come of what `say` says, in the order in which they closed.
    fn closed(say: impl FnOnce()) -> Vec<Value> {
        let exporter = Arc::new(Exporter::new("http://127.0.0.1:1", "test", Vec::new()));
        tracing::subscriber::with_default(tracing_subscriber::registry().with(Traces(Arc::clone(&exporter))), say);
        exporter.take()
    }

    fn attend() -> tracing::Span {
        tracing::info_span!("attend", run = RUN, trace_id = TRACE)
    }

    #[test]
    fn whoever_drives_a_run_elsewhere_is_a_child_of_who_started_it() {
        let here = closed(|| {
            let request = tracing::info_span!("request", trace_id = TRACE, parent_span_id = "00f067aa0ba902b7");
            request.in_scope(|| attend().in_scope(|| tracing::info_span!("dispatch", run = RUN).in_scope(|| ())));
        });
        let [dispatch, attend, request] = &here[..] else { panic!("{here:?}") };
        assert_eq!(request["parentSpanId"], "00f067aa0ba902b7");
        assert_eq!((&attend["parentSpanId"], &attend["spanId"]), (&request["spanId"], &"b27f51f8e697e19b".into()));
        assert_eq!(dispatch["parentSpanId"], attend["spanId"]);

        let there = closed(|| {
            // The request that brings the dispatch, or that follows the run, has a trace of its own.
            let other = tracing::info_span!("request", trace_id = &TRACE.replace('4', "5"));
            let run = other.in_scope(|| tracing::info_span!("run", run = RUN, trace_id = TRACE));
            run.in_scope(|| tracing::info_span!("attempt", run = RUN, trace_id = TRACE).in_scope(|| ()));
        });
        let [attempt, run, other] = &there[..] else { panic!("{there:?}") };
        assert_eq!((&run["parentSpanId"], &run["traceId"]), (&attend["spanId"], &TRACE.into()));
        assert_eq!((&attempt["parentSpanId"], &attempt["traceId"]), (&run["spanId"], &TRACE.into()));
        assert_eq!((other.get("parentSpanId"), other["traceId"] == TRACE), (None, false));
    }

    #[test]
    fn what_belongs_to_no_trace_is_not_told() {
        assert_eq!(closed(|| tracing::info_span!("sweep").in_scope(|| ())), Vec::<Value>::new());
    }

    #[test]
    fn only_names_numbers_and_ids_leave_the_process() {
        let spans = closed(|| {
            let path = "/state/user/docs/letters%2Fdear-diary";
            let request = tracing::info_span!("request", trace_id = TRACE, method = "GET", path);
            let chat = request.in_scope(|| {
                let usage = field::Empty;
                tracing::info_span!(
                    "chat",
                    gen_ai.operation.name = "chat",
                    gen_ai.request.model = "m-1",
                    gen_ai.response.finish_reasons = usage,
                    gen_ai.usage.input_tokens = usage,
                    prompt = "Dear diary"
                )
            });
            chat.record("gen_ai.usage.input_tokens", 7);
            chat.record("gen_ai.response.finish_reasons", field::debug(["ToolCalls"]));
        });
        let text = serde_json::to_string(&spans).unwrap();
        assert!(!text.to_lowercase().contains("diary"), "{text}");
        let [chat, request] = &spans[..] else { panic!("{spans:?}") };
        assert_eq!((&chat["name"], &chat["kind"], &request["kind"]), (&"chat m-1".into(), &3.into(), &2.into()));
        assert!(text.contains(r#"{"key":"gen_ai.usage.input_tokens","value":{"intValue":"7"}}"#), "{text}");
        let reasons = r#"{"key":"gen_ai.response.finish_reasons","value":{"arrayValue":{"values":[{"stringValue":"ToolCalls"}]}}}"#;
        assert!(text.contains(reasons), "{text}");
        assert!(text.contains(r#"{"key":"http.request.method","value":{"stringValue":"GET"}}"#), "{text}");
    }
}
