//! Actions by their methods, inputs and failures.

use axum::body::Body;
use axum::http::{Method, Request};
use serde_json::{Value, json};

use crate::api::request;
use crate::sample::api;

#[tokio::test]
async fn an_action_runs_by_its_declared_method_and_by_no_other() {
    let api = api().await;
    let input = json!({"name": "n", "by": 5}).to_string();
    for (name, declared, allow) in [
        ("peek", Method::GET, "GET, HEAD"),
        ("add", Method::POST, "POST"),
        ("set", Method::PUT, "PUT"),
        ("clear", Method::DELETE, "DELETE"),
    ] {
        for method in ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PURGE"] {
            let method = Method::from_bytes(method.as_bytes()).unwrap();
            if method == declared || (method == Method::HEAD && declared == Method::GET) {
                continue;
            }
            let answer = api.send(request(method.clone(), &format!("/api/{name}?name=n&by=5"), &[], &input)).await;
            assert_eq!((answer.status, answer.header("allow")), (405, Some(allow)), "{method} {name}");
            if method != Method::HEAD {
                assert_eq!(answer.body["code"], "method_not_allowed");
            }
        }
    }
    // None of it has happened.
    assert_eq!(api.get("/api/peek?name=n").await.body, Value::Null);
    let (put, delete) = (Method::PUT, Method::DELETE);
    for (method, path, body, want) in [
        (Method::POST, "/api/add", json!({"name": "n", "by": 5}), json!(5)),
        (put, "/api/set", json!({"name": "n", "by": 7}), json!(7)),
        (Method::GET, "/api/peek?name=n", Value::Null, json!(7)),
        (delete, "/api/clear", json!({"name": "n"}), Value::Null),
        (Method::GET, "/api/peek?name=n", Value::Null, Value::Null),
    ] {
        let answer = api.send(request(method, path, &[], &body.to_string())).await;
        assert_eq!((answer.status, &answer.body), (200, &want), "{path}");
        assert_eq!(answer.header("content-type"), Some("application/json"));
        assert_eq!(answer.header("cache-control"), Some("no-store"));
    }
    let head = api.send(request(Method::HEAD, "/api/echo?n=1", &[], "")).await;
    assert_eq!((head.status, head.body), (200, Value::Null));
}

#[tokio::test]
async fn arguments_in_the_query_are_read_by_their_types() {
    let api = api().await;
    for (query, want) in [
        ("", Ok(json!({}))),
        ("?n=-5&half=0.5&on=false&text=3", Ok(json!({"n": -5, "half": 0.5, "on": false, "text": "3"}))),
        ("?ids=1&ids=2", Ok(json!({"ids": [1, 2]}))),
        ("?ids[]=1", Ok(json!({"ids": [1]}))),
        ("?ids=[1,2]", Ok(json!({"ids": [1, 2]}))),
        ("?text=gr%C3%BC%C3%9Fe+an+alle", Ok(json!({"text": "grüße an alle"}))),
        ("?n=abc", Err(vec!["/n"])),
        ("?n=1&n=2", Err(vec!["/n"])),
        ("?n=x&on=yes&ids=1&ids=y&more=1", Err(vec!["/n", "/on", "/ids/1", "/more"])),
    ] {
        let answer = api.get(&format!("/api/echo{query}")).await;
        match want {
            Ok(output) => assert_eq!((answer.status, answer.body), (200, output), "{query}"),
            Err(pointers) => {
                assert_eq!((answer.problem(), answer.pointers()), ((400, "invalid_input"), pointers), "{query}");
            }
        }
    }
}

#[tokio::test]
async fn a_body_is_json_whatever_it_is_called_and_none_is_an_empty_object() {
    let api = api().await;
    let deep = format!("{{\"ids\": {}{}}}", "[".repeat(5000), "]".repeat(5000));
    for (body, want) in [
        ("", Ok(json!({}))),
        (" \r\n", Ok(json!({}))),
        ("null", Ok(json!({}))),
        ("{\"n\": 3.0, \"text\": null}", Ok(json!({"n": 3}))),
        ("{\"n\": 9007199254740993}", Ok(json!({"n": 9_007_199_254_740_993_i64}))),
        ("{\"n\": \"3\", \"on\": 1, \"x\": 1}", Err(("invalid_input", vec!["/n", "/on", "/x"]))),
        ("[]", Err(("invalid_input", vec![""]))),
        ("{\"n\": 1", Err(("invalid_request", vec![""]))),
        ("n=1", Err(("invalid_request", vec![""]))),
        ("{\"n\": 1e999}", Err(("invalid_request", vec![""]))),
        (&deep, Err(("invalid_request", vec![""]))),
    ] {
        let answer = api.send(request(Method::POST, "/api/echo-body", &[("content-type", "text/plain")], body)).await;
        let shown = &body[..body.len().min(60)];
        match want {
            Ok(output) => assert_eq!((answer.status, answer.body), (200, output), "{shown}"),
            Err((code, pointers)) => {
                assert_eq!((answer.problem(), answer.pointers()), ((400, code), pointers), "{shown}");
            }
        }
    }
}

