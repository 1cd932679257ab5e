//! Run records: one, the active one of a thread, those of a thread, and stopping.

use axum::Json;
use axum::extract::{Path, Query, State};
use serde::Deserialize;
use serde_json::{Value, json};
use tandem_protocol::{Run, ThreadId};
use tandem_store::MessageBody;

use crate::caller::Caller;
use crate::routes::events::own_run;
use crate::routes::threads::own_thread;
use crate::view::PageView;
use crate::{ApiError, App};

/// Messages looked at for one page of runs.
const PAGE: u64 = 40;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Asked {
    thread_id: Option<ThreadId>,
    cursor: Option<String>,
}

pub(crate) async fn show(
    State(app): State<App>,
    Caller(principal): Caller,
    Path(run): Path<String>,
) -> Result<Json<Run>, ApiError> {
    own_run(&app.runtime, &principal, &run).await.map(Json)
}

/// The run under way in a thread; `{"active": false}` when there is none.
pub(crate) async fn active(
    State(app): State<App>,
    Caller(principal): Caller,
    Query(asked): Query<Asked>,
) -> Result<Json<Value>, ApiError> {
    let thread = own_thread(&app.runtime, &principal, thread_of(&asked)?.as_str()).await?;
    match thread.active {
        Some(run) => {
            let run = own_run(&app.runtime, &principal, run.as_str()).await?;
            Ok(Json(json!({"active": true, "run": run})))
        }
        None => Ok(Json(json!({"active": false}))),
    }
}

/// The runs whose messages a thread shows, newest first.
pub(crate) async fn list(
    State(app): State<App>,
    Caller(principal): Caller,
    Query(asked): Query<Asked>,
) -> Result<Json<PageView<Run>>, ApiError> {
    let thread = own_thread(&app.runtime, &principal, thread_of(&asked)?.as_str()).await?;
    let end = match asked.cursor.as_deref() {
        None => thread.length,
        Some(cursor) => cursor.parse().map_err(|_| ApiError::invalid("?cursor", "must come from an earlier page"))?,
    };
    let begin = end.saturating_sub(PAGE);
    let store = app.runtime.store();
    let mut items = Vec::new();
    for message in store.messages(&thread, begin, end).await?.into_iter().rev() {
        if let MessageBody::Assistant { run } = message.body {
            items.extend(store.run(&run).await?);
        }
    }
    Ok(Json(PageView { items, cursor: (begin > 0).then(|| begin.to_string()) }))
}

/// Stops a run. Idempotent: what has ended stays as it is.
pub(crate) async fn abort(
    State(app): State<App>,
    Caller(principal): Caller,
    Path(run): Path<String>,
) -> Result<Json<Run>, ApiError> {
    let run = own_run(&app.runtime, &principal, &run).await?;
    Ok(Json(app.runtime.abort(&principal, &run.run_id).await?))
}

fn thread_of(asked: &Asked) -> Result<&ThreadId, ApiError> {
    asked.thread_id.as_ref().ok_or_else(|| ApiError::invalid("?threadId", "is missing"))
}
