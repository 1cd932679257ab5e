//! Requests: what each provider is sent.

use tandem_model::{ToolResult, ToolUse};
use tandem_testkit::providers::Reply;

use super::*;

fn asked(text: &str) -> Message {
    Message::User { results: vec![], text: Some(text.into()) }
}

fn turn(reasoning: Vec<Value>, text: &str, calls: &[(&str, Value)]) -> Message {
    let calls = calls.iter().map(|(id, input)| ToolUse { id: (*id).into(), name: "look".into(), input: input.clone() });
    Message::Assistant { reasoning, text: text.into(), calls: calls.collect() }
}

fn results(results: &[(&str, &str, bool)], text: Option<&str>) -> Message {
    let result = |(id, output, is_error): &(&str, &str, bool)| ToolResult {
        id: (*id).into(),
        name: "look".into(),
        output: (*output).into(),
        is_error: *is_error,
    };
    Message::User { results: results.iter().map(result).collect(), text: text.map(str::to_owned) }
}

/// The bodies that the three providers get for `request`, in the order of [`MODELS`].
async fn bodies(request: Request) -> [Value; 3] {
    let server = FakeProvider::start();
    for (wire, model) in models(&server) {
        server.serve([Reply::new([text("ok"), finish(FinishReason::Stop)])]);
        let (_, error) = listen(&*model, request.clone()).await;
        assert_eq!(error, None, "{wire:?}");
    }
    let mut requests = server.requests().into_iter().map(|request| request.body);
    [(); 3].map(|()| requests.next().expect("a request on each wire"))
}

#[tokio::test]
async fn a_conversation_goes_out_in_each_providers_form() {
    // 40 characters: the longest id that every provider takes.
    let id = "call_0123456789abcdef_12_3-ABCDEFGHIJKLM";
    let mut request = request("Look for a and b.");
    request.messages.extend([
        turn(vec![], "I look.", &[(id, json!({"q": "a"})), ("call_2", json!({}))]),
        results(&[(id, "{\"found\":1}", false), ("call_2", "", true)], Some("And?")),
    ]);
    let [anthropic, openai, bedrock] = bodies(request).await;
    let schema = json!({"type": "object", "properties": {"q": {"type": "string"}}});
    let mark = json!({"type": "ephemeral"});
    assert_eq!(
        anthropic,
        json!({
            "model": "claude-sonnet-4-6",
            "max_tokens": 500,
            "stream": true,
            "system": [
                {"type": "text", "text": "You are kind."},
                {"type": "text", "text": "It is Sunday.", "cache_control": mark},
            ],
            "messages": [
                {"role": "user", "content": [{"type": "text", "text": "Look for a and b."}]},
                {"role": "assistant", "content": [
                    {"type": "text", "text": "I look."},
                    {"type": "tool_use", "id": id, "name": "look", "input": {"q": "a"}},
                    {"type": "tool_use", "id": "call_2", "name": "look", "input": {}},
                ]},
                {"role": "user", "content": [
                    {"type": "tool_result", "tool_use_id": id, "content": [{"type": "text", "text": "{\"found\":1}"}]},
                    {"type": "tool_result", "tool_use_id": "call_2", "is_error": true,
                     "content": [{"type": "text", "text": "(no output)"}]},
                    {"type": "text", "text": "And?", "cache_control": mark},
                ]},
            ],
            "tools": [{"name": "look", "description": "Looks.", "input_schema": schema, "eager_input_streaming": true,
                       "cache_control": mark}],
            "tool_choice": {"type": "auto"},
        })
    );
    assert_eq!(
        openai,
        json!({
            "model": "gpt-4.1",
            "max_tokens": 500,
            "stream": true,
            "stream_options": {"include_usage": true},
            "messages": [
                {"role": "system", "content": [{"type": "text", "text": "You are kind.\n\nIt is Sunday."}]},
                {"role": "user", "content": "Look for a and b."},
                {"role": "assistant", "content": "I look.", "tool_calls": [
                    {"id": id, "type": "function", "function": {"name": "look", "arguments": "{\"q\":\"a\"}"}},
                    {"id": "call_2", "type": "function", "function": {"name": "look", "arguments": "{}"}},
                ]},
                {"role": "tool", "tool_call_id": id, "content": "{\"found\":1}"},
                {"role": "tool", "tool_call_id": "call_2", "content": "(no output)"},
                {"role": "user", "content": "And?"},
            ],
            "tools": [{"type": "function", "function": {"name": "look", "description": "Looks.", "parameters": schema}}],
        })
    );
    assert_eq!(
        bedrock,
        json!({
            "inferenceConfig": {"maxTokens": 500},
            "system": [{"text": "You are kind."}, {"text": "It is Sunday."}],
            "messages": [
                {"role": "user", "content": [{"text": "Look for a and b."}]},
                {"role": "assistant", "content": [
                    {"text": "I look."},
                    {"toolUse": {"toolUseId": id, "name": "look", "input": {"q": "a"}}},
                    {"toolUse": {"toolUseId": "call_2", "name": "look", "input": {}}},
                ]},
                {"role": "user", "content": [
                    {"toolResult": {"toolUseId": id, "content": [{"text": "{\"found\":1}"}]}},
                    {"toolResult": {"toolUseId": "call_2", "content": [{"text": "(no output)"}], "status": "error"}},
                    {"text": "And?"},
                ]},
            ],
            "toolConfig": {"tools": [
                {"toolSpec": {"name": "look", "description": "Looks.", "inputSchema": {"json": schema}}},
            ]},
        })
    );
}

