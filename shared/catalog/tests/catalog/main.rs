//! The application through its registry, against a real engine: each test is named after the promise that it keeps.

#![allow(clippy::unwrap_used)]

mod drafts;
mod inbox;
mod labels;
mod mail_server;
mod memory;
mod providers;
mod send_email;
mod summary;
mod webhook;

use std::time::Duration;

use serde_json::Value;
use tandem_actions::{ActionError, Call, Registry, Store};
use tandem_catalog::Settings;
use tandem_embedded::Engine;
use tandem_protocol::{Caller, Principal, RunId, TenantId, ToolCallId, UserId};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

const STARTED_AT: i64 = 1_756_900_000_000;

struct Inbox {
    registry: Registry,
    store: Store,
}

impl Inbox {
    async fn new() -> Self {
        Inbox::with(&Settings::default()).await
    }

    async fn with(settings: &Settings) -> Self {
        let store = Store::new(Engine::in_memory().unwrap().client(), "tandem");
        store.create_table().await.unwrap();
        Inbox { registry: tandem_catalog::registry_with(settings).unwrap(), store }
    }

    /// A call by a person.
    fn by(&self, tenant: &str, key: &str) -> Call {
        Call {
            store: self.store.clone(),
            principal: Principal {
                tenant: TenantId::new(tenant).unwrap(),
                user: UserId::new("ann").unwrap(),
                roles: Vec::new(),
            },
            caller: Caller::Http,
            run: None,
            thread: None,
            turn: None,
            tool_call: None,
            once: None,
            idempotency_key: key.into(),
            started_at: STARTED_AT,
            deadline: Instant::now() + Duration::from_secs(300),
            cancel: CancellationToken::new(),
            progress: None,
        }
    }

    /// A call by the agent.
    fn tool(&self, id: &str) -> Call {
        let (run, call) = (RunId::new("run_1").unwrap(), ToolCallId::new(id).unwrap());
        Call {
            caller: Caller::Agent,
            idempotency_key: Call::key_of(&run, &call),
            run: Some(run),
            tool_call: Some(call),
            ..self.by("acme", "")
        }
    }

    async fn call(&self, name: &str, input: Value) -> Result<Value, ActionError> {
        self.registry.call(name, input, self.by("acme", &format!("{name} {}", rand()))).await
    }

    /// Every email of the inbox, oldest first.
    async fn ids(&self, filter: Value) -> Vec<String> {
        let (mut ids, mut input) = (Vec::new(), filter);
        loop {
            let page = self.call("list-emails", input.clone()).await.unwrap();
            ids.extend(page["emails"].as_array().unwrap().iter().map(|email| email["id"].as_str().unwrap().to_owned()));
            match page.get("cursor") {
                Some(cursor) => input["cursor"] = cursor.clone(),
                None => break,
            }
        }
        ids.reverse();
        ids
    }
}

fn rand() -> String {
    format!("{:?}", std::time::Instant::now())
}

fn ids(numbers: impl IntoIterator<Item = u32>) -> Vec<String> {
    numbers.into_iter().map(|n| format!("e-{n}")).collect()
}

fn refusal(result: Result<Value, ActionError>) -> String {
    result.unwrap_err().code().to_owned()
}
