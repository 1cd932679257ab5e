//! Failures: each has one meaning, whichever wire it came over, and nothing is asked twice.

use std::time::{Duration, Instant};

use aws_credential_types::provider::SharedCredentialsProvider;
use aws_credential_types::provider::error::CredentialsError;
use aws_credential_types::provider::future::ProvideCredentials as Future;
use tandem_model::{Anthropic, Bedrock, BedrockEndpoint, Endpoint, OpenAi};
use tandem_testkit::providers::{Ending, Problem, Reply};

use super::*;

const IMPATIENT: Timeouts = Timeouts { first_event: Duration::from_millis(1500), gap: Duration::from_millis(900) };

#[tokio::test]
async fn an_http_error_means_the_same_on_every_wire_and_is_not_retried_here() {
    let after = Some(Duration::from_secs(7));
    for (problem, want) in [
        (Problem::Overloaded { after }, "overloaded"),
        (Problem::Overloaded { after: None }, "overloaded"),
        (Problem::RateLimited { after }, "rate limited"),
        (Problem::SpentQuota, "permanent"),
        (Problem::TooLong, "too long"),
        (Problem::Unauthorised, "credentials"),
        (Problem::Forbidden, "permanent"),
        (Problem::BadRequest, "permanent"),
        (Problem::Broken, "interrupted"),
    ] {
        let server = FakeProvider::start();
        for (wire, model) in models(&server) {
            server.serve([Reply::problem(problem.clone())]);
            let error = model.ask(request("hi")).await.err().unwrap();
            // rig keeps no headers of an AWS error; Bedrock sends no such header either.
            let wait = if wire == Wire::Bedrock { None } else { wait(&problem) };
            assert_eq!((error.kind(), error.retry_after()), (want, wait), "{wire:?} {problem:?}: {error}");
            assert!(!error.to_string().contains("test-key"), "{error}");
        }
        assert_eq!(server.requests().len(), 3, "{problem:?}: one request each");
    }
}

fn wait(problem: &Problem) -> Option<Duration> {
    match problem {
        Problem::Overloaded { after } | Problem::RateLimited { after } => *after,
        _ => None,
    }
}

#[tokio::test]
async fn an_answer_that_breaks_off_is_never_taken_for_whole() {
    let script = vec![text("So "), text("far"), call(0, "look"), part(0, "{\"q\": 1}"), end(0)];
    let told = script[..4].to_vec();
    for (ending, want) in [
        (Ending::Cut, "interrupted"),
        (Ending::Reset, "interrupted"),
        (Ending::Problem(Problem::Overloaded { after: None }), "overloaded"),
        (Ending::Problem(Problem::RateLimited { after: None }), "rate limited"),
        (Ending::Problem(Problem::Broken), "interrupted"),
        (Ending::Problem(Problem::TooLong), "too long"),
    ] {
        let server = FakeProvider::start();
        for (wire, model) in models(&server) {
            server.serve([Reply::new(script.clone()).then(ending.clone())]);
            let (events, error) = listen(&*model, request("hi")).await;
            let error = error.unwrap_or_else(|| panic!("{wire:?} {ending:?} told {events:?}"));
            assert_eq!((events, error.kind()), (told.clone(), want), "{wire:?} {ending:?}: {error}");
        }
        assert_eq!(server.requests().len(), 3, "{ending:?}: one request each");
    }
}

#[tokio::test]
async fn an_empty_answer_that_is_cut_is_an_error_of_the_call() {
    let server = FakeProvider::start();
    for (wire, model) in models(&server) {
        for ending in [Ending::Cut, Ending::Reset] {
            server.serve([Reply::new([]).then(ending.clone())]);
            let error = model.ask(request("hi")).await.err().unwrap();
            assert_eq!(error.kind(), "interrupted", "{wire:?} {ending:?}: {error}");
        }
    }
}

