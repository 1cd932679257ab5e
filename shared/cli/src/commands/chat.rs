//! `tandem chat`: start a turn and follow it.

use anyhow::{Context, Error, Result, anyhow, bail};
use reqwest::Method;
use serde_json::{Value, json};
use tandem_protocol::{Chunk, Transcript};
use tandem_store::new_id;

use crate::client::{Client, Target};
use crate::following::{asks, watch};
use crate::output::{print, say, write};
use crate::refusal::Refusal;

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
    /// Stop the run that is under way in the conversation, if there is one, for this message.
    #[arg(long)]
    interrupt: bool,
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
    if args.interrupt {
        body["whenBusy"] = "interrupt".into();
    }
    let started =
        client.first(Method::POST, "/api/agent-chat", Some(&body)).await.map_err(|error| busy(&client, error))?;
    let run = started["runId"].as_str().context("the answer names no run")?;
    say(format_args!("{run} in {thread}"));
    follow(&client, run, &thread).await
}

/// Another run is under way: what is typed then.
fn busy(client: &Client, error: Error) -> Error {
    let Some(refusal) = error.downcast_ref::<Refusal>().filter(|refusal| refusal.code() == "thread_busy") else {
        return error;
    };
    let (status, elsewhere) = (refusal.status, client.elsewhere());
    let Some(active) = refusal.body["activeRunId"].as_str() else { return error };
    anyhow!(
        "{status}: the run {active} is under way in the conversation; wait for it, or say it with --interrupt, which stops \
         that run:\n  tandem tail {active}{elsewhere}\n  tandem stop {active}{elsewhere}"
    )
}

/// Follows a run to its end and prints its message; an error unless it has completed.
pub(crate) async fn follow(client: &Client, run: &str, thread: &str) -> Result<()> {
    let mut transcript = Transcript::default();
    let status = watch(client, run, None, true, |_, chunk| {
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
        "awaiting_approval" => Err(asks(client, run, &transcript, &[])),
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
            let data = &chunk["data"];
            let of = data["total"].as_u64().map(|total| format!(" of {total}")).unwrap_or_default();
            format!("  {} {}{of}\n", data["label"].as_str().unwrap_or_default(), data["done"])
        }
        "reset-step" => "\n[the step begins again]\n".into(),
        "abort" => "\n[stopped]".into(),
        _ => return,
    };
    write(line);
}
