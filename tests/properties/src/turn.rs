//! The body of a turn, in its native form and in the AI SDK's.

use tandem_protocol::AgentChat;

/// Whatever is accepted has a text that can be stored and ids that cannot forge a key; whatever is not says where.
pub(crate) fn check(bytes: &[u8]) {
    match AgentChat::parse(bytes) {
        Ok(chat) => {
            assert!(chat.text.len() <= tandem_protocol::MAX_MESSAGE_BYTES && !chat.text.contains('\0'));
            if let Some(turn) = &chat.turn {
                assert!(!turn.as_str().is_empty() && !turn.as_str().contains(['#', '/', ' ']), "{turn}");
            }
        }
        Err(problem) => {
            assert!((400..500).contains(&problem.status) && !problem.errors.is_empty(), "{problem:?}");
        }
    }
}

pub(crate) fn samples() -> Vec<Vec<u8>> {
    crate::text_samples(&[
        r#"{"message": "What is new?", "threadId": "t-1", "turnId": "m1", "model": "scripted", "whenBusy": "interrupt"}"#,
        r#"{"id": "t", "trigger": "submit-message", "messageId": "m2", "messages": [
            {"id": "m1", "role": "user", "parts": [{"type": "text", "text": "a"}, {"type": "data-x", "data": 1}]},
            {"id": "msg_1", "role": "assistant", "parts": []}, {"id": "m2", "role": "user", "parts": [{"type": "text", "text": "é\n"}]}]}"#,
        r#"{"id": "t", "messages": [{"id": "msg_1", "role": "assistant", "parts": [{"type": "tool-x", "state":
            "approval-responded", "approval": {"id": "call_1", "approved": true, "reason": "why not"}}]}]}"#,
        r#"{"id": "t", "trigger": "regenerate-message", "messageId": "msg_1", "messages": [{"id": "m", "role": "user", "parts": [{"type": "text", "text": "a"}]}]}"#,
    ])
}
