//! The catalogue with the models, and the description beside the routes.

use axum::http::Method;
use serde_json::{Value, json};

use crate::api::{Answer, request};
use crate::sample::api;

fn names(catalogue: &Answer) -> Vec<&str> {
    catalogue.body["actions"].as_array().unwrap().iter().map(|action| action["name"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn the_catalogue_is_what_the_caller_may_use() {
    let api = api().await;
    let mine = api.get("/api").await;
    assert!(names(&mine).contains(&"echo") && names(&mine).contains(&"call-out"));
    // Another role's, and what is not called over HTTP.
    assert!(!names(&mine).contains(&"for-admins") && !names(&mine).contains(&"for-agents"));
    // Everything in it can be called: nothing is forbidden, unknown or another method's.
    for action in mine.body["actions"].as_array().unwrap() {
        let (method, path) = (action["method"].as_str().unwrap(), action["path"].as_str().unwrap());
        let method = Method::from_bytes(method.as_bytes()).unwrap();
        let answer = api.send(request(method, path, &[], "{\"surprise\": 1}")).await;
        assert!(matches!(answer.status, 200 | 400), "{action} {answer:?}");
    }
    let approval = |name: &str| {
        let mut actions = mine.body["actions"].as_array().unwrap().iter();
        actions.find(|action| action["name"] == name).unwrap()["approval"].clone()
    };
    assert_eq!((approval("call-out"), approval("add")), (json!("always"), json!("never")));
    let unknown = api.send(request(Method::GET, "/api", &[("authorization", "Bearer x")], "")).await;
    assert_eq!(unknown.problem(), (401, "unauthenticated"));
}

#[tokio::test]
async fn a_turn_may_name_exactly_the_models_of_the_catalogue() {
    let api = api().await;
    let models = api.get("/api").await.body["models"].clone();
    assert_eq!(models, json!([{"id": "scripted", "default": true}, {"id": "openai/other", "default": false}]));
    for model in models.as_array().unwrap() {
        let body = json!({"message": "hi", "model": model["id"]}).to_string();
        let answer = api.send(request(Method::POST, "/api/agent-chat", &[("accept", "application/json")], &body)).await;
        assert_eq!(answer.status, 202, "{answer:?}");
    }
    let unknown = api.post("/api/agent-chat", &json!({"message": "hi", "model": "openai/unknown"})).await;
    assert_eq!(unknown.problem(), (400, "invalid_input"));
    let fault = &unknown.body["errors"][0];
    let told = "there is no model `openai/unknown` here; choose one of: scripted, openai/other";
    assert_eq!((&fault["pointer"], &fault["detail"]), (&json!("/model"), &json!(told)));
}

#[tokio::test]
async fn every_described_operation_is_served() {
    let api = api().await;
    let description = api.get("/openapi.json").await;
    assert_eq!((description.status, &description.body["openapi"]), (200, &json!("3.1.1")));
    for (path, methods) in description.body["paths"].as_object().unwrap() {
        if path.starts_with("/_agent-native/") {
            // The background host's.
            continue;
        }
        for method in methods.as_object().unwrap().keys() {
            let method = Method::from_bytes(method.to_uppercase().as_bytes()).unwrap();
            let concrete = path.replace(['{', '}'], "");
            let answer = api.send(request(method.clone(), &concrete, &[("accept", "application/json")], "")).await;
            assert_ne!(answer.status, 405, "{method} {path}");
            let detail = answer.body.get("detail").and_then(Value::as_str).unwrap_or_default();
            assert!(!detail.contains("no such path"), "{method} {path}");
        }
    }
}
