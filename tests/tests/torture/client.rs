//! Clients that never give up: they come back after a broken connection and when the system is busy.

use std::time::Duration;

use reqwest::{Method, RequestBuilder, Response};
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

/// Posts the turn until it is accepted, tells its run, and follows it to its end. Where it ends since a person must
/// agree, that person agrees, and the next run is followed. Gives what was received of each run.
pub(crate) async fn post_and_follow(api: Api, body: Value, runs: watch::Sender<Vec<String>>) -> Vec<Log> {
    let stream = Stream::of(patiently(|| api.chat(&body)).await).await;
    let mut run = stream.run();
    runs.send_modify(|runs| runs.push(run.clone()));
    let mut logs = vec![follow(&api, &run, Some(stream)).await];
    while let Some(next) = agree(&api, &run, &logs[logs.len() - 1]).await {
        run = next;
        runs.send_modify(|runs| runs.push(run.clone()));
        logs.push(follow(&api, &run, come_back(&api, &run, &Log::default()).await).await);
    }
    logs
}

/// Reads to the end of the run.
async fn follow(api: &Api, run: &str, mut stream: Option<Stream>) -> Log {
    let mut log = Log::default();
    while let Some(open) = &mut stream {
        if log.read_all(open).await == End::Done {
            break;
        }
        stream = come_back(api, run, &log).await;
    }
    log
}

/// Agrees to every call that waits for it, as somebody who never knows whether the answer came through: again until
/// there is one, and then once more. Gives the run that goes on; none, if nothing waits.
async fn agree(api: &Api, run: &str, log: &Log) -> Option<String> {
    let answered = log.of_type("tool-approval-response");
    let is_open = |asked: &Value| answered.iter().all(|answer| answer["approvalId"] != asked["approvalId"]);
    let mut next = None;
    for asked in log.of_type("tool-approval-request").iter().filter(|asked| is_open(asked)) {
        let path = format!("/runs/{run}/approvals/{}", asked["toolCallId"].as_str().unwrap());
        let decide = async || {
            let response = patiently(|| api.request(Method::POST, &path).json(&json!({"approved": true}))).await;
            let (status, text) = (response.status(), response.text().await.unwrap_or_default());
            assert!(status.is_success(), "a decision was answered with {status}: {text}");
            serde_json::from_str::<Value>(&text).unwrap()["runId"].as_str().map(str::to_owned)
        };
        let first = decide().await;
        let repeated = decide().await;
        assert_eq!(repeated, first, "a decision that is repeated leads to the same run");
        next = repeated;
    }
    next
}

/// Follows the runs as soon as they are known, a few chunks at a time, each time with the cursor. Gives what was
/// received of each.
pub(crate) async fn watch(api: Api, mut runs: watch::Receiver<Vec<String>>) -> Vec<Log> {
    let mut logs = Vec::new();
    loop {
        // An error: there will be no more.
        let known = runs.wait_for(|runs| runs.len() > logs.len()).await.map(|runs| runs[logs.len()].clone());
        let Ok(run) = known else { return logs };
        logs.push(nibble(&api, &run).await);
    }
}

/// Reads until so many chunks of the run are there, or all that it has.
pub(crate) async fn follow_for(api: &Api, run: &str, chunks: usize) {
    let mut log = Log::default();
    while let Some(mut stream) = come_back(api, run, &log).await {
        log.read(&mut stream, chunks).await;
        if log.len() >= chunks || stream.ended() == End::Done {
            break;
        }
    }
}

async fn nibble(api: &Api, run: &str) -> Log {
    let mut log = Log::default();
    while let Some(mut stream) = come_back(api, run, &log).await {
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
pub(crate) async fn patiently(request: impl Fn() -> RequestBuilder) -> Response {
    loop {
        match request().send().await {
            Ok(response) if response.status() != 503 => return response,
            Ok(_) | Err(_) => sleep(Duration::from_millis(50)).await,
        }
    }
}
