//! Whether the processes grow: what they hold idle, after a thousand turns and after ten thousand.

use futures::future::join_all;
use tandem_tests::Program;

use crate::events::Events;
use crate::report::Row;
use crate::samples::Samples;
use crate::world::{Setup, World};

const TURNS: [usize; 2] = [1_000, 10_000];
const AT_ONCE: usize = 16;
const SCRIPT: &str = "/list-emails {\"limit\":3}\n\n@say 20 every 0";
const MB: f64 = 1_000_000.0;

pub(crate) async fn take(_: usize) -> Vec<Row> {
    let quiet = [("RUST_LOG", "warn")];
    let world = World::start(Setup { background: true, env: &quiet, ..Setup::default() }).await;
    let mut held: Vec<Vec<f64>> = vec![memory(&world)];
    let mut done = 0;
    for turns in TURNS {
        while done < turns {
            join_all((0..AT_ONCE).map(async |_| Events::open(world.turn(SCRIPT)).await.rest().await)).await;
            done += AT_ONCE;
        }
        held.push(memory(&world));
    }
    let mut rows = Vec::new();
    for (at, name) in ["foreground", "background"].into_iter().enumerate() {
        let one = |value: f64| {
            let mut samples = Samples::default();
            samples.add(vec![value]);
            samples
        };
        rows.push(Row::new(format!("{name}: idle"), "MB", &one(held[0][at])).at_most(30.0));
        rows.push(Row::new(format!("{name}: after 1,000 turns"), "MB", &one(held[1][at])));
        let grown = held[2][at] - held[1][at];
        rows.push(Row::new(format!("{name}: after 10,000 turns"), "MB", &one(held[2][at])));
        // What is kept for turns would show as tens: a kilobyte each is 9 MB.
        rows.push(Row::new(format!("{name}: grown between the two"), "MB", &one(grown)).at_most(5.0));
    }
    rows
}

fn memory(world: &World) -> Vec<f64> {
    world.programs().map(Program::memory).map(|bytes| bytes as f64 / MB).collect()
}
