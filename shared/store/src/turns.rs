//! Turns: what a user asked for, and the run that answers it.

use serde::{Deserialize, Serialize};
use tandem_protocol::{RunId, TenantId, ThreadId, TurnId};

use crate::items::from_item;
use crate::{Store, StoreError, keys};

/// Pointer from a turn to its latest run. It moves by comparing and setting from exactly the run before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turn {
    pub turn: TurnId,
    pub run: RunId,
    /// Position of the user's message in the thread.
    pub message_n: u64,
}

impl Store {
    pub async fn turn(&self, tenant: &TenantId, thread: &ThreadId, turn: &TurnId) -> Result<Option<Turn>, StoreError> {
        self.get(&keys::turn(tenant, thread, turn)).await?.map(from_item).transpose()
    }
}
