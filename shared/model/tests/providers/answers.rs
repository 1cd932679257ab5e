//! Answers: the same on every wire.

use serde_json::json;
use tandem_model::Scripted;
use tandem_testkit::providers::Reply;

use super::*;

/// What must be told of a reply: the calls end last, and a wire without signatures keeps none.
fn told(events: &[Event], wire: Wire) -> Vec<Event> {
    let mut told: Vec<_> = events.iter().filter(|event| !matches!(event, Event::CallEnd { .. })).cloned().collect();
    for event in &mut told {
        if let (Event::ReasoningEnd { signed }, Wire::OpenAi) = (event, wire) {
            *signed = None;
        }
    }
    let ends = events.iter().filter(|event| matches!(event, Event::CallEnd { .. })).cloned();
    let last = told.pop();
    told.into_iter().chain(ends).chain(last).collect()
}

/// A model's events with the bare signature in place of what it gives to keep.
fn heard(events: Vec<Event>) -> Vec<Event> {
    let bare = |event| match event {
        Event::ReasoningEnd { signed: Some(kept) } => Event::ReasoningEnd { signed: Some(signature(&kept)) },
        event => event,
    };
    events.into_iter().map(bare).collect()
}

async fn check(script: Vec<Event>, piece: Option<usize>) {
    let server = FakeProvider::start();
    for (wire, model) in models(&server) {
        let reply = Reply::new(script.clone());
        server.serve([piece.map_or(reply.clone(), |bytes| reply.in_pieces(bytes))]);
        let (events, error) = listen(&*model, request("hi")).await;
        assert_eq!((heard(events), error), (told(&script, wire), None), "{wire:?} in pieces of {piece:?}");
    }
}

#[tokio::test]
async fn a_turn_is_told_the_same_by_every_provider() {
    let scripts = [
        vec![text("Hello"), text(" there."), finish(FinishReason::Stop)],
        vec![
            reasoning("Let me "),
            reasoning("see."),
            signed("c2lnbmVk"),
            text("I look."),
            call(0, "look"),
            part(0, "{\"q\":"),
            part(0, " \"a\"}"),
            end(0),
            call(1, "look"),
            part(1, "{\"q\": \"b\"}"),
            end(1),
            finish(FinishReason::ToolCalls),
        ],
        // Fragments of parallel calls in any order.
        vec![
            call(0, "look"),
            call(1, "find"),
            part(1, "{\"a\":"),
            part(0, "{\"q\":"),
            part(1, "1}"),
            part(0, "2}"),
            end(0),
            end(1),
            finish(FinishReason::ToolCalls),
        ],
        // A name the request does not have is the runtime's to answer.
        vec![call(0, "brain</x>"), part(0, "{}x"), end(0), finish(FinishReason::ToolCalls)],
        vec![text("too lo"), finish(FinishReason::Length)],
        // A reason that nobody knows yet.
        vec![text("So."), finish(FinishReason::Other)],
    ];
    for script in scripts {
        check(script, None).await;
    }
}

#[tokio::test]
async fn characters_torn_apart_on_the_network_arrive_whole() {
    let words = "Grüße 👩‍👩‍👧‍👦 e\u{301} 漢字かな \u{1F1E9}\u{1F1EA} — “quoted” \\n";
    let script = vec![
        reasoning(words),
        signed("c2ln"),
        text(words),
        call(0, "look"),
        part(0, "{\"q\": \"漢字 👩‍👩‍👧"),
        part(0, "‍👦\"}"),
        end(0),
        finish(FinishReason::ToolCalls),
    ];
    for bytes in [1, 2, 3, 5, 100] {
        check(script.clone(), Some(bytes)).await;
    }
}

#[tokio::test]
async fn a_call_without_arguments_has_no_fragment() {
    let want = vec![call(0, "list"), end(0), finish(FinishReason::ToolCalls)];
    let server = FakeProvider::start();
    for parts in [vec![], vec![""], vec![" "], vec!["", "{}"], vec!["{}"], vec!["null"]] {
        let mut script = vec![call(0, "list")];
        script.extend(parts.iter().map(|json| part(0, json)));
        script.extend([end(0), finish(FinishReason::ToolCalls)]);
        for (wire, model) in models(&server) {
            server.serve([Reply::new(script.clone())]);
            assert_eq!(listen(&*model, request("hi")).await, (want.clone(), None), "{wire:?} {parts:?}");
        }
    }
}

#[tokio::test]
async fn a_call_cut_at_the_token_limit_has_no_end() {
    let before = [call(0, "look"), part(0, "{\"q\": 1}"), end(0)];
    let cuts = [vec![], vec![part(1, "{\"q\": \"ha")], vec![part(1, "{\"q\": 1")]];
    let server = FakeProvider::start();
    for cut in cuts {
        let mut script = before.to_vec();
        script.push(call(1, "look"));
        script.extend(cut);
        script.push(finish(FinishReason::Length));
        for (wire, model) in models(&server) {
            server.serve([Reply::new(script.clone())]);
            assert_eq!(listen(&*model, request("hi")).await, (told(&script, wire), None), "{wire:?}");
        }
    }
}

#[tokio::test]
async fn redacted_reasoning_is_kept_without_text() {
    let script = vec![signed("cmVkYWN0ZWQ="), text("So."), finish(FinishReason::Stop)];
    let server = FakeProvider::start();
    for (wire, model) in models(&server) {
        if wire == Wire::OpenAi {
            continue;
        }
        server.serve([Reply::new(script.clone())]);
        let (events, error) = listen(&*model, request("hi")).await;
        assert_eq!((heard(events), error), (script.clone(), None), "{wire:?}");
    }
}

