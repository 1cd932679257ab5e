//! `tandem sweeper`: finds runs that nobody holds and nobody watches.

use std::time::Duration;

use anyhow::Result;
use tandem_runs::Runtime;

use crate::commands::SPLIT;
use crate::output::{print, say};
use crate::serve::stopped;

/// Find runs that nobody holds and put them back on the road. They are dispatched to BACKGROUND_URL.
#[derive(clap::Args)]
#[command(after_help = SPLIT)]
pub(crate) struct Args {
    /// Pause between two passes, in milliseconds.
    #[arg(long, default_value_t = 60_000)]
    every_ms: u64,
    /// One pass only, with its result on stdout.
    #[arg(long)]
    once: bool,
}

pub(crate) async fn run(args: Args) -> Result<()> {
    tandem_host::init_logs();
    let dispatch = tandem_host::dispatch(None).await?;
    let runtime = tandem_host::sweeper_runtime(tandem_host::store().await?, dispatch, tandem_host::keys(true)?)?;
    if args.once {
        let swept = runtime.sweep(None).await?;
        let result = serde_json::json!({"due": swept.due, "recovered": swept.recovered, "failed": swept.failed});
        print(&result);
        return Ok(());
    }
    say("sweeper");
    tokio::select! {
        () = sweep_for_ever(&runtime, Duration::from_millis(args.every_ms)) => {}
        () = stopped() => {}
    }
    Ok(())
}

/// Sweeps again and again; a pass that fails is reported and does not stop the next.
pub(crate) async fn sweep_for_ever(runtime: &Runtime, every: Duration) {
    loop {
        if let Err(error) = runtime.sweep(None).await {
            tracing::error!(%error, "a sweep failed");
        }
        tokio::time::sleep(every).await;
    }
}
