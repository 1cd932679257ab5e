//! How many runs of a person and of a tenant are under way: numbers that the transactions which start and end runs
//! change, where there is a limit. Without one nothing is written.
//!
//! No run counts twice, and none stays counted, whatever is sent again or crashes: the transaction that counts a run
//! creates its record on the condition that there is none, and the one that takes it out ends the record on the condition
//! of its version. There is one end for every run, and the record says where it is counted, whatever the limits are by
//! then.

use aws_sdk_dynamodb::types::TransactWriteItem;
use tandem_protocol::{CountedIn, Principal, Run, TenantId, UserId};

use crate::items::{n, number};
use crate::keys::{self, Key};
use crate::write::Condition;
use crate::{Store, StoreError};

/// Most runs under way at a time. Nothing is counted where nothing is set.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MostRuns {
    pub user: Option<u32>,
    pub tenant: Option<u32>,
}

impl MostRuns {
    /// Where a run of `owner` is counted.
    pub fn counted_in(&self, owner: &Principal) -> Vec<CountedIn> {
        let user = self.user.map(|_| CountedIn::User);
        let tenant = self.tenant.map(|most| {
            let of = shards(most);
            CountedIn::Tenant { shard: shard_of(&owner.user, of), of }
        });
        user.into_iter().chain(tenant).collect()
    }

    fn of(&self, counted: CountedIn) -> u32 {
        match counted {
            CountedIn::User => self.user.unwrap_or(u32::MAX),
            CountedIn::Tenant { of, .. } => self.tenant.map_or(u32::MAX, |most| most / u32::from(of.max(1))),
        }
    }
}

/// Most numbers that a tenant's limit is divided into.
const MOST_SHARDS: u32 = 16;
/// What a number may reach at least, before there is a second one: small limits are exact for everybody.
const LEAST_OF_SHARD: u32 = 50;

/// How many numbers a limit is divided into. Transactions that change the same item cancel each other, so one number
/// would make the starts of a large tenant wait for each other.
pub(crate) fn shards(most: u32) -> u8 {
    u8::try_from((most / LEAST_OF_SHARD).clamp(1, MOST_SHARDS)).unwrap_or(1)
}

/// A person is always counted in the same one.
pub(crate) fn shard_of(user: &UserId, of: u8) -> u8 {
    let sum = user.as_str().bytes().fold(0_u32, |sum, byte| sum.wrapping_mul(31).wrapping_add(u32::from(byte)));
    u8::try_from(sum % u32::from(of.max(1))).unwrap_or(0)
}

/// Changes of numbers, with what each is for.
#[derive(Default)]
pub(crate) struct Counts(Vec<(CountedIn, TransactWriteItem)>);

impl Counts {
    /// Puts them at the end of a transaction; gives where each stands there.
    pub(crate) fn push_to(self, operations: &mut Vec<TransactWriteItem>) -> Vec<(usize, CountedIn)> {
        let add = |(counted, operation)| {
            operations.push(operation);
            (operations.len() - 1, counted)
        };
        self.0.into_iter().map(add).collect()
    }
}

impl Store {
    /// The numbers change for a run that starts and for one that ends. One that both are counted in stays as it is.
    pub(crate) fn counts(&self, starts: Option<(&Run, MostRuns)>, ends: Option<&Run>) -> Counts {
        let counted = |run: &Run| -> Vec<(CountedIn, Key)> {
            run.counted_in.iter().map(|counted| (*counted, key(*counted, &run.owner))).collect()
        };
        let started = starts.map(|(run, _)| counted(run)).unwrap_or_default();
        let ended = ends.map(counted).unwrap_or_default();
        let mut counts = Counts::default();
        for (counted, key) in ended.iter().filter(|(_, key)| !started.iter().any(|(_, same)| same == key)) {
            counts.0.push((*counted, self.update_operation(key, "ADD #runs :one", less())));
        }
        let Some((_, most)) = starts else { return counts };
        for (counted, key) in started.iter().filter(|(_, key)| !ended.iter().any(|(_, same)| same == key)) {
            counts.0.push((*counted, self.update_operation(key, "ADD #runs :one", more(most.of(*counted)))));
        }
        counts
    }

    /// How many runs of a person are counted as under way.
    pub async fn runs_of_user(&self, tenant: &TenantId, user: &UserId) -> Result<i64, StoreError> {
        self.counted(&keys::user_runs(tenant, user)).await
    }

    /// How many runs of a tenant are, with a limit of `most`.
    pub async fn runs_of_tenant(&self, tenant: &TenantId, most: u32) -> Result<i64, StoreError> {
        let of = shards(most);
        let mut sum = 0;
        for shard in 0..of {
            sum += self.counted(&keys::tenant_runs(tenant, shard, of)).await?;
        }
        Ok(sum)
    }

    async fn counted(&self, key: &Key) -> Result<i64, StoreError> {
        Ok(self.get(key).await?.and_then(|item| number(&item, "runs")).unwrap_or(0))
    }
}

fn key(counted: CountedIn, owner: &Principal) -> Key {
    match counted {
        CountedIn::User => keys::user_runs(&owner.tenant, &owner.user),
        CountedIn::Tenant { shard, of } => keys::tenant_runs(&owner.tenant, shard, of),
    }
}

/// One more, if there are fewer than `most`, which is not 0.
fn more(most: u32) -> Condition {
    Condition {
        text: "attribute_not_exists(#runs) OR #runs < :most".into(),
        names: vec![("#runs", "runs")],
        values: vec![(":one", n(1)), (":most", n(most))],
    }
}

/// One less, whatever it is: no end must wait for a number.
fn less() -> Condition {
    Condition { text: String::new(), names: vec![("#runs", "runs")], values: vec![(":one", n(-1))] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_never_more_than_the_limit() {
        for most in [1, 5, 49, 50, 99, 100, 101, 799, 800, 10_000] {
            let of = shards(most);
            let limits = MostRuns { user: None, tenant: Some(most) };
            let share = limits.of(CountedIn::Tenant { shard: 0, of });
            assert!(share * u32::from(of) <= most, "{most}");
            assert!(of == 1 || share >= LEAST_OF_SHARD, "{most}");
            let users = (0..200).map(|n| UserId::new(format!("u{n}")).unwrap());
            let used: std::collections::BTreeSet<u8> = users.map(|user| shard_of(&user, of)).collect();
            assert_eq!(used.len(), usize::from(of), "{most}");
        }
    }
}
