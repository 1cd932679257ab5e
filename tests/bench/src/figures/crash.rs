//! From the death of whoever drives a run to the next chunk that its client sees.

use std::time::Instant;

use serde_json::json;
use tandem_tests::Split;

use crate::events::{Events, millis};
use crate::report::Row;
use crate::samples::Samples;

/// Long enough that words come before and after.
const SCRIPT: &str = "@say 400 every 20ms";

pub(crate) async fn take(repeat: usize) -> Vec<Row> {
    let mut seen = Samples::default();
    for _ in 0..repeat {
        let mut split = Split::start(1, 2, &[("MODEL", "scripted")]).await;
        let mut events = Events::open(split.api(0).chat(&json!({"message": SCRIPT}))).await;
        for _ in 0..20 {
            events.next_text().await.expect("the run to be under way");
        }
        split.backgrounds[0].kill();
        let killed = Instant::now();
        // What was stored before is still on its way; the next holder says that it has taken over.
        let taken = loop {
            let event = events.next().await.expect("the run to go on");
            if event.data.contains(r#""data-attempt""#) {
                break event.at;
            }
        };
        seen.add(vec![millis(taken, killed) / 1000.0]);
    }
    vec![Row::new("kill -9 of the holder to the next chunk, with the default lease of 10 s", "s", &seen)]
}
