//! The Lambda host against a real bootstrap: each test is one thing that Lambda does and emulators do not.
#![allow(clippy::unwrap_used)]

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use aws_sdk_lambda::Client;
use aws_sdk_lambda::config::{BehaviorVersion, Config, Credentials, Region};
use aws_sdk_lambda::operation::invoke::InvokeOutput;
use aws_sdk_lambda::types::InvocationType;
use futures::StreamExt;
use futures::future::join_all;
use serde_json::{Value, json};
use tandem_testkit::lambda::{Delivery, Function, Invoker, LambdaHost, Outcome, runtime_interface_emulator};

const MS: fn(u64) -> Duration = Duration::from_millis;

fn worker() -> Function {
    Function::new("worker", env!("CARGO_BIN_EXE_lambda-probe")).env("PROBE", "event")
}

fn front() -> Function {
    Function::new("front", env!("CARGO_BIN_EXE_lambda-probe")).env("PROBE", "url").with_url()
}

async fn host(function: Function) -> LambdaHost {
    LambdaHost::start([function]).await.unwrap()
}

fn client(host: &LambdaHost) -> Client {
    let config = Config::builder()
        .behavior_version(BehaviorVersion::latest())
        .region(Region::from_static("us-east-1"))
        .credentials_provider(Credentials::new("a", "b", None, None, "test"))
        .endpoint_url(host.endpoint());
    Client::from_conf(config.build())
}

async fn invoke(host: &LambdaHost, kind: InvocationType, payload: &Value) -> InvokeOutput {
    let payload = payload.to_string().into_bytes().into();
    client(host).invoke().function_name("worker").invocation_type(kind).payload(payload).send().await.unwrap()
}

async fn answer(host: &LambdaHost, payload: &Value) -> Value {
    let output = invoke(host, InvocationType::RequestResponse, payload).await;
    assert_eq!(output.function_error, None);
    serde_json::from_slice(output.payload.unwrap().as_ref()).unwrap()
}

async fn send_event(host: &LambdaHost, payload: &Value) {
    assert_eq!(invoke(host, InvocationType::Event, payload).await.status_code, 202);
}

/// Polls, since what is waited for happens in other processes.
async fn until(what: &str, condition: impl Fn() -> bool) {
    let started = Instant::now();
    while !condition() {
        assert!(started.elapsed() < Duration::from_secs(10), "not in ten seconds: {what}");
        tokio::time::sleep(MS(5)).await;
    }
}

fn outcomes(host: &LambdaHost) -> Vec<Option<Outcome>> {
    host.invocations("worker").iter().map(|invocation| invocation.outcome).collect()
}

#[tokio::test]
async fn a_function_url_streams_chunks_as_they_are_written() {
    let host = host(front()).await;
    // In milliseconds: far longer than a busy machine takes for one chunk.
    let every = 1_500;
    let url = format!("{}/stream?chunks=3&every_ms={every}", host.url("front"));
    let response = reqwest::get(url).await.unwrap();
    let head = (response.status().as_u16(), response.headers()["content-type"].clone());
    assert_eq!(head, (200, "text/event-stream".parse().unwrap()));
    assert_eq!(response.headers()["set-cookie"], "a=1");
    let mut lines = response.bytes_stream();
    let mut numbers = Vec::new();
    while let Some(line) = lines.next().await {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis();
        let line = String::from_utf8(line.unwrap().to_vec()).unwrap();
        let (number, written) = line.trim_end().split_once(' ').unwrap();
        numbers.push(number.to_owned());
        let late = now - written.parse::<u128>().unwrap();
        assert!(late < every, "chunk {number} came {late} ms after it was written");
    }
    assert_eq!(numbers, ["0", "1", "2"]);
}

