//! How many requests of a person and of a tenant there have been in this minute: a number each, with one plain update per
//! request, and without a limit none. A request that is sent again by the store's client may count twice.

use tandem_protocol::Principal;

use crate::items::n;
use crate::keys;
use crate::under_way::{shard_of, shards};
use crate::update::Update;
use crate::{Store, StoreError};

/// A request is kept in its number for so long after its minute, in seconds.
const KEEP_SECONDS: i64 = 3600;

/// Whose requests are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Asking {
    User,
    Tenant,
}

impl Store {
    /// Counts a request in this minute (since 1970); `false`: there have been `most`, and it is not counted.
    pub async fn count_request(
        &self,
        who: &Principal,
        asking: Asking,
        minute: i64,
        most: u32,
    ) -> Result<bool, StoreError> {
        let (key, most) = match asking {
            Asking::User => (keys::user_requests(&who.tenant, &who.user, minute), most),
            Asking::Tenant => {
                let of = shards(most);
                (keys::tenant_requests(&who.tenant, shard_of(&who.user, of), of, minute), most / u32::from(of))
            }
        };
        let update = Update {
            expression: "ADD #requests :one SET #expires = :expires",
            condition: "attribute_not_exists(#requests) OR #requests < :most",
            names: vec![("#requests", "requests".into()), ("#expires", "expires_at".into())],
            values: vec![(":one", n(1)), (":most", n(most)), (":expires", n(minute * 60 + KEEP_SECONDS))],
        };
        Ok(self.update_if(&key, update).await?.is_none())
    }
}
