//! The background side: a verified dispatch is claimed and driven.

use tandem_auth::VerifiedDispatch;
use tandem_protocol::{HolderKind, Run};
use tandem_store::{Input, StoreError};
use tokio::time::Instant;
use tracing::Instrument;

use crate::span::span_of;
use crate::state::Refused;
use crate::{Budget, Claim, Driven, Runtime};

/// What became of a dispatch. None of these is an error: a repeated or late dispatch has no effect.
#[derive(Debug, Clone, PartialEq)]
pub enum Processed {
    Driven(Driven),
    /// Somebody else was faster, or the run has ended.
    NotMine(Refused),
}

impl Processed {
    /// A word for the invocation's result.
    pub fn name(&self) -> &'static str {
        match self {
            Processed::Driven(driven) => driven.name(),
            Processed::NotMine(_) => "not mine",
        }
    }
}

impl Runtime {
    /// Checks a dispatch's signature and age.
    pub fn verify(
        &self,
        dispatch: &tandem_auth::SignedDispatch,
    ) -> Result<VerifiedDispatch, tandem_auth::DispatchRefused> {
        let config = &self.0.config;
        self.0.keys.verify(dispatch, tandem_store::now_ms(), config.dispatch_ttl_ms, config.dispatch_skew_ms)
    }

    /// Claims the run of a dispatch and drives it. `deadline`: when the invocation is killed.
    pub async fn process(
        &self,
        dispatch: &VerifiedDispatch,
        deadline: Option<Instant>,
    ) -> Result<Processed, StoreError> {
        let budget = self.budget(HolderKind::Background, deadline);
        let (run, input) = tokio::try_join!(self.0.store.run(dispatch.run()), self.0.store.input(dispatch.run()))?;
        let Some(run) = run else { return Ok(without_effect(dispatch, Refused::Missing)) };
        let span = span_of(&run);
        self.process_known(dispatch, run, input, budget).instrument(span).await
    }

    async fn process_known(
        &self,
        dispatch: &VerifiedDispatch,
        run: Run,
        input: Option<Input>,
        budget: Budget,
    ) -> Result<Processed, StoreError> {
        let (kind, version) = (HolderKind::Background, dispatch.version());
        let ahead = (run.version == version).then(|| self.read_ahead(&run, input));
        match self.claim(dispatch.run(), version, kind, false, Some(run)).await? {
            Ok(claim) => Ok(Processed::Driven(self.drive(Claim { ahead, ..claim }, budget).await)),
            Err(refused) => Ok(without_effect(dispatch, refused)),
        }
    }
}

fn without_effect(dispatch: &VerifiedDispatch, refused: Refused) -> Processed {
    tracing::info!(run = %dispatch.run(), ?refused, "dispatch without effect");
    Processed::NotMine(refused)
}