#[tokio::test]
async fn a_function_url_hands_over_the_request_as_it_was() {
    let host = host(front()).await;
    let cases: [(&str, &[u8], &str); 3] = [
        ("application/json", "{\"text\": \"ä 🚲\"}".as_bytes(), "/a/b%20c?x=1&x=2&y=%C3%A4"),
        ("application/octet-stream", &[0, 255, 10], "/"),
        ("text/plain", b"", "/empty?"),
    ];
    for (content_type, body, path) in cases {
        let request = reqwest::Client::new().put(format!("{}{path}", host.url("front")));
        let request = request.header("content-type", content_type).header("x-custom", "1").header("cookie", "a=1; b=2");
        let response = request.body(body.to_vec()).send().await.unwrap();
        assert_eq!(response.status(), 202);
        let (path, query) = path.split_once('?').map_or((path, None), |(path, query)| (path, Some(query)));
        let query = query.filter(|query| !query.is_empty());
        let expected =
            json!({"method": "PUT", "path": path, "query": query, "custom": "1", "cookie": "a=1; b=2", "bytes": body});
        assert_eq!(response.json::<Value>().await.unwrap(), expected);
    }
}

#[tokio::test]
async fn a_stream_that_is_cut_off_looks_broken_and_not_finished() {
    let host = host(front()).await;
    let url = format!("{}/stream?chunks=5&every_ms=150&exit_at=2", host.url("front"));
    let mut chunks = reqwest::get(url).await.unwrap().bytes_stream();
    let mut got = Vec::new();
    let ended = loop {
        match chunks.next().await {
            Some(Ok(chunk)) => got.extend_from_slice(&chunk),
            other => break other,
        }
    };
    assert_eq!(String::from_utf8(got).unwrap().lines().count(), 2);
    assert!(matches!(ended, Some(Err(_))), "{ended:?}");
    let dead = reqwest::get(format!("{}/stream?chunks=1&every_ms=1&exit_at=0", host.url("front"))).await.unwrap();
    assert!(dead.status() == 502 || dead.bytes().await.is_err(), "before the head, or after it");
}

#[tokio::test]
async fn an_invocation_without_a_process_to_take_it_is_throttled() {
    let front = Function { max_processes: 1, ..front() };
    let host = host(front).await;
    // It is busy for far longer than the second request takes.
    let url = format!("{}/stream?chunks=2&every_ms=3000", host.url("front"));
    let busy = reqwest::get(&url).await.unwrap();
    assert_eq!(reqwest::get(&url).await.unwrap().status(), 429);
    busy.bytes().await.unwrap();
    assert_eq!(reqwest::get(&url).await.unwrap().status(), 200);
    let invocations = host.invocations("front");
    assert!(invocations.len() == 2 && invocations[0].pid == invocations[1].pid, "{invocations:?}");
}

#[tokio::test]
async fn one_process_has_one_invocation_at_a_time() {
    let host = host(worker()).await;
    let orders = json!({"sleep_ms": 150});
    join_all((0..4).map(|_| answer(&host, &orders))).await;
    until("all are free", || host.idle("worker").len() == 4).await;
    answer(&host, &orders).await;
    let invocations = host.invocations("worker");
    assert_eq!(invocations.len(), 5);
    for (n, one) in invocations.iter().enumerate() {
        for other in &invocations[n + 1..] {
            let overlap = one.started < other.ended.unwrap_or(Duration::MAX) && other.started < one.ended.unwrap();
            assert!(!(overlap && one.pid == other.pid), "{one:?} and {other:?}");
        }
    }
}

#[tokio::test]
async fn an_event_is_accepted_at_once_and_delivered_later() {
    let host = host(worker()).await;
    let started = Instant::now();
    send_event(&host, &json!({"sleep_ms": 1500})).await;
    assert!(started.elapsed() < MS(1200), "202 took {:?}", started.elapsed());
    until("it was carried out", || outcomes(&host) == [Some(Outcome::Answered)]).await;
    assert_eq!(host.invocations("worker")[0].invoker, Invoker::Event);
}

