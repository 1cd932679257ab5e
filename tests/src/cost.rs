//! What a turn costs at the store, from the calls that were counted.

use tandem_testkit::faults::{Call, Operation};

use crate::Content;

/// The calls of one turn, by what they are for.
#[derive(Debug, Default)]
pub struct TurnCost {
    /// Writes that are neither frames of text nor heartbeats.
    pub writes: Vec<Operation>,
    /// Frames of the log that hold nothing but text.
    pub text_frames: u32,
    pub text_units: u64,
    /// They come with time, after the claim. An end that meets one is written again.
    pub heartbeats: u32,
    pub heartbeat_units: u64,
    pub reads: u32,
}

impl TurnCost {
    /// `content`: the table afterwards, which tells what is in the frames.
    pub fn of(calls: impl IntoIterator<Item = Call>, content: &Content) -> Self {
        let text = text_frames(content);
        let mut cost = TurnCost::default();
        for call in calls {
            let operation = call.operation;
            if call.write.is_none() {
                cost.reads += 1;
                continue;
            }
            let of_run = |other: &Operation| other.name == "PutItem" && other.keys == operation.keys;
            if operation.keys.iter().any(|key| text.contains(&key)) {
                cost.text_frames += 1;
                cost.text_units += operation.units;
            } else if operation.keys.iter().all(|key| key.ends_with(" RUN")) && cost.writes.iter().any(of_run) {
                cost.heartbeats += 1;
                cost.heartbeat_units += operation.units;
            } else if !cost.writes.contains(&operation) {
                cost.writes.push(operation);
            }
        }
        cost
    }

    /// Write units beside the frames of text and the heartbeats.
    pub fn units(&self) -> u64 {
        self.writes.iter().map(|write| write.units).sum()
    }
}

fn text_frames(content: &Content) -> Vec<&String> {
    let is_text = |shown: &str| {
        shown.contains("text-delta") && !["tool-", "data-", "finish", "start-step"].iter().any(|no| shown.contains(no))
    };
    content.iter().filter(|(key, shown)| key.contains(" LOG#") && is_text(shown)).map(|(key, _)| key).collect()
}
