//! The draft of a reply, which people and the agent write together.

use serde_json::{Value, json};
use tandem_actions::Scope;
use tandem_store::{Attached, Author};

use crate::{Inbox, refusal};

/// A person types, as the state endpoint stores it.
async fn typed(inbox: &Inbox, value: Value) -> u64 {
    let call = inbox.by("acme", "");
    let by = Author { user: call.principal.user.clone(), caller: call.caller, run_id: None };
    let mut unit = inbox.store.unit(&call.principal, by);
    unit.put(&Scope::app("inbox"), "drafts/e-1", &value).await.unwrap();
    unit.commit(&Attached::default()).await.unwrap();
    drafted(inbox).await["rev"].as_u64().unwrap()
}

async fn drafted(inbox: &Inbox) -> Value {
    inbox.call("read-email", json!({"emailId": "e-1"})).await.unwrap()["draft"].clone()
}

async fn draft(inbox: &Inbox, text: &str, if_rev: u64) -> Result<Value, tandem_actions::ActionError> {
    inbox.call("draft-reply", json!({"emailId": "e-1", "text": text, "ifRev": if_rev})).await
}

#[tokio::test]
async fn a_draft_is_written_over_the_revision_that_was_read_and_never_over_other_words() {
    let inbox = Inbox::new().await;
    assert_eq!(drafted(&inbox).await, Value::Null);
    assert_eq!(draft(&inbox, "Dear Maya", 0).await.unwrap(), json!({"emailId": "e-1", "replaced": false}));
    let first = drafted(&inbox).await;
    assert_eq!((&first["text"], &first["by"], &first["sending"]), (&"Dear Maya".into(), &"ann".into(), &false.into()));
    let read = first["rev"].as_u64().unwrap();

    let theirs = typed(&inbox, json!({"text": "Dear Maya, \"the 15th\" works."})).await;
    for stale in [0, read] {
        let refused = draft(&inbox, "Dear Maya, no.", stale).await.unwrap_err();
        assert_eq!(refused.code(), "draft_changed");
        assert!(refused.to_string().contains("Read the email again"), "the way out is named: {refused}");
        assert_eq!(drafted(&inbox).await["text"], "Dear Maya, \"the 15th\" works.");
    }
    let merged = "Dear Maya, \"the 15th\" works. Thanks!";
    assert_eq!(draft(&inbox, merged, theirs).await.unwrap()["replaced"], true);
    assert_eq!(drafted(&inbox).await["text"], merged);
}

#[tokio::test]
async fn a_draft_that_is_gone_being_sent_too_long_or_of_no_email_is_left_alone() {
    let inbox = Inbox::new().await;
    assert_eq!(refusal(draft(&inbox, "Hi", 7).await), "draft_gone");
    assert_eq!(refusal(draft(&inbox, "  ", 0).await), "empty_reply");
    let unknown = inbox.call("draft-reply", json!({"emailId": "e-99", "text": "Hi"})).await;
    assert_eq!(refusal(unknown), "no_such_email");
    for (value, code) in [
        (json!({"text": "Hi", "sending": true}), "draft_sent"),
        (json!({"text": "ü".repeat(20_001)}), "draft_too_long"),
        (json!(["anything", "at all"]), "draft_changed"),
    ] {
        let rev = typed(&inbox, value).await;
        let wanted = if code == "draft_changed" { rev - 1 } else { rev };
        assert_eq!(refusal(draft(&inbox, "Hello", wanted).await), code);
    }
}

#[tokio::test]
async fn a_reply_that_is_sent_as_it_was_drafted_leaves_no_draft_behind_and_another_text_does() {
    let inbox = Inbox::new().await;
    draft(&inbox, "Yes, gladly.", 0).await.unwrap();
    inbox.call("email", json!({"emailId": "e-1", "body": "No."})).await.unwrap();
    assert_eq!(drafted(&inbox).await["text"], "Yes, gladly.");
    inbox.call("email", json!({"emailId": "e-1", "body": "Yes, gladly."})).await.unwrap();
    assert_eq!(drafted(&inbox).await, Value::Null);
}

#[tokio::test]
async fn the_revision_of_a_draft_comes_last_so_that_a_cut_result_has_none() {
    let inbox = Inbox::new().await;
    draft(&inbox, "Hi", 0).await.unwrap();
    let read = inbox.call("read-email", json!({"emailId": "e-1"})).await.unwrap().to_string();
    let (text, rev) = (read.find(r#""text":"Hi""#).unwrap(), read.rfind(r#""rev":"#).unwrap());
    assert!(text < rev && read[rev..].len() < 20, "{read}");
}
