//! Sending a call, and what its answer means for the person at the terminal.

use anyhow::{Context, Result, bail};
use reqwest::Method;
use serde_json::Value;
use tandem_actions::{Described, Effect, Method as Declared};
use tandem_protocol::Fault;
use tandem_store::new_id;

use super::faults;
use crate::client::{ActionCall, Client, Reply, Target, header};
use crate::following::watch;
use crate::output::{BadUsage, say};

/// Calls the action until there is an outcome.
pub(super) async fn call(action: &Described, mut input: Value, target: Target, key: Option<String>) -> Result<Value> {
    let client = Client::new(target)?;
    if let Some(key) = &key {
        header(key).map_err(|must| BadUsage::new(format!("--idempotency-key {must}")))?;
    }
    // A key makes it safe to send the call again when the connection was lost.
    let key = key.or_else(|| (action.effect != Effect::Read).then(new_id));
    let path = format!("/api/{}", action.name);
    let request = match action.method {
        Declared::Get => {
            // In a query everything is text: what has the wrong type could no longer be told.
            let given = input.clone();
            let wrong = action.fit(&mut input);
            if !wrong.is_empty() {
                return Err(BadUsage::new(faults::lines(action, &given, &wrong)).into());
            }
            ActionCall { method: Method::GET, path, query: query(&input), body: None, key: key.clone() }
        }
        Declared::Post | Declared::Put | Declared::Delete => {
            let method = match action.method {
                Declared::Put => Method::PUT,
                Declared::Delete => Method::DELETE,
                Declared::Get | Declared::Post => Method::POST,
            };
            ActionCall { method, path, query: Vec::new(), body: Some(input.clone()), key: key.clone() }
        }
    };
    let tell_key = || {
        if let Some(key) = &key {
            say(format_args!("To ask for the same call again: --idempotency-key {key}"));
        }
    };
    // Whoever is not answered cannot tell whether it was done.
    match client.act(&request).await.inspect_err(|_| tell_key())? {
        Reply::Done(output) => Ok(output),
        Reply::Accepted(started) => {
            let run = started["runId"].as_str().context("the answer names no run")?;
            say(format_args!("{run}"));
            follow(&client, run).await
        }
        Reply::Refused(refusal) => {
            let faults: Vec<Fault> = serde_json::from_value(refusal.body["errors"].clone()).unwrap_or_default();
            if refusal.code() == "invalid_input" && !faults.is_empty() {
                return Err(BadUsage::new(faults::lines(action, &input, &faults)).into());
            }
            if refusal.status.is_server_error() || refusal.code() == "in_progress" {
                tell_key();
            }
            Err(refusal.into())
        }
    }
}

/// Shows how far a long call is, until it has ended, and gives its result. The run goes on without this program.
async fn follow(client: &Client, run: &str) -> Result<Value> {
    let mut output = None;
    let status = watch(client, run, None, true, |_, chunk| match chunk["type"].as_str().unwrap_or_default() {
        "data-progress" => say(progress(&chunk["data"])),
        "tool-output-available" => output = Some(Ok(chunk["output"].clone())),
        "tool-output-error" | "error" => output = Some(Err(chunk["errorText"].as_str().unwrap_or_default().to_owned())),
        _ => {}
    })
    .await?;
    match output {
        Some(Ok(output)) if status == "completed" => Ok(output),
        Some(Err(text)) => bail!("{text}"),
        _ => bail!("the run is {status}"),
    }
}

fn progress(data: &Value) -> String {
    let label = data["label"].as_str().unwrap_or_default();
    match data["total"].as_u64() {
        Some(total) => format!("{label} {} of {total}", data["done"]),
        None => format!("{label} {}", data["done"]),
    }
}

/// An input that fits, as arguments of a query: they are read by the same types.
fn query(input: &Value) -> Vec<(String, String)> {
    let fields = input.as_object().into_iter().flatten();
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    // Null is the absence of a field.
    fields.filter(|(_, value)| !value.is_null()).map(|(name, value)| (name.clone(), text(value))).collect()
}