#[tokio::test]
async fn a_refusal_is_not_an_empty_answer() {
    let server = FakeProvider::start();
    for (wire, model) in models(&server) {
        server.serve([Reply::new([text("Well"), finish(FinishReason::ContentFilter)])]);
        let (events, error) = listen(&*model, request("hi")).await;
        let error = error.unwrap();
        assert_eq!((events, error.kind()), (vec![text("Well")], "refused"), "{wire:?}: {error}");
        if wire == Wire::Anthropic {
            assert_eq!(error.to_string(), "anthropic refused to answer: I may not say that.");
        }
    }
    // OpenAI's own field, beside an ordinary finish.
    let wire = Wire::OpenAi;
    let delta = json!({"choices": [{"index": 0, "delta": {"refusal": "I can't help with that."}}]});
    let mut frames = vec![Reply::frame(wire, "", &delta)];
    frames.extend(Reply::frames_of(wire, &[finish(FinishReason::Stop)]));
    server.serve([Reply::frames(frames)]);
    let (_, error) = listen(&*models(&server)[1].1, request("hi")).await;
    assert_eq!(
        error,
        Some(ModelError::Refused { message: "openai refused to answer: I can't help with that.".into() })
    );
}

#[tokio::test]
async fn without_credentials_nothing_is_sent() {
    #[derive(Debug)]
    struct Nobody;
    impl aws_credential_types::provider::ProvideCredentials for Nobody {
        fn provide_credentials<'a>(&'a self) -> Future<'a>
        where
            Self: 'a,
        {
            Future::ready(Err(CredentialsError::not_loaded("none here")))
        }
    }
    let server = FakeProvider::start();
    let url = format!("http://{}", server.address());
    let endpoint = Endpoint { key: None, base_url: Some(url.clone()) };
    let bedrock = BedrockEndpoint {
        region: Some("eu-central-1".into()),
        url: Some(url),
        credentials: Some(SharedCredentialsProvider::new(Nobody)),
        bearer: None,
    };
    let models: [(&str, Box<dyn Model>); 3] = [
        (
            "anthropic has no credentials: set ANTHROPIC_API_KEY",
            Box::new(Anthropic::new("a", endpoint.clone(), IMPATIENT)),
        ),
        ("openai has no credentials: set OPENAI_API_KEY", Box::new(OpenAi::new("a", endpoint, IMPATIENT))),
        (
            "bedrock has no credentials: set AWS credentials (the function's role, AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY)",
            Box::new(Bedrock::new("a", bedrock, IMPATIENT)),
        ),
    ];
    for (message, model) in models {
        let error = model.ask(request("hi")).await.err();
        assert_eq!(error, Some(ModelError::MissingCredentials { message: message.into() }));
    }
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn a_key_that_cannot_be_sent_is_a_missing_key() {
    let server = FakeProvider::start();
    let mut environment = environment(&server);
    for name in ["ANTHROPIC_API_KEY", "OPENAI_API_KEY"] {
        environment.insert(name.into(), "two\nlines".into());
    }
    for (wire, model) in models_in(&environment, IMPATIENT).into_iter().take(2) {
        let error = model.ask(request("hi")).await.err().unwrap();
        assert_eq!(error.kind(), "credentials", "{wire:?}: {error}");
        assert!(!error.to_string().contains("two"), "{error}");
    }
    assert!(server.requests().is_empty());
}

/// The SDK's own protection would cut the stream after 5 s.
#[tokio::test]
async fn bedrock_may_be_silent_for_longer_than_the_sdk_likes() {
    let server = FakeProvider::start();
    let (_, model) = &models(&server)[2];
    let script = vec![text("a"), finish(FinishReason::Stop)];
    let begun = Reply::frames_of(Wire::Bedrock, &script[..1]);
    let rest = Reply::frames_of(Wire::Bedrock, &script).split_off(begun.len());
    let frames = [begun.concat(), rest.concat()];
    server.serve([Reply::frames(frames).paced(Duration::from_secs(7))]);
    assert_eq!(listen(&**model, request("hi")).await, (script, None));
}

