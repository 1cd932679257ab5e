//! Whether the usual operations stay as they are while what is stored grows.

use std::collections::BTreeMap;
use std::time::Instant;

use aws_sdk_dynamodb::types::AttributeValue;
use reqwest::{Method, RequestBuilder};
use serde_json::json;

use crate::bulk::{Bulk, Item, n, s, with};
use crate::events::{Events, millis};
use crate::plot::{Plot, write};
use crate::report::Row;
use crate::samples::Samples;
use crate::world::{Setup, World};

const TIMES: usize = 15;
/// Slower than this at the largest size, against the smallest, is growth; logarithms stay below.
const FLAT: f64 = 2.0;

/// A thread of so many turns, a scope of so many documents, a table of so many runs.
const TURNS: [u64; 3] = [10, 100, 1_000];
const DOCUMENTS: [u64; 4] = [100, 1_000, 10_000, 100_000];
const RUNS: [u64; 4] = [100, 1_000, 10_000, 100_000];
const MANY_RUNS: [u64; 3] = [1_000, 100_000, 1_000_000];

pub(crate) async fn take(repeat: usize) -> Vec<Row> {
    let mut rows = thread(repeat).await;
    rows.extend(scope(repeat).await);
    rows.extend(table(repeat, &RUNS).await);
    rows
}

pub(crate) async fn million(repeat: usize) -> Vec<Row> {
    table(repeat, &MANY_RUNS).await
}

/// What is measured at each size: name, and what the operation took and asked.
struct Growing {
    what: &'static str,
    taken: BTreeMap<&'static str, Vec<(u64, Samples, f64)>>,
}

impl Growing {
    fn new(what: &'static str) -> Self {
        Growing { what, taken: BTreeMap::new() }
    }

    /// Measures one operation at one size.
    async fn measure(
        &mut self,
        name: &'static str,
        size: u64,
        repeat: usize,
        world: &World,
        request: impl Fn(usize) -> RequestBuilder,
    ) {
        let mut took = Samples::default();
        let proxy = &world.proxies[0];
        let mut calls = 0.0;
        for repetition in 0..repeat {
            let mut values = Vec::new();
            for time in 0..TIMES {
                proxy.reset();
                let began = Instant::now();
                let response = request(repetition * TIMES + time).send().await.unwrap();
                assert!(response.status().is_success(), "{name}: {}", response.status());
                response.bytes().await.unwrap();
                values.push(millis(Instant::now(), began));
                calls = proxy.trace().len() as f64;
            }
            took.add(values);
        }
        self.taken.entry(name).or_default().push((size, took, calls));
    }

    /// The rows, and the plots of time and of calls.
    fn rows(self, file: &str) -> Vec<Row> {
        let mut rows = Vec::new();
        let (mut times, mut asked) = (Plot::new(self.what, "ms"), Plot::new(self.what, "store calls"));
        for (name, sizes) in &self.taken {
            let first = sizes[0].1.median();
            for (at, (size, took, calls)) in sizes.iter().enumerate() {
                let row = Row::new(format!("{name}, {size} {} ({calls} store calls)", self.what), "ms", took);
                rows.push(if at + 1 == sizes.len() { row.at_most(first * FLAT + 2.0) } else { row });
                times.point(name, *size, took.median());
                asked.point(name, *size, *calls);
            }
        }
        write(file, &[times, asked]);
        rows
    }
}

async fn thread(repeat: usize) -> Vec<Row> {
    let mut growing = Growing::new("turns in the thread");
    for size in TURNS {
        let world = World::start(Setup { counted: true, ..Setup::default() }).await;
        let events = Events::open(world.turn("@say 20 every 0")).await;
        let id = events.header("x-thread-id");
        events.rest().await;
        let bulk = Bulk::at(world.database.url());
        let partition = format!("THREAD#local#{id}");
        bulk.put(copies_of_the_turn(&bulk.items(&partition, "").await, size)).await;
        let api = world.api();
        let say = |_| api.chat(&json!({"threadId": id, "message": "@say 1 every 0"}));
        growing.measure("a turn", size, repeat, &world, say).await;
        growing.measure("the thread", size, repeat, &world, |_| api.get(&format!("/threads/{id}"))).await;
        growing
            .measure("a page of messages", size, repeat, &world, |_| {
                api.get(&format!("/threads/{id}/messages?limit=20"))
            })
            .await;
        growing.measure("the list of threads", size, repeat, &world, |_| api.get("/threads")).await;
    }
    growing.rows("thread")
}

