//! Dispatches that could not be delivered: their runs need not wait until they are due.

use tandem_auth::{DispatchRefused, PastDispatch, SignedDispatch};
use tandem_protocol::RunStatus;
use tandem_store::StoreError;
use tokio::time::Instant;

use crate::Runtime;
use crate::observe::patience;
use crate::sweep::NEEDS;

impl Runtime {
    /// Checks the signature of a dispatch that could not be delivered. Its age does not matter, as nothing is claimed
    /// with it.
    pub fn verify_past(&self, dispatch: &SignedDispatch) -> Result<PastDispatch, DispatchRefused> {
        self.0.keys.verify_past(dispatch)
    }

    /// Puts the run of a dispatch that could not be delivered back on the road, or ends it where it has had its share,
    /// if nobody holds it: it is watched for as long as by everybody else, half a minute at most. Says whether anything
    /// was done; what was not done because the time of this process (`deadline`) is short is left to the sweep.
    pub async fn take_up(&self, lost: &PastDispatch, deadline: Option<Instant>) -> Result<bool, StoreError> {
        let Some(run) = self.0.store.run(lost.run()).await? else { return Ok(false) };
        // A later dispatch is under way, and has its own chance.
        let dispatched_since = run.status == RunStatus::Dispatched && run.version != lost.version();
        if run.status.is_terminal() || dispatched_since {
            return Ok(false);
        }
        let still = Instant::now() + patience(&run, &self.0.config);
        if deadline.is_some_and(|deadline| deadline < still + NEEDS) {
            return Ok(false);
        }
        tokio::time::sleep_until(still).await;
        self.recover_if_still(&run, deadline).await
    }
}
