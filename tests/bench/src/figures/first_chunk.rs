//! From the post to the provider's request, and from the provider's first word to the client's first chunk.

use std::time::{Duration, Instant};

use tandem_testkit::faults::{Fault, Latency};
use tandem_testkit::providers::FakeProvider;

use crate::events::{Events, millis, stamps};
use crate::floor::Floor;
use crate::report::Row;
use crate::samples::Samples;
use crate::world::{Setup, World, asked_directly, stamping};

const TURNS: usize = 20;
const SCRIPT: &str = "@say 1 every 0";
/// A model that takes longer for its first word than one call of the store, as they all do.
const THINKING: &str = "@wait 600ms\n@say 1 every 0";
/// So long that the clock tells how many calls stood behind one another.
const EACH_CALL: Duration = Duration::from_millis(250);

/// Milliseconds to the provider's request, and from its first word to the client.
#[derive(Default)]
struct Both(Samples, Samples);

impl Both {
    fn add(&mut self, values: Vec<(f64, f64)>) {
        let (asked, seen) = values.into_iter().unzip();
        self.0.add(asked);
        self.1.add(seen);
    }
}

pub(crate) async fn take(repeat: usize) -> Vec<Row> {
    let (provider, epoch) = stamping();
    let forward = Floor::before(provider.address());
    let mut floor = Both::default();
    for _ in 0..repeat {
        floor.add(several(|| asked_directly(forward.url(), SCRIPT), &provider, epoch, TURNS).await);
    }
    let mut rows = Vec::new();
    for background in [false, true] {
        let place = if background { "through the background" } else { "in the foreground" };
        let (mut near, mut far) = (Both::default(), Both::default());
        let (mut trips, mut thinking) = (Both::default(), Both::default());
        let setup = || Setup { background, provider: Some(&provider), ..Setup::default() };
        for repetition in 0..repeat {
            let world = World::start(setup()).await;
            several(|| world.turn(SCRIPT), &provider, epoch, 3).await;
            near.add(several(|| world.turn(SCRIPT), &provider, epoch, TURNS).await);

            let world = World::start(Setup { counted: true, ..setup() }).await;
            several(|| world.turn(SCRIPT), &provider, epoch, 3).await;
            for (n, proxy) in world.proxies.iter().enumerate() {
                proxy.slow(Latency::of_dynamodb((repetition * 2 + n) as u64));
            }
            far.add(several(|| world.turn(SCRIPT), &provider, epoch, TURNS).await);
            for proxy in &world.proxies {
                proxy.reset();
                proxy.break_for(Fault::Delay(EACH_CALL), Duration::from_secs(600));
            }
            let calls = |ms: f64| (ms / 1000.0 / EACH_CALL.as_secs_f64()).floor();
            for (script, counted) in [(SCRIPT, &mut trips), (THINKING, &mut thinking)] {
                let once = several(|| world.turn(script), &provider, epoch, 1).await;
                counted.add(once.into_iter().map(|(asked, seen)| (calls(asked), calls(seen))).collect());
            }
        }
        rows.extend([
            Row::new(format!("post to the provider's request, {place}, store beside it"), "ms", &near.0)
                .floor(&floor.0),
            Row::new(format!("post to the provider's request, {place}, store as far as DynamoDB"), "ms", &far.0)
                .floor(&floor.0),
            Row::new(format!("store calls behind one another up to the provider's request, {place}"), "", &trips.0)
                .at_most(3.0),
            Row::new(format!("first word to the client, {place}, store beside it"), "ms", &near.1).floor(&floor.1),
            Row::new(format!("first word to the client, {place}, store as far as DynamoDB"), "ms", &far.1)
                .floor(&floor.1),
            Row::new(
                format!("store calls behind one another from the first word to the client, {place}"),
                "",
                &thinking.1,
            )
            .at_most(1.0),
            Row::new(format!("the same, a model that is faster than the store, {place}"), "", &trips.1),
        ]);
    }
    rows
}

/// Turns one after the other.
async fn several(
    turn: impl Fn() -> reqwest::RequestBuilder,
    provider: &FakeProvider,
    epoch: Instant,
    turns: usize,
) -> Vec<(f64, f64)> {
    let mut values = Vec::new();
    for _ in 0..turns {
        let asked = provider.asked();
        let began = Instant::now();
        let mut events = Events::open(turn()).await;
        let (text, at) = events.next_text().await.expect("an answer");
        let request = provider.requests().swap_remove(asked);
        let sent = stamps(&text).next().expect("the time at which it was sent");
        values.push((millis(request.at, began), millis(at, epoch) - sent));
        events.rest().await;
    }
    values
}
