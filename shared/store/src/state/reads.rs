//! What a unit of work has read of a scope: what others must not have changed in the meantime.

use std::collections::BTreeSet;

/// Keys and ranges of keys.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Reads {
    keys: BTreeSet<String>,
    ranges: Vec<Range>,
}

/// Every key with the prefix between the bounds, which belong to it, whether it existed or not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Range {
    pub(super) prefix: String,
    pub(super) from: Option<String>,
    pub(super) to: Option<String>,
}

impl Reads {
    pub(super) fn key(&mut self, key: &str) {
        self.keys.insert(key.to_owned());
    }

    pub(super) fn range(&mut self, range: Range) {
        self.ranges.push(range);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.keys.is_empty() && self.ranges.is_empty()
    }

    /// Whether a change of `key` could have been seen.
    pub(super) fn touch(&self, key: &str) -> bool {
        self.keys.contains(key) || self.ranges.iter().any(|range| range.holds(key))
    }
}

impl Range {
    fn holds(&self, key: &str) -> bool {
        key.starts_with(&self.prefix)
            && self.from.as_deref().is_none_or(|from| key >= from)
            && self.to.as_deref().is_none_or(|to| key <= to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_holds_what_could_appear_in_it() {
        let mut reads = Reads::default();
        assert!(reads.is_empty());
        reads.key("counter");
        reads.range(Range { prefix: "emails/".into(), from: Some("emails/3".into()), to: Some("emails/7".into()) });
        reads.range(Range { prefix: "notes/".into(), from: None, to: None });
        for (key, want) in [
            ("counter", true),
            ("counters", false),
            ("emails/2", false),
            ("emails/3", true),
            ("emails/5", true),
            ("emails/7", true),
            ("emails/70", false),
            ("emails", false),
            ("notes/new", true),
        ] {
            assert_eq!(reads.touch(key), want, "{key}");
        }
    }
}
