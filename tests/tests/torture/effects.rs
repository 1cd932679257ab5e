//! What actions must have done, exactly, however often they were begun.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use tandem_protocol::{CallState, Transcript};

use crate::checks::{EXTERNAL, Findings};
use crate::elsewhere::Elsewhere;
use crate::evidence::{Evidence, Stored};

/// One thing that must be true after a turn.
#[derive(Debug)]
pub(crate) enum Effect {
    /// So many documents of the inbox begin with this key, and the feed tells so many changes of them.
    Changed { prefix: &'static str, documents: usize, changes: usize },
    /// So many documents of the inbox begin with this key as calls of this action are told to be done.
    AsTold { action: &'static str, prefix: &'static str },
    /// The output of the `nth` call of this action, from 0, holds this JSON at this place (a JSON pointer).
    Shown { action: &'static str, nth: usize, at: &'static str, value: &'static str },
    /// The keyed call: the webhook saw one key only, and counted it once.
    Notified,
    /// The external call: it happened once; or at most once, and the outcome says that nobody knows.
    Sent,
    /// So many emails were imported: each is there, was written once, and the outcome names the first and the last.
    Imported { count: u64 },
}

impl Effect {
    /// After a turn that came to its end.
    pub(crate) fn check(&self, evidence: &Evidence, elsewhere: &Elsewhere, findings: &mut Findings) {
        match self {
            Effect::Changed { prefix, documents, changes } => {
                findings.same(
                    "documents of an effect",
                    (prefix, changed(evidence, prefix)),
                    (prefix, (*documents, *changes)),
                );
            }
            Effect::AsTold { action, prefix } => as_told(evidence, action, prefix, findings),
            Effect::Shown { action, nth, at, value } => {
                let found = output(evidence, action, *nth).pointer(at).cloned().unwrap_or_default();
                findings.same("output shown", (action, at, found.to_string()), (action, at, value.to_string()));
            }
            Effect::Notified => {
                let (keys, counted) = (elsewhere.keys(), elsewhere.counted());
                findings.must(keys.len() == 1 && counted == 1, || {
                    format!("the webhook saw the keys {keys:?} and counted {counted}, should be one and 1")
                });
                findings.same(
                    "what the webhook answered",
                    &output(evidence, "notify-webhook", 0)["status"],
                    &json!(200),
                );
            }
            Effect::Sent => {
                let (mails, (_, outcome)) = (elsewhere.mails, evidence.call(EXTERNAL, 0));
                let fits = if outcome == "unknown" { mails <= 1 } else { mails == 1 };
                findings.must(fits, || format!("{mails} mails were sent, and the outcome is {outcome:?}"));
            }
            Effect::Imported { count } => {
                let output = output(evidence, "import-emails", 0);
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

    /// After a turn that was given up or cut short: as far as it came, and no further.
    pub(crate) fn check_at_most(&self, evidence: &Evidence, elsewhere: &Elsewhere, findings: &mut Findings) {
        match self {
            // What is told to be done is done.
            Effect::Notified if evidence.call("notify-webhook", 0).1 == "done" => {
                self.check(evidence, elsewhere, findings);
            }
            Effect::Imported { .. } if evidence.call("import-emails", 0).1 == "done" => {
                self.check(evidence, elsewhere, findings);
            }
            Effect::Changed { prefix, documents, changes } => {
                let found = changed(evidence, prefix);
                let most = (*documents, *changes);
                let within = found.0 <= most.0 && found.1 <= most.1;
                findings.must(within, || format!("documents of an effect: {prefix} {found:?}, at most {most:?}"));
            }
            Effect::AsTold { action, prefix } => as_told(evidence, action, prefix, findings),
            Effect::Shown { .. } => {}
            Effect::Notified => {
                let (keys, counted) = (elsewhere.keys(), elsewhere.counted());
                let within = keys.len() <= 1 && counted <= 1;
                findings.must(within, || format!("the webhook saw the keys {keys:?} and counted {counted}"));
            }
            Effect::Sent => {
                findings.must(elsewhere.mails <= 1, || format!("{} mails were sent", elsewhere.mails));
            }
            Effect::Imported { .. } => {
                // The first change wrote the samples, which others change too.
                let samples: BTreeSet<&str> =
                    evidence.inbox.changes().filter(|(_, pos, _)| *pos == 1).map(|(key, ..)| key).collect();
                let mut written: Vec<&str> = evidence.inbox.changes().map(|(key, ..)| key).collect();
                written.retain(|key| key.starts_with("emails/") && !samples.contains(key));
                written.sort_unstable();
                let twice: Vec<_> = written.windows(2).filter(|pair| pair[0] == pair[1]).collect();
                findings.same("emails that were written twice", twice, Vec::new());
            }
        }
    }
}

/// What is done is told, and what is told is done.
fn as_told(evidence: &Evidence, action: &str, prefix: &str, findings: &mut Findings) {
    let transcripts: Vec<_> = evidence.runs.iter().map(Stored::transcript).collect();
    let calls = transcripts.iter().flat_map(Transcript::calls).filter(|call| call.name == action);
    let done = calls.filter(|call| matches!(call.state, CallState::Done(_))).count();
    findings.same("documents of calls that are done", (prefix, changed(evidence, prefix)), (prefix, (done, done)));
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

/// The output of the `nth` call of an action, from 0.
fn output(evidence: &Evidence, action: &str, nth: usize) -> Value {
    match evidence.call(action, nth).0 {
        Some(CallState::Done(output)) => output,
        _ => Value::Null,
    }
}
