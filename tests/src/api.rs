//! A client of the HTTPS endpoints.

use std::time::Duration;

use reqwest::{Client, Method, RequestBuilder};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::{End, Log, Stream, until};

/// One caller at one address.
#[derive(Debug, Clone)]
pub struct Api {
    http: Client,
    url: String,
    token: Option<String>,
}

/// A turn that was started without following it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Started {
    pub run: String,
    pub thread: String,
    pub turn: String,
}

/// An answer in JSON.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    pub status: u16,
    pub body: Value,
}

impl Api {
    pub fn new(url: &str) -> Self {
        // No certificates: everything is on the loopback, and reading them takes longer than the requests. No idle
        // connections: the server at their other end may have been killed.
        let http = Client::builder().no_proxy().tls_certs_only([]).pool_max_idle_per_host(0).build().unwrap();
        Api { http, url: url.to_owned(), token: None }
    }

    /// The same address for somebody else: `tenant.user`.
    pub fn as_person(&self, person: &str) -> Self {
        self.with_token(&format!("dev.{person}"))
    }

    /// The same address with a bearer token.
    pub fn with_token(&self, token: &str) -> Self {
        Api { token: Some(token.to_owned()), ..self.clone() }
    }

    pub fn url(&self) -> &str {
        &self.url
    }

    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self.http.request(method, format!("{}{path}", self.url));
        match &self.token {
            Some(token) => request.bearer_auth(token),
            None => request,
        }
    }

    pub fn get(&self, path: &str) -> RequestBuilder {
        self.request(Method::GET, path)
    }

    /// `POST /api/agent-chat`.
    pub fn chat(&self, body: &Value) -> RequestBuilder {
        self.request(Method::POST, "/api/agent-chat").json(body)
    }

    /// Starts a turn in a new thread and streams it.
    pub async fn say(&self, script: &str) -> Stream {
        Stream::open(self.chat(&json!({"message": script}))).await
    }

    /// Starts a turn without following it.
    pub async fn start(&self, body: &Value) -> Started {
        let answer = self.answer(self.chat(body)).await;
        let text = |name: &str| answer.body[name].as_str().unwrap_or_else(|| panic!("{answer:?}")).to_owned();
        assert_eq!(answer.status, 202, "{answer:?}");
        Started { run: text("runId"), thread: text("threadId"), turn: text("turnId") }
    }

    /// Sends a request that is answered in JSON.
    pub async fn answer(&self, request: RequestBuilder) -> Answer {
        let response = request.header("accept", "application/json").send().await.unwrap();
        let status = response.status().as_u16();
        let text = response.text().await.unwrap();
        let body = serde_json::from_str(&text).unwrap_or_else(|_| panic!("{status}, not JSON: {text}"));
        Answer { status, body }
    }

    /// Sends a request that must be refused; gives the problem without the id of its request, with the seconds of
    /// `Retry-After` where it has that header.
    pub async fn refusal(&self, request: RequestBuilder) -> Value {
        let response = request.send().await.unwrap();
        let status = response.status().as_u16();
        let header = |name: &str| response.headers().get(name).map(|value| value.to_str().unwrap().to_owned());
        let (kind, retry_after) = (header("content-type"), header("retry-after"));
        let text = response.text().await.unwrap();
        assert_eq!(kind.as_deref(), Some("application/problem+json"), "{status} {text}");
        let mut problem: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(problem["status"], status, "{problem}");
        assert_eq!(problem["retryAfter"].as_u64(), retry_after.map(|seconds| seconds.parse().unwrap()), "{problem}");
        let id = problem.as_object_mut().unwrap().remove("requestId");
        assert!(id.is_some_and(|id| id.is_string()), "{problem}");
        problem
    }

    /// Reads something that must be there.
    pub async fn read(&self, path: &str) -> Value {
        let answer = self.answer(self.get(path)).await;
        assert_eq!(answer.status, 200, "{path}: {answer:?}");
        answer.body
    }

    pub async fn run(&self, run: &str) -> Value {
        self.read(&format!("/runs/{run}")).await
    }

    /// Waits until the run has a status.
    pub async fn run_is(&self, run: &str, status: &str) -> Value {
        until(&format!("{run} to be {status}"), async || {
            let record = self.run(run).await;
            (record["status"] == status).then_some(record)
        })
        .await
    }

    pub async fn abort(&self, run: &str) -> Answer {
        self.answer(self.request(Method::POST, &format!("/runs/{run}/abort"))).await
    }

    /// The chunks of a run after a cursor.
    pub fn events(&self, run: &str, after: Option<u64>) -> RequestBuilder {
        let cursor = after.map(|after| format!("?after={after}")).unwrap_or_default();
        self.get(&format!("/runs/{run}/events{cursor}"))
    }

    /// The stored log of a run, by JSON.
    pub async fn log(&self, run: &str) -> Log {
        let mut log = Log::default();
        loop {
            // Waiting for it is watching it: a holder that was too slow is noticed.
            let cursor = log.after().map(|after| format!("&after={after}")).unwrap_or_default();
            let page = self.answer(self.get(&format!("/runs/{run}/events?wait=20{cursor}"))).await;
            assert_eq!(page.status, 200, "{page:?}");
            page.body["events"].as_array().unwrap().iter().for_each(|event| log.add_json(event));
            if page.body["done"] == true {
                return log;
            }
            sleep(Duration::from_millis(20)).await;
        }
    }

    /// Follows a run to its end as a client does: back with the cursor after each window and each broken
    /// connection. `log` is what the client has already. Gives how often it came back.
    pub async fn follow(&self, run: &str, log: &mut Log) -> usize {
        let mut times = 0;
        loop {
            times += 1;
            let Some(mut stream) = Stream::come_back(self.events(run, log.after())).await else { return times };
            if log.read_all(&mut stream).await == End::Done {
                return times;
            }
        }
    }
}
