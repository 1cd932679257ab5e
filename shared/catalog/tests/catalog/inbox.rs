//! The emails of the inbox and what is done to them.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tandem_actions::Call;
use tandem_protocol::ProgressData;

use crate::{Inbox, ids, refusal};

#[tokio::test]
async fn an_untouched_inbox_shows_the_samples_and_keeps_them_when_it_is_changed() {
    let inbox = Inbox::new().await;
    assert_eq!(inbox.ids(json!({})).await, ids(1..=8));
    assert_eq!(inbox.ids(json!({"limit": 3})).await, ids(1..=8));
    assert_eq!(inbox.ids(json!({"label": "customers", "limit": 1})).await, ids([1, 3, 5, 8]));
    let before = inbox.call("read-email", json!({"emailId": "e-3"})).await.unwrap();
    assert_eq!(before["subject"], "Order 4471 arrived incomplete");
    let archived = inbox.call("archive-email", json!({"emailId": "e-2"})).await.unwrap();
    assert_eq!((&archived["emailId"], &archived["changed"]), (&json!("e-2"), &json!(true)));
    assert_eq!(inbox.call("archive-email", json!({"emailId": "e-2"})).await.unwrap()["changed"], false);
    assert_eq!(inbox.ids(json!({"limit": 2})).await, ids([1, 3, 4, 5, 6, 7, 8]));
    assert_eq!(inbox.ids(json!({"archived": true})).await, ids([2]));
    assert_eq!(inbox.call("read-email", json!({"emailId": "e-3"})).await.unwrap(), before);
}

#[tokio::test]
async fn an_email_is_put_back_and_marked_as_often_as_somebody_likes() {
    let inbox = Inbox::new().await;
    inbox.call("archive-email", json!({"emailId": "e-2"})).await.unwrap();
    for changed in [true, false] {
        let back = inbox.call("unarchive-email", json!({"emailId": "e-2"})).await.unwrap();
        assert_eq!((&back["emailId"], &back["changed"]), (&json!("e-2"), &json!(changed)));
        assert_eq!(inbox.ids(json!({})).await, ids(1..=8));
    }
    let unread = inbox.ids(json!({"unread": true})).await;
    for (mark, changed) in [(true, false), (false, true), (false, false), (true, true)] {
        let input = json!({"emailId": unread[0], "unread": mark});
        let marked = inbox.call("mark-email", input).await.unwrap();
        assert_eq!((&marked["unread"], &marked["changed"]), (&json!(mark), &json!(changed)));
        assert_eq!(inbox.ids(json!({"unread": true})).await.contains(&unread[0]), mark);
    }
    assert_eq!(inbox.ids(json!({"unread": true})).await, unread);
}

#[tokio::test]
async fn a_reply_is_sent_once_and_shown_with_its_email() {
    let inbox = Inbox::new().await;
    let input = json!({"emailId": "e-1", "body": "Yes, the **15th** works."});
    let sent = inbox.registry.call("email", input.clone(), inbox.tool("c1")).await.unwrap();
    assert_eq!(sent["subject"], "Re: Pilot at Northwind: can we start on the 15th?");
    assert_eq!(inbox.registry.call("email", input.clone(), inbox.tool("c1")).await.unwrap(), sent);
    let read = inbox.call("read-email", json!({"emailId": "e-1"})).await.unwrap();
    assert_eq!(read["replies"], json!([sent]));
    assert_eq!((&read["answered"], &read["unread"]), (&json!(true), &json!(false)));
    let again = inbox.registry.call("email", input, inbox.tool("c2")).await.unwrap();
    assert_ne!(again["id"], sent["id"]);
}

#[tokio::test]
async fn refusals_say_what_is_wrong() {
    let inbox = Inbox::new().await;
    for (name, input, code) in [
        ("read-email", json!({"emailId": "e-9"}), "no_such_email"),
        ("archive-email", json!({"emailId": "e-9"}), "no_such_email"),
        ("unarchive-email", json!({"emailId": "e-9"}), "no_such_email"),
        ("mark-email", json!({"emailId": "e-9", "unread": true}), "no_such_email"),
        ("mark-email", json!({"emailId": "e-1"}), "invalid_input"),
        ("read-email", json!({"emailId": "9"}), "invalid_input"),
        ("read-email", json!({"emailId": "e-1", "x": 1}), "invalid_input"),
        ("read-email", Value::Null, "invalid_input"),
        ("email", json!({"emailId": "e-1", "body": ""}), "invalid_input"),
        ("email", json!({"emailId": "e-1", "body": " \n"}), "empty_reply"),
        ("list-emails", json!({"limit": 101}), "invalid_input"),
        ("import-emails", json!({"count": 0}), "invalid_input"),
        ("import-emails", json!({"mbox": "hello"}), "no_mail"),
        ("import-email", json!({}), "not_found"),
    ] {
        assert_eq!(refusal(inbox.call(name, input.clone()).await), code, "{name} {input}");
    }
    // Nothing of it has touched the inbox.
    let untouched = inbox.call("import-emails", json!({"count": 1})).await.unwrap();
    assert_eq!(untouched, json!({"imported": 1, "firstId": "e-9", "lastId": "e-9"}));
}

