//! A turn says the same whichever provider's wire it came over.

use std::time::Duration;

use serde_json::Value;
use tandem_model::{Event, Models};
use tandem_protocol::{AgentChat, Chunk, EndReason, FinishReason, HolderKind, Run, RunStatus, Transcript, Usage};
use tandem_runs::Driven;
use tandem_testkit::providers::{FakeProvider, Problem, Reply};
use tokio::time::Instant;

use crate::harness::{World, assert_whole, patient, somebody};

const SCRIPT: &str = "First this.\n@think 4 every 0\n/list-emails {\"limit\":2}\n/read-email {\"emailId\":\"e-1\"}\n\n\
                      /email {\"emailId\":\"e-1\",\"body\":\"Thanks, and grüße 👋🏽\"}\n\nThen that.";

/// What a person sees, without the ids, the signatures of reasoning and what depends on the clock.
fn shown(transcript: &Transcript) -> Vec<Value> {
    let mut parts = transcript.ui_parts();
    for part in &mut parts {
        if let Some(part) = part.as_object_mut() {
            part.remove("toolCallId");
            part.remove("providerMetadata");
            if part["type"] == "tool-email" {
                // Made from the call's idempotency key and the run's time.
                part["output"]["id"].take();
                part["output"]["date"].take();
            }
        }
    }
    parts
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_turn_is_the_same_transcript_on_every_provider() {
    let mut transcripts = Vec::new();
    for model in ["scripted", "anthropic/fake", "openai/fake", "bedrock/fake"] {
        let provider = FakeProvider::echo();
        let environment = provider.environment();
        let models = Models::from_env(|name| match name {
            "MODEL" => Some(model.to_owned()),
            name => environment.iter().find(|(key, _)| *key == name).map(|(_, value)| value.to_string()),
        });
        let world = World::with_models(patient(), models.unwrap()).await;
        let run = world.start(SCRIPT).await;
        let claim = world.runtime.claim(&run.run_id, 1, HolderKind::Background, false, None).await.unwrap().unwrap();
        world.runtime.drive(claim, world.runtime.budget(HolderKind::Background, None)).await;
        let ended = world.store.run(&run.run_id).await.unwrap().unwrap();
        let log = world.log(&run.run_id).await;
        assert_eq!(ended.status, RunStatus::Completed, "{model}: {log:#?}");
        assert_whole(&log);
        let transcript = Transcript::fold(log.iter().map(|(_, chunk)| chunk));
        assert_eq!(transcript.calls().count(), 3, "{model}");
        assert!(
            transcript.calls().all(|call| matches!(call.state, tandem_protocol::CallState::Done(_))),
            "{model}: {log:#?}"
        );
        transcripts.push((model, shown(&transcript)));
    }
    let (_, first) = &transcripts[0];
    for (model, transcript) in &transcripts[1..] {
        assert_eq!(transcript, first, "{model}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_fails_in_passing_is_asked_again_and_every_word_stands_once() {
    for (script, status) in [
        ("@fail overloaded x2\n@say 5 every 0", RunStatus::Completed),
        ("@fail rate-limit\n@say 5 every 0", RunStatus::Completed),
        ("@say 5 every 0\n@fail mid-stream", RunStatus::Completed),
        ("@say 5 every 0\n@fail truncated", RunStatus::Completed),
        ("@fail context", RunStatus::Failed),
        ("@fail overloaded x9", RunStatus::Failed),
    ] {
        let world = World::new(patient()).await;
        let run = world.start(script).await;
        let claim = world.runtime.claim(&run.run_id, 1, HolderKind::Background, false, None).await.unwrap().unwrap();
        world.runtime.drive(claim, world.runtime.budget(HolderKind::Background, None)).await;
        let log = world.log(&run.run_id).await;
        assert_whole(&log);
        let ended = world.store.run(&run.run_id).await.unwrap().unwrap();
        assert_eq!(ended.status, status, "{script}: {log:#?}");
        if status == RunStatus::Completed {
            let text = serde_json::to_string(&Transcript::fold(log.iter().map(|(_, chunk)| chunk)).ui_parts()).unwrap();
            for n in 1..=5 {
                assert_eq!(text.matches(&format!("w{n} ")).count(), 1, "{script}: {text}");
            }
            assert!(!text.contains("half an answ"), "{script}: {text}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn arguments_that_cannot_be_used_are_told_to_the_model_and_nothing_runs() {
    let world = World::new(patient()).await;
    let run = world.start("/read-email {\"emailId\":\n\n/read-email [1]\n\n/no-such-tool {}\n\n@cut\n/email {\"emailId\":\"e-1\",\"body\":\"x\"}").await;
    let claim = world.runtime.claim(&run.run_id, 1, HolderKind::Background, false, None).await.unwrap().unwrap();
    world.runtime.drive(claim, world.runtime.budget(HolderKind::Background, None)).await;
    let log = world.log(&run.run_id).await;
    assert_whole(&log);
    let transcript = Transcript::fold(log.iter().map(|(_, chunk)| chunk));
    let states: Vec<_> = transcript.calls().map(|call| call.state.clone()).collect();
    assert_eq!(states.len(), 4, "{states:?}");
    assert!(states.iter().all(|state| matches!(state, tandem_protocol::CallState::Failed(_))), "{states:?}");
    assert_eq!(world.store.run(&run.run_id).await.unwrap().unwrap().status, RunStatus::Completed);
}

/// A world whose model is this provider, and a run that is driven until `soft`, or for as long as it takes.
async fn driven(provider: &FakeProvider, script: &str, soft: Option<Duration>) -> (World, Run, Driven) {
    let environment = provider.environment();
    let models = Models::from_env(|name| match name {
        "MODEL" => Some("anthropic/fake".into()),
        name => environment.iter().find(|(key, _)| *key == name).map(|(_, value)| value.to_string()),
    });
    let world = World::with_models(patient(), models.unwrap()).await;
    let run = world.start(script).await;
    let claim = world.runtime.claim(&run.run_id, 1, HolderKind::Background, false, None).await.unwrap().unwrap();
    let mut budget = world.runtime.budget(HolderKind::Background, None);
    budget.soft = soft.map_or(budget.soft, |soft| Instant::now() + soft);
    let driven = world.runtime.drive(claim, budget).await;
    (world, run, driven)
}

fn answer(text: &str) -> Reply {
    let finish = Event::Finish { reason: FinishReason::Stop, usage: Usage::default() };
    Reply::new([Event::TextDelta(text.into()), finish])
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wait_that_does_not_fit_is_left_to_the_next_attempt_at_once() {
    let provider = FakeProvider::start();
    let after = Some(Duration::from_secs(300));
    provider.serve([Reply::problem(Problem::RateLimited { after }), answer("Here I am.")]);
    let began = Instant::now();
    let (world, run, driven) = driven(&provider, "hello", Some(Duration::from_secs(240))).await;
    assert!(began.elapsed() < Duration::from_secs(60), "{:?}", began.elapsed());
    assert_eq!(driven, Driven::HandedOver);
    let log = world.log(&run.run_id).await;
    assert!(matches!(log.last(), Some((1, Chunk::DataContinue { .. }))), "{log:#?}");

    let dispatch = world.mailbox.0.lock().unwrap().pop().unwrap();
    world.runtime.process(&world.runtime.verify(&dispatch).unwrap(), None).await.unwrap();
    assert_eq!(world.store.run(&run.run_id).await.unwrap().unwrap().status, RunStatus::Completed);
    assert_whole(&world.log(&run.run_id).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_that_is_too_long_is_shortened_and_goes_on() {
    let provider = FakeProvider::start();
    provider.serve([answer("First answer.")]);
    let (world, first, _) = driven(&provider, "First question.", None).await;
    let long = || Reply::problem(Problem::TooLong);
    // Said once more without the first question; when nothing is left to leave out, that is the end.
    for (replies, reason) in
        [(vec![long(), answer("Second answer.")], EndReason::Completed), (vec![long(); 9], EndReason::ContextTooLong)]
    {
        let before = provider.asked();
        provider.serve(replies);
        let body = serde_json::json!({"message": "Second question.", "threadId": first.thread_id});
        let chat = AgentChat::parse(body.to_string().as_bytes()).unwrap();
        let run = world.runtime.start(&somebody(), &chat).await.unwrap().run;
        let claim = world.runtime.claim(&run.run_id, 1, HolderKind::Background, false, None).await.unwrap().unwrap();
        world.runtime.drive(claim, world.runtime.budget(HolderKind::Background, None)).await;
        let ended = world.store.run(&run.run_id).await.unwrap().unwrap();
        assert_eq!(ended.end_reason, Some(reason));
        assert_whole(&world.log(&run.run_id).await);
        let sent: Vec<String> = provider.requests()[before..].iter().map(|request| request.body.to_string()).collect();
        let holds = |sent: &String| ["First question.", "Second question."].map(|text| sent.contains(text));
        // The second begins with what the first had to leave out.
        assert_eq!(sent.first().map(holds), Some([reason == EndReason::Completed, true]));
        assert_eq!(sent.last().map(holds), Some([false, true]));
    }
}

/// What holds of every history that a provider takes: roles alternate and begin with the user, and each call has its
/// result in the next message.
fn assert_valid(body: &Value) {
    let messages = body["messages"].as_array().unwrap();
    let mut called: Vec<&str> = Vec::new();
    for (n, message) in messages.iter().enumerate() {
        let blocks = message["content"].as_array().map_or(&[][..], Vec::as_slice);
        let named = |kind: &str, field: &str| -> Vec<&str> {
            let of_kind = blocks.iter().filter(|block| block["type"] == kind);
            of_kind.map(|block| block[field].as_str().unwrap()).collect()
        };
        assert_eq!(message["role"], if n % 2 == 0 { "user" } else { "assistant" }, "message {n}");
        assert_eq!(named("tool_result", "tool_use_id"), std::mem::take(&mut called), "message {n}");
        called = named("tool_use", "id");
    }
    assert!(called.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thread_of_400_turns_with_large_results_is_answered_by_a_model_with_a_small_window() {
    const WINDOW: usize = 32_000;
    // All of them take minutes in a debug build.
    let turns = if std::env::var_os("TANDEM_REAL_TIMES").is_some() { 400 } else { 40 };
    let provider = FakeProvider::echo_within(WINDOW);
    let fact = r#"/remember {"name":"project","text":"The project is called Nightjar."}"#;
    let (world, first, driven) = driven(&provider, fact, None).await;
    assert!(matches!(driven, Driven::Ended(run) if run.status == RunStatus::Completed));
    let mut most_requests = 0;
    let scripts = ["/list-emails {\"limit\":100}", "/list-emails {\"limit\":90}\n\n/search-emails {\"query\":\"a\"}"];
    for turn in 1..turns {
        let script = if turn == 1 { "/import-emails {\"count\":200}" } else { scripts[turn % 2] };
        let body = serde_json::json!({"message": script, "threadId": first.thread_id});
        let chat = AgentChat::parse(body.to_string().as_bytes()).unwrap();
        let before = provider.asked();
        let run = world.runtime.start(&somebody(), &chat).await.unwrap().run;
        let claim = world.runtime.claim(&run.run_id, 1, HolderKind::Background, false, None).await.unwrap().unwrap();
        world.runtime.drive(claim, world.runtime.budget(HolderKind::Background, None)).await;
        let ended = world.store.run(&run.run_id).await.unwrap().unwrap();
        assert_eq!(ended.end_reason, Some(EndReason::Completed), "turn {turn}");
        most_requests = most_requests.max(provider.asked() - before);
    }
    println!("at most {most_requests} requests for a turn of up to 3 steps");
    assert!(most_requests <= 5, "what was too long once in a turn is not sent again: {most_requests}");
    let requests = provider.requests();
    requests.iter().for_each(|request| assert_valid(&request.body));
    let refused = requests.iter().filter(|request| request.body.to_string().len() / 4 > WINDOW).count();
    println!("{} requests, {refused} of them too long", requests.len());
    assert!(refused > 0, "the window is too large to show anything");
    assert!(refused * 5 < requests.len(), "a turn begins with what the one before it had to leave out");
    let last = &requests.last().unwrap().body;
    assert!(!last["messages"].to_string().contains("Nightjar"), "the first turn is long left out");
    assert!(last["system"].to_string().contains("Nightjar"), "and what it told is remembered: {}", last["system"]);
}
