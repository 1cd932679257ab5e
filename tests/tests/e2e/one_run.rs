//! A turn has one run, however often it is asked for; a thread has one run at a time.

use futures::future::join_all;
use serde_json::{Value, json};
use tandem_tests::{Answer, Api, Dev, End, Log, Split, new_id};

/// The AI SDK's body: a thread and a message that the client named.
fn sdk(thread: &str, message: &str, text: &str) -> Value {
    let part = json!({"type": "text", "text": text});
    json!({"id": thread, "messages": [{"id": message, "role": "user", "parts": [part]}], "trigger": "submit-message"})
}

/// Sends the bodies at once, each to the next of two foregrounds.
async fn at_once(split: &Split, bodies: &[Value]) -> Vec<Answer> {
    let apis = [split.api(0), split.api(1)];
    let send = |(n, body)| {
        let api: &Api = &apis[n % 2];
        api.answer(api.chat(body))
    };
    join_all(bodies.iter().enumerate().map(send)).await
}

/// All must be accepted, as one run.
fn one_run(answers: &[Answer]) -> String {
    for answer in answers {
        let same = json!([answer.status, answer.body["runId"], answer.body["threadId"]]);
        assert_eq!(same, json!([202, answers[0].body["runId"], answers[0].body["threadId"]]), "{answers:#?}");
    }
    answers[0].body["runId"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn the_same_message_many_times_at_once_is_one_run() {
    let split = Split::start(2, 1, &[]).await;
    let api = split.api(0);
    for _ in 0..3 {
        let (thread, message) = (new_id(), new_id());
        let body = sdk(&thread, &message, "@say 3 every 0");
        let run = one_run(&at_once(&split, &vec![body; 6]).await);
        api.run_is(&run, "completed").await;
        let log = api.log(&run).await;
        log.says_each_word_once(3);
        log.finished(1);
        let runs = api.read(&format!("/runs?threadId={thread}")).await;
        assert_eq!(runs["items"].as_array().unwrap().len(), 1);
        let messages = api.read(&format!("/threads/{thread}/messages")).await;
        let roles: Vec<&Value> = messages["items"].as_array().unwrap().iter().map(|message| &message["role"]).collect();
        assert_eq!(roles, ["user", "assistant"]);
    }
}

#[tokio::test]
async fn a_turn_id_in_a_known_thread_is_one_run_at_once_and_later() {
    let split = Split::start(2, 1, &[]).await;
    let api = split.api(0);
    let thread = api.start(&json!({"message": "@say 1 every 0"})).await;
    api.run_is(&thread.run, "completed").await;
    let body = json!({"message": "@say 20 every 20ms", "threadId": thread.thread, "turnId": "t-1"});
    let run = one_run(&at_once(&split, &[body.clone(), body.clone(), body.clone()]).await);
    // In the middle of it.
    let mut log = Log::default();
    let mut stream = tandem_tests::Stream::open(split.api(1).chat(&body)).await;
    assert_eq!(stream.run(), run);
    assert_eq!(log.read_all(&mut stream).await, End::Done);
    log.says_each_word_once(20);
    // After its end: the same run, whole.
    let mut again = Log::default();
    let mut stream = tandem_tests::Stream::open(api.chat(&body)).await;
    assert_eq!(stream.run(), run);
    assert_eq!(again.read_all(&mut stream).await, End::Done);
    assert_eq!(again, log);
    let answer = api.answer(api.chat(&body)).await;
    let want = json!({"runId": run, "threadId": thread.thread, "turnId": "t-1", "status": "completed"});
    assert_eq!((answer.status, answer.body), (202, want));
}

#[tokio::test]
async fn a_turn_id_without_a_thread_is_one_run_at_once_and_later() {
    let split = Split::start(2, 1, &[]).await;
    let body = json!({"message": "@say 3 every 0", "turnId": new_id()});
    let mut answers = at_once(&split, &[body.clone(), body.clone()]).await;
    let run = answers[0].body["runId"].as_str().unwrap().to_owned();
    split.api(0).run_is(&run, "completed").await;
    answers.extend(at_once(&split, &[body]).await);
    one_run(&answers);
}

#[tokio::test]
async fn two_turns_in_one_thread_at_once_are_one_run_and_one_refusal() {
    let split = Split::start(2, 1, &[]).await;
    let api = split.api(0);
    for _ in 0..5 {
        let thread = new_id();
        let bodies = ["m-1", "m-2"].map(|message| sdk(&thread, message, "@wait 60s"));
        let mut answers = at_once(&split, &bodies).await;
        answers.sort_by_key(|answer| answer.status);
        let [accepted, refused] = &answers[..] else { unreachable!() };
        let told = [&refused.body["status"], &refused.body["code"], &refused.body["activeRunId"]];
        assert_eq!(json!(told), json!([409, "thread_busy", accepted.body["runId"]]), "{answers:#?}");
        // The one that was refused left nothing behind: when the thread is free, it is a turn like any other.
        let run = one_run(&answers[..1]);
        assert_eq!(api.abort(&run).await.body["status"], "aborted");
        let said = api.read(&format!("/threads/{thread}/messages")).await;
        assert_eq!(said["items"].as_array().unwrap().len(), 2);
        let loser = if accepted.body["turnId"] == "m-1" { &bodies[1] } else { &bodies[0] };
        let next = split.api(1).start(loser).await;
        assert_eq!(api.abort(&next.run).await.body["status"], "aborted");
        let said = api.read(&format!("/threads/{thread}/messages")).await;
        assert_eq!(said["items"].as_array().unwrap().len(), 4);
    }
}

#[tokio::test]
async fn a_turn_survives_the_server_that_started_it() {
    let mut dev = Dev::start(&[]).await;
    let thread = new_id();
    let body = sdk(&thread, "m-1", "@say 3 every 0");
    let run = dev.api().start(&body).await.run;
    dev.api().run_is(&run, "completed").await;
    dev.restart().await;
    // A retry by a client that never got the answer.
    assert_eq!(dev.api().start(&body).await.run, run);
}
