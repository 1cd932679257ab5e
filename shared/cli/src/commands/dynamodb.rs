//! `tandem dynamodb`: the embedded engine alone, as a DynamoDB endpoint for other processes.

use std::net::IpAddr;
use std::path::PathBuf;

use anyhow::Result;
use tandem_embedded::Engine;
use tandem_store::Store;

use crate::output::say;
use crate::serve::{Listen, own_url, stopped};

/// Serve the embedded DynamoDB engine over HTTP.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Port; 0 chooses a free one.
    #[arg(long, env = "PORT", default_value_t = 8000)]
    port: u16,
    /// Address. Whoever reaches it can read and change everything.
    #[arg(long, default_value = "127.0.0.1")]
    host: IpAddr,
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
    let listen = Listen { port: args.port, host: args.host };
    if !listen.is_loopback() {
        say(format_args!("warning: whoever reaches {} can read and change everything", args.host));
    }
    let listener = listen.bind().await?;
    say(format_args!("DynamoDB at {}", own_url(&listener)?));
    tokio::select! {
        served = engine.serve(listener) => served,
        () = stopped() => Ok(()),
    }
}