#[tokio::test]
async fn events_come_late_twice_or_never_as_the_script_says() {
    let host = host(worker()).await;
    let script = [Delivery::Throttled, Delivery::Late(MS(300)), Delivery::Twice(MS(50)), Delivery::Lost];
    host.script("worker", script);
    // The SDK tries again by itself after the 429, and its second try is the late one.
    for n in 1..=4 {
        send_event(&host, &json!({"n": n})).await;
    }
    until("four of five were delivered", || outcomes(&host) == [Some(Outcome::Answered); 4]).await;
    let mut deliveries = std::collections::BTreeMap::new();
    for invocation in host.invocations("worker") {
        *deliveries.entry(invocation.id).or_insert(0) += 1;
    }
    let mut deliveries: Vec<_> = deliveries.into_values().collect();
    deliveries.sort_unstable();
    assert_eq!(deliveries, [1, 1, 2], "late, prompt, twice");
}

#[tokio::test]
async fn an_event_waits_for_a_process() {
    let host = host(Function { max_processes: 1, ..worker() }).await;
    for n in 0..3 {
        send_event(&host, &json!({"sleep_ms": 50, "n": n})).await;
    }
    until("all were carried out", || outcomes(&host) == [Some(Outcome::Answered); 3]).await;
    let mut pids: Vec<_> = host.invocations("worker").iter().map(|invocation| invocation.pid).collect();
    pids.dedup();
    assert_eq!(pids.len(), 1);
}

