//! A client of the HTTPS endpoints that survives a restarted server: it comes back with its cursor.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use reqwest::header::HeaderValue;
use reqwest::{Method, RequestBuilder, Response, StatusCode};
use serde_json::Value;

use crate::output::{BadUsage, say};
use crate::refusal::Refusal;

/// How long a server may be gone before the client gives up.
const PATIENCE: Duration = Duration::from_secs(60);
/// Seconds that one request waits for a chunk.
const WAIT: &str = "20";
/// How long one try of a call may take: an action's own time, and waiting for another try of the same call.
const LONGEST_CALL: Duration = Duration::from_secs(150);

/// Where `tandem dev` is, if nothing else is said.
const HERE: &str = "http://127.0.0.1:8787";

/// Where the system is, and who calls.
#[derive(clap::Args, Debug, Clone)]
pub(crate) struct Target {
    /// Address of the running or deployed system.
    #[arg(long, env = "TANDEM_URL", default_value = HERE, value_parser = url)]
    url: String,
    /// Bearer token.
    #[arg(long, env = "TANDEM_TOKEN", hide_env_values = true)]
    token: Option<String>,
}

impl Target {
    /// The same with what else was said.
    pub(crate) fn or(self, url: Option<String>, token: Option<String>) -> Self {
        Target { url: url.unwrap_or(self.url), token: token.or(self.token) }
    }
}

/// A call of an action, as it is sent.
pub(crate) struct ActionCall {
    pub(crate) method: Method,
    pub(crate) path: String,
    pub(crate) query: Vec<(String, String)>,
    pub(crate) body: Option<Value>,
    pub(crate) key: Option<String>,
}

impl ActionCall {
    fn path_and_query(&self) -> Result<String> {
        if self.query.is_empty() {
            return Ok(self.path.clone());
        }
        let url = reqwest::Url::parse_with_params("http://host", &self.query)?;
        Ok(format!("{}?{}", self.path, url.query().unwrap_or_default()))
    }
}

/// An answer to a call.
pub(crate) enum Reply {
    Done(Value),
    /// It goes on as a run.
    Accepted(Value),
    Refused(Refusal),
}

/// Tries that are further and further apart, until patience ends.
struct Retry {
    began: Instant,
    pause: Duration,
}

impl Retry {
    fn new() -> Self {
        Retry { began: Instant::now(), pause: Duration::from_millis(100) }
    }

    /// Waits before the next try; an error when it has lasted long enough.
    async fn again(&mut self, problem: &str) -> Result<()> {
        if self.began.elapsed() > PATIENCE {
            bail!("{problem}; gave up after {} s", PATIENCE.as_secs());
        }
        if self.pause < Duration::from_millis(200) {
            say(format_args!("{problem}; trying again for {} s", PATIENCE.as_secs()));
        }
        tokio::time::sleep(self.pause).await;
        self.pause = (self.pause * 2).min(Duration::from_secs(2));
        Ok(())
    }
}

pub(crate) struct Client {
    http: reqwest::Client,
    target: Target,
}

impl Client {
    /// What cannot be sent is refused here: tried later, it would be taken for a server that does not answer.
    pub(crate) fn new(target: Target) -> Result<Self> {
        url(&target.url).map_err(|must| BadUsage::new(format!("--url {must}")))?;
        if let Some(token) = &target.token {
            // Not shown: it is a secret.
            header(token).map_err(|must| BadUsage::new(format!("--token, or TANDEM_TOKEN, {must}")))?;
        }
        let http = reqwest::Client::builder().timeout(Duration::from_secs(60)).build()?;
        Ok(Client { http, target })
    }

    /// The first request: if nobody listens there, it says so at once.
    pub(crate) async fn first(&self, method: Method, path: &str, body: Option<&Value>) -> Result<Value> {
        self.json(method, path, body, Duration::ZERO).await
    }

    /// The actions that the caller may use, as the system describes them.
    pub(crate) async fn catalogue(&self) -> Result<Value> {
        self.first(Method::GET, "/api", None).await
    }

    /// Sends a JSON request, again while the server is away or busy. Only for requests that may be repeated.
    async fn json(&self, method: Method, path: &str, body: Option<&Value>, patience: Duration) -> Result<Value> {
        let mut retry = Retry::new();
        loop {
            let mut request = self.request(method.clone(), path);
            if let Some(body) = body {
                request = request.json(body);
            }
            let problem = match request.send().await {
                Ok(response) if response.status().is_success() => {
                    return response.json().await.context("the answer is not JSON");
                }
                Ok(response) if passing(response.status()) => self.refusal(response).await.to_string(),
                Ok(response) => return Err(self.refusal(response).await.into()),
                Err(error) if error.is_builder() => return Err(cannot_be_sent(error)),
                Err(error) if error.is_connect() && patience.is_zero() => {
                    bail!(
                        "nobody listens at {}; is `make dev` running? --url or TANDEM_URL name another place",
                        self.target.url
                    )
                }
                Err(error) => format!("{} does not answer ({})", self.target.url, error.without_url()),
            };
            retry.again(&problem).await?;
        }
    }

