//! What the program says where something cannot be sent, is refused, or cannot be written.

use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::body::Body;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::{Json, Router};
use serde_json::json;

use crate::program::{command, tandem};
use crate::server::Server;

/// What takes no server, and no patience.
const AT_ONCE: Duration = Duration::from_secs(20);

/// A system with one action, `long`, that goes on as `run_1`; who follows it is cut off after chunk 2. All else fails.
async fn fails() -> String {
    async fn answer(request: Request) -> Response {
        let action = json!({"name": "long", "description": "Long.", "method": "POST", "effect": "checkpointed",
            "inputSchema": {"type": "object"}, "outputSchema": {}});
        let fails = json!({"code": "internal", "detail": "Report the request id to the operator.", "requestId": "r-1"});
        let events = [0, 1, 2].map(|seq| json!({"seq": seq, "chunk": {"type": "text-delta", "delta": "w"}}));
        let query = request.uri().query().unwrap_or_default();
        match request.uri().path() {
            "/api" => Json(json!({"actions": [action]})).into_response(),
            "/api/long" => (StatusCode::ACCEPTED, Json(json!({"runId": "run_1"}))).into_response(),
            "/api/agent-chat" if request.headers().contains_key("authorization") => {
                Json(json!({"runId": "run_1"})).into_response()
            }
            "/runs/run_1/events" if !query.contains("after") => {
                Json(json!({"events": events, "done": false})).into_response()
            }
            _ => (StatusCode::INTERNAL_SERVER_ERROR, Json(fails)).into_response(),
        }
    }
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, Router::new().fallback(answer)).await.unwrap() });
    url
}

#[tokio::test]
async fn a_fault_of_the_system_names_the_request_in_every_command() {
    let url = fails().await;
    let told = "tandem: 500 Internal Server Error: Report the request id to the operator. (request r-1)\n";
    for args in [&["chat", "hi"][..], &["tail", "run_2"], &["stop", "run_2"], &["approve", "run_2", "c"]] {
        let (code, _, stderr) = tandem(&url, args, "").await;
        assert_eq!((code, stderr.as_str()), (1, told), "{args:?}");
    }
    let (code, _, stderr) = tandem(&format!("{url}/else"), &["action", "long"], "").await;
    assert_eq!((code, stderr.as_str()), (1, told));
}

#[tokio::test]
async fn who_is_cut_off_is_told_where_the_run_goes_on() {
    let url = fails().await;
    for args in [
        &["tail", "run_1"][..],
        &["tail", "run_1", "--after", "2"],
        &["action", "long", "{}"],
        &["chat", "hi", "--token", "t"],
    ] {
        let (code, _, stderr) = tandem(&url, args, "").await;
        assert_eq!(code, 1, "{args:?}: {stderr}");
        // Nothing was seen of it here, so perhaps there is no such run.
        let is_there = args.len() != 4 || args[0] != "tail";
        assert_eq!(stderr.contains("The run goes on: tandem tail run_1 --after 2\n"), is_there, "{args:?}: {stderr}");
        assert!(stderr.contains("(request r-1)"), "{args:?}: {stderr}");
    }
    // Where the next command would go elsewhere by itself.
    let (_, _, stderr) = tandem("http://127.0.0.1:1", &["tail", "run_1", "--url", &url], "").await;
    assert!(stderr.contains(&format!("tandem tail run_1 --after 2 --url {url}\n")), "{stderr}");
}

