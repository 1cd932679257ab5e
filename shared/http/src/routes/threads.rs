//! Conversations.

use axum::Json;
use axum::body::Body;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use futures::stream::{StreamExt, TryStreamExt};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tandem_protocol::{Code, Principal, Problem, RunId, ThreadId, UiMessage};
use tandem_runs::{Runtime, ThreadChange};
use tandem_store::{MessageBody, Thread, ThreadList, new_id, now_ms};

use crate::caller::Caller;
use crate::routes::window::cursor::write_position;
use crate::view::{PageView, ThreadView, ui_message};
use crate::{ApiError, App, body};

/// Most items of a page.
const MAX_LIMIT: u32 = 100;
/// Logs that are folded side by side.
const READS: usize = 8;
const MAX_BODY: usize = 16 * 1024;
/// Longest title, in characters.
pub(crate) const MAX_TITLE: usize = 200;

#[derive(Deserialize)]
pub(crate) struct Asked {
    cursor: Option<String>,
    limit: Option<u32>,
    /// Only titles that hold this.
    q: Option<String>,
    #[serde(default)]
    archived: bool,
    #[serde(default)]
    shared: bool,
}

impl Asked {
    fn limit(&self, default: u32) -> Result<u32, ApiError> {
        match self.limit {
            None => Ok(default),
            Some(limit) if (1..=MAX_LIMIT).contains(&limit) => Ok(limit),
            Some(_) => Err(ApiError::invalid("?limit", format!("must be 1 to {MAX_LIMIT}"))),
        }
    }
}

/// A thread that the caller gets at. A foreign one answers like an unknown one.
pub(crate) async fn own_thread(runtime: &Runtime, principal: &Principal, id: &str) -> Result<Thread, ApiError> {
    let id = ThreadId::new(id).map_err(|_| ApiError::no_thread())?;
    runtime.store().thread(principal, &id).await?.ok_or_else(ApiError::no_thread)
}

