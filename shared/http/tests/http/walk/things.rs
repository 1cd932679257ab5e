//! What belongs to somebody, by name.

use serde_json::{Value, json};
use tandem_auth::DispatchKeys;
use tandem_protocol::RunId;
use tandem_store::{new_id, now_ms};

use super::rows::Ask;
use super::{SHARED, send};
use crate::api::Api;

/// Names of things of one owner, or of nothing.
pub(super) struct Things {
    pub(super) thread: String,
    pub(super) turn: String,
    /// It has ended, and its log holds something private.
    pub(super) run: String,
    /// Waits for an answer to `call`, in a thread of its own.
    pub(super) asking: String,
    pub(super) call: String,
    pub(super) asking_thread: String,
    /// Carries out an action outside any thread.
    pub(super) import: String,
    /// A signed dispatch of the run.
    pub(super) dispatch: String,
}

/// Says that somebody is in a thread; it holds for 20 s.
async fn say_here(api: &Api, who: &str, thread: &str, secret: &str) {
    let here = json!({"client": "w1", "activity": {"reads": secret}}).to_string();
    let answer = send(api, Some(who), &Ask::put(&format!("/presence/thread:{thread}"), &here)).await;
    assert!(answer.0 < 300, "{answer:?}");
}

impl Things {
    pub(super) async fn come_back(&self, api: &Api, owner: &str, secret: &str) {
        say_here(api, owner, &self.thread, secret).await;
    }

    /// What somebody has who has worked for a while; `secret` is in all of it that is private.
    pub(super) async fn of(api: &Api, owner: &str, secret: &str) -> Self {
        let turn = format!("m-{}", new_id());
        let said = json!({"message": format!("/remember {{\"name\":\"plan\",\"text\":\"{secret}\"}}"), "turnId": turn});
        let started = start(api, owner, &said).await;
        let mail = "/send-email {\"to\":\"ann@example.com\",\"subject\":\"Hello\",\"body\":\"For you\"}";
        let asking = start(api, owner, &json!({"message": mail})).await;
        let call = ended(api, owner, &asking.0).await;
        let call = call.iter().find_map(|chunk| chunk["approvalId"].as_str()).expect("a question").to_owned();
        ended(api, owner, &started.0).await;
        let done = |answer: (u16, String)| assert!(answer.0 < 300, "{answer:?}");
        let label = json!({"emailId": "e-1", "add": [SHARED]});
        done(send(api, Some(owner), &Ask::post("/api/label-email", &label.to_string())).await);
        let (thread, value) = (&started.1, json!({"value": secret}).to_string());
        for scope in [&format!("thread:{thread}"), "user"] {
            done(send(api, Some(owner), &Ask::put(&format!("/state/{scope}/docs/note"), &value)).await);
        }
        say_here(api, owner, thread, secret).await;
        let (status, text) = send(api, Some(owner), &Ask::post("/api/import-emails", "{\"count\":1}")).await;
        assert_eq!(status, 202, "{text}");
        let import = field(&text, "runId");
        ended(api, owner, &import).await;
        let signed = DispatchKeys::development().sign(&RunId::new(&started.0).unwrap(), 0, now_ms());
        Things {
            thread: started.1,
            turn,
            run: started.0,
            asking: asking.0,
            asking_thread: asking.1,
            call,
            import,
            dispatch: serde_json::to_string(&signed).unwrap(),
        }
    }

    /// Names that fit, of things that were never there.
    pub(super) fn unknown() -> Self {
        let id = |kind: &str| format!("{kind}{}", new_id());
        Things {
            thread: id(""),
            turn: id("m-"),
            run: id("run_"),
            asking: id("run_"),
            asking_thread: id(""),
            call: id("call_"),
            import: id("run_"),
            dispatch: "{}".into(),
        }
    }

    /// Each name with a word for it.
    pub(super) fn names(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let Things { thread, turn, run, asking, call, asking_thread, import, dispatch: _ } = self;
        let names = [
            ("THREAD", thread),
            ("TURN", turn),
            ("RUN", run),
            ("ASKING", asking),
            ("CALL", call),
            ("ASKED", asking_thread),
            ("IMPORT", import),
        ];
        names.map(|(kind, name)| (kind, name.as_str())).into_iter()
    }
}

/// Starts a turn; gives its run and its thread.
pub(super) async fn start(api: &Api, owner: &str, body: &Value) -> (String, String) {
    let ask = Ask::post("/api/agent-chat", &body.to_string()).in_json();
    let (status, text) = send(api, Some(owner), &ask).await;
    assert_eq!(status, 202, "{text}");
    (field(&text, "runId"), field(&text, "threadId"))
}

/// The chunks of a run, when it has ended.
pub(super) async fn ended(api: &Api, owner: &str, run: &str) -> Vec<Value> {
    let (mut chunks, mut after) = (Vec::new(), String::new());
    for _ in 0..100 {
        let ask = Ask::get(&format!("/runs/{run}/events?wait=5{after}")).in_json();
        let (status, text) = send(api, Some(owner), &ask).await;
        assert_eq!(status, 200, "{text}");
        let page: Value = serde_json::from_str(&text).unwrap();
        chunks.extend(page["events"].as_array().unwrap().iter().map(|event| event["chunk"].clone()));
        if page["done"] == true {
            return chunks;
        }
        after = page["next"].as_u64().map(|next| format!("&after={next}")).unwrap_or_default();
    }
    panic!("{run} does not end");
}

fn field(text: &str, name: &str) -> String {
    let body: Value = serde_json::from_str(text).unwrap();
    body[name].as_str().unwrap_or_else(|| panic!("{text}")).to_owned()
}
