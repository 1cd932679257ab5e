//! `/state`: the documents of a scope, for people and their windows.
//!
//! Who gets into a scope may read all of it. Who may write what is decided in [`may_write`], and nowhere else.

use axum::Json;
use axum::body::Body;
use axum::extract::{Path, State};
use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tandem_protocol::{Caller as Door, Code, Principal, Problem, is_too_deep};
use tandem_store::{Attached, Author, Commit, Document, MAX_VALUE_BYTES, Scope, Snapshot, SnapshotCursor};

use crate::caller::Caller;
use crate::description::{Operation, operation};
use crate::query::Query;
use crate::{ApiError, App, body};

/// Longest body: the longest value, written with room to spare.
const MAX_BODY: usize = 2 * MAX_VALUE_BYTES;
/// Documents in a page, and the most that may be asked for.
const LIMIT: usize = 500;
const MAX_LIMIT: usize = 1000;
/// How often a write that lost every race begins anew.
const TRIES: usize = 4;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Asked {
    /// Only documents whose keys begin so.
    #[serde(default)]
    prefix: String,
    /// The cursor of the page before, to get the next one.
    cursor: Option<String>,
    /// How many documents; 500 if absent.
    #[schemars(with = "Option<u32>", range(min = 1, max = 1000))]
    limit: Option<String>,
}

/// A page of a snapshot.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Snapshot")]
pub(crate) struct SnapshotView {
    /// All pages up to this one are exact at this position of the scope.
    rev: u64,
    /// In the order of their keys: those of this page, and those of earlier pages that have changed since.
    items: Vec<Document>,
    /// Keys of earlier pages that do not exist any more.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    deleted: Vec<String>,
    /// Where the next page begins; absent on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    cursor: Option<String>,
}

fn example() -> Value {
    json!({
        "key": "memory/tone",
        "value": {"text": "Ann writes short replies.", "date": "2025-09-03T10:00:00Z"},
        "rev": 7,
        "by": {"user": "ann", "caller": "agent", "runId": "run_01a2b3c4"},
    })
}

pub(crate) fn about_snapshot() -> Operation {
    operation("getSnapshot", "State", "The documents of a scope, as they are at one position")
        .note("Take in all pages, then follow the changes after the last page's `rev`.")
        .query::<Asked>()
        .gives::<SnapshotView>(200, "A page.", json!({"rev": 7, "items": [example()]}))
        .refuses([Code::Expired])
}

/// `GET /state/{scope}`: the documents as they are at `rev`.
pub(crate) async fn snapshot(
    State(app): State<App>,
    Caller(principal): Caller,
    Path(scope): Path<String>,
    Query(asked): Query<Asked>,
) -> Result<Json<SnapshotView>, ApiError> {
    let scope = scope_of(&scope)?;
    let limit = match asked.limit.as_deref().map(str::parse) {
        None => LIMIT,
        Some(Ok(limit)) if (1..=MAX_LIMIT).contains(&limit) => limit,
        Some(_) => return Err(ApiError::invalid("?limit", format!("must be 1 to {MAX_LIMIT}"))),
    };
    let from = asked.cursor.as_deref().map(|cursor| read_cursor(cursor, &asked.prefix)).transpose()?;
    let Snapshot { rev, items, deleted, cursor } =
        app.runtime.store().snapshot(&principal, &scope, &asked.prefix, from, limit).await?;
    Ok(Json(SnapshotView { rev, items, deleted, cursor: cursor.map(write_cursor) }))
}

pub(crate) fn about_show() -> Operation {
    operation("getDocument", "State", "One document").gives::<Document>(200, "The document.", example())
}

/// `GET /state/{scope}/docs/{key}`
pub(crate) async fn show(
    State(app): State<App>,
    Caller(principal): Caller,
    Path((scope, key)): Path<(String, String)>,
) -> Result<Json<Document>, ApiError> {
    let scope = scope_of(&scope)?;
    let found = app.runtime.store().unit(&principal, author(&principal)).get(&scope, &key).await?;
    found.map(Json).ok_or_else(no_document)
}

pub(crate) fn about_put() -> Operation {
    operation("putDocument", "State", "Write a document")
        .note("With `ifRev` only if the document is still at that revision: otherwise 409, with what it is now.")
        .body::<Put>([("new", json!({"value": {"text": "Ann writes short replies."}, "ifRev": 0}))])
        .gives::<Document>(200, "What was written.", example())
        .refuses([Code::Conflict, Code::Forbidden])
}

