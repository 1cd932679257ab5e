//! Limits, checked before anything is sent: DynamoDB's own would fail later and say less.

use super::StateError;

/// Most documents in one commit.
pub const MAX_DOCUMENTS: usize = 90;
/// Longest value, in bytes of JSON.
pub const MAX_VALUE_BYTES: usize = 200 * 1024;
/// Longest feed frame: what one commit changes in one scope, in bytes of JSON.
pub const MAX_STATE_FRAME_BYTES: usize = 250 * 1024;
/// Most bytes in one commit, where every value counts twice: as a document and in the feed.
pub const MAX_COMMIT_BYTES: usize = 3_500 * 1024;
/// Longest key of a document, in bytes.
pub const MAX_KEY_BYTES: usize = 512;

/// DynamoDB's own: operations in one transaction.
const MAX_OPERATIONS: usize = 100;

/// A key is 1 to 512 bytes of text without control characters. `/` has no meaning but to people and prefixes.
pub(super) fn check_key(key: &str) -> Result<(), StateError> {
    let detail = if key.is_empty() {
        "it is empty"
    } else if key.len() > MAX_KEY_BYTES {
        "it is longer than 512 bytes"
    } else if key.chars().any(|c| c.is_control() || c == char::MAX) {
        "it holds control characters"
    } else {
        return Ok(());
    };
    Err(StateError::BadKey { key: key.chars().take(80).collect(), detail: detail.into() })
}

pub(super) fn check_value(key: &str, json: &str) -> Result<(), StateError> {
    if json.len() <= MAX_VALUE_BYTES {
        return Ok(());
    }
    Err(StateError::TooLarge(format!(
        "the value of {key:?} has {} bytes, at most {MAX_VALUE_BYTES} can be stored: split it into several documents \
         and, if they are many, into slices with `checkpoint`",
        json.len()
    )))
}

/// What a commit amounts to.
#[derive(Debug, Default)]
pub(super) struct Size {
    pub(super) documents: usize,
    pub(super) operations: usize,
    pub(super) bytes: usize,
    /// The longest feed frame.
    pub(super) frame: usize,
}

impl Size {
    pub(super) fn check(&self) -> Result<(), StateError> {
        let too_large = |what: &str, has: usize, most: usize| {
            Err(StateError::TooLarge(format!(
                "one commit would hold {has} {what}, at most {most} fit: split the work into slices with `checkpoint`"
            )))
        };
        if self.documents > MAX_DOCUMENTS {
            too_large("documents", self.documents, MAX_DOCUMENTS)
        } else if self.frame > MAX_STATE_FRAME_BYTES {
            too_large("bytes of changes in one scope", self.frame, MAX_STATE_FRAME_BYTES)
        } else if self.bytes > MAX_COMMIT_BYTES {
            too_large("bytes", self.bytes, MAX_COMMIT_BYTES)
        } else if self.operations > MAX_OPERATIONS {
            too_large("operations (documents, and one or two for each scope)", self.operations, MAX_OPERATIONS)
        } else {
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_large_names_the_way_out() {
        assert!(Size { documents: 90, operations: 95, bytes: 3_000_000, frame: 250_000 }.check().is_ok());
        for size in [
            Size { documents: 91, ..Size::default() },
            Size { frame: MAX_STATE_FRAME_BYTES + 1, ..Size::default() },
            Size { bytes: MAX_COMMIT_BYTES + 1, ..Size::default() },
            Size { operations: 101, ..Size::default() },
        ] {
            let error = size.check().unwrap_err().to_string();
            assert!(error.contains("`checkpoint`"), "{error}");
        }
        assert!(check_value("k", &"x".repeat(MAX_VALUE_BYTES)).is_ok());
        assert!(check_value("k", &"x".repeat(MAX_VALUE_BYTES + 1)).unwrap_err().to_string().contains("`checkpoint`"));
    }

    #[test]
    fn keys_are_text_that_can_be_stored() {
        for key in ["a", "emails/e-1", "Grüße", "status", &"k".repeat(512)] {
            assert!(check_key(key).is_ok(), "{key}");
        }
        for key in ["", "a\0", "a\n", &"k".repeat(513)] {
            assert!(check_key(key).is_err(), "{key:?}");
        }
    }
}
