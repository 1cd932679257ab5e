use super::*;
use serde_json::json;

fn faults(body: &str) -> Vec<String> {
    match AgentChat::parse(body.as_bytes()) {
        Ok(chat) => panic!("accepted: {chat:?}"),
        Err(problem) => problem.errors.into_iter().map(|fault| fault.pointer).collect(),
    }
}

#[test]
fn bad_bodies_name_the_place_of_every_fault() {
    for (body, want) in [
        ("", vec![""]),
        ("{", vec![""]),
        ("[]", vec![""]),
        (r#"["x", null, null, null, null, null, null, null, null]"#, vec![""]),
        ("{}", vec!["/message"]),
        (r#"{"message": "  \n\t"}"#, vec!["/message"]),
        (r#"{"message": "\ud800"}"#, vec![""]),
        (r#"{"message": "a\u0000b"}"#, vec!["/message"]),
        (r#"{"message": 7}"#, vec!["/message"]),
        (r#"{"message": "x", "messages": []}"#, vec!["/messages"]),
        (r#"{"message": " ", "threadId": "a b", "turnId": 1, "model": 2}"#, vec!["/threadId", "/turnId", "/message"]),
        (r#"{"message": "x", "whenBusy": "later"}"#, vec!["/whenBusy"]),
        (r#"{"message": "x", "id": "t"}"#, vec!["/id"]),
        (r#"{"message": "x", "edit": "yes"}"#, vec!["/edit"]),
        (r#"{"message": "x", "edit": true, "turnId": "m"}"#, vec!["/edit"]),
        (r#"{"message": "x", "edit": true, "threadId": "t"}"#, vec!["/edit"]),
        (r#"{"message": "x", "treadId": "t", "turnid": "m"}"#, vec!["/treadId", "/turnid"]),
        (r#"{"mesage": "x"}"#, vec!["/mesage", "/message"]),
        (r#"{"message": {"id": "m1", "parts": [{"type": "text", "text": "x"}]}, "turnId": "m2"}"#, vec!["/turnId"]),
        (r#"{"message": {"parts": [{"type": "file", "url": "data:"}]}}"#, vec!["/message/parts/0"]),
        (
            r#"{"id": "t", "messages": [{"role": "user", "id": "m", "parts": [
                {"type": "text", "text": "look"}, {"type": "file", "mediaType": "image/png", "url": "data:"}]}]}"#,
            vec!["/messages/0/parts/1"],
        ),
        (r#"{"messages": [{"role": "user", "id": "m", "parts": [{"type": "text", "text": "x"}]}]}"#, vec!["/id"]),
        (r#"{"id": "t", "messages": []}"#, vec!["/messages"]),
        (
            r#"{"id": "t", "messages": [{"role": "assistant", "parts": [{"state": "approval-responded",
                "approval": {"id": "call_1", "approved": true}}]}]}"#,
            vec!["/messages/0/id"],
        ),
        (r#"{"id": "t", "messages": 3}"#, vec!["/messages"]),
        (r#"{"id": "t", "trigger": "x", "messages": []}"#, vec!["/trigger"]),
    ] {
        assert_eq!(faults(body), want, "{body}");
    }
}

#[test]
fn a_long_message_is_too_large() {
    let body = json!({"message": "x".repeat(MAX_MESSAGE_BYTES + 1)}).to_string();
    assert_eq!(AgentChat::parse(body.as_bytes()).unwrap_err().code, Code::TooLarge);
}

#[test]
fn both_forms_are_read() {
    let native = AgentChat::parse(br#"{"message": "hi", "threadId": "t", "turnId": "m"}"#).unwrap();
    let want = AgentChat {
        thread: ThreadChoice::Existing(ThreadId::new("t").unwrap()),
        text: "hi".into(),
        turn: Some(TurnId::new("m").unwrap()),
        trigger: Trigger::Submit,
        model: None,
        interrupts: false,
    };
    assert_eq!(native, want);
    let interrupts = AgentChat::parse(br#"{"message": "hi", "threadId": "t", "turnId": "m", "whenBusy": "interrupt"}"#);
    assert_eq!(interrupts.unwrap(), AgentChat { interrupts: true, ..want.clone() });
    let edit = AgentChat::parse(br#"{"message": "hi", "threadId": "t", "turnId": "m", "edit": true}"#).unwrap();
    assert_eq!(edit, AgentChat { trigger: Trigger::Edit { must_exist: true }, ..want.clone() });
    let body = json!({"id": "t", "trigger": "regenerate-message", "messageId": "msg_1", "messages": [
        {"id": "m", "role": "user", "parts": [{"type": "text", "text": "hi"}]},
    ]});
    let sdk = AgentChat::parse(body.to_string().as_bytes()).unwrap();
    let replaces = Some(MessageId::new("msg_1").unwrap());
    let trigger = Trigger::Regenerate { replaces };
    assert_eq!(sdk, AgentChat { thread: ThreadChoice::Named(ThreadId::new("t").unwrap()), trigger, ..want });
}

#[test]
fn the_ai_sdk_says_with_two_fields_what_it_wants() {
    for (trigger, message, want) in [
        ("submit-message", json!(null), Trigger::Submit),
        ("submit-message", json!("m"), Trigger::Edit { must_exist: false }),
        ("regenerate-message", json!(null), Trigger::Regenerate { replaces: None }),
        ("regenerate-message", json!("m"), Trigger::Regenerate { replaces: None }),
        (
            "regenerate-message",
            json!("msg_1"),
            Trigger::Regenerate { replaces: Some(MessageId::new("msg_1").unwrap()) },
        ),
    ] {
        let body = json!({"id": "t", "trigger": trigger, "messageId": message, "messages": [
            {"id": "m", "role": "user", "parts": [{"type": "text", "text": "hi"}]},
        ]});
        assert_eq!(AgentChat::parse(body.to_string().as_bytes()).unwrap().trigger, want, "{trigger} {message}");
    }
}