/// `PUT /state/{scope}/docs/{key}`
pub(crate) async fn put(
    State(app): State<App>,
    Caller(principal): Caller,
    Path((scope, key)): Path<(String, String)>,
    body: Body,
) -> Result<Json<Document>, ApiError> {
    let scope = scope_of(&scope)?;
    let Put { value, if_rev } = Put::parse(&body::read(body, MAX_BODY).await?)?;
    let rev = write(&app, &principal, &scope, &key, Some(&value), if_rev).await?;
    Ok(Json(Document { key, value, rev, by: author(&principal) }))
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct DeleteAsked {
    /// Only if the document is still at this revision.
    #[schemars(with = "Option<u64>")]
    if_rev: Option<String>,
}

/// A document that was deleted.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "DeletedDocument")]
pub(crate) struct Deleted {
    key: String,
    /// Null.
    value: Value,
    /// True.
    deleted: bool,
    /// The scope's position since then.
    rev: u64,
    by: Author,
}

pub(crate) fn about_delete() -> Operation {
    let deleted = json!({"key": "memory/tone", "value": null, "deleted": true, "rev": 8, "by": example()["by"]});
    operation("deleteDocument", "State", "Delete a document")
        .query::<DeleteAsked>()
        .gives::<Deleted>(200, "It is deleted.", deleted)
        .refuses([Code::Conflict, Code::Forbidden, Code::TooLarge])
}

/// `DELETE /state/{scope}/docs/{key}`
pub(crate) async fn delete(
    State(app): State<App>,
    Caller(principal): Caller,
    Path((scope, key)): Path<(String, String)>,
    Query(asked): Query<DeleteAsked>,
) -> Result<Json<Deleted>, ApiError> {
    let scope = scope_of(&scope)?;
    let if_rev = asked.if_rev.as_deref().map(str::parse).transpose();
    let if_rev = if_rev.map_err(|_| ApiError::invalid("?ifRev", "must be the revision of a document"))?;
    let rev = write(&app, &principal, &scope, &key, None, if_rev).await?;
    Ok(Json(Deleted { key, value: Value::Null, deleted: true, rev, by: author(&principal) }))
}

/// Whether people may write a document themselves. They may write everything in the scopes that they get into, such as
/// the agent's memory, drafts and what their windows keep, except what the application's actions keep for themselves:
/// that has an inner order which only the actions know.
fn may_write(app: &App, scope: &Scope, key: &str) -> Result<(), ApiError> {
    if app.runtime.agent().registry().keeps(scope, key) {
        let detail =
            "The actions of the application keep this document in order: change it through them, see GET /api.";
        return Err(ApiError::new(Code::Forbidden, detail));
    }
    Ok(())
}

/// Writes or deletes a document, if it is still at `if_rev`; gives the scope's position since then.
async fn write(
    app: &App,
    principal: &Principal,
    scope: &Scope,
    key: &str,
    value: Option<&Value>,
    if_rev: Option<u64>,
) -> Result<u64, ApiError> {
    let store = app.runtime.store();
    for _ in 0..TRIES {
        let mut unit = store.unit(principal, author(principal));
        if if_rev.is_some() || value.is_none() {
            let current = unit.get(scope, key).await?;
            if if_rev.is_some_and(|rev| current.as_ref().map_or(0, |current| current.rev) != rev) {
                return Err(conflict(current));
            }
            if current.is_none() && value.is_none() {
                return Err(no_document());
            }
        }
        match value {
            Some(value) => unit.put(scope, key, value).await?,
            None => unit.delete(scope, key).await?,
        }
        // Only now: whether a foreign scope has such documents is nobody's business.
        may_write(app, scope, key)?;
        if let Commit::Committed(written) = unit.commit(&Attached::default()).await?
            && let Some((_, rev)) = written.first()
        {
            return Ok(*rev);
        }
    }
    let mut problem =
        Problem::new(Code::StoreUnavailable, "Too many write here at once; nothing was written. Try again.");
    problem.retry_after = Some(1);
    Err(ApiError(Box::new(problem)))
}

fn conflict(current: Option<Document>) -> ApiError {
    let detail = "The document is not at ifRev any more; `current` is what it is now. Look at both, and write again.";
    let mut problem = Problem::new(Code::Conflict, detail);
    problem.current = Some(serde_json::to_value(current).unwrap_or_default());
    ApiError(Box::new(problem))
}

/// A scope by its name in a path. What is no name answers like a scope of others.
pub(crate) fn scope_of(text: &str) -> Result<Scope, ApiError> {
    text.parse().map_err(|_| ApiError::no_scope())
}

fn no_document() -> ApiError {
    ApiError::not_found("There is no such document.")
}

fn author(principal: &Principal) -> Author {
    Author { user: principal.user.clone(), caller: Door::Http, run_id: None }
}

/// What to write.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "PutView")]
struct Put {
    /// Any JSON of at most 200 KB.
    value: Value,
    /// The revision that the document must have; 0: it must not exist.
    if_rev: Option<u64>,
}

impl Put {
    fn parse(bytes: &[u8]) -> Result<Self, ApiError> {
        let put: Put = body::object(bytes)?;
        if is_too_deep(&put.value) {
            return Err(ApiError::invalid("/value", "is nested too deeply: at most 64 levels of lists and objects"));
        }
        Ok(put)
    }
}

fn write_cursor(cursor: SnapshotCursor) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(format!("{}/{}", cursor.rev, cursor.after))
}

fn read_cursor(text: &str, prefix: &str) -> Result<SnapshotCursor, ApiError> {
    let read = || {
        let text = String::from_utf8(BASE64_URL_SAFE_NO_PAD.decode(text).ok()?).ok()?;
        let (rev, after) = text.split_once('/')?;
        let fits = after.starts_with(prefix) && after.len() <= tandem_store::MAX_KEY_BYTES && !after.is_empty();
        fits.then_some(SnapshotCursor { rev: rev.parse().ok()?, after: after.to_owned() })
    };
    read().ok_or_else(|| ApiError::invalid("?cursor", "must come from an earlier page with the same prefix"))
}
