//! Pages of other origins behind a REST API, which answers no CORS: the foreground does, and only there.

use super::events::{event, split};
use super::{Deployment, FOREGROUND, message};
use serde_json::{Value, json};

const PAGE: &str = "https://www.example.com";

/// A request as a REST API sends it, from a page.
fn from_page(origin: &str, path: &str, body: Option<Value>) -> Value {
    let mut event = event("foreground/rest-api.json");
    event["path"] = path.into();
    event["requestContext"]["path"] = format!("/v1{path}").into();
    event["headers"]["Origin"] = origin.into();
    event["multiValueHeaders"]["Origin"] = json!([origin]);
    if let Some(body) = body {
        event["httpMethod"] = "POST".into();
        event["requestContext"]["httpMethod"] = "POST".into();
        event["body"] = body.to_string().into();
    }
    event
}

/// The head of the answer and its body.
async fn answer(deployment: &Deployment, event: &Value) -> (Value, String) {
    split(&deployment.invoke_raw(FOREGROUND, event.to_string()).await)
}

#[tokio::test]
async fn a_page_of_an_allowed_origin_is_answered_behind_a_rest_api() {
    let deployment = Deployment::start(&[
        ("CORS_ALLOWED_ORIGINS", "https://www.example.com,http://localhost:5173"),
        // As template.yaml has it.
        ("AWS_LAMBDA_HTTP_IGNORE_STAGE_IN_PATH", "true"),
    ])
    .await;

    let (preflight, body) = answer(&deployment, &event("foreground/rest-api-preflight.json")).await;
    let headers = &preflight["headers"];
    let told = ["allow-origin", "allow-headers", "allow-methods", "max-age"].map(|name| {
        let header = &headers[format!("access-control-{name}")];
        header.as_str().unwrap_or_else(|| panic!("{name}: {preflight}")).to_owned()
    });
    let want = [PAGE, "authorization,content-type,idempotency-key", "GET,POST,PUT,PATCH,DELETE", "3600"];
    assert_eq!((&preflight["statusCode"], told, body.as_str()), (&json!(200), want.map(str::to_owned), ""));

    let turn = Some(message("@say 3 every 0"));
    let (streamed, body) = answer(&deployment, &from_page(PAGE, "/api/agent-chat", turn)).await;
    assert_eq!(streamed["headers"]["access-control-allow-origin"], PAGE, "{streamed}");
    let shown = streamed["headers"]["access-control-expose-headers"].as_str().unwrap();
    assert!(shown.contains("x-run-id") && body.ends_with("data: [DONE]\n\n"), "{shown}: {body}");

    // A page must be able to read why it was refused, too.
    let (refused, _) = answer(&deployment, &from_page(PAGE, "/runs/run_unknown", None)).await;
    assert_eq!(
        (&refused["statusCode"], &refused["headers"]["access-control-allow-origin"]),
        (&json!(404), &json!(PAGE))
    );

    let (foreign, _) = answer(&deployment, &from_page("https://elsewhere.example", "/api/list-emails", None)).await;
    assert_eq!(
        (&foreign["statusCode"], &foreign["headers"]["access-control-allow-origin"]),
        (&json!(200), &Value::Null)
    );
}

/// A Function URL answers CORS itself, and browsers refuse two answers.
#[tokio::test]
async fn without_being_told_the_foreground_answers_no_cors() {
    let deployment = Deployment::start(&[("CORS_ALLOWED_ORIGINS", "")]).await;
    let (answer, _) = answer(&deployment, &from_page(PAGE, "/api/list-emails", None)).await;
    let headers = answer["headers"].as_object().unwrap();
    assert!(!headers.keys().any(|name| name.starts_with("access-control-")), "{headers:?}");
}

#[tokio::test]
async fn origins_that_no_browser_sends_are_refused_at_the_start() {
    let deployment = Deployment::start(&[("CORS_ALLOWED_ORIGINS", "https://www.example.com/app")]).await;
    let refused = deployment.api().get("/healthz").send().await.unwrap();
    assert_eq!(refused.status(), 502);
    let said = deployment.host.log(FOREGROUND).join("\n");
    assert!(said.contains("CORS_ALLOWED_ORIGINS: \"https://www.example.com/app\" is no origin"), "{said}");
}
