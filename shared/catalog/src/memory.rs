//! The agent's memory: documents `memory/<name>`, of one person or of the whole team.
//!
//! They are documents like all others, so people see, change and delete them too. What people write there need not
//! have the agent's form: any value is a memory, and its text is what can be read of it.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tandem_actions::{Document, Scope};

const PREFIX: &str = "memory/";
const MAX_NAME: usize = 64;

/// Prefix of the documents.
pub(crate) fn prefix() -> &'static str {
    PREFIX
}

/// Name of a memory, such as tone-of-replies: small letters, digits and hyphens.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String", extend("pattern" = "^[a-z0-9-]{1,64}$"))]
pub(crate) struct Name(String);

impl Name {
    /// Key of its document.
    pub(crate) fn key(&self) -> String {
        format!("{PREFIX}{}", self.0)
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<Name> for String {
    fn from(name: Name) -> Self {
        name.0
    }
}

impl TryFrom<String> for Name {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let allowed = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
        let fits = (1..=MAX_NAME).contains(&text.len()) && text.bytes().all(allowed);
        if fits { Ok(Name(text)) } else { Err(format!("must be 1 to {MAX_NAME} characters of a-z, 0-9 and -")) }
    }
}

/// Whose memory it is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Whose {
    /// The person's own; nobody else sees it.
    #[default]
    User,
    /// The whole team's.
    Tenant,
}

impl Whose {
    pub(crate) const ALL: [Whose; 2] = [Whose::User, Whose::Tenant];

    pub(crate) fn scope(self) -> Scope {
        match self {
            Whose::User => Scope::User,
            Whose::Tenant => Scope::Tenant,
        }
    }
}

/// A memory as the agent stores it.
#[derive(Serialize)]
pub(crate) struct Stored<'a> {
    pub(crate) text: &'a str,
    /// When it was written, RFC 3339, UTC.
    pub(crate) date: &'a str,
}

/// A memory as it is shown.
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Memory {
    pub(crate) name: String,
    /// Whose it is.
    pub(crate) scope: Whose,
    pub(crate) text: String,
    /// When it was written, RFC 3339, UTC; absent where a person wrote it in another form.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) date: Option<String>,
    /// Who wrote it.
    pub(crate) by: String,
}

impl Memory {
    pub(crate) fn read(scope: Whose, document: Document) -> Self {
        let Document { key, value, by, .. } = document;
        let name = key.strip_prefix(PREFIX).unwrap_or(&key).to_owned();
        let date = value.get("date").and_then(Value::as_str).map(str::to_owned);
        Memory { name, scope, text: text(value), date, by: by.user.to_string() }
    }
}

fn text(value: Value) -> String {
    match value {
        Value::String(text) => text,
        Value::Object(mut fields) => match fields.get_mut("text").map(Value::take) {
            Some(Value::String(text)) => text,
            Some(other) => other.to_string(),
            None => Value::Object(fields).to_string(),
        },
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn whatever_a_person_writes_is_a_memory() {
        for (value, want) in [
            (json!({"text": "a", "date": "d"}), "a"),
            (json!("a"), "a"),
            (json!({"text": 7}), "7"),
            (json!({"tone": "short"}), r#"{"tone":"short"}"#),
            (json!(["a"]), r#"["a"]"#),
        ] {
            assert_eq!(text(value), want);
        }
    }

    #[test]
    fn a_name_is_part_of_a_key_and_of_no_other() {
        for name in ["a", "tone-of-replies", "2025", &"n".repeat(64)] {
            assert!(Name::try_from(name.to_owned()).is_ok(), "{name}");
        }
        for name in ["", "a/b", "A", "ü", "a b", &"n".repeat(65)] {
            assert!(Name::try_from(name.to_owned()).is_err(), "{name}");
        }
    }
}
