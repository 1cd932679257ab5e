//! A unit of work: reads and writes of documents that are committed together, or not at all.

use std::collections::BTreeMap;

use serde_json::Value;
use tandem_protocol::{Principal, is_too_deep};
use tokio::sync::OwnedMutexGuard;
use tokio::time::Instant;

use super::limits::{check_key, check_value};
use super::reads::Reads;
use super::{Author, Document, List, Scope, StateError};
use crate::{Page, Store, StoreError, keys};

/// Reads and writes of one principal. Sees its own writes; nobody else does before [`Unit::commit`].
#[derive(Debug)]
pub struct Unit {
    pub(super) store: Store,
    principal: Principal,
    pub(super) by: Author,
    pub(super) scopes: Vec<Touched>,
    /// Nothing will be committed: it does not matter where the scopes stand.
    reads_only: bool,
    /// When a commit no longer waits for those before it.
    pub(super) until: Option<Instant>,
    /// The partition at which the last commit lost its race.
    pub(super) lost_at: Option<String>,
}

/// A place among those of this process who lost a race at the same scope. Dropping it lets the next one go.
#[derive(Debug)]
pub struct Line {
    _turn: OwnedMutexGuard<u64>,
}

/// A scope that the unit has read or written.
#[derive(Debug)]
pub(super) struct Touched {
    pub(super) scope: Scope,
    pub(super) partition: String,
    /// Its position before the first document was read.
    pub(super) pos: u64,
    pub(super) reads: Reads,
    /// JSON text; none: deleted.
    pub(super) writes: BTreeMap<String, Option<String>>,
}

impl Store {
    /// Begins a unit of work.
    pub fn unit(&self, principal: &Principal, by: Author) -> Unit {
        Unit {
            store: self.clone(),
            principal: principal.clone(),
            by,
            scopes: Vec::new(),
            reads_only: false,
            until: None,
            lost_at: None,
        }
    }

    /// Reads on which nothing is built: each in one call, without where its scope stands. It commits nothing.
    pub fn unit_of_reads(&self, principal: &Principal, by: Author) -> Unit {
        Unit { reads_only: true, ..self.unit(principal, by) }
    }
}

impl Unit {
    /// A commit that is not its turn by then fails, and has written nothing. `None`: it waits.
    pub fn wait_until(&mut self, until: Option<Instant>) {
        self.until = until;
    }

    pub async fn get(&mut self, scope: &Scope, key: &str) -> Result<Option<Document>, StateError> {
        check_key(key)?;
        let at = self.touch(scope).await?;
        if let Some(written) = self.scopes[at].writes.get(key) {
            return Ok(self.own(&self.scopes[at], key, written)?);
        }
        self.scopes[at].reads.key(key);
        let item = self.store.get(&keys::document(&self.scopes[at].partition, key)).await?;
        Ok(item.as_ref().map(Document::read).transpose()?)
    }

    /// A page of documents in the order of their keys; its cursor is the key to go on after.
    pub async fn list(&mut self, scope: &Scope, list: &List) -> Result<Page<Document>, StateError> {
        let at = self.touch(scope).await?;
        let (stored, last) = self.store.stored_page(&self.scopes[at].partition, list).await?;
        let touched = &mut self.scopes[at];
        touched.reads.range(list.range(last.as_deref()));
        let touched = &self.scopes[at];
        let own: Result<Vec<_>, StoreError> =
            touched.writes.iter().map(|(key, value)| Ok((key.clone(), self.own(touched, key, value)?))).collect();
        Ok(list.overlay(stored, last.as_deref(), own?.into_iter()))
    }

    /// Writes a value, whatever was there. To require what was there, read it first.
    pub async fn put(&mut self, scope: &Scope, key: &str, value: &Value) -> Result<(), StateError> {
        check_key(key)?;
        if is_too_deep(value) {
            return Err(StateError::TooDeep(key.to_owned()));
        }
        let json = value.to_string();
        check_value(key, &json)?;
        let at = self.touch(scope).await?;
        self.scopes[at].writes.insert(key.to_owned(), Some(json));
        Ok(())
    }

    /// Deletes a document, whether it is there or not.
    pub async fn delete(&mut self, scope: &Scope, key: &str) -> Result<(), StateError> {
        check_key(key)?;
        let at = self.touch(scope).await?;
        self.scopes[at].writes.insert(key.to_owned(), None);
        Ok(())
    }

    /// Whether a commit would change documents.
    pub fn has_writes(&self) -> bool {
        !self.reads_only && self.scopes.iter().any(|touched| !touched.writes.is_empty())
    }

    /// Forgets the writes and keeps what was read, so that an outcome can still be committed on it.
    pub fn discard_writes(&mut self) {
        for touched in &mut self.scopes {
            touched.writes.clear();
        }
    }

    /// Waits for the others of this process whose units lost a race where this one did, so that what runs again after it is
    /// disturbed by none of them. `None`: it lost none to another unit.
    pub fn line(&self) -> Option<impl Future<Output = Line> + Send + 'static> {
        let (queues, partition) = (self.store.queues.clone(), self.lost_at.clone()?);
        Some(async move { Line { _turn: queues.line(&partition).await } })
    }

    /// Reads HEAD of a scope before its first document.
    async fn touch(&mut self, scope: &Scope) -> Result<usize, StateError> {
        if let Some(at) = self.scopes.iter().position(|touched| touched.scope == *scope) {
            return Ok(at);
        }
        let partition = scope.partition(&self.store, &self.principal).await?;
        let pos = if self.reads_only { 0 } else { self.store.head(&partition).await? };
        let (reads, writes) = (Reads::default(), BTreeMap::new());
        self.scopes.push(Touched { scope: scope.clone(), partition, pos, reads, writes });
        Ok(self.scopes.len() - 1)
    }

    /// A document as this unit would write it.
    fn own(&self, touched: &Touched, key: &str, json: &Option<String>) -> Result<Option<Document>, StoreError> {
        let Some(json) = json else { return Ok(None) };
        let value = serde_json::from_str(json).map_err(|e| StoreError::corrupt(key, e))?;
        Ok(Some(Document { key: key.to_owned(), value, rev: touched.pos + 1, by: self.by.clone() }))
    }
}
