//! Looking at documents outside of any unit of work: as they are now, where nothing is built on what was read.

use tandem_protocol::Principal;

use super::{Document, List, Scope, StateError};
use crate::{Page, Store, keys};

impl Store {
    /// A document, in one read.
    pub async fn look_at(
        &self,
        principal: &Principal,
        scope: &Scope,
        key: &str,
    ) -> Result<Option<Document>, StateError> {
        let partition = scope.partition(self, principal).await?;
        let item = self.get(&keys::document(&partition, key)).await?;
        Ok(item.as_ref().map(Document::read).transpose()?)
    }

    /// A page of documents, in one read where they are short.
    pub async fn look_through(
        &self,
        principal: &Principal,
        scope: &Scope,
        list: &List,
    ) -> Result<Page<Document>, StateError> {
        let partition = scope.partition(self, principal).await?;
        let (items, cursor) = self.stored_page(&partition, list).await?;
        Ok(Page { items, cursor })
    }
}
