use std::time::Duration;

use futures::StreamExt;
use serde_json::json;
use tandem_protocol::Usage;
use tokio::time::Instant;

use super::*;
use crate::{ToolResult, ToolUse};

fn user(text: &str) -> Message {
    Message::User { results: vec![], text: Some(text.into()) }
}

fn assistant() -> Message {
    let call = ToolUse { id: "c".into(), name: "a".into(), input: json!({}) };
    Message::Assistant { reasoning: vec![], text: String::new(), calls: vec![call] }
}

fn results() -> Message {
    let result = ToolResult { id: "c".into(), name: "a".into(), output: "1".into(), is_error: false };
    Message::User { results: vec![result], text: None }
}

fn request(messages: Vec<Message>, retry: u32) -> Request {
    Request { system: vec![], messages, tools: vec![], max_tokens: 1000, retry }
}

/// The whole answer; usage is a matter of its own test.
async fn answer(request: Request) -> (Vec<Event>, Option<ModelError>) {
    let mut answer = match Scripted.ask(request).await {
        Ok(answer) => answer,
        Err(error) => return (vec![], Some(error)),
    };
    let mut events = Vec::new();
    while let Some(event) = answer.next().await {
        match event {
            Ok(Event::Finish { reason, .. }) => events.push(finish(reason)),
            Ok(event) => events.push(event),
            Err(error) => return (events, Some(error)),
        }
    }
    (events, None)
}

fn text(text: &str) -> Event {
    Event::TextDelta(text.into())
}

fn start(index: u32, name: &str) -> Event {
    Event::CallStart { index, name: name.into() }
}

fn delta(index: u32, json: &str) -> Event {
    Event::CallDelta { index, json: json.into() }
}

fn end(index: u32) -> Event {
    Event::CallEnd { index }
}

fn finish(reason: FinishReason) -> Event {
    Event::Finish { reason, usage: Usage::default() }
}

#[tokio::test]
async fn each_step_is_found_from_the_history_alone() {
    let script =
        "hello\n@say 2 every 0\n\n/a {\"x\": [1, 2]}\n/b\n\n@think 1 every 0\nso\n@say 1 every 0\n/c {oops\n\nbye";
    let steps = [
        vec![
            text("hello"),
            text("\n"),
            text("w1 "),
            text("w2 "),
            start(0, "a"),
            delta(0, "{\"x\": [1"),
            delta(0, ", 2]}"),
            start(1, "b"),
            end(0),
            end(1),
            finish(FinishReason::ToolCalls),
        ],
        vec![
            Event::ReasoningDelta("w1 ".into()),
            Event::ReasoningEnd { signed: None },
            text("so"),
            text("\n"),
            text("w3 "),
            start(0, "c"),
            delta(0, "{oops"),
            end(0),
            finish(FinishReason::ToolCalls),
        ],
        vec![text("bye"), text("\ndone"), finish(FinishReason::Stop)],
        vec![text("done"), finish(FinishReason::Stop)],
    ];
    let mut messages = vec![user("/earlier"), assistant(), user(script)];
    for want in steps {
        assert_eq!(answer(request(messages.clone(), 0)).await, (want, None));
        messages.extend([assistant(), results()]);
    }
}

#[tokio::test]
async fn a_script_that_ends_with_calls_is_closed_with_done() {
    let (events, error) = answer(request(vec![user("/a"), assistant(), results()], 0)).await;
    assert_eq!((events, error), (vec![text("done"), finish(FinishReason::Stop)], None));
}

#[tokio::test]
async fn a_failure_lasts_as_long_as_the_script_says() {
    let late = || vec![text("half an answ")];
    let done = || vec![text("done"), finish(FinishReason::Stop)];
    for (script, retry, events, kind) in [
        ("@fail overloaded", 0, vec![], "overloaded"),
        ("@fail overloaded", 1, done(), ""),
        ("@fail rate-limit x2", 1, vec![], "too many requests"),
        ("@fail rate-limit x2", 2, done(), ""),
        ("@fail context", 0, vec![], "the conversation is too long"),
        ("@fail truncated", 0, late(), "the answer ended without its end marker"),
        ("@fail mid-stream", 0, late(), "overloaded in mid-answer"),
        ("hi\n@fail overloaded", 0, vec![text("hi")], "overloaded"),
        ("@fail overloaded x2\n@fail context", 1, vec![], "overloaded"),
        ("@fail overloaded x2\n@fail context", 2, vec![], "the conversation is too long"),
        ("@fail overloaded x2\n@fail context", 3, done(), ""),
    ] {
        let message = if kind.is_empty() { None } else { Some(format!("scripted: {kind}, as the script asks")) };
        let (told, error) = answer(request(vec![user(script)], retry)).await;
        assert_eq!((told, error.map(|error| error.to_string())), (events, message), "{script} {retry}");
    }
}

