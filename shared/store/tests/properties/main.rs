//! What must hold whatever is written: logs are read back from every cursor, frames fit, keys are in order.

#![allow(clippy::unwrap_used)]

mod frames;
mod order;
mod packing;

use tandem_embedded::Engine;
use tandem_protocol::RunId;
use tandem_store::Store;

async fn store() -> Store {
    let store = Store::new(Engine::in_memory().unwrap().client(), "tandem");
    store.create_table().await.unwrap();
    store
}

fn run_id() -> RunId {
    RunId::new("run_1").unwrap()
}

/// Runs a case to its end: proptest knows nothing of futures.
fn wait(case: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap().block_on(case);
}
