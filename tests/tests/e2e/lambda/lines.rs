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
        // Without a time in RFC 3339, Lambda's own filter takes any line for INFO.
        let time = line["timestamp"].as_str().unwrap_or_default();
        let (day, hour) = time.split_once('T').unwrap_or_default();
        assert!((day.len(), hour.as_bytes().get(2)) == (10, Some(&b':')) && hour.ends_with('Z'), "{line}");
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

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";

/// What the spans around a line say, together.
fn spans(line: &Value) -> Value {
    let spans = line["spans"].as_array().into_iter().flatten().filter_map(Value::as_object);
    spans.flatten().map(|(name, value)| (name.clone(), value.clone())).collect()
}

#[tokio::test]
async fn one_trace_leads_from_the_request_to_the_run_and_its_calls() {
    let deployment = Deployment::start(&[]).await;
    let api = deployment.api();
    let traceparent = format!("00-{TRACE}-00f067aa0ba902b7-01");
    let post = || api.chat(&message("/list-emails {}\n\n@say 3 every 0")).header("accept", "application/json");
    let answer = post().header("traceparent", traceparent.clone()).send().await.unwrap();
    assert_eq!(answer.headers()["x-request-id"], TRACE);
    let run: Value = serde_json::from_str(&answer.text().await.unwrap()).unwrap();
    let run = run["runId"].as_str().unwrap();
    assert_eq!(api.run_is(run, "completed").await["trace"], TRACE);
    end_of(&deployment, run).await;
    for (function, words) in [
        (super::FOREGROUND, &["started", "dispatched"][..]),
        (BACKGROUND, &["claimed", "the model answered", "the call returned", "ended", "holder stopped"]),
    ] {
        for words in words {
            let lines = said(&deployment, function, words);
            assert!(!lines.is_empty(), "{function}: {words}");
            lines.iter().for_each(|line| assert_eq!(spans(line)["trace_id"], TRACE, "{line}"));
        }
    }
    let answered = spans(&said(&deployment, BACKGROUND, "the model answered")[0]);
    for (name, value) in [
        ("gen_ai.operation.name", json!("chat")),
        ("gen_ai.provider.name", json!("scripted")),
        ("gen_ai.request.model", json!("scripted")),
        ("gen_ai.request.max_tokens", json!(8192)),
        ("gen_ai.response.finish_reasons", json!("[ToolCalls]")),
    ] {
        assert_eq!(answered[name], value, "{name}");
    }
    assert!(answered["gen_ai.usage.output_tokens"].as_u64().is_some_and(|tokens| tokens > 0), "{answered}");
    let returned = spans(&said(&deployment, BACKGROUND, "the call returned")[0]);
    let told = json!([returned["gen_ai.operation.name"], returned["gen_ai.tool.name"], returned["run"]]);
    assert_eq!(told, json!(["execute_tool", "list-emails", run]));

    // A problem names the trace too; without a header, or with one that cannot be read, it is a new one.
    let refused = api.get("/runs/run_unknown").header("traceparent", &traceparent);
    assert_eq!(api.answer(refused).await.body["requestId"], TRACE);
    for header in [None, Some("00-nonsense-01")] {
        let request = header.iter().fold(post(), |request, header| request.header("traceparent", *header));
        let answer = request.send().await.unwrap();
        let id = answer.headers()["x-request-id"].to_str().unwrap().to_owned();
        let run: Value = serde_json::from_str(&answer.text().await.unwrap()).unwrap();
        let run = api.run(run["runId"].as_str().unwrap()).await;
        assert_eq!((&run["trace"], id == TRACE), (&json!(id), false));
    }
}

#[tokio::test]
async fn metrics_are_lines_of_their_own_beside_what_they_count() {
    let deployment = Deployment::start(&[("METRICS_NAMESPACE", "Tandem/test")]).await;
    let mut stream = deployment.api().say("@say 3 every 0").await;
    tandem_tests::Log::default().read_all(&mut stream).await;
    deployment.ended(BACKGROUND, 1).await;
    let written = |function: &str| -> Vec<String> {
        let lines = deployment.host.log(function);
        let lines = lines.iter().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let metrics = lines.flat_map(|line| {
            let directives = line["_aws"]["CloudWatchMetrics"].as_array().cloned().unwrap_or_default();
            directives.into_iter().flat_map(|one| one["Metrics"].as_array().cloned().unwrap_or_default())
        });
        metrics.filter_map(|metric| metric["Name"].as_str().map(str::to_owned)).collect()
    };
    assert_eq!(written(super::FOREGROUND), ["TimeToFirstChunk"]);
    let ends = ["EndedRuns", "FailedRuns", "Attempts", "RunDuration", "EndedRuns"];
    let want = [&["ClaimLatency", "InputTokens", "OutputTokens", "TimeToFirstToken"][..], &ends].concat();
    assert_eq!(written(BACKGROUND), want);
}