#[tokio::test]
async fn what_a_wire_may_leave_out_or_add_does_no_harm() {
    let server = FakeProvider::start();
    let said = |wire| {
        let mut frames = Reply::frames_of(wire, &[text("a")]);
        let frame = |kind: &str, payload| Reply::frame(wire, kind, &payload);
        match wire {
            Wire::Anthropic => frames.extend([
                frame("ping", json!({"type": "ping"})),
                frame("news", json!({"type": "news", "index": 0, "delta": {"type": "text_delta", "text": "no"}})),
                frame(
                    "content_block_start",
                    json!({"type": "content_block_start", "index": 1, "content_block": {"type": "hologram", "x": 1}}),
                ),
                frame(
                    "content_block_delta",
                    json!({"type": "content_block_delta", "index": 1, "delta": {"type": "hologram_delta", "y": 2}}),
                ),
                frame("content_block_stop", json!({"type": "content_block_stop", "index": 1})),
                frame("message_delta", json!({"type": "message_delta", "delta": {"stop_reason": null}, "usage": null})),
            ]),
            Wire::OpenAi => frames.extend([
                b": a comment\r\n\r\n".as_slice().into(),
                frame("", json!({"choices": []})),
                frame("", json!({"choices": null, "usage": null})),
                frame("", json!({"choices": [{"index": 0, "delta": null, "finish_reason": null}]})),
                frame("", json!({"choices": [{"index": 0, "finish_reason": null}]})),
                frame("", json!({"choices": [{"index": 0, "delta": {"content": null, "tool_calls": null}}]})),
                frame(
                    "",
                    json!({"choices": [{"delta": {"content": [], "hologram": 1}, "content_filter_results": {}}]}),
                ),
                frame("", json!({"object": "news"})),
            ]),
            Wire::Bedrock => frames.extend([
                frame("news", json!({"a": 1})),
                frame("contentBlockStart", json!({"contentBlockIndex": 7, "start": {"hologram": {"x": 1}}})),
                frame("contentBlockDelta", json!({"contentBlockIndex": 7, "delta": {"hologram": "y"}})),
                frame("contentBlockStop", json!({"contentBlockIndex": 7})),
                frame("contentBlockDelta", json!({"contentBlockIndex": 0, "delta": null, "p": "abc"})),
            ]),
        }
        let known = Reply::frames_of(wire, &[text("a")]).len();
        let whole = Reply::frames_of(wire, &[text("a"), text("b"), finish(FinishReason::Stop)]);
        frames.extend(whole.into_iter().skip(known));
        frames
    };
    let want = vec![text("a"), text("b"), finish(FinishReason::Stop)];
    for (wire, model) in models(&server) {
        server.serve([Reply::frames(said(wire))]);
        assert_eq!(listen(&*model, request("hi")).await, (want.clone(), None), "{wire:?}");
    }
}

#[tokio::test]
async fn a_script_runs_the_same_on_every_wire() {
    let server = FakeProvider::echo();
    let quiet = |(mut events, error): (Vec<Event>, Option<ModelError>)| {
        for event in &mut events {
            if let Event::Finish { usage, .. } = event {
                *usage = Usage::default();
            }
        }
        (events, error.as_ref().map(ModelError::is_retryable), error.and_then(|error| error.retry_after()))
    };
    for (script, retry) in [
        ("hello\n@say 3 every 1ms\n/look {\"q\": \"long enough\"}\n/look", 0),
        ("@think 2 every 0\nso\n@cut\n/look {\"q\": 1}", 0),
        ("hi\n@fail mid-stream", 0),
        ("hi\n@fail mid-stream", 1),
        ("@fail overloaded", 0),
        ("@fail truncated", 0),
        ("@fail context", 0),
        ("what can you do?", 0),
    ] {
        for (wire, model) in models(&server) {
            // Each wire's own count of failures, as the requests differ.
            let mut last = quiet(listen(&*model, request(&format!("{script}\n"))).await);
            for _ in 0..retry {
                last = quiet(listen(&*model, request(&format!("{script}\n"))).await);
            }
            let mut asked = request(&format!("{script}\n"));
            asked.retry = retry;
            assert_eq!(last, quiet(listen(&Scripted, asked).await), "{wire:?} {script}");
        }
    }
}

#[tokio::test]
async fn every_line_end_and_form_of_an_event_is_understood() {
    let script = [text("Grüße"), text(" there."), finish(FinishReason::Stop)];
    let server = FakeProvider::start();
    let models = models(&server);
    for (wire, model) in &models[..2] {
        let sent = Reply::frames_of(*wire, &script).concat();
        let sent = std::str::from_utf8(&sent).unwrap();
        // Without the space that may be left out, and with comments in between.
        let bare = sent.replace("data: ", "data:").replace("event: ", "event:").replace("\n\n", "\n\n: a comment\n\n");
        for body in [sent, &bare] {
            for line_end in ["\n", "\r\n", "\r"] {
                let body = body.replace('\n', line_end);
                for bytes in [1, 2, 3, 7, 10_000] {
                    server.serve([Reply::frames([body.clone().into_bytes()]).in_pieces(bytes)]);
                    let told = listen(&**model, request("hi")).await;
                    assert_eq!(told, (script.to_vec(), None), "{wire:?} {line_end:?} in pieces of {bytes}: {body}");
                }
            }
        }
    }
}
