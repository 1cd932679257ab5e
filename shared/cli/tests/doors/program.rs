//! `tandem action` as a person at a terminal uses it.

use std::process::Stdio;

use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::process::Command;

use crate::server::Server;

/// Exit code, stdout and stderr of `tandem action ARGS`.
async fn run(url: &str, args: &[&str], stdin: &str) -> (i32, String, String) {
    tandem(url, &[&["action"], args].concat(), stdin).await
}

/// `tandem ARGS` for the system at `url`.
pub(crate) fn command(url: &str, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tandem"));
    command.args(args).env_clear().env("TANDEM_URL", url).kill_on_drop(true);
    command
}

/// Exit code, stdout and stderr of `tandem ARGS`.
pub(crate) async fn tandem(url: &str, args: &[&str], stdin: &str) -> (i32, String, String) {
    let mut command = command(url, args);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut pipe = child.stdin.take().unwrap();
    // Most calls read nothing.
    let _ = pipe.write_all(stdin.as_bytes()).await;
    drop(pipe);
    let done = child.wait_with_output().await.unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (done.status.code().unwrap(), text(done.stdout), text(done.stderr))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn results_are_on_stdout_and_the_exit_code_says_how_it_went() {
    let server = Server::start().await;
    let url = server.url.as_str();
    let dir = std::env::temp_dir().join(format!("tandem-doors-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let file = dir.join("place.json");
    std::fs::write(&file, "{\"x\": 1, \"y\": 2.5}\n").unwrap();
    let (at_file, whole) = (format!("@{}", file.display()), "{\"sumName\":\"w\",\"by\":1}");
    let place = format!("--place={at_file}");
    for (args, stdin, code, out, err) in [
        (&["add-up", "--sum-name", "a", "--by", "-5"][..], "", 0, "-5\n", ""),
        (&["add-up", "--by=7", whole], "", 0, "7\n", ""),
        (&["add-up", "@-"], whole, 0, "8\n", ""),
        // The same call, however often it is sent.
        (&["add-up", "--sum-name", "k", "--by", "3", "--idempotency-key", "k"], "", 0, "3\n", ""),
        (&["add-up", "--sum-name", "k", "--by", "3", "--idempotency-key", "k"], "", 0, "3\n", ""),
        (&["add-up", "--sum-name", "k", "--by", "4", "--idempotency-key", "k"], "", 1, "", "choose a new key"),
        (&["add-up", "--sum-name", "k", "--by", "3"], "", 0, "6\n", ""),
        (&["probe", &place], "", 0, "{\"place\":{\"x\":1,\"y\":2.5},\"least\":0}\n", ""),
        (&["probe-get", &place, "--on"], "", 0, "{\"on\":true,\"place\":{\"x\":1,\"y\":2.5},\"least\":0}\n", ""),
        (&["only-here"], "", 0, "\"cli\"\n", ""),
        (&["refuse"], "", 1, "", "tandem: 422 Unprocessable Entity: Not today. [no_luck]\n"),
        (&["not-here"], "", 2, "", "there is no action \"not-here\""),
        (&["add-up", "--by", "x"], "", 2, "", "--sum-name is missing\n--by must be a whole number, not a text\n"),
        (&["probe", "--mode", "vary-slow"], "", 2, "", "did you mean very-slow?"),
        (&["probe", "--moda", "fast"], "", 2, "", "'--mode'"),
        (&["prob"], "", 2, "", "\"prob\"; did you mean probe or probe-get? There are: probe, probe-get, "),
        (&["xyz", "--on"], "", 2, "", "there is no action \"xyz\". There are: probe, "),
        (&["probe", "--place", "@/no/such/file"], "", 2, "", "/no/such/file cannot be read"),
        (&["probe", "[1]", "--on"], "", 2, "", "must be a JSON object"),
        (&["--token", "nobody"], "", 1, "", "; give another one with --token or TANDEM_TOKEN\n"),
        (&["probe", "--url", "http://127.0.0.1:1"], "", 1, "", "nobody listens"),
    ] {
        let (got, stdout, stderr) = run(url, args, stdin).await;
        assert_eq!((got, stdout.as_str()), (code, out), "{args:?}: {stderr}");
        assert!(stderr.contains(err), "{args:?}: {stderr}");
    }
    std::fs::remove_dir_all(&dir).unwrap();

    let (code, stdout, _) = run(url, &[], "").await;
    let list: Value = serde_json::from_str(&stdout).unwrap();
    let want = json!({"name": "add-up", "description": "Adds to a sum that is kept.", "method": "POST", "effect": "transactional"});
    assert!(code == 0 && list.as_array().unwrap().contains(&want), "{stdout}");
    assert!(!stdout.contains("not-here") && stdout.contains("only-here"), "{stdout}");
    let (code, stdout, _) = run(url, &["add-up", "--help"], "").await;
    assert!(code == 0 && stdout.contains("--sum-name <TEXT>") && stdout.contains("How much. (required)"), "{stdout}");
}
