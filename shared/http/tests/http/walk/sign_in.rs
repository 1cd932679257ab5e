//! How programs that follow RFC 9728 find out where to sign in, as MCP's authorization wants it.

use axum::http::Method;
use serde_json::{Value, json};

use super::people::People;
use crate::api::{Api, request};
use crate::sample;

const DOCUMENT: &str = "/.well-known/oauth-protected-resource";

/// What a request without a token is told, and the document that it is led to.
async fn told(api: &Api, host: Option<&str>, path: &str) -> (String, Value) {
    let headers: Vec<_> = host.iter().map(|host| ("host", *host)).collect();
    let refused = api.send(request(Method::POST, path, &headers, "{}")).await;
    assert_eq!(refused.problem(), (401, "unauthenticated"), "{path}");
    let part = if path == "/mcp" { path } else { "" };
    let document = api.send(request(Method::GET, &format!("{DOCUMENT}{part}"), &headers, "")).await;
    (refused.header("www-authenticate").unwrap().to_owned(), document.body)
}

#[tokio::test]
async fn who_must_sign_in_is_told_where() {
    let people = People::new().await;
    let dev = sample::api().await;
    let (api, set) = (dev.behind(people.door()), dev.behind(people.door_at(Some("https://tandem.example/prod"))));
    let document = |resource: &str| {
        json!({
            "resource": resource,
            "authorization_servers": [people.issuer.url.as_str()],
            "bearer_methods_supported": ["header"],
        })
    };
    for (api, host, base) in [
        (&api, Some("abc.lambda-url.example:8443"), "https://abc.lambda-url.example:8443"),
        (&api, Some("127.0.0.1:8787"), "http://127.0.0.1:8787"),
        // What is set holds, whatever the request says.
        (&set, Some("abc.lambda-url.example"), "https://tandem.example/prod"),
        (&set, None, "https://tandem.example/prod"),
    ] {
        for (path, part) in [("/mcp", "/mcp"), ("/threads", "")] {
            let want = format!("Bearer resource_metadata=\"{base}{DOCUMENT}{part}\"");
            assert_eq!(told(api, host, path).await, (want, document(&format!("{base}{part}"))));
        }
    }
    // No address is made of what is no plain host.
    for host in [None, Some("a.example\", error=\"x"), Some("a.example/x"), Some("me@a.example")] {
        let (said, document) = told(&api, host, "/mcp").await;
        assert_eq!((said.as_str(), &document["code"]), ("Bearer", &json!("not_found")), "{host:?}");
    }
    // Where nobody signs in with an issuer there is none.
    for part in ["", "/mcp"] {
        let answer = dev.send(request(Method::GET, &format!("{DOCUMENT}{part}"), &[("host", "a.example")], "")).await;
        assert_eq!(answer.problem(), (404, "not_found"));
    }
    let token = [("authorization", "Bearer nobody"), ("host", "a.example")];
    let refused = dev.send(request(Method::POST, "/mcp", &token, "{}")).await;
    assert_eq!(refused.header("www-authenticate"), Some("Bearer"));
}
