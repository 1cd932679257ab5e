//! What words and requests cost in instructions, for `scripts/test-instructions.sh`: it runs this under valgrind, counts
//! what happens within `only_this` on the thread that is in it, and holds the bounds that stand here. Beside a count of
//! allocations this sees what is written into buffers that are there already, walked or compared.
//!
//! Little depends on how long anything takes: the clock stands still until everything waits, so that frames are cut where
//! the script of the model has them cut, and the engine answers one call after another. What is left is how often a
//! follower reads the log that a holder is about to take: a call more or less in a turn.

use std::time::Duration;

use axum::body::Body;
use axum::http::{Method, Request};
use serde_json::json;
use tandem_testkit::providers::FakeProvider;
use tokio::runtime::{Builder, Runtime};

use crate::api::{Api, Settings, request};
use crate::cost::{asking, catalog, read, send, write};

/// One side, with the thread that counts, and how long that goes on after a request for what it leaves behind.
struct Side {
    here: Runtime,
    api: Api,
    rest: Duration,
}

impl Side {
    async fn sends(&self, requests: Vec<Request<Body>>) {
        for request in requests {
            // A task like those that it wakes, as in a server: `block_on`'s own future would be polled before them, or
            // not, by how fast the engine answers.
            let api = self.api.clone();
            tokio::spawn(async move { send(&api, request).await }).await.unwrap();
            tokio::time::sleep(self.rest).await;
        }
    }

    /// The price of one more: what all have in common, such as a turn's start and end, is in both counts.
    fn costs(&self, what: &str, [few, many]: [usize; 2], at_most: u64, requests: impl Fn(usize) -> Vec<Request<Body>>) {
        println!("counted: {what}: {few} and {many}: at most {at_most}");
        only_this(self, requests(few));
        only_this(self, requests(many));
    }
}

/// The script knows it by its name.
#[inline(never)]
fn only_this(side: &Side, requests: Vec<Request<Body>>) {
    side.here.block_on(side.sends(requests));
}

#[test]
#[ignore = "holds nothing without valgrind: scripts/test-instructions.sh"]
fn words_and_actions_cost_few_instructions() {
    let scripted = scripted();
    // They come at once and are merged.
    scripted.costs("a word of the scripted model", [200, 1_700], 34_000, say);
    scripted.costs("a word in a frame of its own", [4, 16], 4_400_000, |words| {
        vec![asks(&format!("@say {words} every 60ms"))]
    });
    // Six chunks of which none is merged, and many to a frame.
    scripted.costs("a thought and a word, each a part of its own", [10, 50], 900_000, |pairs| {
        vec![asks(&"@think 1 every 0\n@say 1 every 0\n".repeat(pairs))]
    });
    scripted.costs("an action that reads", [4, 12], 4_500_000, |times| (0..times).map(|_| read()).collect());
    scripted.costs("an action that writes", [3, 9], 13_000_000, |times| (0..times).map(|_| write()).collect());

    let elsewhere = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let provider = elsewhere.block_on(async { FakeProvider::echo() });
    of_provider(&provider).costs("a word of a provider", [50, 250], 610_000, say);
}

fn scripted() -> Side {
    let here = Builder::new_current_thread().enable_all().max_blocking_threads(1).start_paused(true).build().unwrap();
    let api = here.block_on(api(&[("LEASE_MS", "10000"), ("HEARTBEAT_MS", "2000")]));
    // Longer than any grace.
    warm(Side { here, api, rest: Duration::from_secs(20) }, vec![asks("@say 100 every 0"), read(), write()])
}

/// A paused clock does not wait for a socket. So that this one's time is in no count, everything timed is far away.
fn of_provider(provider: &FakeProvider) -> Side {
    let here = Builder::new_current_thread().enable_all().max_blocking_threads(1).build().unwrap();
    let far = &[
        ("FLUSH_INTERVAL_MS", "600000"),
        ("HEARTBEAT_MS", "600000"),
        ("LEASE_MS", "1800000"),
        ("FOREGROUND_SOFT_TIMEOUT_MS", "600000"),
        ("KEEP_ALIVE_MS", "600000"),
        ("STREAM_WINDOW_MS", "700000"),
    ];
    let api = here.block_on(api(far));
    warm(Side { here, api: asking(&api, provider), rest: Duration::ZERO }, say(100))
}

async fn api(settings: Settings) -> Api {
    Api::set(catalog(), settings).await
}

/// What is made once, and where memory has grown to.
fn warm(side: Side, requests: Vec<Request<Body>>) -> Side {
    side.here.block_on(side.sends(requests));
    side
}

fn say(words: usize) -> Vec<Request<Body>> {
    vec![asks(&format!("@say {words} every 0"))]
}

fn asks(text: &str) -> Request<Body> {
    request(Method::POST, "/api/agent-chat", &[], &json!({ "message": text }).to_string())
}
