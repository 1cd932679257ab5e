//! What must be true after every turn, whatever was broken.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;

use serde_json::{Value, json};
use tandem_protocol::CallState;
use tandem_tests::Log;

use crate::evidence::{Evidence, Stored};

/// Attempts without progress after which a run is given up. One fault explains one of them.
const FRUITLESS: u64 = 3;

/// The action with an external effect.
pub(crate) const EXTERNAL: &str = "send-email";
/// What the transcript says about a call of which nobody knows whether it happened.
const UNKNOWN: &str = "it may or may not have happened: check before you try again";

/// What a run that ended first says of a call that may have begun, and of one that had not.
const CLOSED: &str = "The run ended while this was under way: it may or may not have happened.";
const NOT_BEGUN: &str = "The run ended before this began. Nothing was run.";

/// What is not as it must be.
#[derive(Debug, Default)]
pub(crate) struct Findings(pub(crate) Vec<String>);

impl Findings {
    pub(crate) fn must(&mut self, holds: bool, what: impl FnOnce() -> String) {
        if !holds {
            self.0.push(what());
        }
    }

    pub(crate) fn same<T: PartialEq + Debug>(&mut self, what: &str, found: T, want: T) {
        self.must(found == want, || format!("{what}: found {found:?}, want {want:?}"));
    }
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    Completed,
    /// A person must agree; the next run of the turn goes on.
    AwaitingApproval,
    /// A person ended it before its time.
    CutShort,
    /// Several attempts in a row got nowhere, more than one fault explains: the machine was too busy.
    GivenUp,
    Otherwise,
}

pub(crate) fn ending(stored: &Stored) -> Ending {
    let run = &stored.run;
    match (run["status"].as_str(), run["endReason"].as_str()) {
        (Some("completed"), Some("completed")) => Ending::Completed,
        (Some("awaiting_approval"), Some("awaiting_approval")) => Ending::AwaitingApproval,
        (Some("aborted"), Some("aborted")) => Ending::CutShort,
        (Some("failed"), Some("no_progress")) if attempts(run) >= FRUITLESS => Ending::GivenUp,
        _ => Ending::Otherwise,
    }
}

/// Whether it ended before its work was done.
pub(crate) fn is_cut_off(stored: &Stored) -> bool {
    matches!(ending(stored), Ending::GivenUp | Ending::CutShort)
}

pub(crate) fn attempts(run: &Value) -> u64 {
    run["attempt"].as_str().and_then(|attempt| attempt.parse().ok()).unwrap_or(0)
}

/// The turn is over, nothing of it waits for anybody, and its thread is free.
pub(crate) fn turn(evidence: &Evidence, findings: &mut Findings) {
    findings.same("the thread's active run", &evidence.thread["active"], &Value::Null);
    let last = evidence.runs.last().map(|run| run.id.as_str());
    findings.must(evidence.turns.iter().any(|run| Some(run.as_str()) == last), || {
        format!("the turns point to the runs {:?}, the last that clients know is {last:?}", evidence.turns)
    });
    for (n, stored) in evidence.runs.iter().enumerate() {
        let is_last = n + 1 == evidence.runs.len();
        let goes_on = ending(stored) == Ending::AwaitingApproval;
        findings.must(goes_on != is_last, || format!("run {n} ended as {:?}, last: {is_last}", ending(stored)));
        ended(stored, findings);
    }
}

/// The run has ended, with a terminal chunk to show for it.
fn ended(evidence: &Stored, findings: &mut Findings) {
    let run = &evidence.run;
    let last = evidence.chunks().last().map(|chunk| serde_json::from_str::<Value>(chunk).unwrap()).unwrap_or_default();
    match ending(evidence) {
        Ending::Completed | Ending::AwaitingApproval => {
            findings.same("the last chunk", &last["type"], &json!("finish"))
        }
        Ending::CutShort => findings.same("the last chunk", &last["type"], &json!("abort")),
        Ending::GivenUp => {
            let text = last["errorText"].as_str().unwrap_or_default();
            findings.must(text.ends_with("[no_progress]"), || format!("the last chunk is {last}"));
        }
        Ending::Otherwise => {
            findings.0.push(format!("the run is {} for the reason {}", run["status"], run["endReason"]));
        }
    }
    findings.same("the time when it is due", &run["due_at"], &Value::Null);
}

/// The log is dense, attempts never go back, nobody writes who has not taken it, and one terminal chunk is the last.
pub(crate) fn log(evidence: &Stored, findings: &mut Findings) {
    let (mut next, mut holder) = (0, 0);
    for frame in &evidence.frames {
        let seen = (frame.first, frame.count, frame.attempt);
        findings.same("the place of a frame", seen, (next, frame.chunks.len() as u64, seen.2));
        next = frame.first + frame.count;
        let ends = frame.chunks.last().is_some_and(|last| ["error", "abort"].contains(&kind(last).as_str()));
        for chunk in &frame.chunks {
            let chunk: Value = serde_json::from_str(chunk).unwrap();
            if chunk["type"] == "data-attempt" {
                let attempt = chunk["data"]["attempt"].as_u64().unwrap();
                findings.must(attempt > holder, || format!("attempt {attempt} took the log after {holder}"));
                holder = attempt;
            }
            // Who ends a run for another does so in the name of an attempt that may never have come to the log.
            let own = frame.attempt == holder || frame.attempt > holder && ends;
            let (at, by) = (frame.first, frame.attempt);
            findings.must(own, || format!("attempt {by} wrote at {at}, when {holder} had the log"));
        }
    }
    let is_terminal = |chunk: &&String| ["finish", "abort", "error"].contains(&kind(chunk).as_str());
    findings.same("terminal chunks", evidence.chunks().filter(is_terminal).count(), 1);
    findings.must(evidence.chunks().last().is_some_and(|chunk| is_terminal(&chunk)), || "the log has no end".into());
    let all = is_cut_off(evidence) || attempts(&evidence.run) == holder;
    findings.must(all, || format!("the run counts {} attempts, the log {holder}", attempts(&evidence.run)));
}

