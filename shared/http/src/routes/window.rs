//! `GET /events`: one stream for a whole window. A thread with its messages, its runs and their chunks, the changes of
//! scopes, and who is here, under one cursor.

pub(crate) mod cursor;
mod encode;
mod event;

use std::collections::VecDeque;
use std::sync::Arc;

use axum::extract::{Query, State};
use axum::http::HeaderMap;
use axum::response::Response;
use bytes::{Bytes, BytesMut};
use futures::FutureExt;
use futures::future::select_all;
use serde_json::json;
use tandem_protocol::{Principal, RunId, ThreadId};
use tandem_runs::{Conversation, Happening, Runtime};
use tandem_store::{Present, Scope, ScopeFollower, StateError};
use tokio::time::Instant;

use crate::caller::{Caller, Until};
use crate::routes::threads::own_thread;
use crate::stream::{BATCH, Source, Stop, follow};
use crate::view::ThreadView;
use crate::{ApiError, App};
use cursor::{Asked, Cursor};
use encode::Events;
pub(crate) use event::about;

pub(crate) async fn events(
    State(app): State<App>,
    Caller(principal): Caller,
    Until(deadline): Until,
    Query(query): Query<Vec<(String, String)>>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let asked = Asked::parse(query, &headers)?;
    let open = app.runtime.open_stream(&principal)?;
    let window = Window::open(&app.runtime, &principal, asked, deadline).await?;
    Ok(follow(&app.runtime, deadline, window, open))
}

/// What one window follows.
struct Window {
    conversation: Option<(ThreadId, Conversation)>,
    scopes: Vec<Followed>,
    cursor: Cursor,
    /// Told before everything else.
    first: VecDeque<serde_json::Value>,
    /// The thread is gone, and so is the window.
    over: bool,
}

/// A scope, and who was last told to be there.
struct Followed {
    follower: ScopeFollower,
    people: Arc<[Present]>,
    /// The run of the agent that works there.
    agent: Option<RunId>,
    presence_is_news: bool,
}

impl Window {
    async fn open(
        runtime: &Runtime,
        principal: &Principal,
        asked: Asked,
        deadline: Option<Instant>,
    ) -> Result<Self, ApiError> {
        let Asked { thread, mut scopes, cursor } = asked;
        let mut ready = json!({"type": "ready"});
        let mut opened = Cursor::default();
        let mut conversation = None;
        if let Some((id, position)) = thread {
            let thread = own_thread(runtime, principal, id.as_str()).await?;
            let known = position.or_else(|| cursor.position_in(&id));
            let position = match known {
                Some(position) => position,
                None => runtime.position_now(&thread).await?,
            };
            opened.thread = Some((id.clone(), position.clone()));
            ready["thread"] = serde_json::to_value(ThreadView::from(thread)).unwrap_or_default();
            // The documents of the conversation, and who is in it, belong to it.
            let scope = Scope::Thread(id.clone());
            if !scopes.iter().any(|(asked, _)| *asked == scope) {
                scopes.push((scope, None));
            }
            conversation = Some((id.clone(), runtime.follow_conversation(principal, &id, position, deadline)));
        }
        let mut first = VecDeque::new();
        let mut followed = Vec::new();
        for (scope, after) in scopes {
            let after = after.or_else(|| cursor.rev_of(&scope));
            let follower = match runtime.store().follow_scope(principal, &scope, after).await {
                Err(StateError::Expired { .. }) => {
                    let follower = runtime.store().follow_scope(principal, &scope, None).await?;
                    first.push_back(json!({"type": "reset", "scope": scope, "rev": follower.position()}));
                    follower
                }
                other => other?,
            };
            opened.scopes.insert(scope.to_string(), follower.position());
            followed.push(Followed { follower, people: Arc::default(), agent: None, presence_is_news: false });
        }
        ready["scopes"] = json!(opened.scopes);
        first.push_front(ready);
        Ok(Window { conversation, scopes: followed, cursor: opened, first, over: false })
    }

    /// Writes down what has happened in the thread.
    async fn gather_thread(&mut self, events: &mut Events) -> Result<(), Stop> {
        let Some((id, conversation)) = &mut self.conversation else { return Ok(()) };
        while events.len() < BATCH {
            let happening = match conversation.ready().await {
                Ok(Some(happening)) => happening,
                Ok(None) => break,
                Err(error) => return Err(Stop::Failed(error)),
            };
            let after = Some((id.clone(), conversation.position().clone()));
            self.cursor.thread.clone_from(&after);
            match happening {
                Happening::Record(thread) => events.record(thread, &self.cursor),
                Happening::Said(message) => events.said(id, &message, &self.cursor),
                Happening::Run(n, run) => events.run(id, n, &run, &self.cursor),
                Happening::Chunks { run, frame, from, to } => {
                    // Each chunk has the position after it.
                    events.chunks(id, &run, &frame, from..to, &mut self.cursor);
                    self.cursor.thread = after;
                }
                Happening::Gone => {
                    events.plain(&json!({"type": "gone", "threadId": id}));
                    self.over = true;
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    async fn gather_scopes(&mut self, events: &mut Events) -> Result<(), Stop> {
        let working = self.conversation.as_ref().and_then(|(id, conversation)| Some((id, conversation.run()?)));
        for followed in &mut self.scopes {
            let scope = followed.follower.scope().clone();
            while events.len() < BATCH
                && let Some(frame) = followed.follower.ready().await?
            {
                self.cursor.scopes.insert(scope.to_string(), frame.rev);
                events.changes(&scope, &frame, &self.cursor).map_err(Stop::Failed)?;
            }
            if let Some(people) = followed.follower.comings() {
                (followed.people, followed.presence_is_news) = (people, true);
            }
            let agent = working.filter(|(id, _)| scope == Scope::Thread((*id).clone())).map(|(_, run)| run.clone());
            if followed.agent != agent {
                (followed.agent, followed.presence_is_news) = (agent, true);
            }
            if std::mem::take(&mut followed.presence_is_news) {
                events.presence(&scope, &followed.people, followed.agent.as_ref());
            }
        }
        Ok(())
    }
}

impl Source for Window {
    async fn ready(&mut self) -> Result<Bytes, Stop> {
        if self.over {
            return Err(Stop::Over);
        }
        let mut events = Events::new(BytesMut::new());
        for event in self.first.drain(..) {
            events.numbered(&event, &self.cursor);
        }
        for gathered in [self.gather_thread(&mut events).await, self.gather_scopes(&mut events).await] {
            match gathered {
                Err(error) if events.is_empty() => return Err(error),
                // First what there is: what could not be read now comes again.
                Err(_) => break,
                Ok(()) => {}
            }
        }
        Ok(events.finish())
    }

    async fn wait(&mut self) {
        let mut waits: Vec<_> = self.scopes.iter_mut().map(|followed| followed.follower.wait().boxed()).collect();
        if let Some((_, conversation)) = &mut self.conversation {
            waits.push(conversation.wait().boxed());
        }
        match waits.is_empty() {
            true => std::future::pending().await,
            false => drop(select_all(waits).await),
        }
    }
}
