//! The log lines that an operator lives from, as the functions write them on Lambda.

use super::{BACKGROUND, Deployment, SWEEPER, message};
use serde_json::{Value, json};
use tandem_tests::until;

/// What a function has said with these words, oldest first.
fn said(deployment: &Deployment, function: &str, words: &str) -> Vec<Value> {
    let lines = deployment.host.log(function);
    let lines = lines.iter().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    lines.filter(|line| line["fields"]["message"] == words).collect()
}

/// The one line about a run's end.
async fn end_of(deployment: &Deployment, run: &str) -> Value {
    let mine = async || {
        let lines = said(deployment, BACKGROUND, "ended").into_iter();
        let mine: Vec<_> = lines.filter(|line| line["fields"]["run"] == run).collect();
        (!mine.is_empty()).then_some(mine)
    };
    let [line] = &until("the line", mine).await[..] else { panic!("one line") };
    line.clone()
}

#[tokio::test]
async fn one_line_says_how_a_run_ended() {
    let deployment = Deployment::start(&[]).await;
    let api = deployment.api();
    for (script, level, status, reason) in [
        ("/list-emails {}\n\n@say 3 every 0", "INFO", "completed", "completed"),
        ("@fail context x9", "INFO", "failed", "context_too_long"),
        ("@wait 30s", "INFO", "aborted", "aborted"),
    ] {
        let run = api.start(&message(script)).await.run;
        if status == "aborted" {
            // The foreground ends it, and tells.
            api.run_is(&run, "running").await;
            api.abort(&run).await;
            let lines = said(&deployment, super::FOREGROUND, "ended");
            let [line] = &lines[..] else { panic!("{lines:#?}") };
            assert_eq!((&line["fields"]["run"], &line["fields"]["reason"]), (&json!(run), &json!(reason)));
            continue;
        }
        api.run_is(&run, status).await;
        let mut line = end_of(&deployment, &run).await;
        assert_eq!(line["level"], level, "{line}");
        let took = line["fields"]["duration_ms"].take();
        assert!(took.as_i64().is_some_and(|ms| (0..30_000).contains(&ms)), "{took}");
        let metadata = api.log(&run).await.of_type("message-metadata").pop().unwrap_or_default();
        let usage = &metadata["messageMetadata"]["usage"];
        let want = json!({
            "message": "ended", "run": run, "status": status, "reason": reason, "fault": false, "attempts": 1,
            "duration_ms": null, "input_tokens": usage["inputTokens"].as_u64().unwrap_or(0),
            "output_tokens": usage["outputTokens"].as_u64().unwrap_or(0),
        });
        assert_eq!(line["fields"], want);
        assert_eq!(status == "completed", line["fields"]["output_tokens"] != 0, "{line}");
    }
}

#[tokio::test]
async fn an_end_that_is_the_systems_fault_is_a_warning_and_every_sweep_is_a_line() {
    let env = [super::SOON, &[("NEVER_CLAIMED_MS", "1"), ("DUE_AHEAD_MS", "1")]].concat();
    let deployment = Deployment::with(&env, &|function| {
        if function.name == BACKGROUND {
            function.max_processes = 0;
        }
    })
    .await;
    let schedule: Value = serde_json::from_str(include_str!("../../../../events/sweeper.json")).unwrap();
    deployment.invoke(SWEEPER, &schedule).await;
    let run = deployment.api().start(&message("hello")).await.run;
    let swept = until("the end", async || {
        deployment.invoke(SWEEPER, &schedule).await;
        (!said(&deployment, SWEEPER, "ended").is_empty()).then(|| said(&deployment, SWEEPER, "swept"))
    })
    .await;
    let ended = said(&deployment, SWEEPER, "ended");
    let told = json!([ended[0]["level"], ended[0]["fields"]["run"], ended[0]["fields"]["reason"]]);
    assert_eq!(told, json!(["WARN", run, "never_claimed"]));
    let nothing = json!({"message": "swept", "due": 0, "recovered": 0, "failed": 0, "removed": 0});
    assert_eq!((&swept[0]["level"], &swept[0]["fields"]), (&json!("INFO"), &nothing));
    assert_eq!(swept.last().unwrap()["fields"]["recovered"], 1);
}
