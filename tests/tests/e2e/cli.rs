//! The `tandem` program as a client: it shows what happens, says how it ended, and survives a restarted server.

use serde_json::{Value, json};
use tandem_tests::{Dev, Finished, Log, run_to_end};

/// The one JSON value on stdout.
fn result(finished: &Finished) -> Value {
    serde_json::from_str(&finished.stdout).unwrap_or_else(|_| panic!("{finished:#?}"))
}

#[tokio::test]
async fn chat_follows_a_turn_and_prints_the_message() {
    let dev = Dev::start(&[]).await;
    let done = run_to_end(&["chat", "@say 5 every 10ms", "--url", dev.url()], &[]).await;
    let message = result(&done);
    let parts = json!([{"type": "step-start"}, {"type": "text", "text": "w1 w2 w3 w4 w5 done", "state": "done"}]);
    let (run, thread) = (&message["runId"], &message["threadId"]);
    let want = json!({"runId": run, "threadId": thread, "status": "completed", "parts": parts});
    assert_eq!((done.code, &message), (Some(0), &want));
    // What a person sees, as it happens.
    let (run, thread) = (run.as_str().unwrap(), thread.as_str().unwrap());
    assert_eq!(done.stderr, format!("{run} in {thread}\nw1 w2 w3 w4 w5 done\n"));

    // The next turn of the same conversation; the address from the environment.
    let args = ["chat", "/list-emails {\"limit\":1}", "--thread", thread];
    let next = run_to_end(&args, &[("TANDEM_URL", dev.url())]).await;
    assert_eq!((next.code, &result(&next)["threadId"]), (Some(0), &json!(thread)));
    assert!(next.stderr.contains("> list-emails {\"limit\":1}\n"), "{}", next.stderr);
    let messages = dev.api().read(&format!("/threads/{thread}/messages")).await;
    assert_eq!(messages["items"].as_array().unwrap().len(), 4);
}

#[tokio::test]
async fn what_needs_a_person_is_named_and_answered() {
    let dev = Dev::start(&[]).await;
    let url = ["--url", dev.url()];
    let mail = "/send-email {\"to\":\"ann@example.com\",\"subject\":\"Hi\",\"body\":\"Hello!\"}";
    let asks = run_to_end(&[&["chat", &format!("{mail}\n{mail}")][..], &url].concat(), &[]).await;
    assert_eq!((asks.code, &result(&asks)["status"]), (Some(1), &json!("awaiting_approval")));
    // What it says is what is typed next.
    let says = asks.stderr.lines().filter_map(|line| line.trim().strip_prefix("tandem "));
    let says: Vec<Vec<&str>> =
        says.filter_map(|line| line.split_once("  #")).map(|(line, _)| line.split(' ').collect()).collect();
    assert_eq!(says.len(), 2, "{}", asks.stderr);
    let first = run_to_end(&[&says[0][..], &["--refuse", "--reason", "once is enough"]].concat(), &[]).await;
    assert_eq!((first.code, &result(&first)["pending"]), (Some(0), &json!(1)));
    let edited = "{\"to\":\"bo@example.com\",\"subject\":\"Hi\",\"body\":\"Hello!\"}";
    for (args, code, text) in [
        (&["--input", "{"][..], 2, "--input is no JSON"),
        (&["--input", edited, "--refuse"], 2, "cannot be used with"),
        (&["--input", "{\"to\":\"nobody\"}"], 1, "/input/subject"),
    ] {
        let done = run_to_end(&[&says[1][..], args].concat(), &[]).await;
        assert!(done.code == Some(code) && done.stderr.contains(text), "{args:?}: {done:#?}");
    }
    let last = run_to_end(&[&says[1][..], &["--input", edited]].concat(), &[]).await;
    assert_eq!((last.code, &result(&last)["status"]), (Some(0), &json!("completed")), "{last:#?}");
    assert!(last.stderr.contains("bo@example.com"), "{}", last.stderr);
    // Who comes later is told what holds.
    let late = run_to_end(&[&says[1][..], &["--refuse"]].concat(), &[]).await;
    assert!(late.code == Some(1) && late.stderr.contains("was answered before"), "{late:#?}");
}

