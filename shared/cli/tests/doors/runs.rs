//! Runs as a person at a terminal follows, answers and stops them.

use std::process::Stdio;

use reqwest::Method;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};

use crate::program::{command, tandem};
use crate::server::Server;

/// The lines that a person may type next.
fn next(stderr: &str, name: &str) -> Vec<Vec<String>> {
    let lines = stderr.lines().filter_map(|line| line.trim().strip_prefix("tandem "));
    let lines = lines.filter(|line| line.starts_with(name)).map(|line| line.split("  #").next().unwrap());
    lines.map(|line| line.split(' ').map(str::to_owned).collect()).collect()
}

async fn typed(server: &Server, line: &[String], more: &[&str]) -> (i32, String, String) {
    let line: Vec<&str> = line.iter().map(String::as_str).chain(more.iter().copied()).collect();
    tandem(&server.url, &line, "").await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tail_of_a_run_that_asks_says_how_to_answer_and_goes_on_with_what_was_answered() {
    let server = Server::start().await;
    let run = server.starts("t-asks", "/ask-first {}\n/ask-first {}").await;
    let (code, _, stderr) = tandem(&server.url, &["tail", &run], "").await;
    let asked = next(&stderr, "approve");
    assert_eq!((code, asked.len()), (1, 2), "{stderr}");
    assert!(stderr.contains("a person must agree first"), "{stderr}");
    let (code, _, stderr) = typed(&server, &asked[0], &["--refuse"]).await;
    assert_eq!(code, 0, "{stderr}");
    // Only what is still asked, also where the question itself lies before the cursor.
    let (code, stdout, stderr) = tandem(&server.url, &["tail", &run, "--after", "1000"], "").await;
    assert_eq!((code, stdout.as_str(), next(&stderr, "approve")), (1, "", asked[1..].to_vec()), "{stderr}");
    let (code, _, stderr) = typed(&server, &asked[1], &[]).await;
    assert_eq!(code, 0, "{stderr}");

    let (code, stdout, stderr) = tandem(&server.url, &["tail", &run], "").await;
    assert_eq!(code, 0, "{stderr}");
    let lines: Vec<Value> = stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let later = lines.last().unwrap()["runId"].as_str().unwrap().to_owned();
    assert!(stderr.contains(&format!("goes on as {later}.")) && later != run, "{stderr}");
    assert!(lines[0].get("runId").is_none() && lines.last().unwrap()["chunk"]["type"] == "finish", "{stdout}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tail_goes_on_through_every_question_of_a_turn() {
    let server = Server::start().await;
    let run = server.starts("t-twice", "/ask-first {}\n\n/ask-first {}").await;
    let (_, _, stderr) = tandem(&server.url, &["tail", &run], "").await;
    let (code, _, stderr) = typed(&server, &next(&stderr, "approve")[0], &[]).await;
    assert_eq!(code, 1, "{stderr}");
    // The second question, by the first run's name.
    let (code, _, stderr) = tandem(&server.url, &["tail", &run], "").await;
    let second = next(&stderr, "approve");
    assert!(code == 1 && second.len() == 1 && second[0][1] != run, "{stderr}");
    let (code, _, stderr) = typed(&server, &second[0], &[]).await;
    assert_eq!(code, 0, "{stderr}");
    let (code, _, stderr) = tandem(&server.url, &["tail", &run], "").await;
    assert_eq!((code, stderr.matches("goes on as").count()), (0, 2), "{stderr}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_question_that_was_stopped_waits_for_nobody() {
    let server = Server::start().await;
    let run = server.starts("t-left", "/ask-first {}").await;
    let (code, _, stderr) = tandem(&server.url, &["tail", &run], "").await;
    assert!(code == 1 && stderr.contains("tandem approve"), "{stderr}");
    let (code, _, stderr) = tandem(&server.url, &["stop", &run], "").await;
    assert_eq!((code, stderr.as_str()), (0, "What the run asked is left unanswered.\n"));
    let (code, _, stderr) = tandem(&server.url, &["tail", &run], "").await;
    assert!(code == 1 && stderr.contains("waits for no answer any more") && !stderr.contains("approve"), "{stderr}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_busy_conversation_is_stopped_or_interrupted() {
    let server = Server::start().await;
    let run = server.starts("t-busy", "@say 2000 every 50ms").await;
    let (code, _, stderr) = tandem(&server.url, &["chat", "hi", "--thread", "t-busy"], "").await;
    assert!(code == 1 && stderr.contains("--interrupt"), "{stderr}");
    assert_eq!(next(&stderr, "stop"), [["stop", run.as_str()]], "{stderr}");
    let (code, stdout, stderr) = tandem(&server.url, &["chat", "hi", "--thread", "t-busy", "--interrupt"], "").await;
    let said: Value = serde_json::from_str(&stdout).unwrap_or_else(|_| panic!("{stderr}"));
    assert_eq!((code, &said["status"]), (0, &json!("completed")), "{stderr}");

    let (code, stdout, stderr) = tandem(&server.url, &["stop", &run], "").await;
    let stopped: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!((code, &stopped["status"], stderr.as_str()), (0, &json!("aborted"), ""));
    let ended = said["runId"].as_str().unwrap();
    let (code, _, stderr) = tandem(&server.url, &["stop", ended], "").await;
    assert_eq!((code, stderr.as_str()), (0, "The run had ended before: it is completed.\n"));
    let second = server.starts("t-busy", "@say 2001 every 50ms").await;
    let (code, stdout, _) = tandem(&server.url, &["stop", &second], "").await;
    assert!(code == 0 && stdout.contains("\"aborted\""), "{stdout}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ctrl_c_leaves_the_run_going_and_says_how_to_come_back() {
    let server = Server::start().await;
    let run = server.starts("t-kept", "@say 2000 every 50ms").await;
    for args in [&["tail", &run][..], &["chat", "@say 2000 every 50ms"]] {
        let mut child = command(&server.url, args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut err = BufReader::new(child.stderr.take().unwrap());
        // It is on its way: when a chunk is shown, the one before it counts as seen.
        let mut seen = String::new();
        match args[0] {
            "tail" => drop((out.read_line(&mut seen).await.unwrap(), out.read_u8().await.unwrap())),
            _ => drop((err.read_line(&mut seen).await.unwrap(), err.read_u8().await.unwrap())),
        }
        let pid = Pid::from_raw(i32::try_from(child.id().unwrap()).unwrap()).unwrap();
        kill_process(pid, Signal::INT).unwrap();
        let mut told = String::new();
        err.read_to_string(&mut told).await.unwrap();
        assert_eq!(child.wait().await.unwrap().code(), Some(130), "{told}");
        let line = told.lines().last().unwrap().strip_prefix("The run goes on: tandem ").unwrap();
        let words: Vec<&str> = line.split(' ').collect();
        assert!(matches!(words[..], ["tail", _, "--after", _]), "{told}");
        // It does.
        let request = server.http.request(Method::GET, format!("{}/runs/{}", server.url, words[1]));
        let record: Value = request.send().await.unwrap().json().await.unwrap();
        assert_eq!(record["status"], "running", "{record}");
        let (code, _, stderr) = tandem(&server.url, &["stop", words[1]], "").await;
        assert_eq!(code, 0, "{stderr}");
    }
}
