//! Where nobody signs in, web pages from elsewhere get nothing: not by their origin, and not by a name of their own that
//! leads to this machine.

use serde_json::json;
use tandem_tests::{Api, Dev, Split};

async fn check(api: &Api) {
    let port = api.url().rsplit(':').next().unwrap().to_owned();
    let foreign = format!("evil.example:{port}");
    let mail = json!({"to": "a@example.com", "subject": "s", "body": "b"});
    for (name, value, says) in
        [("origin", "https://evil.example", "OIDC_ISSUER"), ("host", foreign.as_str(), "127.0.0.1")]
    {
        for request in [
            api.get("/threads"),
            api.get("/events?scope=user"),
            api.request(reqwest::Method::POST, "/api/send-email").json(&mail),
            // What a page may send without asking first.
            api.request(reqwest::Method::POST, "/api/agent-chat").body("{\"message\":\"hello\"}"),
        ] {
            let refused = api.refusal(request.header(name, value)).await;
            assert!(refused["code"] == "forbidden" && refused["detail"].as_str().unwrap().contains(says), "{refused}");
        }
    }
    assert_eq!(api.read("/threads").await["items"], json!([]), "nothing was started");
    for origin in [format!("http://localhost:{port}"), "http://127.0.0.1:5173".into()] {
        let answer = api.get("/threads").header("origin", &origin).send().await.unwrap();
        assert_eq!(answer.status(), 200, "{origin}");
    }
}

#[tokio::test]
async fn a_page_from_elsewhere_is_refused_where_nobody_signs_in() {
    check(&Dev::start(&[]).await.api()).await;
    check(&Split::start(1, 0, &[]).await.api(0)).await;
}

#[tokio::test]
async fn where_a_token_is_needed_any_page_may_ask() {
    let issuer = [("OIDC_ISSUER", "http://127.0.0.1:9"), ("OIDC_AUDIENCE", "tandem")];
    let dev = Dev::start(&issuer).await;
    for (name, value) in [("origin", "https://page.example"), ("host", "tandem.example")] {
        let answer = dev.api().get("/threads").header(name, value).send().await.unwrap();
        assert_eq!(answer.status(), 401, "{name}");
    }
}
