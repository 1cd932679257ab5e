//! The promises of the transcript, over logs that are made up.

#![allow(clippy::unwrap_used)]

#[path = "properties/client.rs"]
mod client;
#[path = "properties/writer.rs"]
mod writer;

use std::collections::HashMap;

use proptest::prelude::*;
use serde_json::{Value, json};
use tandem_protocol::{CallState, Chunk, ToolCallId, Transcript};

use client::Client;
use writer::{Choice, log_of};

fn choices() -> impl Strategy<Value = Vec<Choice>> {
    prop::collection::vec((any::<u8>(), "[a-z \\n\r\"{}é]{0,6}"), 0..60)
}

/// The order of progress is not compared: a client keeps it where it first arrived, the transcript beside its call,
/// and both show it by the call's id. Neither is the empty text before the first piece of a call's arguments.
fn comparable(parts: Vec<Value>) -> Vec<Value> {
    let (progress, mut parts): (Vec<Value>, Vec<Value>) =
        parts.into_iter().partition(|part| part["type"] == "data-progress");
    for progress in progress {
        let at = parts.iter().position(|part| part.get("toolCallId") == Some(&progress["id"])).unwrap();
        parts.insert(at + 1, progress);
    }
    for part in parts.iter_mut().filter(|part| part.get("rawInput") == Some(&json!(""))) {
        part.as_object_mut().unwrap().shift_remove("rawInput");
    }
    parts
}

/// As group commit writes them.
fn merged(log: &[Chunk]) -> Vec<Chunk> {
    let mut merged: Vec<Chunk> = Vec::new();
    for chunk in log {
        let rest = match merged.last_mut() {
            Some(last) => last.merge(chunk.clone()),
            None => Some(chunk.clone()),
        };
        merged.extend(rest);
    }
    merged
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(512) })]

    #[test]
    fn a_log_folds_the_same_in_pieces_and_merged(choices in choices(), at in any::<prop::sample::Index>()) {
        let log = log_of(&choices);
        let whole = Transcript::fold(&log);
        let at = at.index(log.len());
        let mut pieces = Transcript::fold(&log[..at]);
        log[at..].iter().for_each(|chunk| pieces.apply(chunk));
        prop_assert_eq!(&pieces, &whole);
        prop_assert_eq!(&Transcript::fold(&merged(&log)), &whole);
    }

    #[test]
    fn a_client_ends_up_with_the_same_parts_at_every_chunk(choices in choices()) {
        let (mut client, mut transcript) = (Client::default(), Transcript::default());
        for chunk in log_of(&choices) {
            client.hear(&serde_json::to_value(&chunk).unwrap());
            transcript.apply(&chunk);
            prop_assert_eq!(comparable(transcript.ui_parts()), comparable(client.parts()), "after {:?}", chunk);
        }
    }

    #[test]
    fn closing_closes_everything_and_changes_nothing_else(choices in choices()) {
        let log = log_of(&choices);
        for end in 0..=log.len() {
            let mut transcript = Transcript::fold(&log[..end]);
            let before = transcript.clone();
            for chunk in before.closing() {
                transcript.apply(&chunk);
            }
            prop_assert_eq!(transcript.closing(), []);
            let streaming = |part: &Value| part["state"] == "streaming";
            prop_assert!(!transcript.ui_parts().iter().any(streaming));
            let said = |transcript: &Transcript| -> Vec<Value> {
                transcript.ui_parts().iter().map(|part| part.get("text").cloned().unwrap_or_default()).collect()
            };
            prop_assert_eq!(said(&transcript), said(&before));
            prop_assert_eq!(transcript.calls().collect::<Vec<_>>(), before.calls().collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_settled_call_and_a_finished_step_never_change(choices in choices()) {
        let mut transcript = Transcript::default();
        let mut settled: HashMap<ToolCallId, CallState> = HashMap::new();
        let mut finished = Vec::new();
        for chunk in log_of(&choices) {
            transcript.apply(&chunk);
            for call in transcript.calls().filter(|call| call.state.is_settled()) {
                prop_assert_eq!(settled.entry(call.id.clone()).or_insert_with(|| call.state.clone()), &call.state);
            }
            let now: Vec<_> = transcript.steps.iter().filter(|step| step.finished).cloned().collect();
            prop_assert!(now.starts_with(&finished));
            finished = now;
        }
    }

    #[test]
    fn a_stored_chunk_is_one_line_and_is_read_as_it_was_written(choices in choices()) {
        for chunk in log_of(&choices) {
            let line = serde_json::to_string(&chunk).unwrap();
            prop_assert!(!line.contains(['\n', '\r']));
            prop_assert_eq!(serde_json::from_str::<Chunk>(&line).unwrap(), chunk);
        }
    }

    /// Whatever stands in a log, reading it does not fail.
    #[test]
    fn any_order_of_chunks_can_be_folded(choices in choices(), order in prop::collection::vec(any::<prop::sample::Index>(), 0..80)) {
        let log = log_of(&choices);
        let shuffled: Vec<Chunk> = order.iter().map(|at| log[at.index(log.len())].clone()).collect();
        let transcript = Transcript::fold(&shuffled);
        let _ = (transcript.ui_parts(), transcript.closing(), transcript.open_step().is_some());
    }
}
