//! Clients that never give up: they come back after a broken connection and when the system is busy.

use std::time::Duration;

use reqwest::{RequestBuilder, Response};
use serde_json::{Value, json};
use tandem_tests::{Api, End, Log, Stream};
use tokio::sync::watch;
use tokio::time::sleep;

/// Chunks that the restless watcher reads before it hangs up and comes back.
const BITE: usize = 7;

/// The body of the AI SDK: thread and message are named by the client, so it may be sent again.
pub(crate) fn body(thread: &str, message: &str, text: &str) -> Value {
    let part = json!({"type": "text", "text": text});
    json!({"id": thread, "messages": [{"id": message, "role": "user", "parts": [part]}], "trigger": "submit-message"})
}

/// Posts the turn until it is accepted, tells its run, and follows it to its end.
pub(crate) async fn post_and_follow(api: Api, body: Value, run: watch::Sender<Option<String>>) -> Log {
    let response = patiently(|| api.chat(&body)).await;
    let mut stream = Stream::of(response).await;
    let id = stream.run();
    run.send_replace(Some(id.clone()));
    let mut log = Log::default();
    while log.read_all(&mut stream).await != End::Done {
        match come_back(&api, &id, &log).await {
            Some(again) => stream = again,
            None => break,
        }
    }
    log
}

/// Follows the run as soon as it is known, a few chunks at a time, each time with the cursor.
pub(crate) async fn watch(api: Api, mut run: watch::Receiver<Option<String>>) -> Log {
    let id = run.wait_for(Option::is_some).await.unwrap().clone().unwrap();
    let mut log = Log::default();
    while let Some(mut stream) = come_back(&api, &id, &log).await {
        let before = log.len();
        log.read(&mut stream, before + BITE).await;
        if log.len() < before + BITE && stream.ended() == End::Done {
            break;
        }
    }
    log
}

/// `None`: the run has ended, and the client has all of it.
async fn come_back(api: &Api, run: &str, log: &Log) -> Option<Stream> {
    let response = patiently(|| api.events(run, log.after())).await;
    if response.status() == 204 { None } else { Some(Stream::of(response).await) }
}

/// Asks until there is an answer other than "try again later".
async fn patiently(request: impl Fn() -> RequestBuilder) -> Response {
    loop {
        match request().send().await {
            Ok(response) if response.status() != 503 => return response,
            Ok(_) | Err(_) => sleep(Duration::from_millis(50)).await,
        }
    }
}
