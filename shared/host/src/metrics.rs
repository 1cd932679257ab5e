//! Metrics in CloudWatch's embedded format: lines of JSON that CloudWatch Logs makes metrics of.
//!
//! They are made of the lines that say what happened, by the table below; nothing is measured for them alone.

use std::io::Write;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Map, Value, json};
use tracing::{Event, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::Context;

use crate::said::Said;

/// What a line is counted and measured as.
struct Line {
    says: &'static str,
    /// The metric that counts such lines; none where one that is measured counts them too.
    counts: Option<&'static str>,
    /// A dimension that the count is also kept by, and the field that has its value.
    by: Option<(&'static str, &'static str)>,
    /// Metrics that are fields: name, unit, field. Those that a line does not have are left out.
    measures: &'static [(&'static str, &'static str, &'static str)],
}

const COUNT: &str = "Count";
const MILLISECONDS: &str = "Milliseconds";

/// docs/operate.md explains them.
const LINES: &[Line] = &[
    Line {
        says: "ended",
        counts: Some("EndedRuns"),
        by: Some(("Reason", "reason")),
        measures: &[
            ("FailedRuns", COUNT, "fault"),
            ("Attempts", COUNT, "attempts"),
            ("RunDuration", MILLISECONDS, "duration_ms"),
        ],
    },
    Line { says: "claimed", counts: None, by: None, measures: &[("ClaimLatency", MILLISECONDS, "waited_ms")] },
    Line { says: "nobody holds the run; dispatching again", counts: Some("RecoveredRuns"), by: None, measures: &[] },
    Line { says: "first chunk", counts: None, by: None, measures: &[("TimeToFirstChunk", MILLISECONDS, "waited_ms")] },
    Line {
        says: "the model answered",
        counts: None,
        by: None,
        measures: &[
            ("InputTokens", COUNT, "input_tokens"),
            ("OutputTokens", COUNT, "output_tokens"),
            ("TimeToFirstToken", MILLISECONDS, "first_ms"),
        ],
    },
    Line { says: "the model failed", counts: Some("ModelFailures"), by: None, measures: &[] },
    Line { says: "dispatch failed", counts: Some("FailedDispatches"), by: None, measures: &[] },
    Line { says: "dispatch refused", counts: Some("RefusedDispatches"), by: None, measures: &[] },
    Line { says: "dispatch given up", counts: Some("GivenUpDispatches"), by: None, measures: &[] },
    Line { says: "sign-ins refused", counts: None, by: None, measures: &[("RefusedSignIns", COUNT, "count")] },
    Line { says: "requests throttled", counts: None, by: None, measures: &[("ThrottledRequests", COUNT, "count")] },
    Line {
        says: "swept",
        counts: Some("Sweeps"),
        by: None,
        measures: &[("DueRuns", COUNT, "due"), ("SweepFaults", COUNT, "failed")],
    },
];

/// Writes a line of metrics after each line of the table.
pub(crate) struct Metrics<W> {
    namespace: String,
    writer: W,
}

impl<W> Metrics<W> {
    /// `namespace`: CloudWatch's, such as `Tandem/prod`.
    pub(crate) fn new(namespace: String, writer: W) -> Self {
        Metrics { namespace, writer }
    }
}

impl<S: Subscriber, W: for<'a> MakeWriter<'a> + 'static> Layer<S> for Metrics<W> {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let mut said = Said::default();
        event.record(&mut said);
        let line = LINES.iter().find(|line| said.message == line.says);
        if let Some(metrics) = line.and_then(|line| line.embedded(&self.namespace, &said.fields, now_ms())) {
            let mut text = metrics.to_string();
            text.push('\n');
            // A log that cannot be written has nobody to be told.
            let _ = self.writer.make_writer().write_all(text.as_bytes());
        }
    }
}

