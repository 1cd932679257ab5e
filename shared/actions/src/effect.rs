//! Effects: what an action promises about being run more than once.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What happens to a call when its machine dies in the middle. Decides parallelism, retry and resumption.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Effect {
    /// Changes nothing: may run again, and beside others.
    Read,
    /// Its writes and its outcome exist together or not at all: exactly once, whoever runs it and however often.
    /// It does no IO but `ctx.state`.
    Transactional,
    /// Long work in slices: every slice exactly once, and the outcome after the last one.
    Checkpointed,
    /// Changes something elsewhere, which removes duplicates by the call's idempotency key: may run again.
    Keyed,
    /// Changes something elsewhere: never runs twice by itself.
    External,
}

impl Effect {
    /// Whether calls of one step may run at the same time; all others run in the model's order.
    pub fn is_parallel(self) -> bool {
        match self {
            Effect::Read => true,
            Effect::Transactional | Effect::Checkpointed | Effect::Keyed | Effect::External => false,
        }
    }

    /// Whether it changes things that the store's transactions do not hold.
    pub(crate) fn is_elsewhere(self) -> bool {
        match self {
            Effect::Keyed | Effect::External => true,
            Effect::Read | Effect::Transactional | Effect::Checkpointed => false,
        }
    }

    /// Whether a new holder simply calls again what may have begun. Otherwise it stores `unknown`.
    pub fn may_run_again(self) -> bool {
        match self {
            Effect::Read | Effect::Transactional | Effect::Checkpointed | Effect::Keyed => true,
            Effect::External => false,
        }
    }
}
