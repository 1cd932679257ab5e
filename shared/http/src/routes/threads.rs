//! Conversations.

use axum::Json;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use futures::stream::{StreamExt, TryStreamExt};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tandem_protocol::{Code, Principal, Problem, RunId, ThreadId, UiMessage, pointer};
use tandem_runs::{Runtime, ThreadChange};
use tandem_store::{MessageBody, Thread, ThreadList, new_id, now_ms};

use crate::caller::Caller;
use crate::description::{Operation, fields_never_null, operation};
use crate::query::Query;
use crate::routes::window::cursor::write_position;
use crate::view::{PageView, ThreadView, position, ui_message};
use crate::{ApiError, App, body};

/// Most items of a page.
const MAX_LIMIT: u32 = 100;
/// Logs that are folded side by side.
const READS: usize = 8;
/// Bytes of messages in one page, roughly: it ends with the message that exceeds them.
const MAX_BYTES: usize = 2 * 1024 * 1024;
const MAX_BODY: usize = 16 * 1024;
/// Longest title, in characters.
pub(crate) const MAX_TITLE: usize = 200;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Asked {
    /// The cursor of the page before, to get the next one.
    #[schemars(extend("pattern" = "^[0-9]{15}#[A-Za-z0-9_.:~-]{1,128}$"))]
    cursor: Option<String>,
    /// How many conversations; 20 if absent.
    #[schemars(range(min = 1, max = 100))]
    limit: Option<u32>,
    /// Only titles that hold this.
    q: Option<String>,
    /// True: archived ones too.
    #[serde(default)]
    archived: bool,
    /// True: those that others share with the tenant. Otherwise your own.
    #[serde(default)]
    shared: bool,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AskedMessages {
    /// The cursor of the page before, to get the next one.
    #[schemars(extend("pattern" = "^[0-9]{1,18}$"))]
    cursor: Option<String>,
    /// How many messages; 50 if absent.
    #[schemars(range(min = 1, max = 100))]
    limit: Option<u32>,
}

fn limit(asked: Option<u32>, default: u32) -> Result<u32, ApiError> {
    match asked {
        None => Ok(default),
        Some(limit) if (1..=MAX_LIMIT).contains(&limit) => Ok(limit),
        Some(_) => Err(ApiError::invalid("?limit", format!("must be 1 to {MAX_LIMIT}"))),
    }
}

/// A thread that the caller gets at. A foreign one answers like an unknown one.
pub(crate) async fn own_thread(runtime: &Runtime, principal: &Principal, id: &str) -> Result<Thread, ApiError> {
    let id = ThreadId::new(id).map_err(|_| ApiError::no_thread())?;
    runtime.store().thread(principal, &id).await?.ok_or_else(ApiError::no_thread)
}

pub(crate) fn about_list() -> Operation {
    operation("listThreads", "Threads", "Your conversations, newest first")
        .query::<Asked>()
        .gives::<PageView<ThreadView>>(200, "A page.", json!({"items": [example()]}))
}

fn example() -> Value {
    json!({
        "threadId": "01a2b3c4",
        "title": "Pilot at Northwind",
        "owner": "ann",
        "shared": false,
        "archived": false,
        "messages": 2,
        "createdAt": 1_756_900_000_000_i64,
    })
}

pub(crate) async fn list(
    State(app): State<App>,
    Caller(principal): Caller,
    Query(asked): Query<Asked>,
) -> Result<Json<PageView<ThreadView>>, ApiError> {
    let limit = limit(asked.limit, 20)?;
    if !asked.cursor.as_deref().is_none_or(ThreadList::is_cursor) {
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

/// A new conversation.
#[derive(Deserialize, Default, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
struct New {
    /// Its id; a new one is made if absent.
    thread_id: Option<ThreadId>,
    /// Cut after 200 characters.
    title: Option<String>,
}

pub(crate) fn about_create() -> Operation {
    operation("createThread", "Threads", "Begin a conversation")
        .note("Not needed before a turn: a turn without a thread begins one.")
        .body::<New>([("titled", json!({"title": "Pilot at Northwind"}))])
        .body_is_optional()
        .gives::<ThreadView>(201, "The conversation, without messages.", example())
        .gives::<ThreadView>(200, "Your conversation of this id, as it is: it was begun before.", example())
        .refuses([Code::Conflict])
}

pub(crate) async fn create(
    State(app): State<App>,
    Caller(principal): Caller,
    body: Body,
) -> Result<(StatusCode, Json<ThreadView>), ApiError> {
    let body = body::read(body, MAX_BODY).await?;
    let new: New = if body.is_empty() { New::default() } else { body::object(&body)? };
    let thread = match new.thread_id {
        Some(id) => id,
        None => ThreadId::new(new_id()).map_err(|e| tandem_store::StoreError::Rejected(e.to_string()))?,
    };
    let title: String = new.title.unwrap_or_default().chars().take(MAX_TITLE).collect();
    let thread = Thread::new(&principal, thread, title, now_ms());
    if app.runtime.store().create_thread(&thread).await? {
        return Ok((StatusCode::CREATED, Json(thread.into())));
    }
    // A client that got no answer asks again.
    match app.runtime.store().thread(&principal, &thread.thread).await? {
        Some(own) if own.owner == principal.user => Ok((StatusCode::OK, Json(own.into()))),
        _ => Err(ApiError::new(Code::Conflict, "The id is taken; choose another one, or leave it out.")),
    }
}

pub(crate) fn about_show() -> Operation {
    operation("getThread", "Threads", "One conversation").gives::<ThreadView>(200, "The conversation.", example())
}

pub(crate) async fn show(
    State(app): State<App>,
    Caller(principal): Caller,
    Path(thread): Path<String>,
) -> Result<Json<ThreadView>, ApiError> {
    Ok(Json(own_thread(&app.runtime, &principal, &thread).await?.into()))
}

/// What to change of a conversation, for the description.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, transform = fields_never_null)]
#[allow(dead_code)]
struct ChangeView {
    /// Its title.
    #[schemars(length(min = 1, max = 200), extend("pattern" = "\\S"))]
    title: Option<String>,
    /// Whether everybody in the tenant gets at it.
    shared: Option<bool>,
    /// Whether it is left out of the list.
    archived: Option<bool>,
}

pub(crate) fn about_change() -> Operation {
    operation("changeThread", "Threads", "Rename, share or archive a conversation")
        .note("For its owner.")
        .body::<ChangeView>([("shared", json!({"shared": true}))])
        .gives::<ThreadView>(200, "The conversation.", example())
        .refuses([Code::Forbidden, Code::Conflict])
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
        let pointer = pointer::of(name);
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

pub(crate) fn about_delete() -> Operation {
    operation("deleteThread", "Threads", "Delete a conversation, with everything in it")
        .note("For its owner. It exists for nobody from then on.")
        .gives_nothing(204, "It is deleted.")
        .refuses([Code::Forbidden, Code::Conflict, Code::ThreadBusy])
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

/// A page of messages, oldest first.
#[derive(Serialize, JsonSchema)]
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

pub(crate) fn about_messages() -> Operation {
    let message = json!({"id": "m1", "role": "user", "parts": [{"type": "text", "text": "Hello"}]});
    operation("listMessages", "Threads", "What was said, oldest first")
        .note(
            "The message of a run that is under way is left out, and `activeRunId` names the run: its stream gives the \
             message whole. A page of long messages has fewer of them: there is more while there is a `cursor`.",
        )
        .query::<AskedMessages>()
        .gives::<Messages>(200, "A page.", json!({"items": [message], "position": "7.3.1"}))
}

/// The messages of a thread, oldest first. The message of a run that is under way is left out: the run's own stream
/// gives it whole, and a stock client that had a part of it would show it twice.
pub(crate) async fn messages(
    State(app): State<App>,
    Caller(principal): Caller,
    Path(thread): Path<String>,
    Query(asked): Query<AskedMessages>,
) -> Result<Json<Messages>, ApiError> {
    let thread = own_thread(&app.runtime, &principal, &thread).await?;
    let from = match asked.cursor.as_deref() {
        None => 0,
        Some(cursor) => position(cursor)?,
    };
    let store = app.runtime.store();
    let position = write_position(&app.runtime.position_now(&thread).await?);
    let page = store.message_page(&thread, from, u64::from(limit(asked.limit, 50)?)).await?;
    let shown = page.items.into_iter().filter(|message| match &message.body {
        MessageBody::User { .. } => true,
        MessageBody::Assistant { run } => thread.active.as_ref() != Some(run),
    });
    let (mut items, mut cursor, mut bytes) = (Vec::new(), page.cursor, 0);
    let mut messages = futures::stream::iter(shown)
        .map(|message| async {
            let n = message.n;
            ui_message(store, &thread, message).await.map(|message| (n, message))
        })
        .buffered(READS);
    while let Some((n, message)) = messages.try_next().await? {
        bytes += size(&message);
        items.push(message);
        if bytes >= MAX_BYTES {
            let next = n + 1;
            cursor = (next < thread.length).then(|| next.to_string());
            break;
        }
    }
    drop(messages);
    Ok(Json(Messages { page: PageView { items, cursor }, active_run_id: thread.active, position }))
}

/// Length of a message as JSON, which is not made for it.
fn size(message: &UiMessage) -> usize {
    struct Count(usize);

    impl std::io::Write for Count {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    let mut count = Count(0);
    match serde_json::to_writer(&mut count, message) {
        Ok(()) => count.0,
        Err(_) => MAX_BYTES,
    }
}
