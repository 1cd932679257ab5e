//! What followers cost: one poller for a scope and process, seldom in silence, and nothing once they are gone.

use std::time::Duration;

use reqwest::Method;
use serde_json::json;
use tandem_testkit::faults::Proxy;
use tandem_tests::{Api, Program, Split, Stream, Window, until};
use tokio::time::{Instant, sleep};

/// A foreground that drives its turns itself, and asks the store through a proxy which counts.
pub(crate) async fn counted(split: &Split) -> (Program, Proxy) {
    let proxy = Proxy::open(split.database()).await.unwrap();
    let dir = tempfile::tempdir().unwrap();
    let env = [("AWS_ENDPOINT_URL_DYNAMODB", proxy.url()), ("AGENT_CHAT_DURABLE_BACKGROUND", "false")];
    (Program::serve(&["foreground", "--port", "0"], &env, dir.path()).await, proxy)
}

#[tokio::test]
async fn a_silent_scope_costs_two_reads_a_second_however_many_follow_and_none_when_they_are_gone() {
    let split = Split::start(1, 0, &[]).await;
    let (program, proxy) = counted(&split).await;
    let api = Api::new(program.url());
    let mut windows = Vec::new();
    for _ in 0..16 {
        windows.push(Window::open(&api, "scope=app:quiet").await);
    }
    // And one that never reads what it is sent.
    let stalled = Stream::open(api.get("/state/app:quiet/events")).await;
    // The pause between two reads is at its longest after 4 s without a change.
    sleep(Duration::from_secs(5)).await;
    let (before, began) = (proxy.trace().len(), Instant::now());
    sleep(Duration::from_secs(5)).await;
    let (silent, took) = (proxy.trace().len() - before, began.elapsed());
    let most = 2.0 * took.as_secs_f64() + 1.0;
    assert!(silent > 0 && silent as f64 <= most, "{silent} calls in {took:?} of silence");

    // They still see what another process does.
    let put = split.api(0).request(Method::PUT, "/state/app:quiet/docs/k").json(&json!({"value": 1}));
    assert_eq!(split.api(0).answer(put).await.status, 200);
    for window in &mut windows {
        window.until(|event| event["type"] == "state").await;
    }
    drop((windows, stalled));
    until("nobody to follow any more", async || {
        let before = proxy.trace().len();
        sleep(Duration::from_secs(2)).await;
        (proxy.trace().len() == before).then_some(())
    })
    .await;
}
