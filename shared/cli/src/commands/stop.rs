//! `tandem stop`: stop a run.

use anyhow::{Result, bail};
use reqwest::Method;

use crate::client::{Client, Target};
use crate::following::continued;
use crate::output::{print, say};

/// Stop a run, and print its record. One that has ended stays as it is; what one asks a person is left unanswered.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The run (run_...).
    run: String,
    #[command(flatten)]
    target: Target,
}

pub(crate) async fn run(args: Args) -> Result<()> {
    let client = Client::new(args.target)?;
    let run = client.first(Method::POST, &format!("/runs/{}/abort", args.run), None).await?;
    match run["status"].as_str() {
        Some("aborted") => {}
        Some("awaiting_approval") => {
            if let Some(thread) = run["threadId"].as_str()
                && let Some(next) = continued(&client, &args.run, thread, &run["turnId"]).await?
            {
                let elsewhere = client.elsewhere();
                bail!("what the run asked was answered, and it goes on as {next}: tandem stop {next}{elsewhere}");
            }
            say("What the run asked is left unanswered.");
        }
        status => say(format_args!("The run had ended before: it is {}.", status.unwrap_or("unknown"))),
    }
    print(&run);
    Ok(())
}
