//! How long a change takes from whoever makes it to a watcher at another process.
//!
//! `TANDEM_REAL_TIMES=1` measures long enough to judge, on a machine that has nothing else to do, and prints what it saw.
#![allow(clippy::print_stdout)]

use std::time::Duration;

use futures::future::join_all;
use reqwest::Method;
use serde_json::json;
use tandem_tests::{Api, Split, Window};
use tokio::time::{Instant, sleep};

const FOLLOWERS: usize = 16;

/// How far apart moments are spread beyond a pause: whoever asks twice a second must not be met always in the same
/// phase.
const SPREAD: Duration = Duration::from_millis(500);

/// Latencies of `changes` changes, `pause` apart and some of `SPREAD` more, at every one of the followers, sorted.
async fn measured(writer: &Api, reader: &Api, changes: u64, pause: Duration) -> Vec<Duration> {
    let mut followers = Vec::new();
    for _ in 0..FOLLOWERS {
        followers.push(Window::open(reader, "scope=app:latency").await);
    }
    let begun = Instant::now();
    let follow = join_all(followers.iter_mut().map(|window| async move {
        let mut arrivals = Vec::new();
        while (arrivals.len() as u64) < changes {
            let change = window.until(|event| event["type"] == "state").await;
            arrivals.push((change["value"].as_u64().unwrap(), begun.elapsed()));
        }
        arrivals
    }));
    let write = async {
        for n in 0..changes {
            sleep(pause + SPREAD.mul_f64(n as f64 / changes as f64)).await;
            let sent = u64::try_from(begun.elapsed().as_micros()).unwrap();
            let put = writer.request(Method::PUT, &format!("/state/app:latency/docs/{}", n % 5));
            let answer = writer.answer(put.json(&json!({"value": sent}))).await;
            assert_eq!(answer.status, 200, "{answer:?}");
        }
    };
    let (arrivals, ()) = tokio::join!(follow, write);
    let latency = |(sent, arrived): (u64, Duration)| arrived.saturating_sub(Duration::from_micros(sent));
    let mut latencies: Vec<Duration> = arrivals.into_iter().flatten().map(latency).collect();
    latencies.sort();
    latencies
}

#[tokio::test]
async fn a_change_is_soon_at_watchers_of_another_process() {
    let split = Split::start(2, 0, &[]).await;
    let real = std::env::var_os("TANDEM_REAL_TIMES").is_some();
    let ms = Duration::from_millis;
    let cases = match real {
        true => vec![
            ("while changes flow", 200, ms(100), ms(150), ms(400)),
            ("after silence", 24, ms(6000), ms(300), ms(650)),
        ],
        // Machines that run tests are busy: this only tells that nothing waits for a window to end.
        false => vec![("while changes flow", 20, ms(100), ms(2000), ms(5000))],
    };
    for (when, changes, pause, median, p99) in cases {
        let seen = measured(&split.api(0), &split.api(1), changes, pause).await;
        let at = |part: usize| seen[(seen.len() * part / 100).min(seen.len() - 1)];
        println!(
            "{when}: {} changes, {FOLLOWERS} followers: median {:?}, p99 {:?}, most {:?}",
            changes,
            at(50),
            at(99),
            at(100)
        );
        assert!(at(50) <= median && at(99) <= p99, "{when}: median {:?}, p99 {:?}", at(50), at(99));
    }
}
