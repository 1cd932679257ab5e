//! Spans arrive at a collector (OTLP over HTTP), and one that is dead is nobody's trouble.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use axum::extract::State;
use axum::http::HeaderMap;
use axum::routing::post;
use axum::{Json, Router};
use serde_json::{Value, json};
use tandem_testkit::lambda::Outcome;
use tandem_tests::{End, Log, until};
use tokio::net::TcpListener;
use tokio::time::Instant;

use super::{BACKGROUND, Deployment, FOREGROUND, MS, SECONDS, message};

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const CALLER: &str = "00f067aa0ba902b7";

/// What a collector was sent: each span with the service that it came from.
type Spans = Arc<Mutex<Vec<(String, Value)>>>;

/// A collector that asks for a key. Its address, and what it gets.
async fn collector() -> (String, Spans) {
    let spans = Spans::default();
    let router = Router::new().route("/v1/traces", post(take)).with_state(Arc::clone(&spans));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await });
    (url, spans)
}

async fn take(State(spans): State<Spans>, headers: HeaderMap, Json(sent): Json<Value>) -> Json<Value> {
    assert_eq!(
        (&headers["x-key"], &headers["content-type"]),
        (&"a b".parse().unwrap(), &"application/json".parse().unwrap())
    );
    for resource in sent["resourceSpans"].as_array().unwrap() {
        let service = resource["resource"]["attributes"][0]["value"]["stringValue"].as_str().unwrap();
        for span in resource["scopeSpans"][0]["spans"].as_array().unwrap() {
            spans.lock().unwrap().push((service.to_owned(), span.clone()));
        }
    }
    Json(json!({}))
}

#[tokio::test]
async fn one_trace_spans_the_request_its_dispatch_the_background_and_its_calls() {
    let (url, spans) = collector().await;
    let env = [("OTEL_EXPORTER_OTLP_ENDPOINT", url.as_str()), ("OTEL_EXPORTER_OTLP_HEADERS", "x-key=a%20b")];
    let deployment = Deployment::start(&env).await;
    let chat = deployment.api().chat(&message("@think 2 every 0\n/list-emails {\"limit\":1}\n\n@say 3 every 0"));
    let answer = chat.header("traceparent", format!("00-{TRACE}-{CALLER}-01")).send().await.unwrap();
    assert!(answer.text().await.unwrap().ends_with("data: [DONE]\n\n"));

    let of_trace = until("the background's spans", async || {
        let spans = spans.lock().unwrap();
        let mine: Vec<_> = spans.iter().filter(|(_, span)| span["traceId"] == TRACE).cloned().collect();
        mine.iter().any(|(service, span)| service == BACKGROUND && span["name"] == "run").then_some(mine)
    })
    .await;
    let told: BTreeSet<_> =
        of_trace.iter().map(|(service, span)| (service.as_str(), span["name"].as_str().unwrap())).collect();
    let want = [
        (BACKGROUND, "chat scripted"),
        (BACKGROUND, "execute_tool list-emails"),
        (BACKGROUND, "invoke_agent tandem"),
        (BACKGROUND, "run"),
        (FOREGROUND, "attend"),
        (FOREGROUND, "dispatch"),
        (FOREGROUND, "request"),
    ];
    assert_eq!(told, BTreeSet::from(want));
    // One tree, whose root is the caller's span.
    let parents: BTreeMap<_, _> = of_trace
        .iter()
        .map(|(_, span)| (span["spanId"].as_str().unwrap(), span["parentSpanId"].as_str().unwrap_or("none")))
        .collect();
    for (id, parent) in &parents {
        assert!(*parent == CALLER || parents.contains_key(parent), "{id} hangs on {parent}: {of_trace:#?}");
    }
    let name_of =
        |id: &str| of_trace.iter().find(|(_, span)| span["spanId"] == id).map(|(_, span)| span["name"].clone());
    let chain = ["execute_tool list-emails", "invoke_agent tandem", "run", "attend", "request"];
    let mut at = of_trace.iter().find(|(_, span)| span["name"] == chain[0]).unwrap().1.clone();
    for (child, parent) in chain.iter().zip(&chain[1..]) {
        let id = at["parentSpanId"].as_str().unwrap();
        assert_eq!(name_of(id), Some(json!(parent)), "{child}");
        at = of_trace.iter().find(|(_, span)| span["spanId"] == id).unwrap().1.clone();
    }
    let text = serde_json::to_string(&of_trace).unwrap();
    assert!(text.contains("gen_ai.usage.output_tokens") && text.contains("gen_ai.tool.call.id"), "{text}");
    // Nothing that was said or asked for, and no path.
    assert!(!text.contains("@say") && !text.contains("limit") && !text.contains("/api/"), "{text}");
}

#[tokio::test]
async fn a_dead_collector_holds_no_turn_up() {
    // It accepts connections and never answers.
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let deployment = Deployment::start(&[("OTEL_EXPORTER_OTLP_ENDPOINT", url.as_str())]).await;
    for turn in 1..3 {
        let mut stream = deployment.api().say("@say 10 every 20ms").await;
        let mut log = Log::default();
        assert_eq!(log.read_all(&mut stream).await, End::Done);
        log.finished(1);
        let began = Instant::now();
        let answered = deployment.ended(FOREGROUND, turn).await;
        // Half a second at the first end, none at those that follow; a busy machine has its time.
        assert!(began.elapsed() < SECONDS(3), "{:?}", began.elapsed());
        assert_eq!(answered.last().unwrap().outcome, Some(Outcome::Answered));
        deployment.ended(BACKGROUND, turn).await;
    }
    let said = deployment.host.log(BACKGROUND).join("\n");
    assert!(said.contains("spans were not sent"), "{said}");
    let took = deployment.host.invocations(BACKGROUND);
    let second = took[1].ended.unwrap().checked_sub(took[1].started).unwrap();
    assert!(second >= MS(150), "it did say ten words: {second:?}");
}
