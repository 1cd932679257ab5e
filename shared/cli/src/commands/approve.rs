//! `tandem approve`: answer what a run asked a person.

use anyhow::{Context, Result, bail};
use reqwest::Method;
use serde_json::{Value, json};

use super::chat::follow;
use crate::client::{Client, Target};
use crate::output::{BadUsage, print, say};

/// Answer what a run asked about a call: agree, or refuse. Follows the run that goes on, once nothing else is asked.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The run that asks (run_...).
    run: String,
    /// The call, as `tandem chat` names it.
    call: String,
    /// Refuse it: nothing is carried out.
    #[arg(long)]
    refuse: bool,
    /// Why, for the agent and for people.
    #[arg(long)]
    reason: Option<String>,
    /// What the call runs with instead of the model's input, as JSON.
    #[arg(long, conflicts_with = "refuse")]
    input: Option<String>,
    #[command(flatten)]
    target: Target,
}

pub(crate) async fn run(args: Args) -> Result<()> {
    let mut body = json!({"approved": !args.refuse});
    if let Some(input) = &args.input {
        body["input"] = serde_json::from_str::<Value>(input)
            .map_err(|error| BadUsage::new(format!("--input is no JSON: {error}")))?;
    }
    if let Some(reason) = args.reason {
        body["reason"] = reason.into();
    }
    let client = Client::new(args.target)?;
    // Who answers twice is told what holds, so it may be repeated.
    let path = format!("/runs/{}/approvals/{}", args.run, args.call);
    let holds = client.first(Method::POST, &path, Some(&body)).await?;
    let overruled = holds["approved"] != body["approved"];
    let Some(next) = holds["runId"].as_str() else {
        say(format_args!("{} other calls of the run wait for an answer.", holds["pending"]));
        print(&holds);
        return if overruled { bail!(OVERRULED) } else { Ok(()) };
    };
    let run = client.first(Method::GET, &format!("/runs/{next}"), None).await?;
    let thread = run["threadId"].as_str().context("the run names no thread")?;
    say(format_args!("{next} in {thread}"));
    follow(&client, next, thread).await?;
    if overruled { bail!(OVERRULED) } else { Ok(()) }
}

const OVERRULED: &str = "the call was answered before, and that holds: the other way than this";
