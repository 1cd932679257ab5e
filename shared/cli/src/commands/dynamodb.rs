//! `tandem dynamodb`: the embedded engine alone, as a DynamoDB endpoint for other processes.

use std::path::PathBuf;

use anyhow::Result;
use tandem_embedded::Engine;
use tandem_store::Store;

use crate::serve::{Listen, own_url, say, stopped};

/// Serve the embedded DynamoDB engine over HTTP.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    listen: Listen,
    /// Directory of the data; without it they are kept in memory.
    #[arg(long)]
    data: Option<PathBuf>,
}

pub(crate) async fn run(args: Args) -> Result<()> {
    tandem_host::init_logs();
    let engine = match &args.data {
        Some(dir) => Engine::open(dir)?,
        None => Engine::in_memory()?,
    };
    Store::new(engine.client(), tandem_host::table_name()).create_table().await?;
    let listener = args.listen.bind().await?;
    say(format_args!("DynamoDB at {}", own_url(&listener)?));
    tokio::select! {
        served = engine.serve(listener) => served,
        () = stopped() => Ok(()),
    }
}
