//! What a word and a request cost in allocations: counts that depend neither on the machine nor on the optimizer, so that a
//! copy that creeps in is seen where times would hide it. `-- cost --nocapture` prints them.
//!
//! Everything of the runtime runs on the thread that counts; the engine and the provider are on threads of their own.

use allocation_counter::{AllocationInfo, measure};
use axum::body::Body;
use axum::http::{Method, Request};
use futures::StreamExt;
use serde_json::json;
use tandem_actions::Registry;
use tandem_catalog::Settings;
use tandem_model::Models;
use tandem_testkit::providers::FakeProvider;
use tokio::runtime::{Builder, Runtime};

use crate::api::{Api, request};

/// What one of many costs, on average.
#[derive(Debug)]
struct Cost {
    allocations: f64,
    bytes: f64,
}

impl Cost {
    fn of(counted: AllocationInfo, times: u64) -> Self {
        let each = |all: u64| all as f64 / times as f64;
        Cost { allocations: each(counted.count_total), bytes: each(counted.bytes_total) }
    }

    fn at_most(&self, what: &str, allocations: f64, bytes: f64) {
        println!("{what}: {:.1} allocations, {:.0} bytes", self.allocations, self.bytes);
        assert!(self.allocations <= allocations, "{what}: {self:?}, at most {allocations}");
        assert!(self.bytes <= bytes, "{what}: {self:?}, at most {bytes} bytes");
    }
}

fn here() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

pub(crate) fn catalog() -> Registry {
    tandem_catalog::registry_with(&Settings::default()).unwrap()
}

/// The same, whose turns ask a provider.
pub(crate) fn asking(api: &Api, provider: &FakeProvider) -> Api {
    let mut environment = provider.environment().to_vec();
    environment.push(("MODEL", "anthropic/fake".to_owned()));
    let models =
        Models::from_env(|name| environment.iter().find(|(known, _)| *known == name).map(|(_, value)| value.clone()));
    api.asking(models.unwrap())
}

pub(crate) fn read() -> Request<Body> {
    request(Method::GET, "/api/view-screen", &[], "")
}

pub(crate) fn write() -> Request<Body> {
    let body = json!({"name": "tone", "text": "Short and friendly."}).to_string();
    request(Method::POST, "/api/remember", &[("content-type", "application/json")], &body)
}

/// Sends a request and takes the answer as it comes, without keeping it.
pub(crate) async fn send(api: &Api, request: Request<Body>) {
    let response = api.raw(request).await;
    assert!(response.status().is_success(), "{}", response.status());
    let mut body = response.into_body().into_data_stream();
    while let Some(piece) = body.next().await {
        piece.unwrap();
    }
}

#[test]
fn a_word_costs_few_allocations() {
    const WORDS: u64 = 20_000;
    const TRIES: usize = 12;
    let elsewhere = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let provider = elsewhere.block_on(async { FakeProvider::echo() });
    let here = here();
    let scripted = here.block_on(Api::new(catalog()));
    let asking = asking(&scripted, &provider);
    let say = |api: &Api, words: u64| {
        let body = json!({"message": format!("@say {words} every 0")}).to_string();
        measure(|| here.block_on(send(api, request(Method::POST, "/api/agent-chat", &[], &body))))
    };
    for (what, api, allocations, bytes) in [
        ("a word of the scripted model", &scripted, 4.2, 500.0),
        // HTTP and the provider's events, which rig reads.
        ("a word of a provider", &asking, 112.0, 8_500.0),
    ] {
        say(api, 100);
        // Words that come alone, as on a machine that is busy, share less: the best of some tries is what they cost.
        let mut cost = Cost::of(say(api, WORDS), WORDS);
        for _ in 0..TRIES {
            if cost.allocations <= allocations && cost.bytes <= bytes {
                break;
            }
            cost = Cost::of(say(api, WORDS), WORDS);
        }
        cost.at_most(what, allocations, bytes);
    }
}

#[test]
fn an_action_costs_few_allocations() {
    const REQUESTS: u64 = 50;
    let here = here();
    let api = here.block_on(Api::new(catalog()));
    let several = |times: u64, one: &dyn Fn() -> Request<Body>| {
        measure(|| {
            for _ in 0..times {
                here.block_on(send(&api, one()));
            }
        })
    };
    several(3, &read);
    several(3, &write);
    Cost::of(several(REQUESTS, &read), REQUESTS).at_most("an action that reads", 470.0, 88_000.0);
    Cost::of(several(REQUESTS, &write), REQUESTS).at_most("an action that writes", 1_500.0, 190_000.0);
}
