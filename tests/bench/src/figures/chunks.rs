//! How long each word takes from the model to the client, while runs stream side by side.

use futures::future::join_all;

use crate::events::Events;
use crate::floor::Floor;
use crate::report::Row;
use crate::samples::Samples;
use crate::world::{Setup, World, asked_directly, stamping};

/// Five seconds at 50 words a second.
const SCRIPT: &str = "@say 250 every 20ms";
const RUNS: [usize; 3] = [1, 16, 64];
/// Half the interval at which words are stored, and two calls of the store as they are here: 2 ms each.
const SAME_PROCESS: f64 = 25.0 + 4.0;

pub(crate) async fn take(repeat: usize) -> Vec<Row> {
    let mut rows = Vec::new();
    let (provider, epoch) = stamping();
    let forward = Floor::before(provider.address());
    for background in [false, true] {
        let place = if background { "another process" } else { "the same process" };
        let world = World::start(Setup { background, provider: Some(&provider), ..Setup::default() }).await;
        Events::open(world.turn("@say 1 every 0")).await.rest().await;
        for runs in RUNS {
            let (mut seen, mut floor) = (Samples::default(), Samples::default());
            for _ in 0..repeat {
                floor.add(together(runs, || asked_directly(forward.url(), SCRIPT), epoch).await);
                seen.add(together(runs, || world.turn(SCRIPT), epoch).await);
            }
            let row = Row::new(format!("a word, {place}, {runs} at once"), "ms", &seen).floor(&floor);
            rows.push(match (background, runs) {
                (false, 1) => row.at_most(SAME_PROCESS),
                (true, 1) => row.at_most(60.0).p99_at_most(120.0),
                (true, 64) => row.at_most(150.0).p99_at_most(400.0),
                _ => row,
            });
        }
    }
    rows
}

/// Runs that begin one after the other within the time between two words, so that they do not beat together.
async fn together(runs: usize, turn: impl Fn() -> reqwest::RequestBuilder, epoch: std::time::Instant) -> Vec<f64> {
    let one = async |n: usize| {
        tokio::time::sleep(std::time::Duration::from_micros(n as u64 * 20_000 / runs as u64)).await;
        Events::open(turn()).await.latencies(epoch).await
    };
    join_all((0..runs).map(one)).await.concat()
}
