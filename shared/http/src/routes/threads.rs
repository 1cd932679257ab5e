//! Conversations.

use axum::Json;
use axum::body::Body;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use futures::stream::{StreamExt, TryStreamExt};
use serde::{Deserialize, Serialize};
use tandem_protocol::{Code, Principal, RunId, ThreadId, UiMessage};
use tandem_runs::Runtime;
use tandem_store::{MessageBody, Thread, new_id, now_ms};

use crate::caller::Caller;
use crate::view::{PageView, ThreadView, ui_message};
use crate::{ApiError, App, body};

/// Most items of a page.
const MAX_LIMIT: u32 = 100;
/// Logs that are folded side by side.
const READS: usize = 8;
const MAX_BODY: usize = 16 * 1024;

#[derive(Deserialize)]
pub(crate) struct Asked {
    cursor: Option<String>,
    limit: Option<u32>,
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

/// The caller's thread. A foreign one answers like an unknown one.
pub(crate) async fn own_thread(runtime: &Runtime, principal: &Principal, id: &str) -> Result<Thread, ApiError> {
    let unknown = || ApiError::not_found("There is no such thread, or it is not yours.");
    let id = ThreadId::new(id).map_err(|_| unknown())?;
    runtime.store().thread(principal, &id).await?.ok_or_else(unknown)
}

pub(crate) async fn list(
    State(app): State<App>,
    Caller(principal): Caller,
    Query(asked): Query<Asked>,
) -> Result<Json<PageView<ThreadView>>, ApiError> {
    let limit = i32::try_from(asked.limit(20)?).unwrap_or(20);
    if asked.cursor.as_ref().is_some_and(|cursor| cursor.len() > 200 || !cursor.is_ascii()) {
        return Err(ApiError::invalid("?cursor", "must come from an earlier page"));
    }
    let page = app.runtime.store().threads(&principal, asked.cursor.as_deref(), limit).await?;
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
    let thread = Thread {
        thread,
        tenant: principal.tenant,
        owner: principal.user,
        title: new.title.chars().take(200).collect(),
        active: None,
        length: 0,
        version: 1,
        created_at: now_ms(),
    };
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

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Messages {
    #[serde(flatten)]
    page: PageView<UiMessage>,
    /// The run under way: follow it for the message that it writes.
    #[serde(skip_serializing_if = "Option::is_none")]
    active_run_id: Option<RunId>,
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
    Ok(Json(Messages { page: PageView { items, cursor: page.cursor }, active_run_id: thread.active }))
}
