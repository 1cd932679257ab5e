//! Identifiers. Each is its own type, so that a thread id cannot be passed where a run id is meant.
//!
//! Ids that clients may choose (threads, turns, messages) and ids that we make share one alphabet,
//! `[A-Za-z0-9_.:~-]`, 1 to 128 characters: `#` and `/` would be able to forge store keys and paths.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

/// Longest accepted id, in bytes.
const MAX_LEN: usize = 128;

/// Why a text is not an id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IdError {
    #[error("must not be empty")]
    Empty,
    #[error("must be at most {MAX_LEN} characters")]
    TooLong,
    #[error("may contain letters, digits and _ . : ~ - only")]
    Character,
}

fn check(text: &str) -> Result<(), IdError> {
    if text.is_empty() {
        return Err(IdError::Empty);
    }
    if text.len() > MAX_LEN {
        return Err(IdError::TooLong);
    }
    let allowed = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b':' | b'~' | b'-');
    if text.bytes().all(allowed) { Ok(()) } else { Err(IdError::Character) }
}

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
        #[serde(transparent)]
        #[schemars(extend("pattern" = "^[A-Za-z0-9_.:~-]{1,128}$"))]
        pub struct $name(String);

        impl $name {
            /// Checks the alphabet and the length.
            pub fn new(text: impl Into<String>) -> Result<Self, IdError> {
                let text = text.into();
                check(&text)?;
                Ok(Self(text))
            }

            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                Self::new(String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl std::str::FromStr for $name {
            type Err = IdError;
            fn from_str(text: &str) -> Result<Self, IdError> {
                Self::new(text)
            }
        }
    };
}

id!(
    /// One continuous stream of chunks; made by us (`run_...`).
    RunId
);
id!(
    /// A conversation; a client may choose it. Unique in its tenant.
    ThreadId
);
id!(
    /// What a user asked for. It is the id of the user's message.
    TurnId
);
id!(
    /// A message of a thread. An assistant message's id is made from its run, see [`MessageId::of_run`].
    MessageId
);
id!(
    /// One call of a tool; unique in its run and made by us, whatever the provider called it.
    ToolCallId
);
id!(
    /// Customer: nothing is ever visible across tenants.
    TenantId
);
id!(
    /// Person or service inside a tenant.
    UserId
);
id!(
    /// Name of an action: also its tool name, path segment and command.
    ActionName
);

impl MessageId {
    /// The id of the assistant message that `run` writes.
    pub fn of_run(run: &RunId) -> Self {
        Self(format!("msg_{}", run.as_str().trim_start_matches("run_")))
    }

    /// The run that writes this message, if it is an assistant message's id.
    pub fn run(&self) -> Option<RunId> {
        self.0.strip_prefix("msg_").map(|rest| RunId(format!("run_{rest}")))
    }
}

impl From<&TurnId> for MessageId {
    /// A turn is named after the user's message.
    fn from(turn: &TurnId) -> Self {
        Self(turn.0.clone())
    }
}

impl From<&MessageId> for TurnId {
    fn from(message: &MessageId) -> Self {
        Self(message.0.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_cannot_forge_keys() {
        for (text, want) in [
            ("", Err(IdError::Empty)),
            ("a#b", Err(IdError::Character)),
            ("a/b", Err(IdError::Character)),
            ("a b", Err(IdError::Character)),
            ("ü", Err(IdError::Character)),
            ("a\0", Err(IdError::Character)),
            ("run_0-9.A~z:", Ok(())),
        ] {
            assert_eq!(ThreadId::new(text).map(|_| ()), want, "{text:?}");
        }
        assert_eq!(ThreadId::new("x".repeat(129)), Err(IdError::TooLong));
        assert!(ThreadId::new("x".repeat(128)).is_ok());
    }

    #[test]
    fn message_and_run_name_each_other() {
        let run = RunId::new("run_17").unwrap();
        assert_eq!(MessageId::of_run(&run).run(), Some(run));
        assert_eq!(MessageId::new("abc").unwrap().run(), None);
    }
}
