//! What the agent remembers, what the person sees, and where the agent takes them.

use serde_json::{Value, json};
use tandem_actions::{Call, Scope, Store};
use tandem_protocol::{Caller, UserId};
use tandem_store::{Attached, Author, Commit};

use crate::{Inbox, refusal};

/// A call by another person of the same tenant.
fn by_bob(inbox: &Inbox) -> Call {
    let mut call = inbox.by("acme", "bob");
    call.principal.user = UserId::new("bob").unwrap();
    call
}

/// A person's window writes a document.
async fn write(store: &Store, call: &Call, scope: Scope, key: &str, value: Value) {
    let by = Author { user: call.principal.user.clone(), caller: Caller::Http, run_id: None };
    let mut unit = store.unit(&call.principal, by);
    unit.put(&scope, key, &value).await.unwrap();
    assert!(matches!(unit.commit(&Attached::default()).await.unwrap(), Commit::Committed(_)));
}

fn names(recalled: &Value) -> Vec<&str> {
    recalled["memories"].as_array().unwrap().iter().map(|memory| memory["name"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn what_is_remembered_is_found_replaced_and_forgotten() {
    let inbox = Inbox::new().await;
    let remember = json!({"name": "tone", "text": "Ann writes short replies."});
    let first = inbox.registry.call("remember", remember.clone(), inbox.tool("c1")).await.unwrap();
    assert_eq!(first, json!({"name": "tone", "scope": "user", "replaced": false}));
    // A repeated call is the same call.
    assert_eq!(inbox.registry.call("remember", remember, inbox.tool("c1")).await.unwrap(), first);
    let again = json!({"name": "tone", "text": "Ann writes long replies."});
    assert_eq!(inbox.call("remember", again).await.unwrap()["replaced"], true);
    let team = json!({"name": "address", "text": "The office is in Rome.", "scope": "tenant"});
    inbox.call("remember", team).await.unwrap();

    let all = inbox.call("recall", json!({})).await.unwrap();
    assert_eq!((names(&all), &all["more"]), (vec!["tone", "address"], &json!(false)));
    assert_eq!(all["memories"][0]["text"], "Ann writes long replies.");
    assert_eq!((&all["memories"][0]["by"], &all["memories"][1]["scope"]), (&json!("ann"), &json!("tenant")));
    for (input, want, more) in [
        (json!({"query": "LONG ann"}), vec!["tone"], false),
        (json!({"query": "address"}), vec!["address"], false),
        (json!({"query": "paris"}), vec![], false),
        (json!({"scope": "tenant"}), vec!["address"], false),
        (json!({"limit": 1}), vec!["tone"], true),
    ] {
        let found = inbox.call("recall", input.clone()).await.unwrap();
        assert_eq!((names(&found), found["more"] == true), (want, more), "{input}");
    }
    let theirs = inbox.registry.call("recall", json!({}), by_bob(&inbox)).await.unwrap();
    assert_eq!(names(&theirs), ["address"]);
    let foreign = inbox.registry.call("recall", json!({}), inbox.by("other", "k")).await.unwrap();
    assert_eq!(names(&foreign), Vec::<&str>::new());

    let forgotten = inbox.registry.call("forget", json!({"name": "tone"}), by_bob(&inbox)).await.unwrap();
    assert_eq!(forgotten["forgotten"], false);
    assert_eq!(inbox.call("forget", json!({"name": "tone"})).await.unwrap()["forgotten"], true);
    assert_eq!(names(&inbox.call("recall", json!({})).await.unwrap()), ["address"]);
    for (name, input, code) in [
        ("remember", json!({"name": "a/b", "text": "x"}), "invalid_input"),
        ("remember", json!({"name": "a", "text": " "}), "empty_memory"),
        ("remember", json!({"name": "a", "text": "x", "scope": "thread:1"}), "invalid_input"),
        ("forget", json!({"name": ""}), "invalid_input"),
    ] {
        assert_eq!(refusal(inbox.call(name, input.clone()).await), code, "{name} {input}");
    }
}

#[tokio::test]
async fn people_write_memories_too_and_long_ones_leave_room_for_others() {
    let inbox = Inbox::new().await;
    let ann = inbox.by("acme", "k");
    write(&inbox.store, &ann, Scope::User, "memory/a", json!("plain")).await;
    for n in 0..12 {
        let text = json!({"text": "ü".repeat(9000)});
        write(&inbox.store, &ann, Scope::Tenant, &format!("memory/long-{n}"), text).await;
    }
    let all = inbox.call("recall", json!({"limit": 100})).await.unwrap();
    assert_eq!((&all["memories"][0]["text"], &all["more"]), (&json!("plain"), &json!(true)));
    assert!(names(&all).len() > 3 && all.to_string().len() < 100_000, "{:?}", names(&all));
}

#[tokio::test]
async fn the_screen_is_what_the_persons_own_window_says() {
    let inbox = Inbox::new().await;
    let nothing = json!({"known": false, "view": null});
    assert_eq!(inbox.call("view-screen", json!({})).await.unwrap(), nothing);
    let view = json!({"view": "email", "emailId": "e-3", "selected": ["e-3"]});
    write(&inbox.store, &inbox.by("acme", "k"), Scope::User, "view", view.clone()).await;
    assert_eq!(inbox.call("view-screen", json!({})).await.unwrap(), json!({"known": true, "view": view}));
    assert_eq!(inbox.registry.call("view-screen", json!({}), by_bob(&inbox)).await.unwrap(), nothing);
    let long = json!("x".repeat(33 * 1024));
    write(&inbox.store, &inbox.by("acme", "k"), Scope::User, "view", long).await;
    assert_eq!(refusal(inbox.call("view-screen", json!({})).await), "view_too_long");
}

#[tokio::test]
async fn a_window_is_told_once_where_to_go() {
    let inbox = Inbox::new().await;
    let to = json!({"view": "email", "emailId": "e-3"});
    let done = inbox.registry.call("navigate", to.clone(), inbox.tool("c1")).await.unwrap();
    assert_eq!(inbox.registry.call("navigate", to.clone(), inbox.tool("c1")).await.unwrap(), done);
    let ann = inbox.by("acme", "k");
    let by = Author { user: ann.principal.user.clone(), caller: Caller::Http, run_id: None };
    let mut unit = inbox.store.unit(&ann.principal, by);
    let command = unit.get(&Scope::User, "navigate").await.unwrap().unwrap();
    // The repeated call has written nothing.
    assert_eq!(command.rev, 1);
    assert_eq!(command.value, json!({"id": done["id"], "at": crate::STARTED_AT, "to": to, "taken": false}));
    for (input, code) in [
        (json!({"view": "email"}), "bad_place"),
        (json!({"view": "search", "query": " "}), "bad_place"),
        (json!({"view": "inbox", "query": "x"}), "bad_place"),
        (json!({"view": "memory", "label": "x"}), "bad_place"),
        (json!({"view": "inbox", "emailId": "e-1"}), "bad_place"),
        (json!({"view": "email", "emailId": "e-99"}), "no_such_email"),
        (json!({"view": "elsewhere"}), "invalid_input"),
    ] {
        assert_eq!(refusal(inbox.call("navigate", input.clone()).await), code, "{input}");
    }
    for input in [json!({"view": "archive", "label": "vip"}), json!({"view": "search", "query": "rome"})] {
        assert_eq!(inbox.call("navigate", input.clone()).await.unwrap()["to"], input);
    }
}
