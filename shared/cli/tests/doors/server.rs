//! The foreground on a port of the loopback, with the actions of this test.

use std::sync::Arc;

use reqwest::Client;
use serde_json::{Value, json};
use tandem_actions::Registry;
use tandem_agent::{Agent, Limits};
use tandem_auth::{DevPrincipals, DispatchKeys};
use tandem_embedded::Engine;
use tandem_http::{App, Cors, Hosts, Pages, router};
use tandem_model::Models;
use tandem_runs::{Config, Runtime};
use tandem_store::Store;

use crate::actions::ACTIONS;

pub(crate) struct Server {
    pub(crate) url: String,
    pub(crate) http: Client,
}

impl Server {
    pub(crate) async fn start() -> Self {
        let engine = Engine::in_memory().unwrap();
        let store = Store::new(engine.client(), "tandem");
        store.create_table().await.unwrap();
        let registry = Arc::new(Registry::new(ACTIONS).unwrap());
        let models = Arc::new(Models::from_env(|_| None).unwrap());
        let limits = Limits { max_steps: 10, max_output_tokens: 1000, budgets: Default::default() };
        let agent = Agent::new(store.clone(), registry, models, "You are a test.", limits);
        let config = Config::from_env(&|name| (name == "AGENT_CHAT_DURABLE_BACKGROUND").then(|| "false".to_owned()));
        let runtime = Runtime::new(store, agent, config.unwrap(), DispatchKeys::development(), None);
        let authenticate = Arc::new(DevPrincipals::new(Some("http://127.0.0.1:1"), false).unwrap());
        let hosts = Hosts { foreground: true, background: false, pages: Pages::Any };
        let app = router(App { runtime, authenticate, hosts, cors: Cors::Everybody });
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
        Server { url, http: Client::builder().no_proxy().build().unwrap() }
    }

    /// Starts a turn and does not follow it; gives its run.
    pub(crate) async fn starts(&self, thread: &str, says: &str) -> String {
        let request = self.http.post(format!("{}/api/agent-chat", self.url)).header("accept", "application/json");
        let part = json!({"type": "text", "text": says});
        let id: String = says.chars().filter(|c| c.is_ascii_alphanumeric()).collect();
        let body = json!({"id": thread, "messages": [{"id": id, "role": "user", "parts": [part]}]});
        let started: Value = request.json(&body).send().await.unwrap().json().await.unwrap();
        started["runId"].as_str().unwrap_or_else(|| panic!("{started}")).to_owned()
    }
}
