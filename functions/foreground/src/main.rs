//! The foreground function: the HTTPS endpoints behind a Function URL that streams.

use axum::Extension;
use axum::extract::Request;
use axum::middleware::{Next, from_fn};
use lambda_http::{Error, RequestExt, run_with_streaming_response};
use tandem_host::Invocation;
use tandem_http::{App, Deadline, Hosts, router};

#[tokio::main]
async fn main() -> Result<(), Error> {
    tandem_host::init_function_logs();
    // The runtime prints why a start failed; by anyhow these are the words for people.
    let authenticate = tandem_auth::authenticator_from_env(tandem_host::env).map_err(anyhow::Error::from)?;
    let dispatch = tandem_host::dispatch(None).await?;
    let runtime = tandem_host::runtime(tandem_host::store().await?, dispatch, tandem_host::keys(false)?)?;
    let invocation = Invocation::foreground(runtime.config());
    // The Function URL answers CORS itself.
    let hosts = Hosts { foreground: true, background: false, cors: false };
    let app = router(App { runtime, authenticate, hosts });
    run_with_streaming_response(app.layer(from_fn(name_deadline)).layer(Extension(invocation))).await
}

/// Tells the routes when this invocation is killed.
async fn name_deadline(
    Extension(invocation): Extension<Invocation>,
    mut request: Request,
    next: Next,
) -> axum::response::Response {
    let deadline = invocation.deadline(request.lambda_context_ref().map_or(0, |context| context.deadline));
    request.extensions_mut().insert(Deadline(deadline));
    next.run(request).await
}