/// Every client has received what is stored, byte for byte.
pub(crate) fn clients(evidence: &Evidence, clients: &[(&str, Vec<Log>)], findings: &mut Findings) {
    for (name, logs) in clients {
        findings.same("the runs that a client followed", (name, logs.len()), (name, evidence.runs.len()));
        evidence.runs.iter().zip(logs).for_each(|(stored, log)| client(stored, name, log, findings));
    }
}

fn client(evidence: &Stored, name: &str, log: &Log, findings: &mut Findings) {
    let stored: Vec<&String> = evidence.chunks().collect();
    let received: Vec<&String> = log.chunks().iter().collect();
    findings.must(received == stored, || {
        let at = received.iter().zip(&stored).take_while(|(received, stored)| received == stored).count();
        let (has, is) = (received.get(at), stored.get(at));
        format!("the {name} client at chunk {at}: received {has:?}, stored {is:?}")
    });
}

/// Actions of the script that change nothing.
const READS: [&str; 2] = ["list-emails", "read-email"];

/// Every call has an intent and then one outcome, and the transcript says what is stored.
pub(crate) fn calls(evidence: &Stored, findings: &mut Findings) {
    let (cut_off, goes_on) = (is_cut_off(evidence), ending(evidence) == Ending::AwaitingApproval);
    let mut shown = BTreeMap::new();
    for call in evidence.transcript().calls() {
        if READS.contains(&call.name.as_str()) && matches!(call.state, CallState::Done(_)) {
            // Its place in the log is its outcome.
            continue;
        }
        let told = match &call.state {
            CallState::Done(output) => ("done".to_owned(), output.to_string()),
            CallState::Failed(text) if text == UNKNOWN => ("unknown".to_owned(), String::new()),
            CallState::Failed(text) if text == CLOSED && cut_off => ("closed".to_owned(), String::new()),
            CallState::Failed(text) if text == NOT_BEGUN && cut_off => continue,
            CallState::Failed(text) => ("failed".to_owned(), text.clone()),
            // Nothing has begun: the run's successor shows the call again.
            open if *open != CallState::Intended && goes_on => continue,
            open => (format!("{open:?}"), String::new()),
        };
        shown.insert(call.id.to_string(), told);
    }
    findings.same("the calls and their outcomes", &shown, &evidence.outcomes);
    let transcript = evidence.transcript();
    let external: BTreeSet<&str> =
        transcript.calls().filter(|call| call.name == EXTERNAL).map(|call| call.id.as_str()).collect();
    // Only who was displaced in the middle of an external call leaves it open whether it happened.
    let may_be_unknown = |id: &str| attempts(&evidence.run) > 1 && external.contains(id);
    let good = |id: &str, kind: &str| match kind {
        "done" => true,
        "unknown" => may_be_unknown(id),
        "closed" => cut_off,
        _ => false,
    };
    let bad: Vec<_> = evidence.outcomes.iter().filter(|(id, (kind, _))| !good(id, kind)).collect();
    findings.same("calls that went wrong", bad, Vec::new());
    let mut intended = BTreeSet::new();
    for chunk in evidence.chunks() {
        let chunk: Value = serde_json::from_str(chunk).unwrap();
        match chunk["type"].as_str().unwrap() {
            "data-call" => {
                intended.extend(chunk["data"]["toolCallIds"].as_array().unwrap().iter().map(Value::to_string))
            }
            "tool-output-available" | "tool-output-error" if chunk["errorText"] != NOT_BEGUN => {
                let id = chunk["toolCallId"].to_string();
                findings.must(intended.contains(&id), || format!("{id} has an output and no intent before it"));
            }
            _ => {}
        }
    }
}

/// Every change is in the feed at its place, and every document is what the feed says last.
pub(crate) fn state(evidence: &Evidence, findings: &mut Findings) {
    let scope = &evidence.inbox;
    let positions: Vec<u64> = scope.feed.keys().copied().collect();
    findings.same("positions of the feed", positions, (1..=scope.head).collect());
    let told: BTreeMap<String, (u64, Value)> =
        scope.changes().map(|(key, pos, value)| (key.to_owned(), (pos, value.clone()))).collect();
    let differ = |key: &&String| told.get(*key) != scope.documents.get(*key);
    let keys: BTreeSet<&String> = told.keys().chain(scope.documents.keys()).collect();
    let different: Vec<&String> = keys.into_iter().filter(differ).collect();
    findings.same("documents that are not what the feed says", different, Vec::new());
}

fn kind(chunk: &str) -> String {
    let chunk: Value = serde_json::from_str(chunk).unwrap();
    chunk["type"].as_str().unwrap().to_owned()
}
