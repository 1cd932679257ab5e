//! Ids of emails: `e-1`, `e-2`, ... in order of arrival.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Keys have eight digits, so that their order is the order of arrival.
const MAX: u64 = 99_999_999;

/// Id of an email, such as e-1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String", extend("pattern" = "^e-[1-9][0-9]{0,7}$", "examples" = ["e-1"]))]
pub(crate) struct EmailId(u64);

impl EmailId {
    /// The n-th email, from 1.
    pub(crate) fn new(n: u64) -> Self {
        EmailId(n)
    }

    /// Key of its document.
    pub(crate) fn key(self) -> String {
        format!("emails/{:08}", self.0)
    }

    /// Prefix of the documents of its replies.
    pub(crate) fn replies(self) -> String {
        format!("sent/{:08}/", self.0)
    }
}

impl fmt::Display for EmailId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "e-{}", self.0)
    }
}

impl From<EmailId> for String {
    fn from(id: EmailId) -> Self {
        id.to_string()
    }
}

impl TryFrom<String> for EmailId {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let digits = text.strip_prefix("e-").filter(|digits| digits.bytes().all(|b| b.is_ascii_digit()));
        let n = digits.filter(|digits| !digits.starts_with('0')).and_then(|digits| digits.parse().ok());
        let n = n.filter(|n| *n <= MAX);
        n.map(EmailId).ok_or_else(|| "must be the id of an email, such as e-1".into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_e_and_a_number() {
        for (text, want) in [
            ("e-1", Some(1)),
            ("e-99999999", Some(99_999_999)),
            ("e-100000000", None),
            ("e-0", None),
            ("e-01", None),
            ("e-+1", None),
            ("e-", None),
            ("1", None),
            ("E-1", None),
        ] {
            assert_eq!(EmailId::try_from(text.to_owned()).ok(), want.map(EmailId), "{text}");
        }
        assert!(EmailId(9).key() < EmailId(10).key());
    }
}