pub(crate) async fn list(
    State(app): State<App>,
    Caller(principal): Caller,
    Query(asked): Query<Asked>,
) -> Result<Json<PageView<ThreadView>>, ApiError> {
    let limit = asked.limit(20)?;
    if asked.cursor.as_ref().is_some_and(|cursor| cursor.len() > 200 || !cursor.is_ascii()) {
        return Err(ApiError::invalid("?cursor", "must come from an earlier page"));
    }
    let list = ThreadList {
        shared: asked.shared,
        archived: asked.archived,
        title: asked.q.as_deref().filter(|title| !title.is_empty()),
        cursor: asked.cursor.as_deref(),
        limit: usize::try_from(limit).unwrap_or(1),
    };
    let page = app.runtime.store().threads(&principal, list).await?;
    Ok(Json(PageView { items: page.items.into_iter().map(ThreadView::from).collect(), cursor: page.cursor }))
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct New {
    thread_id: Option<ThreadId>,
    title: String,
}

pub(crate) async fn create(
    State(app): State<App>,
    Caller(principal): Caller,
    body: Body,
) -> Result<(StatusCode, Json<ThreadView>), ApiError> {
    let body = body::read(body, MAX_BODY).await?;
    let new: New = if body.is_empty() {
        New::default()
    } else {
        serde_json::from_slice(&body).map_err(|error| ApiError::invalid("", error.to_string()))?
    };
    let thread = match new.thread_id {
        Some(id) => id,
        None => ThreadId::new(new_id()).map_err(|e| tandem_store::StoreError::Rejected(e.to_string()))?,
    };
    let title: String = new.title.chars().take(MAX_TITLE).collect();
    let thread = Thread::new(&principal, thread, title, now_ms());
    if app.runtime.store().create_thread(&thread).await? {
        Ok((StatusCode::CREATED, Json(thread.into())))
    } else {
        Err(ApiError::new(Code::Conflict, "The id is taken; choose another one, or leave it out."))
    }
}

pub(crate) async fn show(
    State(app): State<App>,
    Caller(principal): Caller,
    Path(thread): Path<String>,
) -> Result<Json<ThreadView>, ApiError> {
    Ok(Json(own_thread(&app.runtime, &principal, &thread).await?.into()))
}

/// `PATCH /threads/{thread}`: `title`, `shared`, `archived`, for the owner.
pub(crate) async fn change(
    State(app): State<App>,
    Caller(principal): Caller,
    Path(thread): Path<String>,
    body: Body,
) -> Result<Json<ThreadView>, ApiError> {
    let id = ThreadId::new(thread).map_err(|_| ApiError::no_thread())?;
    let change = read_change(&body::read(body, MAX_BODY).await?)?;
    Ok(Json(app.runtime.change_thread(&principal, &id, &change).await?.into()))
}

/// All faults at once.
fn read_change(bytes: &[u8]) -> Result<ThreadChange, ApiError> {
    let unreadable =
        |cause| ApiError(Box::new(Problem::new(Code::InvalidRequest, "The body must be a JSON object.").at("", cause)));
    let body: Value = serde_json::from_slice(bytes).map_err(|error| unreadable(error.to_string()))?;
    let Value::Object(body) = body else { return Err(unreadable("is not an object".to_owned())) };
    let mut change = ThreadChange::default();
    let mut problem = Problem::new(Code::InvalidInput, "The request has faults; all of them are in `errors`.");
    for (name, value) in &body {
        let pointer = format!("/{name}");
        match (name.as_str(), value) {
            ("title", Value::String(title)) if (1..=MAX_TITLE).contains(&title.trim().chars().count()) => {
                change.title = Some(title.trim().to_owned());
            }
            ("title", _) => problem = problem.at(pointer, format!("must be a text of 1 to {MAX_TITLE} characters")),
            ("shared", Value::Bool(shared)) => change.shared = Some(*shared),
            ("archived", Value::Bool(archived)) => change.archived = Some(*archived),
            ("shared" | "archived", _) => problem = problem.at(pointer, "must be true or false"),
            _ => problem = problem.at(pointer, "is unknown: there are title, shared and archived"),
        }
    }
    if problem.errors.is_empty() { Ok(change) } else { Err(ApiError(Box::new(problem))) }
}

/// `DELETE /threads/{thread}`: for the owner. It exists for nobody from now on.
pub(crate) async fn delete(
    State(app): State<App>,
    Caller(principal): Caller,
    Path(thread): Path<String>,
) -> Result<StatusCode, ApiError> {
    let id = ThreadId::new(thread).map_err(|_| ApiError::no_thread())?;
    app.runtime.delete_thread(&principal, &id).await?;
    Ok(StatusCode::NO_CONTENT)
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Messages {
    #[serde(flatten)]
    page: PageView<UiMessage>,
    /// The run under way: follow it for the message that it writes.
    #[serde(skip_serializing_if = "Option::is_none")]
    active_run_id: Option<RunId>,
    /// Where `GET /events?thread=T@position` goes on.
    position: String,
}

/// The messages of a thread, oldest first. The message of a run that is under way is left out: the run's own stream
/// gives it whole, and a stock client that had a part of it would show it twice.
pub(crate) async fn messages(
    State(app): State<App>,
    Caller(principal): Caller,
    Path(thread): Path<String>,
    Query(asked): Query<Asked>,
) -> Result<Json<Messages>, ApiError> {
    let thread = own_thread(&app.runtime, &principal, &thread).await?;
    let from = match asked.cursor.as_deref() {
        None => 0,
        Some(cursor) => cursor.parse().map_err(|_| ApiError::invalid("?cursor", "must come from an earlier page"))?,
    };
    let store = app.runtime.store();
    let position = write_position(&app.runtime.position_now(&thread).await?);
    let page = store.message_page(&thread, from, u64::from(asked.limit(50)?)).await?;
    let shown = page.items.into_iter().filter(|message| match &message.body {
        MessageBody::User { .. } => true,
        MessageBody::Assistant { run } => thread.active.as_ref() != Some(run),
    });
    let items: Vec<UiMessage> = futures::stream::iter(shown)
        .map(|message| ui_message(store, &thread, message))
        .buffered(READS)
        .try_collect()
        .await?;
    Ok(Json(Messages { page: PageView { items, cursor: page.cursor }, active_run_id: thread.active, position }))
}
