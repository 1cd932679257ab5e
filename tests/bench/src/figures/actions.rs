//! Actions over HTTP: how many a second, and how long one takes; with the engine, and with a store that costs nothing.

use std::time::Duration;

use serde_json::json;
use tandem_tests::Program;

use crate::canned::Canned;
use crate::report::Row;
use crate::requests::for_a_while;
use crate::samples::Samples;

const TIME: Duration = Duration::from_secs(3);

/// A request by its number.
type Request = fn(usize) -> String;

/// What is asked: name, wanted a second of the runtime itself, the request.
const ASKED: [(&str, Option<f64>, Request); 3] = [
    ("view-screen, one read of the store", Some(5_000.0), view_screen),
    ("read-email, three reads of the store", None, read_email),
    ("remember, a read and a transaction", Some(2_000.0), remember),
];
/// The first change writes the sample emails down: an email that is not there costs another read.
const BEFORE: &str = r#"{"emailId":"e-1","add":["a"]}"#;

pub(crate) async fn take(repeat: usize) -> Vec<Row> {
    let dir = tempfile::tempdir().unwrap();
    let engine = Program::serve(&["dynamodb", "--port", "0"], &[], dir.path()).await;
    let canned = Canned::before(engine.url()).await;
    let mut rows = Vec::new();
    for (store, url) in [("embedded engine", engine.url()), ("store that costs nothing", canned.url())] {
        let env =
            [("AWS_ENDPOINT_URL_DYNAMODB", url), ("AGENT_CHAT_DURABLE_BACKGROUND", "false"), ("MODEL", "scripted")];
        let program = Program::serve(&["foreground", "--port", "0"], &env, dir.path()).await;
        let label = tandem_tests::Api::new(program.url()).request(reqwest::Method::POST, "/api/label-email");
        let labelled = label.header("content-type", "application/json").body(BEFORE).send().await.unwrap();
        assert!(labelled.status().is_success(), "{}", labelled.status());
        for (_, _, request) in ASKED {
            for_a_while(program.url(), 1, Duration::from_millis(200), request).await;
        }
        if url == canned.url() {
            canned.seal();
        }
        for (name, wanted, request) in ASKED {
            for connections in [1, 32] {
                let [mut latencies, mut rate, mut cost] = [(); 3].map(|()| Samples::default());
                for _ in 0..repeat {
                    let before = program.cpu_time();
                    let took = for_a_while(program.url(), connections, TIME, request).await;
                    let used = (program.cpu_time() - before).as_secs_f64();
                    rate.add(vec![took.len() as f64 / TIME.as_secs_f64()]);
                    cost.add(vec![used * 1_000_000.0 / took.len() as f64]);
                    latencies.add(took);
                }
                let what = format!("{name}, {store}, {connections} at once");
                let rate = Row::new(format!("requests a second: {what}"), "", &rate);
                let wanted = wanted.filter(|_| url == canned.url() && connections == 32);
                rows.push(wanted.into_iter().fold(rate, Row::at_least));
                rows.push(Row::new(format!("latency: {what}"), "ms", &latencies));
                rows.push(Row::new(format!("processor time of the runtime: {what}"), "us", &cost));
            }
        }
    }
    rows
}

fn read_email(_: usize) -> String {
    get("/api/read-email?emailId=e-1")
}

fn view_screen(_: usize) -> String {
    get("/api/view-screen")
}

/// Each for somebody else: a person's own changes wait for each other.
fn remember(number: usize) -> String {
    let body = json!({"name": "tone", "text": "Short and friendly."}).to_string();
    let length = body.len();
    format!(
        "POST /api/remember HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer dev.bench.user{number}\r\n\
         content-length: {length}\r\n\r\n{body}"
    )
}

fn get(path: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n\r\n")
}
