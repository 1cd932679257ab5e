//! The background side: a verified dispatch is claimed and driven.

use tandem_auth::VerifiedDispatch;
use tandem_protocol::HolderKind;
use tandem_store::StoreError;
use tokio::time::Instant;

use crate::state::Refused;
use crate::{Driven, Runtime};

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
        let claimed = self.claim(dispatch.run(), dispatch.version(), HolderKind::Background, false, None).await?;
        match claimed {
            Ok(claim) => Ok(Processed::Driven(self.drive(claim, budget).await)),
            Err(refused) => {
                tracing::info!(run = %dispatch.run(), ?refused, "dispatch without effect");
                Ok(Processed::NotMine(refused))
            }
        }
    }
}