#[tokio::test]
async fn a_run_that_fails_is_exit_code_1_and_bad_usage_is_2() {
    let dev = Dev::start(&[]).await;
    let url = ["--url", dev.url()];
    let failed = run_to_end(&[&["chat", "@fail context"][..], &url].concat(), &[]).await;
    assert_eq!((failed.code, &result(&failed)["status"]), (Some(1), &json!("failed")));
    assert!(failed.stderr.contains("[context_too_long]"), "{}", failed.stderr);
    let run = result(&failed)["runId"].as_str().unwrap().to_owned();
    for (args, code, says) in [
        (&["tail", &run][..], 1, "the run is failed"),
        (&["tail", "run_unknown"], 1, "404"),
        (&["chat", " "], 1, "white space"),
        (&["chat", "hello", "--model", "nothing"], 1, "/model"),
        (&["chat", "hello", "--token", "nobody"], 1, "401"),
        (&["chat"], 2, "Usage"),
        (&["tail", &run, "--after", "x"], 2, "--after"),
        (&["sing"], 2, "sing"),
    ] {
        let done = run_to_end(&[args, if code == 1 { &url } else { &[] }].concat(), &[]).await;
        assert_eq!(done.code, Some(code), "{args:?}: {done:#?}");
        assert!(done.stderr.contains(says), "{args:?}: {done:#?}");
    }
}

#[tokio::test]
async fn tail_prints_each_chunk_from_any_cursor() {
    let dev = Dev::start(&[]).await;
    let api = dev.api();
    let run = api.start(&json!({"message": "@say 20 every 10ms"})).await.run;
    // From the middle of the run to its end.
    let done = run_to_end(&["tail", &run, "--url", dev.url()], &[]).await;
    let log = api.log(&run).await;
    assert_eq!((done.code, printed(&done, 0)), (Some(0), log.clone()));
    let done = run_to_end(&["tail", &run, "--after", "3", "--url", dev.url()], &[]).await;
    assert_eq!((done.code, printed(&done, 4)), (Some(0), log.after_chunk(3)));
    let last = log.after().unwrap().to_string();
    let done = run_to_end(&["tail", &run, "--after", &last, "--url", dev.url()], &[]).await;
    assert_eq!((done.code, done.stdout.as_str()), (Some(0), ""));
}

/// The lines of `tandem tail`.
fn printed(done: &Finished, first: u64) -> Log {
    let mut log = Log::from(first);
    done.stdout.lines().for_each(|line| log.add_json(&serde_json::from_str(line).unwrap()));
    log
}

#[tokio::test]
async fn chat_and_tail_survive_a_server_that_is_killed_and_started_again() {
    let env = [("LEASE_MS", "1500"), ("HEARTBEAT_MS", "300")];
    let mut dev = Dev::start(&env).await;
    let (api, url) = (dev.api(), dev.url().to_owned());
    // Longer than it takes to start two programs.
    let run = api.start(&json!({"message": "@say 60 every 60ms"})).await.run;
    let tail = tokio::spawn({
        let (run, url) = (run.clone(), url.clone());
        async move { run_to_end(&["tail", &run, "--url", &url], &[]).await }
    });
    let chat = tokio::spawn(async move { run_to_end(&["chat", "@say 50 every 60ms", "--url", &url], &[]).await });
    // Both are on their way.
    let chatting = tandem_tests::until("the other run", async || {
        let threads = api.read("/threads").await;
        let threads = threads["items"].as_array().unwrap().clone();
        threads.iter().find(|thread| thread["title"] == "@say 50 every 60ms")?["activeRunId"]
            .as_str()
            .map(str::to_owned)
    })
    .await;
    // And both have read: who has read nothing yet may give up where nobody listens.
    tandem_tests::until("some words of it", async || {
        let page = api.answer(api.events(&chatting, None)).await;
        (page.body["events"].as_array().unwrap().len() > 15).then_some(())
    })
    .await;
    dev.restart().await;

    let (tail, chat) = (tail.await.unwrap(), chat.await.unwrap());
    let log = printed(&tail, 0);
    assert_eq!((tail.code, &log), (Some(0), &api.log(&run).await));
    log.says_each_word_once(60);
    log.finished(2);
    let message = result(&chat);
    assert_eq!((chat.code, &message["runId"]), (Some(0), &json!(chatting)));
    assert_eq!(message["parts"], json!(api.log(&chatting).await.parts()));
    api.log(&chatting).await.says_each_word_once(50);
}
