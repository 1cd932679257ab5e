//! The sweeper function: every minute, finds runs that nobody holds and nobody watches.

use lambda_runtime::{Error, LambdaEvent, run, service_fn, tracing};
use serde_json::{Value, json};
use tandem_host::Invocation;

#[tokio::main]
async fn main() -> Result<(), Error> {
    tracing::init_default_subscriber();
    let dispatch = tandem_host::dispatch(None).await?;
    let runtime = tandem_host::runtime(tandem_host::store().await?, dispatch, tandem_host::keys(false)?)?;
    let invocation = Invocation::sweeper();
    run(service_fn(|event: LambdaEvent<Value>| {
        let runtime = runtime.clone();
        let deadline = invocation.deadline(event.context.deadline);
        async move {
            let swept = runtime.sweep(Some(deadline)).await?;
            // What a failed dispatch made this process drive itself ends before the invocation does.
            runtime.tasks_done().await;
            Ok::<_, Error>(json!({"due": swept.due, "recovered": swept.recovered, "failed": swept.failed}))
        }
    }))
    .await
}
