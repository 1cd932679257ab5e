//! The table: a row for each route, and more where a route means more than one thing.

use axum::http::Method;
use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use serde_json::json;

use super::{PRIVATE, SHARED};
use crate::walk::things::Things;

/// What a route is about, and so who may use it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Holds {
    /// Nothing of anybody's: it answers without a token.
    Nothing,
    /// Orders among our own processes: no person's token opens it.
    Dispatches,
    /// What is the caller's own: everybody sees theirs.
    Own,
    /// What is everybody's in the caller's tenant.
    Team,
    /// One thing, which the request names. For others it does not exist, and that is answered with `refused`.
    One { refused: u16 },
}

const ONE: Holds = Holds::One { refused: 404 };

/// A request.
#[derive(Debug, Clone)]
pub(super) struct Ask {
    pub(super) method: Method,
    pub(super) path: String,
    pub(super) headers: Vec<(&'static str, &'static str)>,
    pub(super) body: String,
}

pub(super) struct Row {
    /// As the description has it.
    pub(super) route: &'static str,
    pub(super) holds: Holds,
    /// The status for the right person.
    pub(super) right: u16,
    /// A text that the right person sees.
    pub(super) shows: Option<&'static str>,
    /// The request, about these things.
    pub(super) ask: fn(&Things) -> Ask,
    /// A request about a thing of one's own, in which a name of the second's things is put.
    pub(super) mixed: Option<fn(&Things, &Things) -> Ask>,
}

impl Row {
    fn right(self, right: u16) -> Self {
        Row { right, ..self }
    }

    fn shows(self, text: &'static str) -> Self {
        Row { shows: Some(text), ..self }
    }

    fn mixed(self, mixed: fn(&Things, &Things) -> Ask) -> Self {
        Row { mixed: Some(mixed), ..self }
    }
}

fn row(route: &'static str, holds: Holds, ask: fn(&Things) -> Ask) -> Row {
    Row { route, holds, right: 200, shows: None, ask, mixed: None }
}

