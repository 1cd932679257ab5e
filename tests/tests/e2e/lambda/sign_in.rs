//! How an MCP client finds the issuer at a Function URL, which renames the header that would lead it.

use super::Deployment;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

const ISSUER: &str = "http://127.0.0.1:9";

#[tokio::test]
async fn at_a_function_url_the_document_is_found_by_its_path_alone() {
    let deployment = Deployment::start(&[("OIDC_ISSUER", ISSUER), ("OIDC_AUDIENCE", "tandem")]).await;
    let api = deployment.api();

    let refused = api.request(Method::POST, "/mcp").body("{}").send().await.unwrap();
    assert_eq!(refused.status(), StatusCode::UNAUTHORIZED);
    let headers = refused.headers();
    assert_eq!(headers.get("www-authenticate"), None);
    let said = headers["x-amzn-remapped-www-authenticate"].to_str().unwrap();
    let document = "/.well-known/oauth-protected-resource/mcp";
    assert!(said.starts_with("Bearer resource_metadata=\"http") && said.contains(document), "{said}");

    // Where the specification lets a client look that is told nothing: before the path of what it called.
    let found: Value = api.get(document).send().await.unwrap().json().await.unwrap();
    assert_eq!(found["authorization_servers"], json!([ISSUER]));
    assert_eq!(found["resource"], format!("{}/mcp", deployment.host.url(super::FOREGROUND)));
}
