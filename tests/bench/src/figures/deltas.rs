//! How many words a second the runtime can take, and what each costs it, where nothing holds the model back.

use std::time::{Duration, Instant};

use reqwest::RequestBuilder;
use tandem_testkit::providers::FakeProvider;

use crate::events::Events;
use crate::floor::Floor;
use crate::report::Row;
use crate::samples::Samples;
use crate::world::{Setup, World, asked_directly};

const DELTAS: u32 = 40_000;

pub(crate) async fn take(repeat: usize) -> Vec<Row> {
    let provider = FakeProvider::echo();
    let forward = Floor::before(provider.address());
    let script = format!("@say {DELTAS} every 0");
    let mut floor = Samples::default();
    for _ in 0..repeat {
        floor.add(vec![a_second(read(asked_directly(forward.url(), &script)).await)]);
    }
    let mut rows = Vec::new();
    for (place, background, provider) in [
        ("scripted model, in the process", false, None),
        ("model of another process", false, Some(&provider)),
        ("model of another process, followed from a third", true, Some(&provider)),
    ] {
        let world = World::start(Setup { background, provider, ..Setup::default() }).await;
        read(world.turn("@say 100 every 0")).await;
        let (mut rate, mut cost) = (Samples::default(), Samples::default());
        for _ in 0..repeat {
            let before = used(&world);
            rate.add(vec![a_second(read(world.turn(&script)).await)]);
            cost.add(vec![(used(&world) - before).as_secs_f64() / f64::from(DELTAS) * 10_000.0]);
        }
        let rate = Row::new(format!("deltas a second, {place}"), "", &rate);
        let cost = Row::new(format!("processor seconds for 10,000 deltas, {place}"), "s", &cost);
        rows.extend(match provider {
            None => [rate.at_least(40_000.0), cost.at_most(0.25)],
            Some(_) => [rate.floor(&floor), cost],
        });
    }
    rows
}

/// Processor time of the runtime's processes. The store is somebody else's in production.
fn used(world: &World) -> Duration {
    world.programs().map(tandem_tests::Program::cpu_time).sum()
}

fn a_second(took: Duration) -> f64 {
    f64::from(DELTAS) / took.as_secs_f64()
}

/// From the request to the end of the answer.
async fn read(request: RequestBuilder) -> Duration {
    let began = Instant::now();
    Events::open(request).await.rest().await;
    began.elapsed()
}