#[tokio::test]
async fn a_body_that_is_too_long_is_refused_while_it_is_read() {
    let api = api().await;
    // It has no length, and would never end.
    let endless = futures::stream::repeat_with(|| Ok::<_, std::io::Error>(vec![b' '; 64 * 1024]));
    let endless = Request::post("/api/add").body(Body::from_stream(endless)).unwrap();
    assert_eq!(api.send(endless).await.problem(), (413, "too_large"));
    let broken = futures::stream::iter([Ok(b"{".to_vec()), Err(std::io::Error::other("gone"))]);
    let broken = Request::post("/api/add").body(Body::from_stream(broken)).unwrap();
    assert_eq!(api.send(broken).await.problem(), (400, "invalid_request"));
    let long = json!({"text": "x".repeat(1024 * 1024 - 12)});
    assert_ne!(api.post("/api/echo-body", &long).await.status, 413);
}

#[tokio::test]
async fn failures_are_problems_with_a_stable_code_and_no_secrets() {
    let api = api().await;
    for (name, how, status, code, detail) in [
        ("fail", "refuse", 422, "action_failed", "Not with [hidden] today. [no_luck]"),
        (
            "fail",
            "panic",
            500,
            "internal",
            "The action broke down: a fault on our side. Report the request id to the operator.",
        ),
        ("fail", "conflict", 409, "conflict", "Somebody else changed it at the same time"),
        ("fail", "long-value", 413, "too_large", "`checkpoint`"),
        ("fail", "sleep", 504, "timeout", "It took longer than"),
        ("fial", "", 404, "not_found", "There is no action \"fial\"; did you mean fail?"),
        ("for-agents", "", 404, "not_found", "There is no action"),
        ("constructor", "", 404, "not_found", "There is no action \"constructor\"."),
    ] {
        // Whether its outcome is stored or not, whether it is fresh or not: it reads the same.
        let fresh = api.post(&format!("/api/{name}"), &json!({"name": how})).await;
        let stored = api.post_once(&format!("/api/{name}"), how, &json!({"name": how})).await;
        let again = api.post_once(&format!("/api/{name}"), how, &json!({"name": how})).await;
        for answer in [fresh, stored, again] {
            assert_eq!(answer.problem(), (status, code), "{name} {how} {answer:?}");
            let told = answer.body["detail"].as_str().unwrap();
            assert!(told.contains(detail), "{name} {how}: {told}");
            assert_eq!(answer.body["requestId"].as_str(), answer.header("x-request-id"));
        }
    }
    let forbidden = api.get("/api/for-admins?name=n").await;
    assert_eq!(forbidden.problem(), (403, "forbidden"));
    let unknown = api.send(request(Method::GET, "/api/peek?name=n", &[("authorization", "Bearer x")], "")).await;
    assert_eq!(unknown.problem(), (401, "unauthenticated"));
}

#[tokio::test]
async fn the_chat_is_no_action_and_no_action_takes_its_place() {
    let api = api().await;
    assert_eq!(api.get("/api/agent-chat").await.problem(), (405, "method_not_allowed"));
    assert_eq!(api.post("/api/agent-chat", &json!({})).await.problem(), (400, "invalid_input"));
    assert_eq!(api.get("/api/agent-chat/").await.problem(), (404, "not_found"));
}

#[tokio::test]
async fn tenants_do_not_meet() {
    let api = api().await;
    let of = |tenant: &str, method: Method, path: &str, body: &str| {
        let token = format!("Bearer dev.{tenant}.ann");
        request(method, path, &[("authorization", &token), ("idempotency-key", "k")], body)
    };
    for (tenant, by) in [("acme", 5), ("other", 7), ("acme", 5)] {
        let body = json!({"name": "n", "by": by}).to_string();
        assert_eq!(api.send(of(tenant, Method::POST, "/api/add", &body)).await.body, json!(by));
        assert_eq!(api.send(of(tenant, Method::GET, "/api/peek?name=n", "")).await.body, json!(by));
    }
}
