//! An issuer's names as our ids.
//!
//! An issuer may put any text into `sub` (`auth0|17`, `ada@example.com`, `x#y`), and our ids become parts of
//! store keys and paths. Every byte outside the alphabet becomes `~XX`, so that two different names never meet
//! in one id and no name can carry a separator. A name too long for an id becomes its SHA-256.
//!
//! The forms cannot meet: in an encoded name `~` is always followed by an upper-case hexadecimal digit, in
//! `~sha256.` and `~sub.` by an `s`.

use std::fmt::Write;

use sha2::{Digest, Sha256};
use tandem_protocol::{TenantId, UserId};

/// Longest id; see `tandem_protocol::ids`.
const MAX_LEN: usize = 128;

/// The user named `subject`; none if it is empty.
pub(crate) fn user(subject: &str) -> Option<UserId> {
    UserId::new(encode("", subject)).ok()
}

/// The tenant that the issuer calls `name`; none if it is empty.
pub(crate) fn tenant(name: &str) -> Option<TenantId> {
    TenantId::new(encode("", name)).ok()
}

/// The tenant of somebody who belongs to none. It is never the tenant of an organisation, so that a person who
/// may choose a subject cannot choose to be one; none if `subject` is empty.
pub(crate) fn own_tenant(subject: &str) -> Option<TenantId> {
    if subject.is_empty() { None } else { TenantId::new(encode("~sub.", subject)).ok() }
}

fn encode(prefix: &str, name: &str) -> String {
    let mut id = String::from(prefix);
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b':' | b'-') {
            id.push(char::from(byte));
        } else {
            // Writing to a String cannot fail.
            let _ = write!(id, "~{byte:02X}");
        }
    }
    if id.len() > MAX_LEN { format!("{prefix}~sha256.{}", hex::encode(Sha256::digest(name))) } else { id }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    #[test]
    fn a_name_becomes_one_id_that_carries_no_separator() {
        for (name, want) in [
            ("ada", "ada"),
            ("Ada", "Ada"),
            ("auth0|17", "auth0~7C17"),
            ("ada@example.com", "ada~40example.com"),
            ("a#b/c", "a~23b~2Fc"),
            ("a~23b", "a~7E23b"),
            ("ü", "~C3~BC"),
            ("\0", "~00"),
            ("~sub.ada", "~7Esub.ada"),
        ] {
            assert_eq!(user(name).unwrap().as_str(), want, "{name:?}");
        }
        assert_eq!(user(""), None);
        assert_eq!(tenant(""), None);
        assert_eq!(own_tenant(""), None);
    }

    #[test]
    fn different_names_never_meet() {
        let long = "x".repeat(129);
        let longer = "x".repeat(130);
        let hashed = encode("", &long);
        let names =
            ["a", "A", "a#", "a~23", "~", "~~", "~7E", "~sub.a", "sub.a", &long, &longer, &hashed, "é", "e\u{301}"];
        let mut seen = HashMap::new();
        for name in names {
            for (kind, id) in [("tenant", tenant(name).unwrap()), ("own", own_tenant(name).unwrap())] {
                let before = seen.insert(id.clone(), (kind, name));
                assert_eq!(before, None, "{id} is {kind} {name:?} too");
            }
        }
    }

    #[test]
    fn names_of_every_length_fit_an_id() {
        for len in 1..400 {
            for letter in ["x", "#", "ü"] {
                let name = letter.repeat(len);
                assert!(
                    user(&name).is_some() && tenant(&name).is_some() && own_tenant(&name).is_some(),
                    "{len} {letter}"
                );
            }
        }
    }
}
