//! `tandem chat`: start a turn and follow it.

use anyhow::{Context, Result, bail};
use reqwest::Method;
use serde_json::{Value, json};
use tandem_protocol::{Chunk, ToolCall, Transcript};
use tandem_store::new_id;

use crate::client::{Client, Target};
use crate::output::{print, say, write};

/// Start a turn and follow it: the text as it arrives on stderr, the whole message as JSON on stdout.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// What to say.
    #[arg(value_parser = clap::builder::NonEmptyStringValueParser::new())]
    message: String,
    /// Go on in this conversation; a new id begins one of that name.
    #[arg(long)]
    thread: Option<String>,
    /// One of the models that the system offers.
    #[arg(long)]
    model: Option<String>,
    #[command(flatten)]
    target: Target,
}

pub(crate) async fn run(args: Args) -> Result<()> {
    let client = Client::new(args.target)?;
    // Ids of our own make a repeated request the same request.
    let thread = args.thread.unwrap_or_else(new_id);
    let part = json!({"type": "text", "text": args.message});
    let message = json!({"id": format!("m-{}", new_id()), "role": "user", "parts": [part]});
    let mut body = json!({"id": thread, "messages": [message]});
    if let Some(model) = args.model {
        body["model"] = model.into();
    }
    let started = client.first(Method::POST, "/api/agent-chat", Some(&body)).await?;
    let run = started["runId"].as_str().context("the answer names no run")?;
    say(format_args!("{run} in {thread}"));
    follow(&client, run, &thread).await
}

/// Follows a run to its end and prints its message; an error unless it has completed.
pub(crate) async fn follow(client: &Client, run: &str, thread: &str) -> Result<()> {
    let mut transcript = Transcript::default();
    let status = client
        .follow(run, None, |_, chunk| {
            show(chunk);
            if let Ok(chunk) = serde_json::from_value::<Chunk>(chunk.clone()) {
                transcript.apply(&chunk);
            }
        })
        .await?;
    say("");
    let result = json!({"runId": run, "threadId": thread, "status": status, "parts": transcript.ui_parts()});
    print(&result);
    match status.as_str() {
        "completed" => Ok(()),
        "awaiting_approval" => {
            let elsewhere = client.elsewhere();
            let line = |call: &ToolCall| format!("\n  tandem approve {run} {}{elsewhere}  # {}", call.id, call.name);
            let calls = transcript.awaiting().map(line);
            bail!("a person must agree first; --refuse refuses:{}", calls.collect::<String>())
        }
        _ => bail!("the run is {status}"),
    }
}

/// What a person wants to see while it happens.
fn show(chunk: &Value) {
    let text = |name: &str| chunk[name].as_str().unwrap_or_default().to_owned();
    let line = match chunk["type"].as_str().unwrap_or_default() {
        "text-delta" => text("delta"),
        "tool-input-available" => format!("\n> {} {}\n", text("toolName"), chunk["input"]),
        "tool-output-available" => format!("< {}\n", chunk["output"]),
        "tool-output-error" | "tool-input-error" | "error" => format!("! {}\n", text("errorText")),
        "data-progress" => {
            format!("  {} {}\n", chunk["data"]["label"].as_str().unwrap_or_default(), chunk["data"]["done"])
        }
        "reset-step" => "\n[the step begins again]\n".into(),
        "abort" => "\n[stopped]".into(),
        _ => return,
    };
    write(line);
}
