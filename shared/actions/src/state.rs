//! The shared state, as action code sees it.

use serde::{Serialize, de::DeserializeOwned};
use tandem_protocol::Caller;
use tandem_store::{Author, Document, List, Page, Scope, StateError, Unit};

use crate::{ActionError, Call};

/// Documents in scopes. Everything that one run of an action reads and writes is one unit of work: it is committed
/// after the action has returned, together with the outcome, or by `checkpoint`.
pub struct State {
    pub(crate) unit: Unit,
    may_write: bool,
    /// The first read that failed. Kept, since an action that goes on after it may write nonsense.
    pub(crate) failure: Option<ActionError>,
}

impl State {
    pub(crate) fn new(call: &Call, may_write: bool) -> Self {
        let by = Author {
            user: call.principal.user.clone(),
            caller: call.caller,
            run_id: call.run.clone().filter(|_| call.caller == Caller::Agent),
        };
        let mut unit = match may_write {
            true => call.store.unit(&call.principal, by),
            false => call.store.unit_of_reads(&call.principal, by),
        };
        unit.wait_until(Some(call.deadline));
        State { unit, may_write, failure: None }
    }

    /// The value of a document; none: there is no such document. A failure of the store is never "none".
    pub async fn get<T: DeserializeOwned>(&mut self, scope: &Scope, key: &str) -> Result<Option<T>, ActionError> {
        let found = self.document(scope, key).await?;
        let read = found.map(|document| value(scope, document)).transpose();
        self.kept(read)
    }

    /// A document with its revision and author.
    pub async fn document(&mut self, scope: &Scope, key: &str) -> Result<Option<Document>, ActionError> {
        let found = self.unit.get(scope, key).await;
        self.noted(found)
    }

    /// A page of values in the order of their keys; its cursor is the key to go on after.
    pub async fn list<T: DeserializeOwned>(&mut self, scope: &Scope, list: &List) -> Result<Page<T>, ActionError> {
        let Page { items, cursor } = self.documents(scope, list).await?;
        let read = items.into_iter().map(|document| value(scope, document)).collect();
        Ok(Page { items: self.kept(read)?, cursor })
    }

    /// A page of documents with their keys, revisions and authors.
    pub async fn documents(&mut self, scope: &Scope, list: &List) -> Result<Page<Document>, ActionError> {
        let found = self.unit.list(scope, list).await;
        self.noted(found)
    }

    /// Writes a document, whatever was there.
    pub async fn put(&mut self, scope: &Scope, key: &str, value: &impl Serialize) -> Result<(), ActionError> {
        self.writing()?;
        let value = serde_json::to_value(value).map_err(|e| ActionError::failed("bad_value", e.to_string()))?;
        let put = self.unit.put(scope, key, &value).await;
        self.noted(put)
    }

    /// Writes a document if it still has this revision; 0: if it does not exist.
    pub async fn put_at(
        &mut self,
        scope: &Scope,
        key: &str,
        rev: u64,
        value: &impl Serialize,
    ) -> Result<(), ActionError> {
        let found = self.document(scope, key).await?;
        if found.map_or(0, |document| document.rev) != rev {
            return Err(ActionError::Conflict);
        }
        self.put(scope, key, value).await
    }

    /// Deletes a document, whether it is there or not.
    pub async fn delete(&mut self, scope: &Scope, key: &str) -> Result<(), ActionError> {
        self.writing()?;
        let deleted = self.unit.delete(scope, key).await;
        self.noted(deleted)
    }

    fn writing(&self) -> Result<(), ActionError> {
        if self.may_write { Ok(()) } else { Err(ActionError::failed("read_only", "A read action cannot write.")) }
    }

    fn noted<T>(&mut self, result: Result<T, StateError>) -> Result<T, ActionError> {
        match result {
            Err(error @ StateError::Store(_)) => self.kept(Err(error.into())),
            other => Ok(other?),
        }
    }

    fn kept<T>(&mut self, result: Result<T, ActionError>) -> Result<T, ActionError> {
        if let Err(error) = &result {
            self.failure.get_or_insert_with(|| error.clone());
        }
        result
    }
}

/// Whoever may write the scope may have written something else: that is no fault of the store, and does not pass.
fn value<T: DeserializeOwned>(scope: &Scope, document: Document) -> Result<T, ActionError> {
    let Document { key, value, .. } = document;
    serde_json::from_value(value).map_err(|error| {
        let text = format!(
            "The document {key} of {scope} is not what this action keeps there ({error}): put it right or delete it."
        );
        ActionError::failed("unexpected_document", text)
    })
}

impl From<StateError> for ActionError {
    fn from(error: StateError) -> Self {
        match error {
            StateError::NoSuchScope(_) => ActionError::failed("no_such_scope", error.to_string()),
            StateError::TooDeep(_) => ActionError::failed("bad_value", error.to_string()),
            StateError::BadKey { .. } => ActionError::failed("bad_key", error.to_string()),
            StateError::Expired { .. } => ActionError::failed("expired", error.to_string()),
            StateError::TooLarge(text) => ActionError::TooLarge(text),
            StateError::Store(error) => ActionError::Store(error),
        }
    }
}