#[tokio::test]
async fn another_tenant_sees_nothing_of_it() {
    let inbox = Inbox::new().await;
    inbox.call("archive-email", json!({"emailId": "e-1"})).await.unwrap();
    inbox.call("email", json!({"emailId": "e-2", "body": "secret"})).await.unwrap();
    inbox.call("import-emails", json!({"count": 5})).await.unwrap();
    let theirs = inbox.registry.call("list-emails", json!({}), inbox.by("other", "k")).await.unwrap();
    assert_eq!(theirs["emails"].as_array().unwrap().len(), 8);
    let theirs = inbox.registry.call("read-email", json!({"emailId": "e-2"}), inbox.by("other", "k")).await.unwrap();
    assert_eq!((&theirs["replies"], &theirs["answered"]), (&json!([]), &json!(false)));
}

#[tokio::test]
async fn an_import_that_is_killed_anywhere_ends_with_the_exact_count() {
    let inbox = Inbox::new().await;
    let input = json!({"count": 200, "delayMs": 1});
    let (mut kills, mut progress) = (0_u64, Vec::new());
    let done = loop {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let sink = Arc::clone(&seen);
        let report = move |data: ProgressData| sink.lock().unwrap().push(data.done);
        let call = Call { progress: Some(Arc::new(report)), ..inbox.tool("c1") };
        // Drops the future after a while, as a process that dies does; each time a little later.
        let life = Duration::from_millis(10 + 7 * kills);
        let ended = tokio::time::timeout(life, inbox.registry.call("import-emails", input.clone(), call)).await;
        progress.extend(seen.lock().unwrap().iter().copied());
        match ended {
            Ok(result) => break result.unwrap(),
            Err(_) => kills += 1,
        }
    };
    println!("killed {kills} times, {progress:?}");
    assert!(kills >= 2);
    assert_eq!(done, json!({"imported": 200, "firstId": "e-9", "lastId": "e-208"}));
    assert_eq!(inbox.ids(json!({"limit": 100})).await, ids(1..=208));
    // It went on where it had stopped, and never back to the start.
    assert!(progress.is_sorted());
    assert_eq!(progress.last(), Some(&200));
    // Called again, it gives the stored outcome and imports nothing.
    assert_eq!(inbox.registry.call("import-emails", input, inbox.tool("c1")).await.unwrap(), done);
    assert_eq!(inbox.ids(json!({"limit": 100})).await.len(), 208);
}

#[tokio::test]
async fn a_large_import_into_an_untouched_inbox_fits_into_its_commits() {
    let inbox = Inbox::new().await;
    let done = inbox.registry.call("import-emails", json!({"count": 1700}), inbox.tool("c1")).await.unwrap();
    assert_eq!(done, json!({"imported": 1700, "firstId": "e-9", "lastId": "e-1708"}));
    assert_eq!(inbox.ids(json!({"limit": 100})).await, ids(1..=1708));
}

#[tokio::test]
async fn imports_and_changes_beside_each_other_keep_everything() {
    let inbox = Inbox::new().await;
    let import = |key: &'static str| inbox.registry.call("import-emails", json!({"count": 60}), inbox.by("acme", key));
    let changes = async {
        for n in 1..=8 {
            inbox.call("archive-email", json!({"emailId": format!("e-{n}")})).await.unwrap();
        }
    };
    let (a, b, ()) = tokio::join!(import("a"), import("b"), changes);
    assert_eq!((&a.unwrap()["imported"], &b.unwrap()["imported"]), (&json!(60), &json!(60)));
    assert_eq!(inbox.ids(json!({})).await, ids(9..=128));
    assert_eq!(inbox.ids(json!({"archived": true})).await, ids(1..=8));
}

#[tokio::test]
async fn two_holders_of_one_import_import_it_once() {
    let inbox = Inbox::new().await;
    let import = || inbox.registry.call("import-emails", json!({"count": 100}), inbox.tool("c1"));
    let (a, b) = tokio::join!(import(), import());
    assert_eq!(a.unwrap(), b.unwrap());
    assert_eq!(inbox.ids(json!({"limit": 100})).await, ids(1..=108));
}

#[tokio::test]
async fn a_real_mbox_is_imported_in_slices_that_fit() {
    let inbox = Inbox::new().await;
    let mail = |n: usize| {
        let body = "A line of text that fills the mail, with \"quotes\" and ümlauts.\n".repeat(300);
        format!("From x Mon Sep  1 08:12:00 2025\nFrom: Ann <ann@example.com>\nSubject: Mail {n}\n\n{body}\n")
    };
    let mbox: String = (0..60).map(mail).collect();
    let done = inbox.call("import-emails", json!({"mbox": mbox})).await.unwrap();
    assert_eq!(done["imported"], 60);
    assert_eq!(inbox.ids(json!({})).await, ids(1..=68));
    let last = inbox.call("read-email", json!({"emailId": "e-68"})).await.unwrap();
    assert_eq!(last["subject"], "Mail 59");
    let few = inbox.call("import-emails", json!({"mbox": mbox, "count": 2})).await.unwrap();
    assert_eq!(few, json!({"imported": 2, "firstId": "e-69", "lastId": "e-70"}));
}
