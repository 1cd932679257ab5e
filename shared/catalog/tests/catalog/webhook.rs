//! `notify-webhook` against a server that removes duplicates by their key, as the other side of a keyed effect does.

use std::collections::{BTreeSet, VecDeque};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::extract::{Json, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use serde_json::{Value, json};
use tandem_actions::ActionError;
use tandem_catalog::Settings;

use crate::{Inbox, refusal};

/// What the server does with a request.
#[derive(Clone, Copy)]
enum Answer {
    Status(u16),
    /// Takes the text and never answers.
    Silence,
    /// With this status to the server at this address.
    Redirect(u16, SocketAddr),
}

#[derive(Default)]
struct Seen {
    answers: VecDeque<Answer>,
    requests: Vec<(String, Value)>,
    /// The keys of the texts that were taken: each once.
    taken: BTreeSet<String>,
    /// Requests that were no notification: of another method, or for another path.
    others: usize,
}

#[derive(Clone, Default)]
struct Webhook(Arc<Mutex<Seen>>);

impl Webhook {
    /// Answers with these and then with 200.
    async fn start(answers: impl IntoIterator<Item = Answer>) -> (Self, Settings) {
        let webhook = Webhook::default();
        let answers: VecDeque<Answer> = answers.into_iter().collect();
        // Only silence is to be taken for it, and no answer that is late.
        let silent = answers.iter().any(|answer| matches!(answer, Answer::Silence));
        let webhook_timeout = Duration::from_millis(if silent { 1_000 } else { 10_000 });
        webhook.0.lock().unwrap().answers = answers;
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/hooks/secret", listener.local_addr().unwrap());
        let router = Router::new().route("/hooks/secret", post(take).fallback(other)).fallback(other);
        let router = router.with_state(webhook.clone());
        tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        (webhook, Settings { webhook_url: Some(url), webhook_timeout, ..Settings::default() })
    }

    fn requests(&self) -> usize {
        self.0.lock().unwrap().requests.len()
    }

    fn taken(&self) -> usize {
        self.0.lock().unwrap().taken.len()
    }

    /// Every request, also what is no notification.
    fn asked(&self) -> usize {
        self.requests() + self.0.lock().unwrap().others
    }
}

async fn other(State(webhook): State<Webhook>) -> StatusCode {
    webhook.0.lock().unwrap().others += 1;
    StatusCode::OK
}

async fn take(State(webhook): State<Webhook>, headers: HeaderMap, Json(body): Json<Value>) -> Response {
    let key = headers["idempotency-key"].to_str().unwrap().to_owned();
    let answer = {
        let mut seen = webhook.0.lock().unwrap();
        seen.requests.push((key.clone(), body));
        let answer = seen.answers.pop_front().unwrap_or(Answer::Status(200));
        if matches!(answer, Answer::Silence | Answer::Status(200..=299)) {
            seen.taken.insert(key);
        }
        answer
    };
    match answer {
        Answer::Status(status) => StatusCode::from_u16(status).unwrap().into_response(),
        Answer::Silence => std::future::pending().await,
        Answer::Redirect(status, to) => {
            let location = format!("http://{to}/hooks/secret");
            (StatusCode::from_u16(status).unwrap(), [("location", location)]).into_response()
        }
    }
}

fn text() -> Value {
    json!({"text": "The import is done."})
}

#[tokio::test]
async fn a_notification_is_posted_with_the_key_of_its_call() {
    let (webhook, settings) = Webhook::start([]).await;
    let inbox = Inbox::with(&settings).await;
    for _ in 0..2 {
        let result = inbox.registry.call("notify-webhook", text(), inbox.tool("c1")).await;
        assert_eq!(result.unwrap(), json!({"status": 200}));
    }
    assert_eq!(webhook.0.lock().unwrap().requests, [("run_1/c1".to_owned(), text())]);
}

#[tokio::test]
async fn what_passes_is_tried_again_with_the_same_key() {
    for answer in [Answer::Status(500), Answer::Status(503), Answer::Status(429), Answer::Status(409), Answer::Silence]
    {
        let (webhook, settings) = Webhook::start([answer]).await;
        let inbox = Inbox::with(&settings).await;
        assert_eq!(inbox.call("notify-webhook", text()).await.unwrap(), json!({"status": 200}));
        assert_eq!((webhook.requests(), webhook.taken()), (2, 1));
    }
}

#[tokio::test]
async fn a_call_that_is_cut_off_runs_again_and_notifies_once() {
    let (webhook, settings) = Webhook::start([Answer::Silence]).await;
    let inbox = Inbox::with(&settings).await;
    let asked = async {
        while webhook.requests() == 0 {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    tokio::select! {
        _ = inbox.registry.call("notify-webhook", text(), inbox.tool("c1")) => panic!("nobody answers"),
        () = asked => {}
    }
    let again = inbox.registry.call("notify-webhook", text(), inbox.tool("c1")).await;
    assert_eq!(again.unwrap(), json!({"status": 200}));
    assert_eq!((webhook.requests(), webhook.taken()), (2, 1));
}

#[tokio::test]
async fn what_does_not_pass_is_told_and_not_repeated() {
    for status in [400, 401, 404] {
        let (webhook, settings) = Webhook::start([Answer::Status(status)]).await;
        let error = Inbox::with(&settings).await.call("notify-webhook", text()).await.unwrap_err();
        assert_eq!(error.to_string(), format!("The webhook refused the text with status {status}. [webhook_refused]"));
        assert_eq!(webhook.requests(), 1);
    }
}

#[tokio::test]
async fn a_redirect_is_told_and_not_followed() {
    let (elsewhere, settings) = Webhook::start([]).await;
    let url = settings.webhook_url.unwrap();
    let to = url.trim_start_matches("http://").trim_end_matches("/hooks/secret").parse().unwrap();
    // The first ones would become a GET, the last ones take the text with them.
    for status in [301, 302, 303, 307, 308] {
        let (webhook, settings) = Webhook::start([Answer::Redirect(status, to)]).await;
        let error = Inbox::with(&settings).await.call("notify-webhook", text()).await.unwrap_err();
        assert_eq!(error.to_string(), format!("The webhook refused the text with status {status}. [webhook_refused]"));
        assert_eq!((webhook.asked(), elsewhere.asked()), (1, 0), "{status}");
    }
    // Who follows would have been seen.
    reqwest::get(url).await.unwrap();
    assert_eq!(elsewhere.asked(), 1);
}

#[tokio::test]
async fn a_webhook_that_is_away_is_told_without_its_address() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/hooks/secret", listener.local_addr().unwrap());
    drop(listener);
    let inbox = Inbox::with(&Settings { webhook_url: Some(url), ..Settings::default() }).await;
    let error = inbox.call("notify-webhook", text()).await.unwrap_err();
    assert!(matches!(&error, ActionError::Failed { code, .. } if code == "webhook_unavailable"), "{error}");
    assert!(!error.to_string().contains("secret") && error.to_string().contains("all the same"), "{error}");
}

#[tokio::test]
async fn without_a_webhook_the_action_says_what_to_set() {
    let inbox = Inbox::new().await;
    let error = inbox.call("notify-webhook", text()).await.unwrap_err();
    assert_eq!(error.code(), "not_configured");
    assert!(error.to_string().contains("WEBHOOK_URL"), "{error}");
    assert_eq!(refusal(inbox.call("notify-webhook", json!({"text": ""})).await), "invalid_input");
}
