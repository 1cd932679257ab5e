//! Coming back to a long log: how soon the first chunk is there, and all of them.

use std::time::{Duration, Instant};

use tandem_testkit::faults::Fault;

use crate::bulk::{Bulk, n, s, with};
use crate::events::{Events, millis};
use crate::report::Row;
use crate::samples::Samples;
use crate::world::{Setup, World};

const LENGTHS: [u64; 3] = [100, 1_000, 10_000];
const TIMES: usize = 10;
/// So long that the clock tells how many calls stood behind one another.
const EACH_CALL: Duration = Duration::from_millis(100);

pub(crate) async fn take(repeat: usize) -> Vec<Row> {
    let mut rows = Vec::new();
    for length in LENGTHS {
        let world = World::start(Setup { counted: true, ..Setup::default() }).await;
        let (run, end) = long_log(&world, length).await;
        for (place, after) in [("its beginning", None), ("ten chunks before its end", Some(end - 10))] {
            let [mut first, mut all, mut calls] = [(); 3].map(|()| Samples::default());
            let proxy = &world.proxies[0];
            for _ in 0..repeat {
                proxy.reset();
                let (mut firsts, mut alls) = (Vec::new(), Vec::new());
                for _ in 0..TIMES {
                    let (soon, whole) = come_back(&world, &run, after).await;
                    firsts.push(soon);
                    alls.push(whole);
                }
                firsts.sort_by(f64::total_cmp);
                let usual = firsts[firsts.len() / 2];
                first.add(firsts);
                all.add(alls);
                proxy.break_for(Fault::Delay(EACH_CALL), Duration::from_secs(600));
                let (soon, _) = come_back(&world, &run, after).await;
                calls.add(vec![((soon - usual) / 1000.0 / EACH_CALL.as_secs_f64()).round()]);
            }
            let what = format!("a log of {length} chunks, from {place}");
            let whole = Row::new(format!("all of it, {what}"), "ms", &all);
            rows.extend([
                Row::new(format!("store calls to the first chunk, {what}"), "", &calls).at_most(3.0),
                Row::new(format!("first chunk, {what}"), "ms", &first),
                if length == 10_000 { whole.at_most(300.0) } else { whole },
            ]);
        }
    }
    rows
}

/// Milliseconds to the first chunk, and to the end.
async fn come_back(world: &World, run: &str, after: Option<u64>) -> (f64, f64) {
    let began = Instant::now();
    let mut events = Events::open(world.api().events(run, after)).await;
    let first = events.next().await.expect("a chunk").at;
    events.rest().await;
    (millis(first, began), millis(Instant::now(), began))
}

/// A run with so many chunks more, each in a frame of its own as slow words are stored. Gives the number of the last.
async fn long_log(world: &World, length: u64) -> (String, u64) {
    let events = Events::open(world.turn("@say 1 every 0")).await;
    let run = events.header("x-run-id");
    events.rest().await;
    let bulk = Bulk::at(world.database.url());
    let partition = format!("RUN#{run}");
    let log = bulk.items(&partition, "LOG#").await;
    let last = log.last().expect("a log");
    let first: u64 = last["sk"].as_s().unwrap()[4..].parse().unwrap();
    let at = |seq: u64| s(format!("LOG#{seq:012}"));
    let word = |seq: u64| format!(r#"{{"type":"text-delta","id":"1.1","delta":"word{seq} "}}"#);
    bulk.put((first..first + length).map(|seq| with(last, [("sk", at(seq)), ("n", n(1)), ("body", s(word(seq)))])))
        .await;
    bulk.put([with(last, [("sk", at(first + length))])]).await;
    let chunks: u64 = last["n"].as_n().unwrap().parse().unwrap();
    (run, first + length + chunks - 1)
}
