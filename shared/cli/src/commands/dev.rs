//! `tandem dev`: everything in one process. No key, no Docker, no AWS account.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use tandem_embedded::Engine;
use tandem_http::{App, Cors, Hosts, router};
use tandem_runs::{Dispatch, HttpDispatch, Runtime};
use tandem_store::Store;

use crate::commands::sweeper::sweep_for_ever;
use crate::output::say;
use crate::serve::{Clients, Listen, own_url, serve};
use crate::ui::{SignIn, built, with_ui};

/// Pause between two sweeps.
const SWEEP: Duration = Duration::from_secs(2);
/// Pause between two removals of what has expired: the engine does it only when asked.
const EXPIRE: Duration = Duration::from_secs(60);

/// Run the whole system in one process: embedded DynamoDB, foreground, background and sweeper.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    listen: Listen,
    #[command(flatten)]
    clients: Clients,
    /// Directory of the data.
    #[arg(long, default_value = ".tandem")]
    data: PathBuf,
    /// Directory of the built user interface, served at /app/. `make dev` builds it.
    #[arg(long, default_value = "app/dist")]
    app: PathBuf,
}

pub(crate) async fn run(args: Args) -> Result<()> {
    tandem_host::init_logs();
    let engine = Engine::open(&args.data).context("choose another directory with --data")?;
    let store = Store::new(engine.client(), tandem_host::table_name());
    let store = store.with_retention_days(tandem_host::retention_days()?);
    store.create_table().await?;
    let listener = args.listen.bind().await?;
    let url = own_url(&listener)?;
    // The dispatch goes through the socket and its signature check, as everywhere.
    let dispatch: Arc<dyn Dispatch> = Arc::new(HttpDispatch::new(&url)?);
    // Mail that nobody sends is data too.
    let outbox = tandem_host::env("OUTBOX_DIR").map_or_else(|| args.data.join("outbox"), PathBuf::from);
    let registry = tandem_host::registry_with_outbox(outbox)?;
    let keys = tandem_host::keys(args.listen.is_loopback())?;
    let runtime = tandem_host::runtime_with(registry, store, Some(dispatch), keys)?;
    // The engine is this process's own: as near as a store can be.
    let authenticate = tandem_auth::authenticator_from_env(|name| match name {
        "AWS_ENDPOINT_URL_DYNAMODB" => Some(url.clone()),
        "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS" => None,
        _ => tandem_host::env(name),
    })?;
    let must_sign_in = authenticate.must_sign_in();
    let sign_in = SignIn::from_env(tandem_host::env)?;
    let hosts = Hosts { foreground: true, background: true, pages: args.listen.pages(must_sign_in) };
    let app = App { runtime: runtime.clone(), authenticate, hosts, cors: Cors::Everybody };
    let models: Vec<&str> = runtime.agent().models().names().collect();
    say(format_args!("tandem dev at {url}, data in {}, model {}", args.data.display(), models.join(", ")));
    let ui = built(&args.app);
    greet(&url, ui.is_some(), must_sign_in);
    if ui.is_some() && must_sign_in && sign_in.is_none() {
        say("Nobody can sign in there: set UI_CLIENT_ID to the client id that OIDC_ISSUER knows the interface by.");
    }
    let router = match &ui {
        Some(dir) => with_ui(router(app), dir, sign_in)?,
        None => router(app),
    };
    tokio::select! {
        served = serve(listener, router, args.clients, &runtime) => served,
        () = sweep(&runtime) => Ok(()),
        () = expire_for_ever(&engine) => Ok(()),
    }
}

/// First what a process before this one left behind, at once: the data are this process's alone, so nobody else holds it.
async fn sweep(runtime: &Runtime) {
    if let Err(error) = runtime.sweep_all().await {
        tracing::error!(%error, "what was left behind could not be looked at");
    }
    sweep_for_ever(runtime, SWEEP).await;
}

async fn expire_for_ever(engine: &Engine) {
    loop {
        tokio::time::sleep(EXPIRE).await;
        if let Err(error) = engine.sweep_ttl().await {
            tracing::warn!(%error, "expired items were not removed");
        }
    }
}

fn greet(url: &str, ui: bool, must_sign_in: bool) {
    let token = if must_sign_in { " -H \"Authorization: Bearer $TOKEN\"" } else { "" };
    say("");
    match ui {
        true => say(format_args!("The inbox, for people: {url}/app/")),
        false => say("The user interface is not built: `make app` builds it, then start again."),
    }
    say("Start a turn, and see it stream:");
    say(format_args!("  curl -N{token} {url}/api/agent-chat -d '{{\"message\":\"/list-emails {{}}\"}}'"));
    say("List your conversations:");
    say(format_args!("  curl{token} {url}/threads"));
    say("");
}