/// Once an answer breaks off, it is asked for again with the same key; and one that cannot be read, or that says nothing of
/// what was done, leaves the key to the person.
#[tokio::test]
async fn who_cannot_tell_whether_it_was_done_is_told_the_key() {
    let keys: Arc<Mutex<Vec<String>>> = Arc::default();
    let seen = Arc::clone(&keys);
    let answer = move |request: Request| {
        let seen = Arc::clone(&seen);
        async move {
            let action = |name: &str| {
                json!({"name": name, "description": "Does.", "method": "POST", "effect": "transactional",
                    "inputSchema": {"type": "object"}, "outputSchema": {}})
            };
            let key = request.headers().get("idempotency-key").map(|key| key.to_str().unwrap().to_owned());
            let tries = key.map_or(0, |key| {
                let mut seen = seen.lock().unwrap();
                seen.push(key);
                seen.len()
            });
            match request.uri().path() {
                "/api" => {
                    let actions = ["breaks", "mumbles", "fails"].map(action);
                    Json(json!({"actions": actions})).into_response()
                }
                "/api/breaks" if tries == 1 => {
                    let pieces = [Ok("{\"half\":"), Err(std::io::Error::other("cut"))];
                    Response::new(Body::from_stream(futures::stream::iter(pieces)))
                }
                "/api/breaks" => Json(json!("done")).into_response(),
                "/api/mumbles" => "hm".into_response(),
                _ => (StatusCode::INTERNAL_SERVER_ERROR, Json(json!({"code": "internal"}))).into_response(),
            }
        }
    };
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, Router::new().fallback(answer)).await.unwrap() });

    let (code, stdout, stderr) = tandem(&url, &["action", "breaks", "{}"], "").await;
    assert_eq!((code, stdout.as_str()), (0, "\"done\"\n"), "{stderr}");
    let used = std::mem::take(&mut *keys.lock().unwrap());
    assert!(used.len() == 2 && used[0] == used[1], "{used:?}");
    for name in ["mumbles", "fails"] {
        let (code, _, stderr) = tandem(&url, &["action", name, "{}"], "").await;
        let key = keys.lock().unwrap().pop().unwrap();
        assert_eq!(code, 1, "{stderr}");
        let told = format!("To ask for the same call again: --idempotency-key {key}\n");
        assert!(stderr.contains(&told), "{name}: {stderr}");
    }
}

#[tokio::test]
async fn what_cannot_be_sent_is_bad_usage_at_once() {
    let server = Server::start().await;
    let address = "must be an address that begins with http:// or https://";
    let line = "must be one line, without control characters";
    let commands: [&[&str]; 6] =
        [&["chat", "hi"], &["tail", "r"], &["stop", "r"], &["approve", "r", "c"], &["action", "probe"], &["doctor"]];
    for command in commands {
        for (flag, value, must) in [
            ("--url", "localhost:8787", address),
            ("--url", "ftp://host", address),
            ("--token", "a\nb", line),
            ("--token", "a\u{7f}", line),
        ] {
            let args = [command, &[flag, value]].concat();
            let done = tokio::time::timeout(AT_ONCE, tandem(&server.url, &args, "")).await;
            let (code, _, stderr) = done.unwrap_or_else(|_| panic!("{args:?} did not end"));
            assert_eq!(code, 2, "{args:?}: {stderr}");
            assert!(stderr.contains(flag) && stderr.contains(must), "{args:?}: {stderr}");
            assert!(flag == "--url" || !stderr.contains(value), "the token is shown: {stderr}");
        }
    }
    let args = ["action", "add-up", "--sum-name=s", "--by=1", "--idempotency-key", "a\nb"];
    let done = tokio::time::timeout(AT_ONCE, tandem(&server.url, &args, "")).await;
    let (code, _, stderr) = done.unwrap();
    assert_eq!((code, stderr), (2, format!("--idempotency-key {line}\n")));
}

#[tokio::test]
async fn an_unknown_action_is_told_with_those_that_there_are() {
    let (code, _, stderr) = tandem("http://127.0.0.1:1", &["schema", "list-email"], "").await;
    assert_eq!(code, 2, "{stderr}");
    let told = "there is no action \"list-email\"; did you mean list-emails or ";
    assert!(stderr.starts_with(told) && stderr.contains("? There are: list-emails, "), "{stderr}");
}

#[tokio::test]
async fn a_result_that_cannot_be_written_is_a_failure() {
    let server = Server::start().await;
    for args in [&["action", "probe"][..], &["action"], &["schema", "list-emails"], &["chat", "hi"]] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let child = command(&server.url, args).stdin(Stdio::null()).stdout(full).stderr(Stdio::piped()).spawn();
        let done = child.unwrap().wait_with_output().await.unwrap();
        let stderr = String::from_utf8(done.stderr).unwrap();
        assert_eq!(done.status.code(), Some(1), "{args:?}: {stderr}");
        assert!(stderr.contains("the result could not be written: No space left on device"), "{args:?}: {stderr}");
    }
}
