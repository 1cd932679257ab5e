//! `send-email`: through a mail server, and into a folder.

use std::path::Path;

use serde_json::{Value, json};
use tandem_actions::ActionError;
use tandem_catalog::Settings;

use crate::mail_server::{MailServer, Manner};
use crate::{Inbox, refusal};

fn mail() -> Value {
    json!({"to": "Ann Müller <ann@example.com>", "subject": "Grüße", "body": "Hello,\n\n.\nall is well."})
}

/// The mails in a folder.
fn mails(folder: &Path) -> Vec<String> {
    let files = std::fs::read_dir(folder).into_iter().flatten();
    files.map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap()).collect()
}

async fn with_server(manner: Manner) -> (MailServer, Inbox) {
    let server = MailServer::start(manner).await;
    let inbox = Inbox::with(&Settings { smtp_url: Some(server.url()), ..Settings::default() }).await;
    (server, inbox)
}

#[tokio::test]
async fn without_a_mail_server_mail_goes_into_a_folder_that_is_made() {
    let temp = tempfile::tempdir().unwrap();
    let folder = temp.path().join("not/yet");
    let settings =
        Settings { outbox_dir: folder.clone(), mail_from: "Inbox <in@b.example>".into(), ..Settings::default() };
    let inbox = Inbox::with(&settings).await;
    let sent = inbox.registry.call("send-email", mail(), inbox.tool("c1")).await.unwrap();
    assert_eq!((&sent["subject"], &sent["to"]), (&json!("Grüße"), &json!("Ann Müller <ann@example.com>")));
    // The stored outcome is told again, and no second mail is written.
    assert_eq!(inbox.registry.call("send-email", mail(), inbox.tool("c1")).await.unwrap(), sent);
    let mails = mails(&folder);
    let [text] = mails.as_slice() else { panic!("{mails:?}") };
    for line in [
        "From: Inbox <in@b.example>",
        &format!("Message-ID: {}", sent["messageId"].as_str().unwrap()),
        "Date: Wed, 03 Sep 2025 11:46:40 +0000",
        "Content-Type: text/plain; charset=utf-8",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
    assert!(sent["messageId"].as_str().unwrap().ends_with("@b.example>"));
}

#[tokio::test]
async fn a_folder_that_cannot_be_written_says_what_to_set() {
    let temp = tempfile::tempdir().unwrap();
    let file = temp.path().join("file");
    std::fs::write(&file, "").unwrap();
    let inbox = Inbox::with(&Settings { outbox_dir: file, ..Settings::default() }).await;
    let error = inbox.call("send-email", mail()).await.unwrap_err();
    assert_eq!(error.code(), "not_configured");
    assert!(error.to_string().contains("SMTP_URL"), "{error}");
}

#[tokio::test]
async fn a_mail_server_gets_the_mail_once() {
    let (server, inbox) = with_server(Manner::Accept).await;
    for _ in 0..2 {
        inbox.registry.call("send-email", mail(), inbox.tool("c1")).await.unwrap();
    }
    let mails = server.mails();
    assert_eq!(mails.len(), 1);
    assert!(mails[0].contains("ann@example.com"), "{}", mails[0]);
}

#[tokio::test]
async fn a_refusal_is_certain_and_a_broken_connection_is_not() {
    for (manner, code, taken) in
        [(Manner::Refuse, "mail_refused", 0), (Manner::Closed, "mail_unavailable", 0), (Manner::HangUp, "unknown", 1)]
    {
        let (server, inbox) = with_server(manner).await;
        for call in [inbox.tool("c1"), inbox.tool("c1")] {
            let error = inbox.registry.call("send-email", mail(), call).await.unwrap_err();
            assert_eq!(error.code(), code, "{manner:?} {error}");
            assert_eq!(matches!(error, ActionError::Unknown), manner == Manner::HangUp);
        }
        assert_eq!(server.mails().len(), taken, "{manner:?}");
    }
}

#[tokio::test]
async fn what_is_no_mail_is_refused_before_anything_is_sent() {
    let (server, inbox) = with_server(Manner::Accept).await;
    for (field, value, code) in [
        ("to", json!("nobody"), "invalid_input"),
        ("to", json!("a@b.example\r\nBcc: c@d.example"), "invalid_input"),
        ("subject", json!("a\r\nBcc: c@d.example"), "bad_subject"),
        ("subject", json!(""), "invalid_input"),
        ("body", json!(""), "invalid_input"),
    ] {
        let mut input = mail();
        input[field] = value;
        assert_eq!(refusal(inbox.call("send-email", input.clone()).await), code, "{input}");
    }
    assert_eq!(server.mails(), Vec::<String>::new());
}

#[tokio::test]
async fn the_agent_must_ask_before_it_sends_a_mail() {
    let inbox = Inbox::new().await;
    for (name, asks) in [("send-email", true), ("notify-webhook", false), ("email", false), ("list-emails", false)] {
        assert_eq!(inbox.registry.get(name).unwrap().needs_approval(&json!({})), asks, "{name}");
    }
}