#[tokio::test]
async fn a_silent_provider_is_given_up_in_time() {
    let silent = |at: usize, reply: Reply, told: Vec<Event>, patience: Duration| async move {
        let server = FakeProvider::start();
        let (wire, model) = &models_in(&environment(&server), IMPATIENT)[at];
        server.serve([reply]);
        let begun = Instant::now();
        let heard = listen(&**model, request("hi")).await;
        let message = format!("the connection to {} failed: it sent nothing for {patience:?}", provider(*wire));
        assert_eq!(heard, (told, Some(ModelError::Interrupted { message })), "{wire:?}");
        assert!((patience..patience * 20).contains(&begun.elapsed()), "{wire:?} {:?}", begun.elapsed());
    };
    futures::future::join_all((0..3).map(|at| async move {
        // Accepts the request and never answers; falls silent in mid-answer.
        let late = Reply::new([text("a")]).then(Ending::Silence);
        tokio::join!(
            silent(at, Reply::nothing(), vec![], IMPATIENT.first_event),
            silent(at, late, vec![text("a")], IMPATIENT.gap)
        )
    }))
    .await;
}

fn provider(wire: Wire) -> &'static str {
    match wire {
        Wire::Anthropic => "anthropic",
        Wire::OpenAi => "openai",
        Wire::Bedrock => "bedrock",
    }
}

#[tokio::test]
async fn a_slow_provider_is_waited_for_while_it_shows_signs_of_life() {
    // Several frames fit into a gap, so that a busy machine does not look like silence; all of them take longer.
    const PATIENT: Timeouts = Timeouts { first_event: Duration::from_secs(3), gap: Duration::from_secs(2) };
    const FRAMES: usize = 12;
    let pace = PATIENT.gap / 6;
    let answer =
        |words: usize| -> Vec<_> { (0..words).map(|_| text("x")).chain([finish(FinishReason::Stop)]).collect() };
    // Pings are signs of life, though nothing is told.
    let wire = Wire::Anthropic;
    let mut pings = Reply::frames_of(wire, &[]);
    pings.extend((0..FRAMES).map(|_| Reply::frame(wire, "ping", &json!({"type": "ping"}))));
    pings.extend(Reply::frames_of(wire, &answer(1)));
    let cases = [
        (0, Reply::new(answer(FRAMES)), answer(FRAMES)),
        (1, Reply::new(answer(FRAMES)), answer(FRAMES)),
        (2, Reply::new(answer(FRAMES)), answer(FRAMES)),
        (0, Reply::frames(pings), answer(1)),
    ];
    futures::future::join_all(cases.map(|(at, reply, want)| async move {
        let server = FakeProvider::start();
        let (wire, model) = &models_in(&environment(&server), PATIENT)[at];
        server.serve([reply.paced(pace)]);
        assert_eq!(listen(&**model, request("hi")).await, (want, None), "{wire:?}");
    }))
    .await;
}

#[tokio::test]
async fn nobody_at_the_address_is_an_interruption() {
    let server = FakeProvider::start();
    let environment = environment(&server);
    drop(server);
    tokio::task::yield_now().await;
    for (wire, model) in models_in(&environment, IMPATIENT) {
        let error = model.ask(request("hi")).await.err().unwrap();
        assert_eq!(error.kind(), "interrupted", "{wire:?}: {error}");
    }
}

#[tokio::test]
async fn a_page_instead_of_a_stream_names_the_setting_to_check() {
    let server = FakeProvider::start();
    for (wire, variable) in [(0, "ANTHROPIC_BASE_URL"), (1, "OPENAI_BASE_URL")] {
        server.serve([Reply::other(200, "text/html", "<html>Welcome</html>")]);
        let error = models(&server)[wire].1.ask(request("hi")).await.err().unwrap();
        assert_eq!(error.kind(), "permanent");
        assert!(error.to_string().contains(variable), "{error}");
    }
    // A gateway's error page is not the provider's word.
    for (wire, model) in models(&server) {
        server.serve([Reply::other(502, "text/html", "<html>Bad Gateway</html>")]);
        let error = model.ask(request("hi")).await.err().unwrap();
        assert_eq!(error.kind(), "interrupted", "{wire:?}: {error}");
    }
}

#[tokio::test]
async fn a_redirect_is_not_followed_with_the_key() {
    let (server, elsewhere) = (FakeProvider::start(), FakeProvider::start());
    for (wire, model) in models(&server) {
        server.serve([Reply::redirect(format!("http://{}/v1/messages", elsewhere.address()))]);
        let error = model.ask(request("hi")).await.err().unwrap();
        assert_eq!(error.kind(), "permanent", "{wire:?}: {error}");
    }
    assert!(elsewhere.requests().is_empty());
}
