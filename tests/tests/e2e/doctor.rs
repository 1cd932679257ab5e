//! `tandem doctor`: it finds nothing where all is well, and names what is wrong where it is not.

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::response::Response;
use serde_json::{Value, json};
use tandem_tests::{Dev, Env, Finished, Split, run_to_end};
use tokio::net::TcpListener;

const TURN: [&str; 4] = ["streaming", "dispatch", "model", "log"];
const BEFORE: [&str; 7] = ["address", "tandem", "transport", "clock", "strangers", "sign-in", "table"];

/// What the doctor says of a system, and its exit code.
async fn examine(url: &str, more: &[&str]) -> (Value, Option<i32>) {
    let done = run_to_end(&[&["doctor", url, "--json"], more].concat(), &[]).await;
    let told = serde_json::from_str(&done.stdout).unwrap_or_else(|_| panic!("{done:#?}"));
    (told, done.code)
}

/// The checks by their state.
fn with_state(told: &Value, state: &str) -> Vec<String> {
    let checks = told["checks"].as_array().unwrap().iter().filter(|check| check["state"] == state);
    checks.map(|check| check["check"].as_str().unwrap().to_owned()).collect()
}

async fn serve(router: Router) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await });
    url
}

#[tokio::test]
async fn a_system_that_is_well_passes_every_check_and_is_left_as_it_was() {
    let dev = Dev::start(&[]).await;
    let (told, code) = examine(dev.url(), &[]).await;
    assert_eq!(with_state(&told, "ok"), [&BEFORE[..], &TURN].concat(), "{told:#}");
    assert_eq!((code, &told["ok"], &told["url"]), (Some(0), &json!(true), &json!(dev.url())));
    assert_eq!(dev.api().read("/threads").await["items"], json!([]));
    // For people: the same, line by line; the address from the environment.
    let Finished { code, stdout, stderr } = run_to_end(&["doctor"], &[("TANDEM_URL", dev.url())]).await;
    assert_eq!((code, stdout.as_str(), stderr.lines().count()), (Some(0), "", 11), "{stderr}");
    assert!(stderr.lines().all(|line| line.starts_with("ok    ")), "{stderr}");
}

#[tokio::test]
async fn what_is_not_there_or_is_not_tandem_is_told_and_nothing_more_is_asked() {
    let port = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().port();
    let other = serve(Router::new().fallback(|| async { "hello" })).await;
    for (url, check) in [(format!("http://127.0.0.1:{port}"), "address"), (other, "tandem")] {
        let (told, code) = examine(&url, &[]).await;
        assert_eq!((with_state(&told, "fail"), code), (vec![check.to_owned()], Some(1)), "{told:#}");
        let last = told["checks"].as_array().unwrap().last().unwrap();
        assert!(last["check"] == check && last["do"].as_str().is_some_and(|advice| !advice.is_empty()), "{told:#}");
    }
}

#[tokio::test]
async fn a_token_that_is_not_taken_is_told() {
    let dev = Dev::start(&[]).await;
    let (told, code) = examine(dev.url(), &["--token", "nonsense"]).await;
    assert_eq!((with_state(&told, "fail"), code), (vec!["sign-in".to_owned()], Some(1)), "{told:#}");
}

/// Gives each answer as a whole, and dates it by another clock.
async fn holding_back(system: &str) -> String {
    let (system, client) = (system.to_owned(), reqwest::Client::builder().no_proxy().build().unwrap());
    let pass = async move |request: Request| {
        let (parts, body) = request.into_parts();
        let url = format!("{system}{}", parts.uri.path_and_query().unwrap());
        let asked = client.request(parts.method, url).body(to_bytes(body, usize::MAX).await.unwrap());
        let answer = asked.header("accept", parts.headers["accept"].clone()).send().await.unwrap();
        let mut response = Response::builder().status(answer.status()).header("date", "Thu, 01 Jan 2026 00:00:00 GMT");
        for name in ["content-type", "x-run-id"] {
            response = answer.headers().get(name).into_iter().fold(response, |to, value| to.header(name, value));
        }
        response.body(Body::from(answer.bytes().await.unwrap())).unwrap()
    };
    serve(Router::new().fallback(pass)).await
}

#[tokio::test]
async fn a_stream_that_is_held_back_and_a_clock_that_is_wrong_are_told() {
    let dev = Dev::start(&[]).await;
    let (told, code) = examine(&holding_back(dev.url()).await, &[]).await;
    assert_eq!((with_state(&told, "fail"), code), (vec!["clock".into(), "streaming".into()], Some(1)), "{told:#}");
}

#[tokio::test]
async fn a_background_that_does_not_claim_is_told_and_one_that_is_not_wanted_is_a_warning() {
    let split = Split::start(1, 0, &[]).await;
    let (told, code) = examine(split.foregrounds[0].url(), &[]).await;
    assert_eq!((with_state(&told, "fail"), code), (vec!["dispatch".to_owned()], Some(1)), "{told:#}");
    let alone: Env<'_> = &[("AGENT_CHAT_DURABLE_BACKGROUND", "false")];
    let dev = Dev::start(alone).await;
    let (told, code) = examine(dev.url(), &[]).await;
    assert_eq!((with_state(&told, "warn"), code), (vec!["dispatch".to_owned()], Some(0)), "{told:#}");
}

#[tokio::test]
async fn a_model_that_costs_something_is_asked_on_demand_only() {
    let dev = Dev::start(&[("MODEL", "anthropic/some-model"), ("ANTHROPIC_API_KEY", "none")]).await;
    let (told, code) = examine(dev.url(), &[]).await;
    assert_eq!((with_state(&told, "skip"), code), (vec!["turn".to_owned()], Some(0)), "{told:#}");
    assert_eq!(with_state(&told, "ok"), BEFORE);
}
