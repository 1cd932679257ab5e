//! `tandem foreground`: the endpoints for people, as a process of its own.

use anyhow::Result;
use tandem_http::{App, Cors, Hosts, router};

use crate::commands::SPLIT;
use crate::output::say;
use crate::serve::{Clients, Listen, own_url, serve};

/// Serve the endpoints for people. Turns are dispatched to BACKGROUND_URL.
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
    let must_sign_in = authenticate.must_sign_in();
    let keys = tandem_host::keys(args.listen.is_loopback())?;
    let dispatch = tandem_host::dispatch(None).await?;
    let runtime = tandem_host::runtime(tandem_host::store().await?, dispatch, keys)?;
    let listener = args.listen.bind().await?;
    say(format_args!("foreground at {}", own_url(&listener)?));
    let hosts = Hosts { foreground: true, background: false, pages: args.listen.pages(must_sign_in) };
    let router = router(App { runtime: runtime.clone(), authenticate, hosts, cors: Cors::Everybody });
    serve(listener, router, args.clients, &runtime).await
}
