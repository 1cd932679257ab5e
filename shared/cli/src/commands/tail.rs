//! `tandem tail`: follow a run from any cursor.

use anyhow::{Result, bail};
use serde_json::json;

use crate::client::{Client, Target};

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
    let status = client.follow(&args.run, args.after, print).await?;
    if status == "completed" { Ok(()) } else { bail!("the run is {status}") }
}

#[allow(clippy::print_stdout)]
fn print(seq: u64, chunk: &serde_json::Value) {
    println!("{}", json!({"seq": seq, "chunk": chunk}));
}
