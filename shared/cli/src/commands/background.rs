//! `tandem background`: the worker that claims dispatched runs, as a process of its own.

use anyhow::Result;
use tandem_http::{App, Cors, Hosts, Pages, router};

use crate::commands::SPLIT;
use crate::output::say;
use crate::serve::{Clients, Listen, own_url, serve};

/// Serve the endpoint for signed dispatches. Hand-overs go to BACKGROUND_URL, or to this process.
#[derive(clap::Args)]
#[command(after_help = SPLIT)]
pub(crate) struct Args {
    #[command(flatten)]
    listen: Listen,
    #[command(flatten)]
    clients: Clients,
}

pub(crate) async fn run(args: Args) -> Result<()> {
    tandem_host::init_logs();
    let authenticate = tandem_auth::authenticator_from_env(tandem_host::env)?;
    let keys = tandem_host::keys(args.listen.is_loopback())?;
    let listener = args.listen.bind().await?;
    let url = own_url(&listener)?;
    let dispatch = tandem_host::dispatch(Some(&url)).await?;
    let runtime = tandem_host::runtime(tandem_host::store().await?, dispatch, keys)?;
    say(format_args!("background at {url}"));
    let hosts = Hosts { foreground: false, background: true, pages: Pages::Any };
    let router = router(App { runtime: runtime.clone(), authenticate, hosts, cors: Cors::Elsewhere });
    serve(listener, router, args.clients, &runtime).await
}
