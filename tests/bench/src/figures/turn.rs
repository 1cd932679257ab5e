//! What a turn of 400 words and five calls costs at the store.

use std::time::Instant;

use tandem_tests::{Table, TurnCost};

use crate::events::Events;
use crate::report::Row;
use crate::samples::Samples;
use crate::world::{Setup, World};

/// Three calls that read and two that change an email, then words at the pace of a model.
const SCRIPT: &str = concat!(
    "/read-email {\"emailId\":\"e-1\"}\n/read-email {\"emailId\":\"e-2\"}\n/read-email {\"emailId\":\"e-3\"}\n",
    "/label-email {\"emailId\":\"e-1\",\"add\":[\"a\"]}\n/archive-email {\"emailId\":\"e-2\"}\n\n@say 400 every 20ms",
);
/// The first change writes the sample emails down, which is no part of what a turn costs.
const BEFORE: &str = "/label-email {\"emailId\":\"e-1\",\"add\":[\"b\"]}";

pub(crate) async fn take(repeat: usize) -> Vec<Row> {
    let mut rows = Vec::new();
    for background in [false, true] {
        let place = if background { "in the background" } else { "in the foreground" };
        let names = ["write units beside frames of text", "frames of text a second", "write units of frames of text"];
        let names =
            names.into_iter().chain(["write units of heartbeats", "store calls that write", "store calls that read"]);
        let mut samples: Vec<Samples> = names.clone().map(|_| Samples::default()).collect();
        for _ in 0..repeat {
            for (samples, value) in samples.iter_mut().zip(turn(background).await) {
                samples.add(vec![value]);
            }
        }
        rows.extend(names.zip(&samples).enumerate().map(|(n, (name, samples))| {
            let row = Row::new(format!("{name}, {place}"), "", samples);
            match n {
                0 => row.at_most(45.0),
                1 => row.at_most(20.0),
                _ => row,
            }
        }));
    }
    rows
}

async fn turn(background: bool) -> [f64; 6] {
    let world = World::start(Setup { background, counted: true, ..Setup::default() }).await;
    Events::open(world.turn(BEFORE)).await.rest().await;
    world.proxies.iter().for_each(tandem_testkit::faults::Proxy::reset);
    let began = Instant::now();
    Events::open(world.turn(SCRIPT)).await.rest().await;
    let took = began.elapsed().as_secs_f64();
    let content = Table::at(world.database.url()).content().await;
    let cost = TurnCost::of(world.proxies.iter().flat_map(tandem_testkit::faults::Proxy::trace), &content);
    let writes = cost.writes.len() + (cost.text_frames + cost.heartbeats) as usize;
    [
        cost.units() as f64,
        f64::from(cost.text_frames) / took,
        cost.text_units as f64,
        cost.heartbeat_units as f64,
        writes as f64,
        f64::from(cost.reads),
    ]
}
