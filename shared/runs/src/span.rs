//! Spans: what the log lines about a run have in common, in whichever process they are written.

use tandem_protocol::{Run, ThreadId, TraceId};
use tracing::Span;

/// What a process does for a run.
pub(crate) fn span_of(run: &Run) -> Span {
    tracing::info_span!("run", run = %run.run_id, trace_id = run.trace.as_ref().map(TraceId::as_str))
}

/// What the process that has just started a run does for it.
pub(crate) fn attend_span(run: &Run) -> Span {
    tracing::info_span!("attend", run = %run.run_id, trace_id = run.trace.as_ref().map(TraceId::as_str))
}

/// One dispatch.
pub(crate) fn dispatch_span(run: &Run) -> Span {
    tracing::info_span!("dispatch", run = %run.run_id, trace_id = run.trace.as_ref().map(TraceId::as_str))
}

/// An attempt at a run, by the names that OpenTelemetry has for generative AI.
pub(crate) fn attempt_span(run: &Run) -> Span {
    tracing::info_span!(
        "attempt",
        run = %run.run_id,
        attempt = run.attempt,
        trace_id = run.trace.as_ref().map(TraceId::as_str),
        gen_ai.operation.name = "invoke_agent",
        gen_ai.agent.name = "tandem",
        gen_ai.conversation.id = run.thread_id.as_ref().map(ThreadId::as_str),
    )
}