impl Line {
    /// The document that CloudWatch Logs reads, or nothing where nothing was measured. It also has the run, so that a
    /// value can be followed to it.
    fn embedded(&self, namespace: &str, fields: &Map<String, Value>, now_ms: u64) -> Option<Value> {
        let count = self.counts.map(|name| (name, COUNT, Value::from(1)));
        let measured =
            self.measures.iter().filter_map(|(name, unit, field)| Some((*name, *unit, amount(fields.get(*field)?)?)));
        let all: Vec<_> = count.into_iter().chain(measured).collect();
        if all.is_empty() {
            return None;
        }
        let metric = |name: &str, unit: &str| json!({"Name": name, "Unit": unit});
        let directive = |dimensions: Value, metrics: Vec<Value>| json!({"Namespace": namespace, "Dimensions": [dimensions], "Metrics": metrics});
        let mut directives = vec![directive(json!([]), all.iter().map(|(name, unit, _)| metric(name, unit)).collect())];
        let by = self.by.and_then(|(dimension, field)| Some((dimension, fields.get(field)?)));
        if let (Some((dimension, _)), Some(count)) = (by, self.counts) {
            directives.push(directive(json!([dimension]), vec![metric(count, COUNT)]));
        }
        let mut root = Map::new();
        root.insert("_aws".into(), json!({"Timestamp": now_ms, "CloudWatchMetrics": directives}));
        root.extend(all.into_iter().map(|(name, _, amount)| (name.to_owned(), amount)));
        root.extend(by.map(|(dimension, value)| (dimension.to_owned(), value.clone())));
        root.extend(fields.get("run").map(|run| ("run".to_owned(), run.clone())));
        Some(Value::Object(root))
    }
}

/// A field as a number: what is true counts as one.
fn amount(field: &Value) -> Option<Value> {
    match field {
        Value::Number(number) => Some(number.clone().into()),
        Value::Bool(is) => Some(u8::from(*is).into()),
        _ => None,
    }
}

fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use tracing_subscriber::layer::SubscriberExt;

    use super::*;

    /// Where lines are kept.
    #[derive(Clone, Default)]
    struct Kept(Arc<Mutex<Vec<u8>>>);

    impl Write for Kept {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    /// The lines of metrics that come of what `say` says.
    fn written(say: impl FnOnce()) -> Vec<Value> {
        let kept = Kept::default();
        let writer = kept.clone();
        let layer = Metrics::new("Tandem/test".into(), move || writer.clone());
        tracing::subscriber::with_default(tracing_subscriber::registry().with(layer), say);
        let text = String::from_utf8(kept.0.lock().unwrap().clone()).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    #[test]
    fn the_end_of_a_run_has_the_shape_that_cloudwatch_reads() {
        let mut lines = written(|| {
            let (reason, input_tokens) = (Some("never_claimed"), 3_u64);
            tracing::warn!(
                run = %"run_1", status = "failed", reason, fault = true, attempts = 0, duration_ms = 17_i64, input_tokens,
                "ended"
            );
        });
        let [line] = &mut lines[..] else { panic!("{lines:?}") };
        assert!(line["_aws"]["Timestamp"].take().as_u64().is_some_and(|ms| ms > 1_700_000_000_000));
        let want = json!({
            "_aws": {
                "Timestamp": null,
                "CloudWatchMetrics": [
                    {
                        "Namespace": "Tandem/test",
                        "Dimensions": [[]],
                        "Metrics": [
                            {"Name": "EndedRuns", "Unit": "Count"},
                            {"Name": "FailedRuns", "Unit": "Count"},
                            {"Name": "Attempts", "Unit": "Count"},
                            {"Name": "RunDuration", "Unit": "Milliseconds"},
                        ],
                    },
                    {
                        "Namespace": "Tandem/test",
                        "Dimensions": [["Reason"]],
                        "Metrics": [{"Name": "EndedRuns", "Unit": "Count"}],
                    },
                ],
            },
            "EndedRuns": 1,
            "FailedRuns": 1,
            "Attempts": 0,
            "RunDuration": 17,
            "Reason": "never_claimed",
            "run": "run_1",
        });
        // As text: the order of the members is part of what people read.
        assert_eq!(line.to_string(), want.to_string());
    }

    #[test]
    fn what_a_line_does_not_tell_is_left_out() {
        let lines = written(|| {
            tracing::info!(run = %"run_1", attempt = 2, waited_ms = Option::<i64>::None, "claimed");
            tracing::info!(run = %"run_1", "some other line");
            tracing::info!(input_tokens = 5_u64, "the model answered");
        });
        let [line] = &lines[..] else { panic!("{lines:?}") };
        let metrics = json!([{"Name": "InputTokens", "Unit": "Count"}]);
        let directive = json!({"Namespace": "Tandem/test", "Dimensions": [[]], "Metrics": metrics});
        assert_eq!(line["_aws"]["CloudWatchMetrics"], json!([directive]));
        assert_eq!((&line["InputTokens"], line.get("OutputTokens")), (&json!(5), None));
    }
}
