//! Snapshots: the documents of a scope as they are at one position, in pages, while others go on writing.
//!
//! A page is read first and then brought forward: the changes that were committed in the meantime are laid over it, so
//! that it is exact at the position that it tells. A later page brings what changed in the pages before along with it.
//! Whoever has taken all pages in has the scope as it is at the last page's position, and the feed goes on from there.

use std::collections::BTreeMap;

use tandem_protocol::Principal;

use super::{Change, Document, List, Scope, StateError, Written};
use crate::{Store, keys};

/// More bytes of changes than this between two pages are not brought along: beginning again is cheaper.
const MAX_BETWEEN_BYTES: usize = 2 * 1024 * 1024;

/// A page of a snapshot.
#[derive(Debug, Clone, PartialEq)]
pub struct Snapshot {
    /// All pages up to this one are exact here.
    pub rev: u64,
    /// In the order of their keys: the documents of this page, and those of pages before that have changed since.
    pub items: Vec<Document>,
    /// Documents of pages before that do not exist any more.
    pub deleted: Vec<String>,
    /// Where the next page begins; none: this is the last one.
    pub cursor: Option<SnapshotCursor>,
}

/// Where a snapshot goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SnapshotCursor {
    /// Position of the pages so far.
    pub rev: u64,
    /// The last key that they could have held.
    pub after: String,
}

impl Store {
    /// A page of the documents whose keys begin with `prefix`, at most `limit` of them, and 1 MB. A cursor must come
    /// from a page with the same prefix.
    pub async fn snapshot(
        &self,
        principal: &Principal,
        scope: &Scope,
        prefix: &str,
        from: Option<SnapshotCursor>,
        limit: usize,
    ) -> Result<Snapshot, StateError> {
        let partition = scope.partition(self, principal).await?;
        let begin = match &from {
            Some(from) => from.rev,
            None => self.head(&partition).await?,
        };
        let list = List::prefix(prefix).limit(limit);
        let list = from.as_ref().map(|from| from.after.clone()).into_iter().fold(list, List::after);
        let (documents, last) = self.stored_page_within(&partition, &list).await?;
        let rev = self.head(&partition).await?;
        if begin > rev {
            return Err(StateError::Expired { scope: scope.clone(), after: begin });
        }
        let changes = self.changes_between(scope, &partition, begin, rev).await?;
        let wanted = |key: &str| key.starts_with(prefix) && last.as_deref().is_none_or(|last| key <= last);
        let mut items: BTreeMap<String, Document> =
            documents.into_iter().map(|document| (document.key.clone(), document)).collect();
        let mut deleted = BTreeMap::new();
        for Change { rev, key, what, by } in changes.into_iter().filter(|change| wanted(&change.key)) {
            match what {
                Written::Value(value) => {
                    deleted.remove(&key);
                    items.insert(key.clone(), Document { key, value, rev, by });
                }
                Written::Deleted(_) => {
                    items.remove(&key);
                    deleted.insert(key, ());
                }
            }
        }
        // Only what the reader can have.
        let seen = from.map(|from| from.after);
        let deleted = deleted.into_keys().filter(|key| seen.as_ref().is_some_and(|seen| key <= seen)).collect();
        let cursor = last.map(|after| SnapshotCursor { rev, after });
        Ok(Snapshot { rev, items: items.into_values().collect(), deleted, cursor })
    }

    /// The changes at (after, upto].
    async fn changes_between(
        &self,
        scope: &Scope,
        partition: &str,
        after: u64,
        upto: u64,
    ) -> Result<Vec<Change>, StateError> {
        let expired = || StateError::Expired { scope: scope.clone(), after };
        let (mut changes, mut next, mut bytes) = (Vec::new(), after + 1, 0);
        while next <= upto {
            let frames = self.feed_page(partition, next, upto).await?.ok_or_else(expired)?;
            for frame in frames {
                bytes += frame.bytes();
                next = frame.rev + 1;
                changes.extend(frame.changes()?);
            }
            if bytes > MAX_BETWEEN_BYTES {
                return Err(expired());
            }
        }
        Ok(changes)
    }

    /// Documents of one query, so of at most 1 MB, and the last key that was looked at if there may be more.
    async fn stored_page_within(
        &self,
        partition: &str,
        list: &List,
    ) -> Result<(Vec<Document>, Option<String>), StateError> {
        let page = self.document_query(partition, list, list.after.clone(), list.limit).await?;
        let documents: Result<Vec<Document>, _> = page.items.unwrap_or_default().iter().map(Document::read).collect();
        let last = page.last_evaluated_key.and_then(|key| keys::document_key(crate::items::text(&key, "sk")));
        Ok((documents?, last))
    }
}