#[tokio::test]
async fn each_provider_gets_its_own_credentials_at_its_own_path() {
    let server = FakeProvider::start();
    for (_, model) in models(&server) {
        server.serve([Reply::new([text("ok"), finish(FinishReason::Stop)])]);
        listen(&*model, request("hi")).await;
    }
    let header = |at: usize, name: &str| {
        server.requests()[at].headers.get(name).map(|value| value.to_str().unwrap().to_owned()).unwrap_or_default()
    };
    let paths: Vec<_> = server.requests().into_iter().map(|request| (request.wire, request.path)).collect();
    let model = "eu.anthropic.claude-sonnet-4-5-20250929-v1%3A0";
    assert_eq!(
        paths,
        [
            (Wire::Anthropic, "/v1/messages".to_owned()),
            (Wire::OpenAi, "/v1/chat/completions".to_owned()),
            (Wire::Bedrock, format!("/model/{model}/converse-stream")),
        ]
    );
    assert_eq!((header(0, "x-api-key"), header(0, "authorization")), ("anthropic-test-key".into(), String::new()));
    assert_eq!((header(1, "x-api-key"), header(1, "authorization")), (String::new(), "Bearer openai-test-key".into()));
    assert!(header(2, "authorization").starts_with("AWS4-HMAC-SHA256 Credential=AKIDTEST/"));
}

#[tokio::test]
async fn a_model_that_takes_tools_only_without_reasoning_is_told_not_to_reason() {
    let server = FakeProvider::start();
    let mut environment = environment(&server);
    environment.insert("MODEL".into(), "openai/gpt-6-sol".into());
    let model = Models::from_env(|name| environment.get(name).cloned()).unwrap().get(None).unwrap();
    let mut bare = request("hi");
    bare.tools.clear();
    for request in [request("hi"), bare] {
        server.serve([Reply::new([text("ok"), finish(FinishReason::Stop)])]);
        assert_eq!(listen(&*model, request).await.1, None);
    }
    let sent = |at: usize, key: &str| server.requests()[at].body[key].clone();
    assert_eq!([sent(0, "reasoning_effort"), sent(1, "reasoning_effort")], [json!("none"), Value::Null]);
    assert_eq!((sent(0, "max_completion_tokens"), sent(0, "max_tokens")), (json!(500), Value::Null));
}

#[tokio::test]
async fn a_history_with_calls_is_legal_without_tools() {
    let mut request = request("Look.");
    request.messages.extend([
        turn(vec![], "", &[("call_1", json!({"q": "a"}))]),
        results(&[("call_1", "found", false)], Some("Sum it up.")),
    ]);
    request.tools.clear();
    for body in bodies(request).await {
        let sent = body.to_string();
        for block in ["tool_use", "toolUse", "tool_calls", "tool_result", "toolResult", "\"tool\"", "toolConfig"] {
            assert!(!sent.contains(block), "{block} in {sent}");
        }
        assert!(sent.contains("look") && sent.contains("found"), "{sent}");
    }
}