#[tokio::test]
async fn a_cut_leaves_the_next_call_without_its_end() {
    for (script, want) in [
        (
            "/a\n@cut\n/b {\"to\": \"x\"}\n/c",
            vec![start(0, "a"), start(1, "b"), delta(1, "{\"to\""), end(0), finish(FinishReason::Length)],
        ),
        ("@cut\n\n/b", vec![start(0, "b"), finish(FinishReason::Length)]),
        ("hi\n@cut", vec![text("hi"), finish(FinishReason::Length)]),
    ] {
        assert_eq!(answer(request(vec![user(script)], 0)).await, (want, None), "{script}");
    }
    let next = answer(request(vec![user("@cut\n/b {}\n\n/c"), assistant(), results()], 0)).await;
    assert_eq!(next, (vec![start(0, "c"), end(0), finish(FinishReason::ToolCalls)], None));
}

#[tokio::test(start_paused = true)]
async fn words_come_one_per_interval_and_a_wait_is_silence() {
    let begun = Instant::now();
    let mut answer = Scripted.ask(request(vec![user("@say 3 every 20ms\n@wait 1s\nx")], 0)).await.unwrap();
    let mut times = Vec::new();
    while let Some(event) = answer.next().await {
        if let Event::TextDelta(text) = event.unwrap() {
            times.push((text, begun.elapsed().as_millis()));
        }
    }
    let want = [("w1 ", 0), ("w2 ", 20), ("w3 ", 40), ("x", 1040), ("\ndone", 1040)];
    assert_eq!(times, want.map(|(text, at)| (text.to_owned(), at)));
}

#[tokio::test]
async fn usage_follows_from_the_lengths() {
    let mut asked = request(vec![user("@think 10 every 0\n@say 10 every 0")], 0);
    asked.system = vec!["12345678".into()];
    let answer: Vec<_> = Scripted.ask(asked).await.unwrap().collect().await;
    // Ten words are 31 characters; "done" follows.
    let usage = Usage { input_tokens: 11, output_tokens: 17, cached_input_tokens: 0, reasoning_tokens: 8 };
    assert_eq!(answer.last(), Some(&Ok(Event::Finish { reason: FinishReason::Stop, usage })));
}

#[tokio::test]
async fn a_greeting_is_answered_with_what_can_be_done() {
    let tool = |name: &str, schema| ToolSpec { name: name.into(), description: String::new(), schema };
    let mut asked = request(vec![user("hello?")], 0);
    asked.tools = vec![
        tool("send-email", json!({"type": "object", "required": ["to"]})),
        tool("list-emails", json!({"type": "object"})),
    ];
    let (events, _) = answer(asked).await;
    let [Event::TextDelta(said), Event::Finish { .. }] = events.as_slice() else { panic!("{events:?}") };
    assert!(said.starts_with("I am the scripted model"), "{said}");
    assert!(said.ends_with("The actions here are send-email, list-emails.\nTry this: /list-emails {}"), "{said}");
    for messages in [vec![], vec![user("")], vec![assistant()]] {
        let (events, error) = answer(request(messages, 0)).await;
        assert_eq!((events.last(), error), (Some(&finish(FinishReason::Stop)), None));
    }
}

#[tokio::test]
async fn arguments_arrive_in_fragments_that_join_to_what_was_written() {
    for arguments in ["{}", "12345678", "123456789", "{\"körper\": \"ünïcödé 👩‍👩‍👧\"}", &"x".repeat(1000)]
    {
        let (events, _) = answer(request(vec![user(&format!("/a {arguments}"))], 0)).await;
        let pieces: Vec<_> = events
            .iter()
            .filter_map(|event| match event {
                Event::CallDelta { index: 0, json } => Some(json.as_str()),
                _ => None,
            })
            .collect();
        assert_eq!(pieces.concat(), arguments);
        assert_eq!(pieces.len() > 1, arguments.chars().count() > 8, "{pieces:?}");
    }
}

#[tokio::test]
async fn endless_words_let_others_run() {
    let mut answer = Scripted.ask(request(vec![user("@say 4000000000 every 0")], 0)).await.unwrap();
    let counted = async { while answer.next().await.is_some() {} };
    assert!(tokio::time::timeout(Duration::from_millis(20), counted).await.is_err());
}
