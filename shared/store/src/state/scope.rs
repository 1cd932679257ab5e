//! Scopes: whose documents they are.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use tandem_protocol::{Principal, ThreadId};

use super::StateError;
use crate::{Store, keys};

/// Longest name of an application's scope.
const MAX_APP: usize = 48;

/// A set of documents with one order of changes. Written `user`, `tenant`, `thread:<id>` or `app:<name>`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// The principal's own.
    User,
    /// Everybody's in the principal's tenant.
    Tenant,
    /// Those of a conversation; who gets at it gets in.
    Thread(ThreadId),
    /// Everybody's in the principal's tenant, for one part of the application. `[a-z0-9-]{1,48}`.
    App(String),
}

impl Scope {
    pub fn app(name: impl Into<String>) -> Self {
        Scope::App(name.into())
    }

    /// The partition of this scope as the principal sees it. A foreign thread is the same as none.
    pub(super) async fn partition(&self, store: &Store, principal: &Principal) -> Result<String, StateError> {
        let Principal { tenant, user, .. } = principal;
        match self {
            Scope::User => Ok(keys::state_partition(tenant, &format!("user:{user}"))),
            Scope::Tenant => Ok(keys::state_partition(tenant, "tenant")),
            Scope::App(name) if is_app(name) => Ok(keys::state_partition(tenant, &format!("app:{name}"))),
            Scope::App(_) => Err(StateError::NoSuchScope(self.clone())),
            Scope::Thread(thread) => match store.thread(principal, thread).await? {
                Some(_) => Ok(keys::state_partition(tenant, &format!("thread:{thread}"))),
                None => Err(StateError::NoSuchScope(self.clone())),
            },
        }
    }
}

fn is_app(name: &str) -> bool {
    let allowed = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    !name.is_empty() && name.len() <= MAX_APP && name.bytes().all(allowed)
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Scope::User => f.write_str("user"),
            Scope::Tenant => f.write_str("tenant"),
            Scope::Thread(thread) => write!(f, "thread:{thread}"),
            Scope::App(name) => write!(f, "app:{name}"),
        }
    }
}

impl FromStr for Scope {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let fault = || format!("{text:?} is not a scope: use user, tenant, thread:<id> or app:<name>");
        match text.split_once(':') {
            None if text == "user" => Ok(Scope::User),
            None if text == "tenant" => Ok(Scope::Tenant),
            Some(("thread", id)) => ThreadId::new(id).map(Scope::Thread).map_err(|_| fault()),
            Some(("app", name)) if is_app(name) => Ok(Scope::app(name)),
            _ => Err(fault()),
        }
    }
}

impl Serialize for Scope {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Scope {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scope_is_read_as_it_is_written() {
        for text in ["user", "tenant", "thread:t:1", "app:inbox"] {
            assert_eq!(text.parse::<Scope>().unwrap().to_string(), text);
        }
        for text in ["", "users", "user:ann", "tenant:a", "thread:", "thread:a#b", "app:", "app:In", "app:a/b", "x:y"] {
            assert!(text.parse::<Scope>().is_err(), "{text}");
        }
    }
}
