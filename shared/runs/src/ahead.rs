//! Reading ahead: what an attempt needs is read while its claim is written, and not after it.
//!
//! That is safe for the log too. Whoever takes it writes at the end that was read, and is refused where somebody has written
//! there since; logs have no holes, so what was read is all there is.

use tandem_agent::Prepared;
use tandem_protocol::Run;
use tandem_store::{Frame, Input, StoreError};
use tokio::task::JoinSet;
use tracing::Instrument;

use crate::Runtime;

/// Reads under way. Dropping it ends them.
#[derive(Debug)]
pub(crate) struct Ahead {
    log: JoinSet<Result<Vec<Frame>, StoreError>>,
    prepared: JoinSet<Prepared>,
}

impl Runtime {
    /// Begins to read for an attempt at `run`. `input`: where it has been read already.
    pub(crate) fn read_ahead(&self, run: &Run, input: Option<Input>) -> Ahead {
        let (mut log, mut prepared) = (JoinSet::new(), JoinSet::new());
        let (store, id) = (self.0.store.clone(), run.run_id.clone());
        log.spawn(async move { store.log_from(&id, 0).await }.in_current_span());
        let (agent, run) = (self.0.agent.clone(), run.clone());
        prepared.spawn(async move { agent.prepare(&run, input).await }.in_current_span());
        Ahead { log, prepared }
    }
}

impl Ahead {
    /// The frames of the log as they stood a moment ago.
    pub(crate) async fn log(&mut self) -> Result<Vec<Frame>, StoreError> {
        only(&mut self.log).await
    }

    /// What the agent needs.
    pub(crate) async fn prepared(&mut self) -> Prepared {
        only(&mut self.prepared).await
    }
}

/// What the one task of a set returns. It panics as the task did: a bug is dealt with where the work is.
async fn only<T: 'static>(tasks: &mut JoinSet<T>) -> T {
    match tasks.join_next().await {
        Some(Ok(done)) => done,
        Some(Err(error)) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
        // The process ends.
        Some(Err(_)) => std::future::pending().await,
        None => unreachable!("read once"),
    }
}