#[tokio::test]
async fn signed_reasoning_goes_back_byte_for_byte_and_only_to_its_model() {
    for signature in ["c2lnbmVkIA==", "ZXF1YWw="] {
        let server = FakeProvider::start();
        let models = models(&server);
        let mut kept = Vec::new();
        let script =
            [reasoning("Let me "), reasoning("see."), signed(signature), text("So."), finish(FinishReason::Stop)];
        for (_, model) in &models {
            server.serve([Reply::new(script.clone())]);
            let (events, _) = listen(&**model, request("hi")).await;
            kept.extend(events.into_iter().find_map(|event| match event {
                Event::ReasoningEnd { signed } => Some(signed),
                _ => None,
            }));
        }
        let [Some(anthropic), None, Some(bedrock)] = kept.as_slice() else { panic!("{kept:?}") };
        for (block, (wire, want)) in [
            (
                anthropic,
                (Wire::Anthropic, json!({"type": "thinking", "thinking": "Let me see.", "signature": signature})),
            ),
            (
                bedrock,
                (
                    Wire::Bedrock,
                    json!({"reasoningContent": {"reasoningText": {"text": "Let me see.", "signature": signature}}}),
                ),
            ),
        ] {
            // The AI SDK wants metadata to be objects by provider.
            assert!(block.as_object().unwrap().values().all(Value::is_object), "{block}");
            let mut again = request("hi");
            again.messages.extend([turn(vec![block.clone(), json!({"alien": 1})], "So.", &[]), asked("Go on.")]);
            for (other, model) in &models {
                server.serve([Reply::new([text("ok"), finish(FinishReason::Stop)])]);
                listen(&**model, again.clone()).await;
                let body = server.requests().pop().unwrap().body;
                let content =
                    &body["messages"].as_array().unwrap().iter().find(|m| m["role"] == "assistant").unwrap()["content"];
                if *other == wire {
                    assert_eq!(content[0], want, "{wire:?}");
                } else {
                    assert!(!body.to_string().contains(signature), "{other:?} got {wire:?}'s: {body}");
                    assert!(content.to_string().contains("So."), "{other:?}: {body}");
                }
            }
        }
    }
}

#[tokio::test]
async fn a_turn_of_reasoning_alone_leaves_no_empty_message() {
    let mut request = request("hi");
    request.messages.extend([turn(vec![json!({"alien": 1})], "So.", &[]), asked("Go on.")]);
    request.messages.extend([turn(vec![], "", &[("c", json!({}))]), results(&[("c", "1", false)], None)]);
    for body in bodies(request).await {
        for message in body["messages"].as_array().unwrap() {
            let content = &message["content"];
            let empty = content.as_array().is_some_and(Vec::is_empty) || content.as_str() == Some("");
            assert!(!empty, "{body}");
        }
    }
}

#[tokio::test]
async fn no_prompt_and_no_key_is_logged() {
    #[derive(Clone, Default)]
    struct Log(Arc<std::sync::Mutex<Vec<u8>>>);
    impl std::io::Write for Log {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::DEBUG)
        .with_span_events(tracing_subscriber::fmt::format::FmtSpan::FULL)
        .with_writer(move || writer.clone())
        .finish();
    let guard = tracing::subscriber::set_default(subscriber);
    let server = FakeProvider::start();
    for (_, model) in models(&server) {
        server.serve([
            Reply::new([text("my answer"), finish(FinishReason::Stop)]),
            Reply::problem(tandem_testkit::providers::Problem::Unauthorised),
            Reply::new([text("my answer")]).then(tandem_testkit::providers::Ending::Cut),
        ]);
        for _ in 0..3 {
            listen(&*model, request("my secret plan")).await;
        }
    }
    drop(guard);
    let log = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    assert!(log.len() > 1000, "the log was read: {log}");
    for secret in
        ["secret plan", "my answer", "You are kind", "anthropic-test-key", "openai-test-key", "aws-test-secret"]
    {
        let line = log.lines().find(|line| line.contains(secret));
        assert_eq!(line, None, "{secret}");
    }
}