/// The thread's first turn, `size` times: each with its messages and its answer.
fn copies_of_the_turn(items: &[Item], size: u64) -> Vec<Item> {
    let sort = |item: &Item| item["sk"].as_s().unwrap().clone();
    let one = |prefix: &str| {
        items.iter().find(|item| sort(item).starts_with(prefix)).unwrap_or_else(|| panic!("no {prefix}"))
    };
    let (thread, user, assistant, answer) =
        (one("THREAD"), one("MSG#000000000000"), one("MSG#000000000001"), one("ANSWER#"));
    let mut copies = vec![with(thread, [("length", n(2 * size))])];
    for turn in 1..size {
        let run = format!("run_{turn:032x}");
        let at = |position: u64| ("sk", s(format!("MSG#{position:012}")));
        let id = |kind: &str| ("id", s(format!("{kind}_{turn:032x}")));
        let body = with_run(&assistant["body"], &run);
        copies.push(with(user, [at(2 * turn), ("n", n(2 * turn)), id("m")]));
        copies.push(with(assistant, [at(2 * turn + 1), ("n", n(2 * turn + 1)), id("msg"), ("body", body)]));
        copies.push(with(answer, [("sk", s(format!("ANSWER#{run}")))]));
    }
    copies
}

/// The body of an assistant's message: a map that names its run.
fn with_run(body: &AttributeValue, run: &str) -> AttributeValue {
    let mut map = body.as_m().unwrap().clone();
    map.insert("run".to_owned(), s(run));
    AttributeValue::M(map)
}

async fn scope(repeat: usize) -> Vec<Row> {
    let mut growing = Growing::new("documents in the scope");
    for size in DOCUMENTS {
        let world = World::start(Setup { counted: true, ..Setup::default() }).await;
        let api = world.api();
        let put = |key: &str, value: usize| {
            api.request(Method::PUT, &format!("/state/app:growth/docs/{key}")).json(&json!({"value": value}))
        };
        assert!(put("k00000000", 0).send().await.unwrap().status().is_success());
        let bulk = Bulk::at(world.database.url());
        let partition = "STATE#local#app:growth";
        let documents = bulk.items(partition, "DOC#").await;
        let key = |at: u64| s(format!("DOC#k{at:08}"));
        bulk.put((1..size).map(|at| with(&documents[0], [("sk", key(at))]))).await;
        let middle = format!("k{:08}", size / 2);
        let document = |_| api.get(&format!("/state/app:growth/docs/{middle}"));
        growing.measure("a document", size, repeat, &world, document).await;
        growing.measure("a change", size, repeat, &world, |time| put(&middle, time + 1)).await;
        let page = |_| api.get("/state/app:growth?limit=50");
        growing.measure("a page of documents", size, repeat, &world, page).await;
    }
    growing.rows("scope")
}

async fn table(repeat: usize, sizes: &[u64]) -> Vec<Row> {
    let mut growing = Growing::new("runs in the table");
    let world = World::start(Setup { counted: true, ..Setup::default() }).await;
    let events = Events::open(world.turn("@say 20 every 0")).await;
    let (run, id) = (events.header("x-run-id"), events.header("x-thread-id"));
    events.rest().await;
    let bulk = Bulk::at(world.database.url());
    let items = bulk.items(&format!("RUN#{run}"), "").await;
    let mut loaded = 0;
    for &size in sizes {
        // Runs that have ended, each with its input and its log.
        let runs = (loaded..size).flat_map(|at| {
            let copy = format!("run_{at:032x}");
            items.iter().map(move |item| match item.contains_key("runId") {
                true => with(item, [("pk", s(format!("RUN#{copy}"))), ("runId", s(copy.clone()))]),
                false => with(item, [("pk", s(format!("RUN#{copy}")))]),
            })
        });
        bulk.put(runs).await;
        loaded = size;
        let api = world.api();
        growing.measure("a turn", size, repeat, &world, |_| world.turn("@say 1 every 0")).await;
        growing.measure("a run", size, repeat, &world, |_| api.get(&format!("/runs/{run}"))).await;
        growing.measure("the log of a run", size, repeat, &world, |_| api.events(&run, None)).await;
        growing.measure("the thread", size, repeat, &world, |_| api.get(&format!("/threads/{id}"))).await;
        growing.measure("a page of threads", size, repeat, &world, |_| api.get("/threads?limit=20")).await;
    }
    growing.rows(if sizes == MANY_RUNS { "million" } else { "table" })
}
