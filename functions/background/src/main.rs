//! The background function: claims the run of a signed dispatch and drives it.

use lambda_runtime::{Error, LambdaEvent, run_concurrent, service_fn};
use serde_json::{Value, json};
use tandem_auth::SignedDispatch;
use tandem_host::Invocation;

#[tokio::main]
async fn main() -> Result<(), Error> {
    tandem_host::init_function_logs();
    let dispatch = tandem_host::dispatch(None).await?;
    let runtime = tandem_host::runtime(tandem_host::store().await?, dispatch, tandem_host::keys(false)?)?;
    let invocation = Invocation::background(runtime.config());
    // One after the other on Lambda's own machines, side by side on Managed Instances.
    run_concurrent(service_fn(move |event: LambdaEvent<Value>| {
        let runtime = runtime.clone();
        let deadline = invocation.deadline(event.context.deadline);
        async move {
            let processed = process(&runtime, event.payload, deadline).await;
            tandem_host::flush_traces().await;
            processed
        }
    }))
    .await
}

/// A dispatch that is not ours, repeated or late is no error: an error would have it delivered again.
async fn process(
    runtime: &tandem_host::Runtime,
    payload: Value,
    deadline: tokio::time::Instant,
) -> Result<Value, Error> {
    let dispatch = SignedDispatch::from_json(payload.to_string().as_bytes());
    let verified = match dispatch.and_then(|dispatch| runtime.verify(&dispatch)) {
        Ok(verified) => verified,
        Err(reason) => {
            tracing::warn!(%reason, "dispatch refused");
            return Ok(json!({"processed": false, "reason": reason.to_string()}));
        }
    };
    let processed = runtime.process(&verified, Some(deadline)).await?;
    Ok(json!({"processed": true, "result": processed.name()}))
}
