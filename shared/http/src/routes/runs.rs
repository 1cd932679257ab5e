//! Run records: one, the active one of a thread, those of a thread, and stopping.

use axum::Json;
use axum::extract::{Path, State};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tandem_protocol::{Code, ThreadId};
use tandem_store::MessageBody;

use crate::caller::{Caller, Stopping};
use crate::description::{Operation, operation};
use crate::query::Query;
use crate::routes::events::own_run;
use crate::routes::threads::own_thread;
use crate::view::{PageView, RunView, position};
use crate::{ApiError, App};

/// Messages looked at for one page of runs.
const PAGE: u64 = 40;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Asked {
    /// The thread.
    #[schemars(required)]
    thread_id: Option<ThreadId>,
    /// The cursor of the page before, to get the next one.
    #[schemars(extend("pattern" = "^[0-9]{1,18}$"))]
    cursor: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct OfThread {
    /// The thread.
    #[schemars(required)]
    thread_id: Option<ThreadId>,
}

/// The run under way, if there is one.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ActiveRun")]
pub(crate) struct Active {
    active: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    run: Option<RunView>,
}

pub(crate) fn example() -> Value {
    json!({
        "runId": "run_01a2b3c4",
        "threadId": "01a2b3c4",
        "turnId": "m1",
        "messageId": "msg_01a2b3c4",
        "owner": {"tenant": "local", "user": "you"},
        "status": "completed",
        "version": 4,
        "attempt": 1,
        "dispatches": 1,
        "dispatchedAt": 1_756_900_000_000_i64,
        "continuations": 0,
        "handedOver": false,
        "noProgress": 0,
        "endReason": "completed",
        "createdAt": 1_756_900_000_000_i64,
        "endedAt": 1_756_900_004_000_i64,
    })
}

pub(crate) fn about_show() -> Operation {
    operation("getRun", "Runs", "One run").gives::<RunView>(200, "Its record.", example()).refuses([Code::Expired])
}

pub(crate) async fn show(
    State(app): State<App>,
    Caller(principal): Caller,
    Path(run): Path<String>,
) -> Result<Json<RunView>, ApiError> {
    Ok(Json(own_run(&app.runtime, &principal, &run).await?.into()))
}

pub(crate) fn about_active() -> Operation {
    operation("getActiveRun", "Runs", "The run under way in a thread")
        .query::<OfThread>()
        .gives::<Active>(200, "The run, or that there is none.", json!({"active": false}))
        .refuses([Code::NotFound, Code::Expired])
}

/// The run under way in a thread; `{"active": false}` when there is none.
pub(crate) async fn active(
    State(app): State<App>,
    Caller(principal): Caller,
    Query(asked): Query<OfThread>,
) -> Result<Json<Active>, ApiError> {
    let thread = own_thread(&app.runtime, &principal, thread_of(asked.thread_id.as_ref())?.as_str()).await?;
    let run = match thread.active {
        Some(run) => Some(own_run(&app.runtime, &principal, run.as_str()).await?.into()),
        None => None,
    };
    Ok(Json(Active { active: run.is_some(), run }))
}

pub(crate) fn about_list() -> Operation {
    operation("listRuns", "Runs", "The runs whose messages a thread shows, newest first")
        .query::<Asked>()
        .gives::<PageView<RunView>>(200, "A page.", json!({"items": [example()]}))
        .refuses([Code::NotFound])
}

/// The runs whose messages a thread shows, newest first.
pub(crate) async fn list(
    State(app): State<App>,
    Caller(principal): Caller,
    Query(asked): Query<Asked>,
) -> Result<Json<PageView<RunView>>, ApiError> {
    let thread = own_thread(&app.runtime, &principal, thread_of(asked.thread_id.as_ref())?.as_str()).await?;
    let end = match asked.cursor.as_deref() {
        None => thread.length,
        Some(cursor) => position(cursor)?,
    };
    let begin = end.saturating_sub(PAGE);
    let store = app.runtime.store();
    let mut items = Vec::new();
    for message in store.messages(&thread, begin, end).await?.into_iter().rev() {
        if let MessageBody::Assistant { run } = message.body {
            items.extend(store.run(&run).await?.map(RunView::from));
        }
    }
    Ok(Json(PageView { items, cursor: (begin > 0).then(|| begin.to_string()) }))
}

pub(crate) fn about_abort() -> Operation {
    operation("abortRun", "Runs", "Stop a run")
        .note("Idempotent: a run that has ended stays as it is. No limit of requests keeps you from it.")
        .always_open()
        .gives::<RunView>(200, "Its record.", example())
        .refuses([Code::Expired])
}

/// Stops a run. Idempotent: what has ended stays as it is.
pub(crate) async fn abort(
    State(app): State<App>,
    Stopping(principal): Stopping,
    Path(run): Path<String>,
) -> Result<Json<RunView>, ApiError> {
    let run = own_run(&app.runtime, &principal, &run).await?;
    Ok(Json(app.runtime.abort(&principal, &run.run_id).await?.into()))
}

fn thread_of(asked: Option<&ThreadId>) -> Result<&ThreadId, ApiError> {
    asked.ok_or_else(|| ApiError::invalid("?threadId", "is missing"))
}