    /// Sends a call of an action until there is an answer. It is a read or has a key, so it may be sent again after a
    /// connection was lost.
    pub(crate) async fn act(&self, call: &ActionCall) -> Result<Reply> {
        let mut retry = Retry::new();
        loop {
            let mut request = self.request(call.method.clone(), &call.path_and_query()?).timeout(LONGEST_CALL);
            if let Some(body) = &call.body {
                request = request.json(body);
            }
            if let Some(key) = &call.key {
                request = request.header("idempotency-key", key);
            }
            let problem = match request.send().await {
                Ok(response) if response.status().is_success() => {
                    let accepted = response.status() == StatusCode::ACCEPTED;
                    match response.bytes().await {
                        Ok(body) => {
                            let answer = serde_json::from_slice(&body).context("the answer is not JSON")?;
                            return Ok(if accepted { Reply::Accepted(answer) } else { Reply::Done(answer) });
                        }
                        Err(error) => format!("the answer broke off ({})", error.without_url()),
                    }
                }
                Ok(response) => {
                    let refusal = self.refusal(response).await;
                    // A 504 with a code is the answer; without one it is of somebody in between.
                    let passes = passing(refusal.status) && refusal.code() != "timeout";
                    if !passes && refusal.code() != "in_progress" {
                        return Ok(Reply::Refused(refusal));
                    }
                    refusal.to_string()
                }
                Err(error) if error.is_builder() => return Err(cannot_be_sent(error)),
                Err(error) => format!("{} does not answer ({})", self.target.url, error.without_url()),
            };
            retry.again(&problem).await?;
        }
    }

    /// Follows a run from the chunk after `after` to its end and gives its status. `is_there`: the system has said that there
    /// is such a run, so whoever does not answer is waited for.
    pub(crate) async fn follow(
        &self,
        run: &str,
        mut after: Option<u64>,
        is_there: bool,
        mut each: impl FnMut(u64, &Value),
    ) -> Result<String> {
        let mut patience = if is_there { PATIENCE } else { Duration::ZERO };
        loop {
            let cursor = after.map(|after| format!("&after={after}")).unwrap_or_default();
            let page =
                self.json(Method::GET, &format!("/runs/{run}/events?wait={WAIT}{cursor}"), None, patience).await?;
            patience = PATIENCE;
            for event in page["events"].as_array().into_iter().flatten() {
                let seq = event["seq"].as_u64().context("an event without a number")?;
                each(seq, &event["chunk"]);
                after = Some(seq);
            }
            if page["done"] == true {
                return Ok(page["status"].as_str().unwrap_or("unknown").to_owned());
            }
        }
    }

    async fn refusal(&self, response: Response) -> Refusal {
        let status = response.status();
        let body = response.json().await.unwrap_or_default();
        Refusal { status, body, signed_in: self.target.token.is_some() }
    }

    /// The flag that leads another command there; nothing for where it goes by itself.
    pub(crate) fn elsewhere(&self) -> String {
        let itself = std::env::var("TANDEM_URL").unwrap_or_else(|_| HERE.to_owned());
        if self.target.url == itself { String::new() } else { format!(" --url {}", self.target.url) }
    }

    /// Where the system is.
    pub(crate) fn url(&self) -> &str {
        &self.target.url
    }

    /// A request that is answered with JSON.
    pub(crate) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.signed_in(self.as_stranger(method, path)).header("accept", "application/json")
    }

    /// A request that is answered with a stream.
    pub(crate) fn stream(&self, method: Method, path: &str) -> RequestBuilder {
        self.signed_in(self.as_stranger(method, path)).header("accept", "text/event-stream")
    }

    /// A request of somebody without a token.
    pub(crate) fn as_stranger(&self, method: Method, path: &str) -> RequestBuilder {
        let url = format!("{}{path}", self.target.url.trim_end_matches('/'));
        self.http.request(method, url).header("tandem-caller", "cli")
    }

    fn signed_in(&self, request: RequestBuilder) -> RequestBuilder {
        match &self.target.token {
            Some(token) => request.bearer_auth(token),
            None => request,
        }
    }
}

/// An address that requests can be sent to.
pub(crate) fn url(text: &str) -> Result<String, String> {
    match reqwest::Url::parse(text) {
        Ok(url) if matches!(url.scheme(), "http" | "https") && url.has_host() => Ok(text.to_owned()),
        _ => Err("must be an address that begins with http:// or https://".into()),
    }
}

/// A text that a header can hold.
pub(crate) fn header(text: &str) -> Result<(), &'static str> {
    HeaderValue::from_str(text).map(drop).map_err(|_| "must be one line, without control characters")
}

fn passing(status: StatusCode) -> bool {
    matches!(status.as_u16(), 429 | 502 | 503 | 504)
}

/// No try of this request can be made.
fn cannot_be_sent(error: reqwest::Error) -> anyhow::Error {
    BadUsage::new(format!("the request cannot be sent: {:#}", anyhow::Error::from(error.without_url()))).into()
}
