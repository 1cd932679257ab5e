//! Checks of single requests: is it there, is it Tandem, who is let in, does it read.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use aws_smithy_types::DateTime;
use aws_smithy_types::date_time::Format;
use reqwest::header::DATE;
use reqwest::{Method, RequestBuilder, Response, StatusCode};
use serde_json::Value;
use tandem_auth::is_loopback_url;

use super::report::Report;
use crate::client::Client;
use crate::refusal::told;

/// How long one answer may take.
const PATIENCE: Duration = Duration::from_secs(20);
/// Clocks that are further apart make trouble for those who judge tokens and dispatches by their times.
const SKEW: Duration = Duration::from_secs(5);
const TOO_MUCH_SKEW: Duration = Duration::from_secs(60);

/// What the system says of itself without being asked who asks.
pub(super) struct Health {
    pub(super) durable_background: bool,
}

/// `GET /healthz`; `None`: there is nothing to look at.
pub(super) async fn reach(client: &Client, report: &mut Report) -> Option<Health> {
    let (began, sent) = (Instant::now(), SystemTime::now());
    let response = match send(client.as_stranger(Method::GET, "/healthz")).await {
        Ok(response) => response,
        Err(error) => {
            let advice =
                "Is the address right (the stack's output Url), and does it run? Is a proxy or a firewall between?";
            report.fail("address", format!("{} does not answer: {error}", client.url()), advice);
            return None;
        }
    };
    let took = began.elapsed();
    report.ok("address", format!("{} answers in {} ms", client.url(), took.as_millis()));
    let date = response.headers().get(DATE).and_then(|date| date.to_str().ok()).map(str::to_owned);
    let status = response.status();
    let body: Value = response.json().await.unwrap_or_default();
    let (Some("ok"), Some(version)) = (body["status"].as_str(), body["version"].as_str()) else {
        let advice = "The address must lead to the endpoints, without a path: GET /healthz tells a version.";
        report.fail("tandem", format!("what answers ({status}) is not Tandem"), advice);
        return None;
    };
    if body["foreground"] != true {
        report.fail("tandem", "it is a background host", "Give the address of the foreground, where people go.");
        return None;
    }
    report.ok("tandem", format!("version {version}"));
    transport(client, report);
    clock(date.as_deref(), sent + took / 2, report);
    Some(Health { durable_background: body["durableBackground"] == true })
}

fn transport(client: &Client, report: &mut Report) {
    match client.url() {
        url if url.starts_with("https:") => report.ok("transport", "https"),
        url if is_loopback_url(url) => report.ok("transport", "this machine"),
        _ => report.warn(
            "transport",
            "http: whoever is between reads tokens and messages",
            "Give its https address, or put one before it.",
        ),
    }
}

/// `now`: by this machine's clock, when the date was written.
fn clock(date: Option<&str>, now: SystemTime, report: &mut Report) {
    let Some(date) = date.and_then(|date| DateTime::from_str(date, Format::HttpDate).ok()) else {
        let advice = "Something between removes the header Date; look at the clocks on both sides.";
        return report.warn("clock", "the answer has no date", advice);
    };
    let ours = now.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let apart = Duration::from_secs(ours.abs_diff(u64::try_from(date.secs()).unwrap_or(0)));
    let found = format!("{} s apart from this machine's", apart.as_secs());
    let advice = "Tokens and dispatches are judged by their times: set the clock of the one that is wrong (NTP).";
    match apart {
        apart if apart <= SKEW => report.ok("clock", found),
        apart if apart <= TOO_MUCH_SKEW => report.warn("clock", found, advice),
        _ => report.fail("clock", found, advice),
    }
}

/// A request without a token.
pub(super) async fn closed_to_strangers(client: &Client, report: &mut Report) {
    let found = match send(client.as_stranger(Method::GET, "/threads?limit=1")).await {
        Ok(response) => response.status(),
        Err(error) => return report.warn("strangers", error, "Try again."),
    };
    match found {
        StatusCode::UNAUTHORIZED => report.ok("strangers", "who has no token is not let in"),
        _ if is_loopback_url(client.url()) => report.ok("strangers", "let in, as everybody on a developer's machine"),
        StatusCode::OK => {
            let advice = "Set OIDC_ISSUER and OIDC_AUDIENCE (OidcIssuer and OidcAudience of the stack).";
            report.fail("strangers", "who has no token is let in", advice);
        }
        other => report.warn("strangers", format!("who has no token is answered with {other}"), "Expected is 401."),
    }
}

/// `GET /api`; gives the models that may be chosen, the default first. `None`: the token is not taken.
pub(super) async fn sign_in(client: &Client, report: &mut Report) -> Option<Vec<String>> {
    match read_json(client, "/api").await {
        Ok(catalogue) => {
            let actions = catalogue["actions"].as_array().map_or(0, Vec::len);
            report.ok("sign-in", format!("you may use {actions} actions"));
            let models = catalogue["models"].as_array().into_iter().flatten();
            Some(models.filter_map(|model| model["id"].as_str().map(str::to_owned)).collect())
        }
        Err(found) => {
            let advice =
                "Give a token that the system's issuer has just made for its audience: --token or TANDEM_TOKEN.";
            report.fail("sign-in", found, advice);
            None
        }
    }
}

/// `GET /threads`: the table is there, and the functions may read it.
pub(super) async fn read(client: &Client, report: &mut Report) -> bool {
    let began = Instant::now();
    match read_json(client, "/threads?limit=1").await {
        Ok(_) => {
            report.ok("table", format!("read in {} ms", began.elapsed().as_millis()));
            true
        }
        Err(found) => {
            let advice = "Is the table there (TABLE_NAME, AWS_ENDPOINT_URL_DYNAMODB), may the role use it, is it throttled? \
                          The foreground's log says more.";
            report.fail("table", found, advice);
            false
        }
    }
}

async fn read_json(client: &Client, path: &str) -> Result<Value, String> {
    let response = send(client.request(Method::GET, path)).await?;
    let status = response.status();
    let body: Value = response.json().await.unwrap_or_default();
    if status.is_success() { Ok(body) } else { Err(told(status, &body)) }
}

/// The answer, or why there is none, with every cause.
pub(super) async fn send(request: RequestBuilder) -> Result<Response, String> {
    let sent = request.timeout(PATIENCE).send().await;
    sent.map_err(|error| format!("{:#}", anyhow::Error::from(error.without_url())))
}
