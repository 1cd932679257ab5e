//! `tandem tail`: follow a run from any cursor.

use anyhow::{Result, bail};
use serde_json::json;

use crate::client::{Client, Target};
use crate::output::print;

/// Follow a run: one JSON line per chunk, from any cursor, until it ends.
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
    let status = client.follow(&args.run, args.after, |seq, chunk| print(&json!({"seq": seq, "chunk": chunk}))).await?;
    if status == "completed" { Ok(()) } else { bail!("the run is {status}") }
}