#[tokio::test]
async fn an_event_that_waited_too_long_ends_in_the_failure_queue() {
    let mut function = Function { max_processes: 1, ..worker() };
    function.queue.max_age = MS(200);
    let host = host(function).await;
    send_event(&host, &json!({"sleep_ms": 5000})).await;
    until("the process is busy", || host.busy("worker").len() == 1).await;
    send_event(&host, &json!({"n": 2})).await;
    until("the second is given up", || !host.failed_events("worker").is_empty()).await;
    let failed = host.failed_events("worker");
    assert_eq!((failed[0].condition, failed[0].payload.as_ref()), ("EventAgeExceeded", br#"{"n":2}"#.as_slice()));
}

#[tokio::test]
async fn an_event_that_was_given_up_comes_to_another_function_until_that_has_dealt_with_it() {
    let mut failing = worker();
    failing.queue.on_failure = Some("keeper".into());
    let keeper = Function { name: "keeper".into(), max_processes: 0, ..worker() };
    let host = LambdaHost::start([failing, keeper]).await.unwrap();
    send_event(&host, &json!({"fail": "no"})).await;
    until("it is given up", || !host.failed_events("worker").is_empty()).await;
    assert_eq!(host.invocations("keeper"), []);
    host.limit("keeper", 1);
    until("it is dealt with", || host.invocations("keeper").first().is_some_and(|one| one.outcome.is_some())).await;
    let invocations = host.invocations("keeper");
    let [one] = &invocations[..] else { panic!("once: {invocations:?}") };
    assert_eq!((one.invoker, one.outcome), (Invoker::Queue, Some(Outcome::Answered)));
}

#[tokio::test]
async fn a_failed_event_is_tried_again_as_often_as_configured() {
    for retries in [0, 2] {
        let mut function = worker();
        function.queue.retries = retries;
        function.queue.pause = MS(10);
        let host = host(function).await;
        send_event(&host, &json!({"fail": "no"})).await;
        until("it is given up", || !host.failed_events("worker").is_empty()).await;
        until("all failed", || outcomes(&host) == vec![Some(Outcome::Failed); 1 + retries as usize]).await;
        assert_eq!(host.failed_events("worker")[0].condition, "RetriesExhausted");
    }
}

#[tokio::test]
async fn a_function_that_runs_into_its_deadline_is_killed() {
    let host = host(Function { timeout: MS(3_000), ..worker() }).await;
    let first = answer(&host, &json!({"n": 1})).await;
    let left = first["leftMs"].as_u64().unwrap();
    assert!((1_000..=3_000).contains(&left), "{left} ms left at the start of 3000");
    until("the process is free", || !host.idle("worker").is_empty()).await;
    let output = invoke(&host, InvocationType::RequestResponse, &json!({"sleep_ms": 20_000})).await;
    let error = String::from_utf8(output.payload.unwrap().into_inner()).unwrap();
    assert!(output.function_error.is_some() && error.contains("Task timed out after 3.00 seconds"), "{error}");
    answer(&host, &json!({"n": 3})).await;
    until("all ended", || !outcomes(&host).contains(&None)).await;
    assert_eq!(outcomes(&host), [Outcome::Answered, Outcome::TimedOut, Outcome::Answered].map(Some));
    let pids: Vec<_> = host.invocations("worker").iter().map(|invocation| invocation.pid).collect();
    assert!(pids[0] == pids[1] && pids[1] != pids[2], "{pids:?}");
}

#[tokio::test]
async fn a_process_that_dies_fails_its_invocation_and_is_replaced() {
    let host = host(worker()).await;
    let output = invoke(&host, InvocationType::RequestResponse, &json!({"exit": 3})).await;
    let error = String::from_utf8(output.payload.unwrap().into_inner()).unwrap();
    assert!(error.contains("Runtime exited: exit status: 3"), "{error}");
    let started = tokio::spawn({
        let client = client(&host);
        async move { client.invoke().function_name("worker").payload(br#"{"sleep_ms": 5000}"#.to_vec().into()).send().await }
    });
    until("it runs", || host.busy("worker").len() == 1).await;
    assert_eq!(host.kill("worker"), 1);
    assert_eq!(started.await.unwrap().unwrap().function_error.as_deref(), Some("Unhandled"));
    answer(&host, &json!({})).await;
    until("two died", || outcomes(&host)[..2] == [Some(Outcome::Died); 2]).await;
}

#[tokio::test]
async fn a_process_is_frozen_between_invocations() {
    // At the same time, so that both are as slow as the machine is.
    let [frozen, running] = [true, false].map(async |freeze| {
        let host = host(Function { freeze, ..worker() }).await;
        let before = answer(&host, &json!({})).await["ticks"].as_i64().unwrap();
        tokio::time::sleep(MS(1200)).await;
        answer(&host, &json!({})).await["ticks"].as_i64().unwrap() - before
    });
    let (frozen, running) = tokio::join!(frozen, running);
    assert!(running > 0 && frozen < running / 2, "ticks of 10 ms in 1.2 s: {frozen} frozen, {running} running");
}

#[tokio::test]
async fn a_paused_process_goes_on_where_it_was() {
    let host = host(worker()).await;
    // It would be over long before the pause is.
    send_event(&host, &json!({"sleep_ms": 2000})).await;
    until("it runs", || host.busy("worker").len() == 1).await;
    assert_eq!(host.pause("worker"), 1);
    tokio::time::sleep(MS(3000)).await;
    assert_eq!(outcomes(&host), [None]);
    host.resume("worker");
    until("it has ended", || outcomes(&host) == [Some(Outcome::Answered)]).await;
}

#[tokio::test]
async fn a_function_sees_lambdas_environment_and_nothing_of_ours() {
    let host = host(worker().env("TABLE_NAME", "tandem")).await;
    let answer = answer(&host, &json!({"hello": 1})).await;
    assert_eq!(answer["echo"], json!({"hello": 1}));
    assert_eq!(answer["arn"], "arn:aws:lambda:us-east-1:000000000000:function:worker");
    let environment: Vec<(String, String)> = serde_json::from_value(answer["environment"].clone()).unwrap();
    let variable = |name: &str| environment.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str());
    assert_eq!(variable("TABLE_NAME"), Some("tandem"));
    assert_eq!(variable("AWS_LAMBDA_FUNCTION_NAME"), Some("worker"));
    assert_eq!(variable("AWS_ENDPOINT_URL_LAMBDA"), Some(host.endpoint()));
    assert_eq!(variable("CARGO_MANIFEST_DIR"), None);
}

#[tokio::test]
async fn a_bootstrap_that_cannot_start_fails_its_invocations_and_says_why() {
    let host = host(worker().env("PROBE", "nonsense")).await;
    let output = invoke(&host, InvocationType::RequestResponse, &json!({})).await;
    let error = String::from_utf8(output.payload.unwrap().into_inner()).unwrap();
    assert!(error.contains("Runtime exited: exit status: 1"), "{error}");
    until("its words are kept", || host.log("worker").join("\n").contains("PROBE is url or event")).await;
}

#[tokio::test]
async fn who_is_not_there_or_too_large_is_refused_in_lambdas_words() {
    let host = host(worker()).await;
    let client = client(&host);
    let missing = client.invoke().function_name("nobody").send().await.unwrap_err().into_service_error();
    assert_eq!(missing.meta().code(), Some("ResourceNotFoundException"));
    let large = vec![b' '; 1024 * 1024 + 1];
    let large = client.invoke().function_name("worker").invocation_type(InvocationType::Event).payload(large.into());
    let large = large.send().await.unwrap_err().into_service_error();
    assert_eq!(large.meta().code(), Some("RequestTooLargeException"));
    let by_arn = "arn:aws:lambda:us-east-1:000000000000:function:worker";
    let dry = client.invoke().function_name(by_arn).invocation_type(InvocationType::DryRun).send().await.unwrap();
    assert_eq!(dry.status_code, 204);
}

/// `events/foreground-*.json` are what `sam local invoke` is given; a wrong shape would be refused by `lambda_http`.
#[tokio::test]
async fn the_sample_events_are_function_url_events() {
    let host = host(front()).await;
    for (file, expected) in [
        ("foreground-healthz.json", json!({"method": "GET", "path": "/healthz", "bytes": []})),
        ("foreground-agent-chat.json", json!({"method": "POST", "path": "/api/agent-chat"})),
    ] {
        let event = std::fs::read(format!("{}/../../events/{file}", env!("CARGO_MANIFEST_DIR"))).unwrap();
        let invoke = client(&host).invoke().function_name("front").payload(event.into());
        let answer = invoke.send().await.unwrap().payload.unwrap().into_inner();
        let body = answer.split(|byte| *byte == 0).next_back().unwrap();
        let echo: Value = serde_json::from_slice(body).unwrap();
        for (name, value) in expected.as_object().unwrap() {
            assert_eq!(&echo[name], value, "{file}: {echo}");
        }
    }
}

#[tokio::test]
async fn processes_end_with_the_host() {
    let host = host(worker()).await;
    answer(&host, &json!({})).await;
    until("it is idle", || host.idle("worker").len() == 1).await;
    let status = format!("/proc/{}/status", host.idle("worker")[0]);
    drop(host);
    until("it is gone", || !std::fs::read_to_string(&status).is_ok_and(|status| !status.contains("zombie"))).await;
}

/// Only where `scripts/aws-tools.sh` has run.
#[test]
fn the_runtime_interface_emulator_is_found_where_it_is_installed() {
    if let Some(emulator) = runtime_interface_emulator() {
        // It is not asked: whatever its arguments are, it serves until somebody ends it.
        let mode = std::os::unix::fs::PermissionsExt::mode(&emulator.metadata().unwrap().permissions());
        assert_eq!(mode & 0o111, 0o111, "{mode:o}");
        let flag = b"runtime-interface-emulator-address";
        let program = std::fs::read(&emulator).unwrap();
        assert!(program.windows(flag.len()).any(|bytes| bytes == flag), "{}", emulator.display());
    }
}
