//! Answers without a stream close at once, although they leave through the entry that streams.

use super::{Deployment, FOREGROUND, message};
use reqwest::{Method, RequestBuilder, header};
use std::time::Duration;
use tandem_tests::{Api, until};
use tokio::time::Instant;

/// Time for an answer and its end. One that waited for a keep-alive or a window would need ten seconds or more.
const AT_ONCE: Duration = Duration::from_secs(1);
/// For megabytes through the JSON of debug builds.
const AT_ONCE_IF_LARGE: Duration = Duration::from_secs(4);
/// A busy machine may be late now and then; only an answer that is late each time is at fault.
const TRIES: usize = 5;

struct Case {
    name: &'static str,
    request: RequestBuilder,
    status: u16,
    /// `None` where there is no body to have a type; Lambda's runtime names one all the same.
    kind: Option<&'static str>,
}

fn case(name: &'static str, request: RequestBuilder, status: u16, kind: Option<&'static str>) -> Case {
    Case { name, request, status, kind }
}

const JSON: Option<&str> = Some("application/json");
const PROBLEM: Option<&str> = Some("application/problem+json");
const STREAM: Option<&str> = Some("text/event-stream");

fn cases(api: &Api, run: &str, thread: &str, last: u64) -> Vec<Case> {
    let somebody = api.as_person("else.somebody");
    let text = |length: usize| format!("{{\"message\":\"{}\"}}", "x".repeat(length));
    let post = |body: String| api.request(Method::POST, "/api/agent-chat").body(body);
    let event_source = |id: u64| api.events(run, None).header("last-event-id", id);
    vec![
        case("healthz", api.get("/healthz"), 200, JSON),
        case("healthz without a body", api.request(Method::HEAD, "/healthz"), 200, JSON),
        case("nothing more to follow", api.events(run, Some(last)), 204, None),
        case("nothing more for an EventSource", event_source(last), 204, None),
        case("nothing to resume", api.get("/api/agent-chat/no-such-thread/stream"), 204, None),
        case(
            "a finished turn by position",
            api.get(&format!("/api/agent-chat/{run}/stream?startIndex=999")),
            200,
            STREAM,
        ),
        case("a finished run", api.events(run, None), 200, STREAM),
        case("a finished run as JSON", api.events(run, None).header(header::ACCEPT, "application/json"), 200, JSON),
        case("a run", api.get(&format!("/runs/{run}")), 200, JSON),
        case("a thread's messages", api.get(&format!("/threads/{thread}/messages")), 200, JSON),
        case("nobody's token", api.get("/runs").bearer_auth("nonsense"), 401, PROBLEM),
        case("an unknown path", api.get("/nowhere"), 404, PROBLEM),
        case("an unknown run", api.events("run_unknown", None), 404, PROBLEM),
        case("somebody else's run", somebody.events(run, None), 404, PROBLEM),
        case("a wrong method", api.request(Method::DELETE, "/healthz"), 405, PROBLEM),
        case("an end that is one already", api.request(Method::POST, &format!("/runs/{run}/abort")), 200, JSON),
        case("no JSON", post("{".into()), 400, PROBLEM),
        case("no message", post("{}".into()), 400, PROBLEM),
        case("more than a body may have", post(text(4 * 1024 * 1024)), 413, PROBLEM),
    ]
}

#[tokio::test]
async fn answers_without_a_stream_close_at_once() {
    let deployment = Deployment::start(&[]).await;
    let api = deployment.api();
    let started = api.start(&message("@say 3 every 0")).await;
    api.run_is(&started.run, "completed").await;
    let last = api.log(&started.run).await.after().unwrap();
    let mut faults = Vec::new();
    for case in cases(&api, &started.run, &started.thread, last) {
        faults.extend(fault(&deployment, &case).await);
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

/// What is wrong with the answer, or nothing.
async fn fault(deployment: &Deployment, case: &Case) -> Option<String> {
    let free = || until("the process to be free", async || deployment.host.busy(FOREGROUND).is_empty().then_some(()));
    let limit = if case.status == 413 { AT_ONCE_IF_LARGE } else { AT_ONCE };
    let mut late = String::new();
    for _ in 0..TRIES {
        free().await;
        let began = Instant::now();
        let response = case.request.try_clone().unwrap().send().await.unwrap();
        let status = response.status().as_u16();
        let kind = response.headers().get(header::CONTENT_TYPE).map(|kind| kind.to_str().unwrap().to_owned());
        let text = response.text().await.unwrap();
        // The client has its answer, and the function is free for the next one.
        free().await;
        let took = began.elapsed();
        let told = format!("{}: {status} {kind:?} in {took:?}: {}", case.name, &text[..text.len().min(300)]);
        if status != case.status || (case.kind.is_some() && kind.as_deref() != case.kind) {
            return Some(told);
        }
        if took <= limit {
            return None;
        }
        late = told;
    }
    Some(late)
}
