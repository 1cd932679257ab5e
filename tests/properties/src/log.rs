//! Logs: a chunk for each line, as the store and the stream have them.

use tandem_protocol::{Chunk, Transcript};

/// Whatever can be read can be written and read again, and folded, whole and in pieces.
pub(crate) fn check(bytes: &[u8]) {
    let mut log = Vec::new();
    for line in bytes.split(|byte| *byte == b'\n') {
        let line = line.strip_prefix(b"data: ").unwrap_or(line);
        let Ok(chunk) = serde_json::from_slice::<Chunk>(line) else { continue };
        let written = serde_json::to_string(&chunk).unwrap();
        assert!(!written.contains(['\n', '\r']), "{written:?}");
        assert_eq!(serde_json::from_str::<Chunk>(&written).unwrap(), chunk);
        log.push(chunk);
    }
    let whole = Transcript::fold(&log);
    let mut pieces = Transcript::fold(&log[..log.len() / 2]);
    log[log.len() / 2..].iter().for_each(|chunk| pieces.apply(chunk));
    assert_eq!(pieces, whole);
    let parts = whole.ui_parts();
    assert!(serde_json::to_string(&parts).is_ok());
    let mut closed = whole.clone();
    whole.closing().iter().for_each(|chunk| closed.apply(chunk));
    assert_eq!(closed.closing(), []);
}

pub(crate) fn samples() -> Vec<Vec<u8>> {
    const TURN: &str = concat!(
        r#"{"type":"start","messageId":"msg_1"}"#,
        "\n",
        r#"{"type":"data-attempt","data":{"attempt":1,"holder":"background","reason":"claimed"},"transient":true}"#,
        "\n",
        r#"{"type":"start-step"}"#,
        "\n",
        r#"{"type":"reasoning-start","id":"p1"}"#,
        "\n",
        r#"{"type":"reasoning-delta","id":"p1","delta":"hm"}"#,
        "\n",
        r#"{"type":"reasoning-end","id":"p1"}"#,
        "\n",
        r#"{"type":"text-start","id":"p2"}"#,
        "\n",
        r#"{"type":"text-delta","id":"p2","delta":"H\u00e9llo\n"}"#,
        "\n",
        r#"{"type":"text-end","id":"p2"}"#,
        "\n",
        r#"{"type":"tool-input-start","toolCallId":"call_1","toolName":"list-emails"}"#,
        "\n",
        r#"{"type":"tool-input-delta","toolCallId":"call_1","inputTextDelta":"{\"li"}"#,
        "\n",
        r#"{"type":"tool-input-available","toolCallId":"call_1","toolName":"list-emails","input":{"limit":1}}"#,
        "\n",
        r#"{"type":"tool-approval-request","approvalId":"call_1","toolCallId":"call_1"}"#,
        "\n",
        r#"{"type":"tool-output-available","toolCallId":"call_1","output":{"items":[]}}"#,
        "\n",
        r#"{"type":"finish-step"}"#,
        "\n",
        r#"{"type":"finish","finishReason":"stop"}"#,
    );
    // Found by the fuzzer: parts of two kinds, and of one, under the same name.
    const SAME_NAME: &str = concat!(
        r#"{"type":"start-step"}"#,
        "\n",
        r#"{"type":"reasoning-start","id":"p"}"#,
        "\n",
        r#"{"type":"text-start","id":"p"}"#,
        "\n",
        r#"{"type":"text-start","id":"p"}"#,
        "\n",
        r#"{"type":"text-end","id":"p"}"#,
    );
    let events: Vec<String> = TURN.lines().map(|line| format!("data: {line}\n")).collect();
    vec![SAME_NAME.into(), TURN.into(), events.join("\n").into_bytes(), b"{\"type\":\"abort\"}".to_vec()]
}
