//! What actions must have done, exactly, however often they were begun.

use serde_json::Value;
use tandem_protocol::CallState;

use crate::checks::Findings;
use crate::evidence::Evidence;

/// One thing that must be true after a turn.
#[derive(Debug)]
pub(crate) enum Effect {
    /// So many documents of the inbox begin with this key, and the feed tells so many changes of them.
    Changed { prefix: &'static str, documents: usize, changes: usize },
    /// The output of the call (from 0) holds this JSON at this place (a JSON pointer).
    Shown { call: usize, at: &'static str, value: &'static str },
    /// So many emails were imported: each is there, was written once, and the outcome names the first and the last.
    Imported { count: u64 },
}

impl Effect {
    /// After a turn that came to its end.
    pub(crate) fn check(&self, evidence: &Evidence, findings: &mut Findings) {
        match self {
            Effect::Changed { prefix, documents, changes } => {
                findings.same(
                    "documents of an effect",
                    (prefix, changed(evidence, prefix)),
                    (prefix, (*documents, *changes)),
                );
            }
            Effect::Shown { call, at, value } => {
                let found = output(evidence, *call).pointer(at).cloned().unwrap_or_default();
                findings.same("output shown", (call, at, found.to_string()), (call, at, value.to_string()));
            }
            Effect::Imported { count } => {
                let output = output(evidence, 0);
                let number = |at: &str| output[at].as_str()?.strip_prefix("e-")?.parse::<u64>().ok();
                let (first, last) = (number("firstId").unwrap_or(0), number("lastId").unwrap_or(0));
                let told = (output["imported"].as_u64(), last + 1 - first.min(last));
                findings.same("emails that the import names", told, (Some(*count), *count));
                let named: Vec<String> = (first..=last).map(email).collect();
                let is_new = |key: &&str| key.starts_with("emails/") && **key >= *email(first);
                let there: Vec<&str> = evidence.inbox.documents.keys().map(String::as_str).filter(is_new).collect();
                findings.must(there == named, || format!("{} emails are there, named are {count}", there.len()));
                let mut written: Vec<&str> = evidence.inbox.changes().map(|(key, ..)| key).filter(is_new).collect();
                written.sort_unstable();
                findings.must(written == named, || format!("emails were written {} times", written.len()));
            }
        }
    }

    /// After a turn that was given up: as far as it came, and no further.
    pub(crate) fn check_at_most(&self, evidence: &Evidence, findings: &mut Findings) {
        match self {
            Effect::Changed { prefix, documents, changes } => {
                let found = changed(evidence, prefix);
                let most = (*documents, *changes);
                let within = found.0 <= most.0 && found.1 <= most.1;
                findings.must(within, || format!("documents of an effect: {prefix} {found:?}, at most {most:?}"));
            }
            Effect::Shown { .. } => {}
            Effect::Imported { .. } => {
                let mut written: Vec<&str> = evidence.inbox.changes().map(|(key, ..)| key).collect();
                written.retain(|key| key.starts_with("emails/"));
                let all = written.len();
                written.sort_unstable();
                written.dedup();
                findings.same("emails that were written once", written.len(), all);
            }
        }
    }
}

/// Documents whose keys begin so, and changes of them that the feed tells.
fn changed(evidence: &Evidence, prefix: &str) -> (usize, usize) {
    let documents = evidence.inbox.documents.keys().filter(|key| key.starts_with(prefix)).count();
    let changes = evidence.inbox.changes().filter(|(key, ..)| key.starts_with(prefix)).count();
    (documents, changes)
}

fn email(n: u64) -> String {
    format!("emails/{n:08}")
}

/// The output of the call, from 0.
fn output(evidence: &Evidence, call: usize) -> Value {
    match evidence.transcript().calls().nth(call).map(|call| &call.state) {
        Some(CallState::Done(output)) => output.clone(),
        _ => Value::Null,
    }
}
