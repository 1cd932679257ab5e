//! What is wrong with a request is said at once, in our words, at the field that was sent.

use axum::http::Method;
use serde_json::{Value, json};

use crate::api::{Answer, Api, request};
use crate::sample::api;

/// Each fault with its place.
fn told(answer: &Answer) -> Vec<String> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let faults = answer.body["errors"].as_array().into_iter().flatten();
    faults.map(|fault| format!("{} {}", text(&fault["pointer"]), text(&fault["detail"]))).collect()
}

async fn ask(api: &Api, token: &str, method: Method, path: &str, body: &Value) -> Answer {
    let headers = [("authorization", token), ("accept", "application/json")];
    api.send(request(method, path, &headers, &body.to_string())).await
}

const ANN: &str = "Bearer dev.acme.ann";
const BOB: &str = "Bearer dev.acme.bob";

#[tokio::test]
async fn all_faults_come_at_once_and_in_our_words() {
    let api = api().await;
    let turn = json!({"message": "/call-out {\"name\":\"faults\",\"by\":1}"});
    let chunks = api.turn(&turn).await;
    let call = chunks.iter().find_map(|chunk| chunk["approvalId"].as_str()).unwrap_or_else(|| panic!("{chunks:?}"));
    let run = api.get("/threads").await.body["items"][0]["threadId"].as_str().unwrap().to_owned();
    let run = api.get(&format!("/runs?threadId={run}")).await.body["items"][0]["runId"].as_str().unwrap().to_owned();
    let approval = format!("/runs/{run}/approvals/{call}");
    for (method, path, body, want) in [
        (Method::POST, approval.as_str(), json!({}), &["/approved is missing"][..]),
        (
            Method::POST,
            "/threads",
            json!({"title": 7, "x": 1}),
            &["/title must be a text, not 7", "/x is not a known field; known are: threadId, title"],
        ),
        (
            Method::GET,
            "/threads?limit=abc&shared=yes",
            json!(null),
            &["?limit must be a whole number, not a text", "?shared must be true or false, not a text"],
        ),
        (Method::GET, "/runs", json!(null), &["?threadId is missing"]),
        (
            Method::PUT,
            "/presence/user",
            json!({"client": "w", "activity": 1, "x": 1}),
            &["/x is unknown: there are client and activity"],
        ),
        (
            Method::PUT,
            "/state/user/docs/k",
            json!({"ifRev": "x", "a/b": 1}),
            &[
                "/value is missing",
                "/ifRev must be a whole number, not a text",
                "/a~1b is not a known field; known are: value, ifRev",
            ],
        ),
        (
            Method::PATCH,
            "/threads/t-1",
            json!({"title": 7, "a/b": 1}),
            &["/title must be a text of 1 to 200 characters", "/a~1b is unknown: there are title, shared and archived"],
        ),
        (Method::GET, "/api/echo?ids=5000000000&n=1", json!(null), &["/ids/0 must be at most 4294967295"]),
        (
            Method::GET,
            "/api/echo?more=1",
            json!(null),
            &["/more is not a known field; known are: n, half, on, text, ids"],
        ),
    ] {
        let answer = api.send(request(method, path, &[], &body.to_string())).await;
        assert_eq!(
            (answer.problem(), told(&answer)),
            ((400, "invalid_input"), want.iter().map(|it| (*it).to_owned()).collect()),
            "{path}"
        );
    }
    // What others put into an address is no fault, wherever it leads.
    for path in ["/api/echo?_=17&utm_source=mail", "/threads?_=17&utm_source=mail"] {
        assert_eq!(api.get(path).await.status, 200, "{path}");
    }
}

#[tokio::test]
async fn a_window_follows_twenty_scopes_beside_its_thread() {
    let api = api().await;
    let thread = api.post("/threads", &json!({})).await.body["threadId"].as_str().unwrap().to_owned();
    let path = |scopes: usize| {
        let scopes: String = (0..scopes).map(|n| format!("&scope=app:s{n}")).collect();
        format!("/events?thread={thread}{scopes}")
    };
    let stream = api.raw(request(Method::GET, &path(20), &[], "")).await;
    assert_eq!(stream.status(), 200);
    let answer = api.get(&path(21)).await;
    assert_eq!(
        (answer.problem(), told(&answer)),
        ((400, "invalid_input"), vec!["?scope at most 20 scopes can be followed at once".to_owned()])
    );
}

#[tokio::test]
async fn a_turn_of_no_thread_names_the_field_that_was_sent() {
    let api = api().await;
    let chat = "/api/agent-chat";
    let message = json!({"id": "m1", "role": "user", "parts": [{"type": "text", "text": "@say 1 every 0"}]});
    let of = |id: &str| json!({"id": id, "messages": [message]});
    assert_eq!(ask(&api, ANN, Method::POST, chat, &of("anns")).await.status, 202);
    let unnamed = json!({"message": "@say 1 every 0", "turnId": "t1"});
    let begun = ask(&api, ANN, Method::POST, chat, &unnamed).await;
    let thread = begun.body["threadId"].as_str().unwrap().to_owned();
    for thread in [thread.as_str(), "anns"] {
        // A run may be under way for a moment.
        for _ in 0..200 {
            let deleted = ask(&api, ANN, Method::DELETE, &format!("/threads/{thread}"), &json!(null)).await;
            if deleted.status == 204 {
                break;
            }
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    }
    assert_eq!(ask(&api, BOB, Method::POST, chat, &of("bobs")).await.status, 202);
    for (body, pointer) in [
        (of("anns"), "/id"),
        (of("bobs"), "/id"),
        (unnamed, "/turnId"),
        (json!({"message": "x", "threadId": "bobs"}), "/threadId"),
    ] {
        let answer = ask(&api, ANN, Method::POST, chat, &body).await;
        assert_eq!((answer.problem(), answer.pointers()), ((404, "not_found"), vec![pointer]), "{body}");
    }
}

#[tokio::test]
async fn a_thread_that_is_begun_twice_is_the_same_thread() {
    let api = api().await;
    let new = |title: &str| json!({"threadId": "t1", "title": title});
    let first = ask(&api, ANN, Method::POST, "/threads", &new("One")).await;
    let again = ask(&api, ANN, Method::POST, "/threads", &new("Two")).await;
    assert_eq!((first.status, again.status), (201, 200));
    assert_eq!(first.body, again.body);
    // A colleague's is taken, also where it is shared.
    assert_eq!(ask(&api, BOB, Method::POST, "/threads", &new("One")).await.problem(), (409, "conflict"));
    ask(&api, ANN, Method::PATCH, "/threads/t1", &json!({"shared": true})).await;
    assert_eq!(ask(&api, BOB, Method::POST, "/threads", &new("One")).await.problem(), (409, "conflict"));
}

#[tokio::test]
async fn what_an_id_looks_like_is_told_by_words_and_not_by_an_expression() {
    let api = Api::new(tandem_catalog::registry_with(&tandem_catalog::Settings::default()).unwrap()).await;
    for (path, body, want) in [
        ("/api/archive-email", json!({"emailId": "1"}), "/emailId must look like e-1"),
        // The type's own words.
        (
            "/api/remember",
            json!({"name": "Tone of Replies", "text": "x"}),
            "/name must be 1 to 64 characters of a-z, 0-9 and -",
        ),
    ] {
        let answer = api.post(path, &body).await;
        assert_eq!((answer.problem(), told(&answer)), ((400, "invalid_input"), vec![want.to_owned()]), "{path}");
    }
}
