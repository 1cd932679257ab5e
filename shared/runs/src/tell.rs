//! What the log says of a run's end, in one line.

use tandem_protocol::{EndReason, Run, Transcript, Usage};

/// Says how a run ended: a warning where an operator has to look. `answer`: what its message says now.
pub(crate) fn tell_end(run: &Run, answer: &Transcript) {
    let Usage { input_tokens, output_tokens, .. } = usage(answer);
    let duration_ms = run.ended_at.unwrap_or(run.created_at) - run.created_at;
    let (status, reason) = (run.status.as_str(), run.end_reason.map(EndReason::code));
    let fault = run.end_reason.is_some_and(EndReason::is_fault);
    // The level of a line is fixed where it is written.
    macro_rules! ended {
        ($line:ident) => {
            tracing::$line!(
                run = %run.run_id, status, reason, fault, attempts = run.attempt, duration_ms, input_tokens,
                output_tokens, "ended"
            )
        };
    }
    match fault {
        true => ended!(warn),
        false => ended!(info),
    }
}

/// The tokens of a message, as its steps have summed them up.
fn usage(answer: &Transcript) -> Usage {
    let usage = answer.metadata.as_ref().and_then(|metadata| metadata.get("usage"));
    usage.and_then(|usage| serde_json::from_value(usage.clone()).ok()).unwrap_or_default()
}
