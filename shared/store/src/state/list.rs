//! Lists of documents, in the order of their keys.

use std::collections::BTreeMap;

use aws_sdk_dynamodb::operation::query::QueryOutput;

use super::Document;
use super::reads::Range;
use crate::items::s;
use crate::{Page, Store, StoreError, keys};

/// Documents per page, if the caller does not say.
const LIMIT: usize = 100;

/// Which documents to list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct List {
    pub(super) prefix: String,
    pub(super) after: Option<String>,
    pub(super) limit: usize,
    pub(super) descending: bool,
}

impl List {
    /// All documents whose key begins so, a page of 100; an empty prefix means all.
    pub fn prefix(prefix: impl Into<String>) -> Self {
        List { prefix: prefix.into(), after: None, limit: LIMIT, descending: false }
    }

    /// Only keys after this one, in the order of the list. It need not exist.
    #[must_use]
    pub fn after(mut self, key: impl Into<String>) -> Self {
        self.after = Some(key.into());
        self
    }

    /// At most so many documents, at least 1.
    #[must_use]
    pub fn limit(mut self, limit: usize) -> Self {
        self.limit = limit.max(1);
        self
    }

    /// The last key first.
    #[must_use]
    pub fn descending(mut self) -> Self {
        self.descending = true;
        self
    }

    /// Whether a key belongs to the list, on any page from `after` on.
    fn holds(&self, key: &str) -> bool {
        let after = match &self.after {
            None => true,
            Some(after) if self.descending => key < after.as_str(),
            Some(after) => key > after.as_str(),
        };
        after && key.starts_with(&self.prefix)
    }

    /// What a page depends on: every key that it could have held, up to `last`, or to the end without one.
    pub(super) fn range(&self, last: Option<&str>) -> Range {
        let (first, last) = (self.after.clone(), last.map(str::to_owned));
        let (from, to) = if self.descending { (last, first) } else { (first, last) };
        Range { prefix: self.prefix.clone(), from, to }
    }

    /// Lays a unit's own writes over the stored documents of a page, which go up to `last`.
    pub(super) fn overlay(
        &self,
        stored: Vec<Document>,
        last: Option<&str>,
        own: impl Iterator<Item = (String, Option<Document>)>,
    ) -> Page<Document> {
        let within = |key: &str| match last {
            None => true,
            Some(last) if self.descending => key >= last,
            Some(last) => key <= last,
        };
        let mut found: BTreeMap<String, Document> = stored.into_iter().map(|doc| (doc.key.clone(), doc)).collect();
        for (key, document) in own.filter(|(key, _)| self.holds(key) && within(key)) {
            match document {
                Some(document) => found.insert(key, document),
                None => found.remove(&key),
            };
        }
        let mut items: Vec<Document> = found.into_values().collect();
        if self.descending {
            items.reverse();
        }
        let more = last.is_some() || items.len() > self.limit;
        items.truncate(self.limit);
        // A page whose documents are all deleted goes on where the stored ones ended.
        let end = items.last().map(|doc| doc.key.clone()).or_else(|| last.map(str::to_owned));
        Page { items, cursor: end.filter(|_| more) }
    }
}

impl Store {
    /// The stored documents of a page, consistently, and the last key that was looked at if there are more.
    pub(super) async fn stored_page(
        &self,
        partition: &str,
        list: &List,
    ) -> Result<(Vec<Document>, Option<String>), StoreError> {
        let mut found: Vec<Document> = Vec::new();
        // `after` may lie outside of the prefix, where the store does not let a query begin.
        let mut start = match &list.after {
            Some(after) if after.starts_with(&list.prefix) => Some(after.clone()),
            Some(after) if (after < &list.prefix) == list.descending => return Ok((found, None)),
            _ => None,
        };
        loop {
            // One more than asked for tells whether there is a next page.
            let wanted = (list.limit + 1).saturating_sub(found.len());
            let page = self.document_query(partition, list, start, wanted).await?;
            for item in page.items.unwrap_or_default() {
                found.push(Document::read(&item)?);
            }
            if found.len() > list.limit {
                found.truncate(list.limit);
                let last = found.last().map(|doc| doc.key.clone());
                return Ok((found, last));
            }
            start = page.last_evaluated_key.and_then(|key| keys::document_key(crate::items::text(&key, "sk")));
            if start.is_none() {
                return Ok((found, None));
            }
        }
    }

