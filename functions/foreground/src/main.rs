//! The foreground function: the HTTPS endpoints behind a Function URL or a REST API that streams.

mod endpoints;

use endpoints::Endpoints;
use lambda_http::{Error, run_with_streaming_response_concurrent};
use tandem_http::{App, Hosts, Pages};

#[tokio::main]
async fn main() -> Result<(), Error> {
    tandem_host::init_function_logs();
    // The runtime prints why a start failed; by anyhow these are the words for people.
    let authenticate = tandem_auth::authenticator_from_env(tandem_host::env).map_err(anyhow::Error::from)?;
    let dispatch = tandem_host::dispatch(None).await?;
    let runtime = tandem_host::runtime(tandem_host::store().await?, dispatch, tandem_host::keys(false)?)?;
    let hosts = Hosts { foreground: true, background: false, pages: Pages::Any };
    // A Function URL answers CORS itself, and the template sets this where there is none.
    let cors = tandem_host::env("CORS_ALLOWED_ORIGINS").unwrap_or_default().parse();
    let cors = cors.map_err(|why| anyhow::anyhow!("CORS_ALLOWED_ORIGINS: {why}"))?;
    let endpoints = Endpoints::new(App { runtime, authenticate, hosts, cors });
    // One request after the other on Lambda's own machines, side by side on Managed Instances.
    run_with_streaming_response_concurrent(endpoints).await
}