/// The things are destroyed by the last rows.
pub(super) fn table() -> Vec<Row> {
    use Holds::{Dispatches, Nothing, Own, Team};
    vec![
        row("GET /healthz", Nothing, |_| Ask::get("/healthz")),
        row("GET /openapi.json", Nothing, |_| Ask::get("/openapi.json")),
        row("GET /.well-known/oauth-protected-resource", Nothing, |_| {
            at_a_host(Ask::get("/.well-known/oauth-protected-resource"))
        }),
        row("GET /.well-known/oauth-protected-resource/mcp", Nothing, |_| {
            at_a_host(Ask::get("/.well-known/oauth-protected-resource/mcp"))
        }),
        row("POST /_agent-native/agent-chat/_process-run", Dispatches, |it| {
            // Whoever made it up has no key.
            let body = it.dispatch.replace("\"version\":0", "\"version\":1");
            Ask::post("/_agent-native/agent-chat/_process-run", &body)
        })
        .right(202),
        row("GET /api", Own, |_| Ask::get("/api")),
        row("POST /mcp", Own, |_| tool("recall", "{}")).shows(PRIVATE),
        row("POST /api/agent-chat", ONE, |it| {
            Ask::post("/api/agent-chat", &json!({"message": "@say 1 every 0", "threadId": it.thread}).to_string())
                .in_json()
        })
        .right(202)
        .mixed(|own, foreign| {
            let approval = json!({"id": foreign.call, "approved": true});
            let part = json!({"type": "tool-send-email", "state": "approval-responded", "approval": approval});
            let id = foreign.asking.replace("run_", "msg_");
            let message = json!({"id": id, "role": "assistant", "parts": [part]});
            let body = json!({"id": own.asking_thread, "messages": [message], "trigger": "submit-message"});
            Ask::post("/api/agent-chat", &body.to_string()).in_json()
        }),
        // What is not there has nothing to resume.
        row("GET /api/agent-chat/{id}/stream", Holds::One { refused: 204 }, |it| {
            Ask::get(&format!("/api/agent-chat/{}/stream", it.run))
        })
        .shows(PRIVATE),
        row("GET /api/list-emails", Team, |_| Ask::get("/api/list-emails")).shows(SHARED),
        row("GET /api/search-emails", Team, |_| Ask::get("/api/search-emails?query=a")),
        row("GET /api/read-email", Team, |_| Ask::get("/api/read-email?emailId=e-1")).shows(SHARED),
        row("GET /api/summarize-inbox", Team, |_| Ask::get("/api/summarize-inbox")),
        row("POST /api/email", Team, |_| Ask::post("/api/email", "{\"emailId\":\"e-1\",\"body\":\"Yes.\"}")),
        row("POST /api/send-email", Own, |_| {
            Ask::post("/api/send-email", "{\"to\":\"a@example.com\",\"subject\":\"Hello\",\"body\":\"Hello\"}")
        }),
        row("POST /api/archive-email", Team, |_| Ask::post("/api/archive-email", "{\"emailId\":\"e-2\"}")),
        row("POST /api/unarchive-email", Team, |_| Ask::post("/api/unarchive-email", "{\"emailId\":\"e-2\"}")),
        row("POST /api/mark-email", Team, |_| Ask::post("/api/mark-email", "{\"emailId\":\"e-1\",\"unread\":true}")),
        // An email that nobody has: a draft is there once, and the next one must know of it.
        row("POST /api/draft-reply", Team, |_| {
            Ask::post("/api/draft-reply", "{\"emailId\":\"e-9999\",\"text\":\"Yes.\"}")
        })
        .right(422),
        row("POST /api/label-email", Team, |_| {
            Ask::post("/api/label-email", "{\"emailId\":\"e-1\",\"add\":[\"seen\"]}")
        }),
        row("POST /api/import-emails", Own, |_| Ask::post("/api/import-emails", "{\"count\":1}")).right(202),
        // Nowhere to post to.
        row("POST /api/notify-webhook", Own, |_| Ask::post("/api/notify-webhook", "{\"text\":\"Hello\"}")).right(422),
        row("POST /api/remember", Own, |_| Ask::post("/api/remember", "{\"name\":\"tone\",\"text\":\"Short.\"}")),
        row("GET /api/recall", Own, |_| Ask::get("/api/recall?scope=user")).shows(PRIVATE),
        row("POST /api/forget", Own, |_| Ask::post("/api/forget", "{\"name\":\"tone\"}")),
        row("GET /api/view-screen", Own, |_| Ask::get("/api/view-screen")),
        row("POST /api/navigate", Own, |_| Ask::post("/api/navigate", "{\"view\":\"inbox\"}")),
        row("GET /runs", ONE, |it| Ask::get(&format!("/runs?threadId={}", it.thread))),
        row("GET /runs/active", ONE, |it| Ask::get(&format!("/runs/active?threadId={}", it.thread))),
        row("GET /runs/{run}", ONE, |it| Ask::get(&format!("/runs/{}", it.run))),
        row("GET /runs/{run}", ONE, |it| Ask::get(&format!("/runs/{}", it.import))),
        row("GET /runs/{run}/events", ONE, |it| Ask::get(&format!("/runs/{}/events", it.run))).shows(PRIVATE),
        row("GET /runs/{run}/events", ONE, |it| Ask::get(&format!("/runs/{}/events", it.import)).in_json()),
        row("POST /runs/{run}/approvals/{call}", ONE, |it| {
            let body = "{\"approved\":false}";
            Ask::post(&format!("/runs/{}/approvals/{}", it.asking, it.call), body)
        })
        .mixed(|own, foreign| {
            Ask::post(&format!("/runs/{}/approvals/{}x", own.asking, foreign.call), "{\"approved\":true}")
        }),
        row("POST /runs/{run}/abort", ONE, |it| Ask::post(&format!("/runs/{}/abort", it.run), "")),
        // A ticket lets nobody in where they would not get: what it is for is asked when it is used.
        row("POST /tickets", Own, |it| {
            Ask::post("/tickets", &json!({"path": format!("/runs/{}/events", it.run)}).to_string())
        }),
        row("GET /events", ONE, |it| Ask::get(&format!("/events?thread={}@0.0.0", it.thread))).shows(PRIVATE).mixed(
            |own, foreign| {
                // A cursor is the client's to send: it can be made up.
                let position = json!({"r": 1, "v": 1, "n": 1, "c": [foreign.run, 0], "w": foreign.run});
                let cursor = BASE64_URL_SAFE_NO_PAD.encode(json!({"t": [own.asking_thread, position]}).to_string());
                Ask::get(&format!("/events?thread={}&cursor={cursor}", own.asking_thread))
            },
        ),
        row("GET /state/{scope}", ONE, |it| Ask::get(&format!("/state/thread:{}", it.thread))).shows(PRIVATE),
        row("GET /state/{scope}", Own, |_| Ask::get("/state/user")).shows(PRIVATE),
        row("GET /state/{scope}/events", ONE, |it| Ask::get(&format!("/state/thread:{}/events", it.thread)))
            .shows(PRIVATE),
        row("GET /state/{scope}/events", Team, |_| Ask::get("/state/app:inbox/events")).shows(SHARED),
        row("GET /state/{scope}/docs/{key}", ONE, |it| Ask::get(&format!("/state/thread:{}/docs/note", it.thread)))
            .shows(PRIVATE),
        row("PUT /state/{scope}/docs/{key}", ONE, |it| {
            Ask::put(&format!("/state/thread:{}/docs/note", it.thread), "{\"value\":1}")
        }),
        row("DELETE /state/{scope}/docs/{key}", ONE, |it| Ask {
            method: Method::DELETE,
            ..Ask::get(&format!("/state/thread:{}/docs/note", it.thread))
        }),
        row("GET /presence/{scope}", ONE, |it| Ask::get(&format!("/presence/thread:{}", it.thread))).shows(PRIVATE),
        row("PUT /presence/{scope}", ONE, |it| {
            Ask::put(&format!("/presence/thread:{}", it.thread), "{\"client\":\"w2\",\"activity\":{}}")
        })
        .right(204),
        row("GET /threads", Own, |_| Ask::get("/threads")).shows(PRIVATE),
        row("GET /threads", Own, |_| Ask::get("/threads?shared=true")),
        row("POST /threads", Own, |_| Ask::post("/threads", "{\"title\":\"New\"}")).right(201),
        row("GET /threads/{thread}", ONE, |it| Ask::get(&format!("/threads/{}", it.thread))).shows(PRIVATE),
        row("GET /threads/{thread}/messages", ONE, |it| Ask::get(&format!("/threads/{}/messages", it.thread)))
            .shows(PRIVATE),
        row("POST /threads/{thread}/turns/{turn}/abort", Holds::One { refused: 200 }, |it| {
            Ask::post(&format!("/threads/{}/turns/{}/abort", it.thread, it.turn), "")
        })
        .mixed(|own, foreign| Ask::post(&format!("/threads/{}/turns/{}/abort", own.thread, foreign.turn), "")),
        row("PATCH /threads/{thread}", ONE, |it| Ask {
            method: Method::PATCH,
            ..Ask::post(&format!("/threads/{}", it.thread), "{\"title\":\"Another\"}")
        }),
        row("DELETE /threads/{thread}", ONE, |it| Ask {
            method: Method::DELETE,
            ..Ask::get(&format!("/threads/{}", it.thread))
        })
        .right(204),
    ]
}

/// As clients send it, who know where they call.
fn at_a_host(mut ask: Ask) -> Ask {
    ask.headers.push(("host", "tandem.example"));
    ask
}

/// A call of an action by an MCP client.
pub(super) fn tool(name: &str, input: &str) -> Ask {
    let body = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{{\"name\":\"{name}\",\"arguments\":{input}}}}}"
    );
    let mut ask = Ask::post("/mcp", &body);
    ask.headers = vec![
        ("host", "tandem.example"),
        ("content-type", "application/json"),
        ("accept", "application/json, text/event-stream"),
        ("mcp-protocol-version", "2025-06-18"),
    ];
    ask
}

impl Ask {
    pub(super) fn get(path: &str) -> Self {
        Ask { method: Method::GET, path: path.to_owned(), headers: Vec::new(), body: String::new() }
    }

    pub(super) fn post(path: &str, body: &str) -> Self {
        Ask { method: Method::POST, body: body.to_owned(), ..Ask::get(path) }
    }

    pub(super) fn put(path: &str, body: &str) -> Self {
        Ask { method: Method::PUT, ..Ask::post(path, body) }
    }

    pub(super) fn in_json(mut self) -> Self {
        self.headers.push(("accept", "application/json"));
        self
    }
}
