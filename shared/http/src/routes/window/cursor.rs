//! The cursor of a window's stream, and what a request for one asks.

use std::collections::BTreeMap;

use axum::http::HeaderMap;
use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};
use tandem_protocol::ThreadId;
use tandem_runs::Position;
use tandem_store::Scope;

use crate::ApiError;
use crate::query::is_others;

/// Most scopes that one stream is asked for.
const MAX_SCOPES: usize = 20;

/// Everything up to here is known. Opaque to clients.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Cursor {
    #[serde(rename = "t", default, skip_serializing_if = "Option::is_none")]
    pub(super) thread: Option<(ThreadId, Position)>,
    #[serde(rename = "s", default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) scopes: BTreeMap<String, u64>,
}

impl Cursor {
    pub(super) fn write(&self) -> String {
        BASE64_URL_SAFE_NO_PAD.encode(serde_json::to_vec(self).unwrap_or_default())
    }

    fn read(text: &str) -> Option<Self> {
        serde_json::from_slice(&BASE64_URL_SAFE_NO_PAD.decode(text).ok()?).ok()
    }

    pub(super) fn position_in(&self, thread: &ThreadId) -> Option<Position> {
        self.thread.as_ref().filter(|(id, _)| id == thread).map(|(_, position)| position.clone())
    }

    pub(super) fn rev_of(&self, scope: &Scope) -> Option<u64> {
        self.scopes.get(&scope.to_string()).copied()
    }
}

/// What a window wants to follow, and what it knows.
#[derive(Debug, PartialEq)]
pub(super) struct Asked {
    pub(super) thread: Option<(ThreadId, Option<Position>)>,
    pub(super) scopes: Vec<(Scope, Option<u64>)>,
    pub(super) cursor: Cursor,
}

impl Asked {
    /// `thread=T`, `thread=T@position`, any number of `scope=S` or `scope=S@rev`, `cursor=C`. The header Last-Event-ID,
    /// which a reconnecting EventSource sends, wins over `cursor`, and a cursor over positions.
    pub(super) fn parse(query: Vec<(String, String)>, headers: &HeaderMap) -> Result<Self, ApiError> {
        let header = headers.get("last-event-id").map(|value| value.to_str().unwrap_or("?"));
        let mut asked = Asked { thread: None, scopes: Vec::new(), cursor: Cursor::default() };
        let mut cursor = header.filter(|id| !id.is_empty()).map(|id| ("header Last-Event-ID", id));
        for (name, value) in &query {
            let (what, position) = value.split_once('@').map_or((value.as_str(), None), |(a, b)| (a, Some(b)));
            match name.as_str() {
                "thread" if asked.thread.is_some() => return Err(ApiError::invalid("?thread", "can be given once")),
                "thread" => {
                    let id = ThreadId::new(what).map_err(|_| ApiError::no_thread())?;
                    let fault = || ApiError::invalid("?thread", "its position must come from the thread's messages");
                    let position = position.map(|text| read_position(text).ok_or_else(fault)).transpose()?;
                    asked.thread = Some((id, position));
                }
                "scope" => {
                    let scope: Scope = what.parse().map_err(|_| ApiError::no_scope())?;
                    let fault = |_| ApiError::invalid("?scope", "its position must be the rev of a snapshot");
                    let rev = position.map(|text| text.parse::<u64>().map_err(fault)).transpose()?;
                    if !asked.scopes.iter().any(|(known, _)| *known == scope) {
                        asked.scopes.push((scope, rev));
                    }
                }
                "cursor" if cursor.is_none() && !value.is_empty() => cursor = Some(("?cursor", value)),
                "cursor" => {}
                name if is_others(name) => {}
                _ => {
                    let fault = "is unknown: there are thread, scope and cursor";
                    return Err(ApiError::invalid(&format!("?{name}"), fault));
                }
            }
        }
        if asked.thread.is_none() && asked.scopes.is_empty() {
            return Err(ApiError::invalid("?scope", "say what to follow: thread, scope or both"));
        }
        // The scope of the thread comes with it, beside those that are asked for.
        if asked.scopes.len() > MAX_SCOPES {
            return Err(ApiError::invalid("?scope", format!("at most {MAX_SCOPES} scopes can be followed at once")));
        }
        if let Some((pointer, text)) = cursor {
            let fault = || ApiError::invalid(pointer, "must be the id of an event of such a stream");
            asked.cursor = Cursor::read(text).ok_or_else(fault)?;
            asked.forget_positions();
        }
        Ok(asked)
    }

    /// A client that comes back sends the address that it began with: its cursor knows more than the positions there.
    fn forget_positions(&mut self) {
        if let Some((id, position)) = &mut self.thread
            && self.cursor.position_in(id).is_some()
        {
            *position = None;
        }
        for (scope, rev) in &mut self.scopes {
            if self.cursor.rev_of(scope).is_some() {
                *rev = None;
            }
        }
    }
}

/// A position as `GET /threads/{thread}/messages` gives it.
pub(crate) fn write_position(position: &Position) -> String {
    format!("{}.{}.{}", position.record, position.version, position.messages)
}

fn read_position(text: &str) -> Option<Position> {
    let mut numbers = text.split('.').map(str::parse::<u64>);
    let mut next = || numbers.next()?.ok();
    let (record, version, messages) = (next()?, next()?, next()?);
    numbers.next().is_none().then_some(Position { record, version, messages, ..Position::default() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use tandem_protocol::RunId;

    fn parse(query: &[(&str, &str)], header: Option<&str>) -> Result<Asked, ApiError> {
        let query = query.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let mut headers = HeaderMap::new();
        if let Some(id) = header {
            headers.insert("last-event-id", id.parse().unwrap());
        }
        Asked::parse(query, &headers)
    }

    #[test]
    fn a_cursor_is_read_as_it_was_written_and_wins_over_positions() {
        let thread = ThreadId::new("t:1").unwrap();
        let chunk = Some((RunId::new("run_1").unwrap(), 7));
        let position = Position { record: 5, version: 4, messages: 2, chunk, writer: None };
        let scopes = BTreeMap::from([("app:inbox".to_owned(), 17)]);
        let cursor = Cursor { thread: Some((thread.clone(), position)), scopes };
        let (text, query) = (cursor.write(), [("thread", "t:1@1.1.0"), ("scope", "app:inbox@3"), ("scope", "user@9")]);
        let first = parse(&query, None).unwrap();
        let began = Position { record: 1, version: 1, messages: 0, ..Position::default() };
        assert_eq!(first.thread, Some((thread.clone(), Some(began))));
        assert_eq!(first.scopes, [(Scope::app("inbox"), Some(3)), (Scope::User, Some(9))]);
        let back = parse(&query, Some(&text)).unwrap();
        assert_eq!((back.thread, &back.cursor), (Some((thread, None)), &cursor));
        assert_eq!(back.scopes, [(Scope::app("inbox"), None), (Scope::User, Some(9))]);
        let both = parse(&[("scope", "user"), ("cursor", "x")], Some(&text)).unwrap();
        assert_eq!(both.cursor, cursor);
    }

    #[test]
    fn what_cannot_be_followed_is_refused() {
        for query in [
            &[][..],
            &[("cursor", "e30")],
            &[("thread", "a"), ("thread", "b")],
            &[("thread", "a@1.2")],
            &[("thread", "a@1.2.3.4")],
            &[("thread", "a/b")],
            &[("scope", "user@x")],
            &[("scope", "everything")],
            &[("scope", "user"), ("cursor", "%")],
        ] {
            assert!(parse(query, None).is_err(), "{query:?}");
        }
    }
}
