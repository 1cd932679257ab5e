//! What models have cost: an account for each run, and one a day for each person and tenant.
//!
//! An amount is held before a request and replaced by its price afterwards. `used` counts what is paid and what is held;
//! each held amount has an attribute of its own, named after its request. So a hold and a settlement that are sent again
//! know their own earlier success, one plain update each, and two accounts never get into each other's way. Where a holder
//! dies between the two the request stays paid in full: nobody knows what the provider counted.

use std::collections::BTreeMap;

use tandem_protocol::{RunId, TenantId, UserId};

use crate::items::{n, number};
use crate::keys::{self, Key};
use crate::update::Update;
use crate::{Store, StoreError, now_ms};

/// How long an account is kept, in seconds: whoever pays the bill looks back for a month.
const KEEP_SECONDS: i64 = 40 * 24 * 3600;
const DAY_MS: i64 = 24 * 3600 * 1000;

/// Who pays. Amounts are nano-dollars.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account(Key);

impl Account {
    /// What one run may cost in all.
    pub fn run(run: &RunId) -> Self {
        Account(keys::run_spending(run))
    }

    /// What a person's runs may cost today (UTC).
    pub fn user(tenant: &TenantId, user: &UserId) -> Self {
        Account(keys::user_spending(tenant, user, now_ms() / DAY_MS))
    }

    /// What all runs of a tenant may cost today (UTC).
    pub fn tenant(tenant: &TenantId) -> Self {
        Account(keys::tenant_spending(tenant, now_ms() / DAY_MS))
    }
}

/// What became of a hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hold {
    Held,
    /// The account has no room for it. Nothing is held.
    Exhausted,
}

impl Store {
    /// Holds `amount` for a request if the account then has no more than `limit`. `request` names it for ever.
    pub async fn hold(&self, account: &Account, request: &str, amount: u64, limit: u64) -> Result<Hold, StoreError> {
        let Some(room) = limit.checked_sub(amount) else { return Ok(Hold::Exhausted) };
        let update = Update {
            expression: "ADD #used :amount SET #held = :amount, #expires = if_not_exists(#expires, :expires)",
            condition: "attribute_not_exists(#held) AND (attribute_not_exists(#used) OR #used <= :room)",
            values: vec![(":amount", n(amount)), (":room", n(room)), (":expires", n(now_ms() / 1000 + KEEP_SECONDS))],
            names: vec![("#used", "used".into()), ("#held", held(request)), ("#expires", "expires_at".into())],
        };
        match self.update_if(&account.0, update).await? {
            None => Ok(Hold::Held),
            // Our own earlier success.
            Some(before) if before.contains_key(&held(request)) => Ok(Hold::Held),
            Some(_) => Ok(Hold::Exhausted),
        }
    }

    /// Replaces what is held for a request by what it cost. What is settled stays settled.
    pub async fn settle(&self, account: &Account, request: &str, amount: u64, cost: u64) -> Result<(), StoreError> {
        let difference = i128::from(cost) - i128::from(amount);
        let update = Update {
            expression: "ADD #used :difference REMOVE #held",
            condition: "attribute_exists(#held)",
            values: vec![(":difference", n(difference))],
            names: vec![("#used", "used".into()), ("#held", held(request))],
        };
        self.update_if(&account.0, update).await.map(drop)
    }

    /// What an account has paid and holds.
    pub async fn used(&self, account: &Account) -> Result<u64, StoreError> {
        let item = self.get(&account.0).await?;
        Ok(item.and_then(|item| number(&item, "used")).unwrap_or(0))
    }

    /// What an account holds for requests that are under way, or whose holder died.
    pub async fn held(&self, account: &Account) -> Result<u64, StoreError> {
        Ok(self.holds(account).await?.values().sum())
    }

    /// The same by the names of the requests.
    pub async fn holds(&self, account: &Account) -> Result<BTreeMap<String, u64>, StoreError> {
        let item = self.get(&account.0).await?.unwrap_or_default();
        let held = item.keys().filter_map(|name| Some((name.strip_prefix(HELD)?.to_owned(), number(&item, name)?)));
        Ok(held.collect())
    }
}

const HELD: &str = "held:";

fn held(request: &str) -> String {
    format!("{HELD}{request}")
}