    /// One query of documents after the key `start`, consistently.
    pub(super) async fn document_query(
        &self,
        partition: &str,
        list: &List,
        start: Option<String>,
        limit: usize,
    ) -> Result<QueryOutput, StoreError> {
        let call = self
            .db
            .query()
            .table_name(&self.table)
            .key_condition_expression("pk = :pk AND begins_with(sk, :prefix)")
            .expression_attribute_values(":pk", s(partition))
            .expression_attribute_values(":prefix", s(keys::document_sort(&list.prefix)))
            .set_exclusive_start_key(start.map(|key| crate::items::key_item(&keys::document(partition, &key))))
            .scan_index_forward(!list.descending)
            .limit(i32::try_from(limit).unwrap_or(i32::MAX))
            .consistent_read(true);
        Ok(call.send().await?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::Author;
    use serde_json::Value;
    use tandem_protocol::{Caller, UserId};

    fn doc(key: &str) -> Document {
        let by = Author { user: UserId::new("ann").unwrap(), caller: Caller::Http, run_id: None };
        Document { key: key.into(), value: Value::Null, rev: 1, by }
    }

    fn check(list: List, stored: &[&str], more: bool, own: &[(&str, bool)], want: &[&str], cursor: Option<&str>) {
        let stored: Vec<Document> = stored.iter().map(|key| doc(key)).collect();
        let last = stored.last().map(|doc| doc.key.clone()).filter(|_| more);
        let own = own.iter().map(|(key, put)| ((*key).to_owned(), put.then(|| doc(key))));
        let page = list.overlay(stored, last.as_deref(), own);
        let keys: Vec<&str> = page.items.iter().map(|doc| doc.key.as_str()).collect();
        assert_eq!((keys.as_slice(), page.cursor.as_deref()), (want, cursor));
    }

    #[test]
    fn a_unit_sees_its_own_writes_in_lists() {
        let list = || List::prefix("a/").limit(2);
        check(
            list(),
            &["a/1", "a/3"],
            true,
            &[("a/2", true), ("a/9", true), ("b", true)],
            &["a/1", "a/2"],
            Some("a/2"),
        );
        check(list(), &["a/1", "a/3"], true, &[("a/3", false)], &["a/1"], Some("a/1"));
        check(list(), &["a/1", "a/3"], true, &[("a/1", false), ("a/3", false)], &[], Some("a/3"));
        check(list(), &["a/1"], false, &[("a/9", true)], &["a/1", "a/9"], None);
        check(
            list().descending(),
            &["a/9", "a/5"],
            true,
            &[("a/7", true), ("a/1", true)],
            &["a/9", "a/7"],
            Some("a/7"),
        );
        check(list().after("a/3"), &["a/5"], false, &[("a/2", true), ("a/4", true)], &["a/4", "a/5"], None);
    }

    #[test]
    fn a_page_depends_on_what_it_could_have_held() {
        let range = |from: Option<&str>, to: Option<&str>| Range {
            prefix: "a/".into(),
            from: from.map(str::to_owned),
            to: to.map(str::to_owned),
        };
        assert_eq!(List::prefix("a/").range(None), range(None, None));
        assert_eq!(List::prefix("a/").after("a/1").range(Some("a/5")), range(Some("a/1"), Some("a/5")));
        assert_eq!(List::prefix("a/").after("a/9").descending().range(Some("a/5")), range(Some("a/5"), Some("a/9")));
    }
}
