//! The sweeper function: every minute, finds runs that nobody holds and nobody watches; and takes up those whose
//! dispatches Lambda gave up.

mod failed_dispatches;

use lambda_runtime::{Error, LambdaEvent, run_concurrent, service_fn};
use serde_json::{Value, json};
use tandem_host::{Invocation, Runtime};
use tokio::time::Instant;

#[tokio::main]
async fn main() -> Result<(), Error> {
    tandem_host::init_function_logs();
    let dispatch = tandem_host::dispatch(None).await?;
    let runtime = tandem_host::sweeper_runtime(tandem_host::store().await?, dispatch, tandem_host::keys(false)?)?;
    let invocation = Invocation::sweeper();
    // One after the other on Lambda's own machines, side by side on Managed Instances.
    run_concurrent(service_fn(move |event: LambdaEvent<Value>| {
        let runtime = runtime.clone();
        let deadline = invocation.deadline(event.context.deadline);
        async move {
            let handled = handle(&runtime, event.payload, deadline).await;
            tandem_host::flush_traces().await;
            handled
        }
    }))
    .await
}

/// A batch of the queue, or else the schedule.
async fn handle(runtime: &Runtime, event: Value, deadline: Instant) -> Result<Value, Error> {
    if failed_dispatches::is_batch(&event) {
        return Ok(failed_dispatches::take_up(runtime, event, deadline).await);
    }
    let swept = runtime.sweep(Some(deadline)).await?;
    Ok(json!({"due": swept.due, "recovered": swept.recovered, "failed": swept.failed}))
}
