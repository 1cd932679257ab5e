//! `tandem tail`: follow a run from any cursor.

use anyhow::{Result, bail};
use serde_json::json;

use crate::client::{Client, Target};
use crate::following::{goes_on_as, watch};
use crate::output::{print, say};

/// Follow a run: one JSON line per chunk, from any cursor, until it ends. Where it asked a person and was answered, the
/// run that goes on is followed too; its lines have its `runId`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The run (run_...).
    run: String,
    /// Only chunks after this number.
    #[arg(long)]
    after: Option<u64>,
    #[command(flatten)]
    target: Target,
}

pub(crate) async fn run(args: Args) -> Result<()> {
    let client = Client::new(args.target)?;
    let status = watch(&client, &args.run, args.after, false, |seq, chunk| {
        print(&json!({"seq": seq, "chunk": chunk}));
    });
    let (mut run, mut status) = (args.run.clone(), status.await?);
    while status == "awaiting_approval" {
        run = goes_on_as(&client, &run).await?;
        say(format_args!("The question was answered: it goes on as {run}."));
        let line = |seq, chunk: &_| print(&json!({"runId": run, "seq": seq, "chunk": chunk}));
        status = watch(&client, &run, None, true, line).await?;
    }
    if status == "completed" { Ok(()) } else { bail!("the run is {status}") }
}
