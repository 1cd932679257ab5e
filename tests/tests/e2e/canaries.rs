//! Secrets are nowhere but where they are set, and what people say is not in the log: every place that could hold either
//! is given a text that is known, and what comes out is searched for it.

mod places;

use reqwest::Method;
use serde_json::{Value, json};
use tandem_tests::{Api, Env, Finished, Split, run_to_end};

use crate::lambda::{BACKGROUND, Deployment, FOREGROUND, SWEEPER};
use places::{Places, Swept};

/// In every secret.
pub(crate) const SECRET: &str = "canary-secret";
/// In everything that somebody said or wrote.
pub(crate) const PRIVATE: &str = "canary-private";

/// The record of a run that has ended.
async fn ended(api: &Api, run: &str) -> Value {
    tandem_tests::until("the turn's end", async || {
        let run = api.run(run).await;
        run["endReason"].is_string().then_some(run)
    })
    .await
}

/// Says and does everything that holds something private, and fails in every way that could repeat a secret.
async fn live(places: &Places, api: &Api) -> Swept {
    let mut swept = Swept::default();
    // The first refusal of a process is told at once, in the span of its request: the keys of documents are people's words.
    let stranger = api.with_token("canary-secret-garbage");
    stranger.get(&format!("/state/user/docs/{PRIVATE}-key")).send().await.unwrap();
    let ann = api.with_token(&places.ann);
    let mut runs = Vec::new();
    let mail =
        json!({"to": format!("{PRIVATE}@example.com"), "subject": format!("{PRIVATE} subject"), "body": PRIVATE});
    for message in [
        format!("{PRIVATE} prompt\n\n@say 2 every 0"),
        format!("/remember {{\"name\":\"a\",\"text\":\"{PRIVATE} memory\"}}"),
        format!("/recall {{\"query\":\"{PRIVATE}\"}}"),
        format!("/notify-webhook {{\"text\":\"{PRIVATE} notice\"}}"),
        format!("/send-email {mail}"),
        // No such action, and no such input.
        format!("/{PRIVATE} {{\"x\":\"{PRIVATE}\"}}\n/read-email {{\"emailId\":\"{PRIVATE}\"}}"),
    ] {
        let started = ann.start(&json!({"message": message, "model": "scripted"})).await;
        runs.push((started.run.clone(), started.thread));
        let ended = ended(&ann, &started.run).await;
        if ended["status"] == "awaiting_approval" {
            let asked = ann.log(&started.run).await.of_type("tool-approval-request")[0].clone();
            let path = format!("/runs/{}/approvals/{}", started.run, asked["toolCallId"].as_str().unwrap());
            let decided = ann.answer(ann.request(Method::POST, &path).json(&json!({"approved": true}))).await;
            runs.push((decided.body["runId"].as_str().unwrap().to_owned(), String::new()));
        }
    }
    // Providers, and what stands before them, say back what they were sent.
    for model in ["anthropic/m", "openai/m"] {
        for reply in places.provider_says() {
            places.provider.serve(reply);
            let started = ann.start(&json!({"message": format!("{PRIVATE} prompt"), "model": model})).await;
            ended(&ann, &started.run).await;
            runs.push((started.run, started.thread));
        }
    }
    // The same from the outside, and refusals.
    let secret = json!({"value": {"text": format!("{PRIVATE} document")}});
    for request in [
        ann.request(Method::PUT, "/state/user/docs/note").json(&secret),
        ann.request(Method::PUT, "/state/user/docs/note").json(&json!({"value": PRIVATE, "ifRev": 99})),
        ann.request(Method::PUT, "/presence/user").json(&json!({"client": "w", "activity": {"reads": PRIVATE}})),
        ann.request(Method::POST, "/threads").json(&json!({"title": format!("{PRIVATE} title")})),
        ann.request(Method::POST, "/threads").body(format!("{{\"title\": {PRIVATE}")),
        ann.request(Method::POST, "/api/notify-webhook").json(&json!({"text": format!("{PRIVATE} notice")})),
        ann.request(Method::POST, "/api/send-email").json(&mail),
        ann.request(Method::POST, "/api/remember").json(&json!({"name": PRIVATE, "text": 7})),
        ann.get(&format!("/api/search-emails?query={PRIVATE}")),
        ann.get(&format!("/api/read-email?emailId={PRIVATE}")),
        ann.get(&format!("/threads?q={PRIVATE}")),
        ann.request(Method::POST, "/api/agent-chat").json(&json!({"message": PRIVATE, "model": PRIVATE})),
        ann.request(Method::POST, "/api/agent-chat").body(PRIVATE),
        ann.request(Method::PUT, &format!("/state/user/docs/{PRIVATE}-key")).json(&secret),
        ann.get(&format!("/{PRIVATE}/{PRIVATE}")),
        ann.get(&format!("/runs/{PRIVATE}")),
        ann.get("/state/user/events"),
        // A ticket is a secret too, and stands in an address.
        api.get(&format!("/state/user/events?ticket={SECRET}.{SECRET}")),
        ann.get(&format!("/threads?ticket={SECRET}&limit=x")),
    ] {
        swept.keep_own(request.header("accept", "application/json").send().await.unwrap()).await;
    }
    for (run, _) in &runs {
        let ended = ended(&ann, run).await;
        swept.own.push(ended.to_string());
        swept.own.push(ann.log(run).await.chunks().join("\n"));
    }
    // Somebody else asks for all of it; and tokens that are none say nothing of themselves.
    for token in places.others() {
        let api = api.with_token(&token);
        let mut paths = vec!["/threads".to_owned(), "/threads?shared=true".into(), "/api/recall".into()];
        paths.extend(["/state/user", "/state/tenant", "/presence/user", "/presence/tenant"].map(String::from));
        for (run, thread) in &runs {
            paths.extend([
                format!("/runs/{run}"),
                format!("/runs/{run}/events"),
                format!("/api/agent-chat/{run}/stream"),
            ]);
            paths.extend([format!("/threads/{thread}"), format!("/threads/{thread}/messages")]);
        }
        for path in paths {
            let answer = api.get(&path).header("accept", "application/json").send().await.unwrap();
            swept.others.push(format!("{path} {}", answer.text().await.unwrap()));
        }
    }
    swept
}

async fn nothing_leaks(level: &str, more: Env<'_>) {
    let places = Places::new().await;
    let own = places.env();
    let mut env: Vec<(&str, &str)> = own.iter().map(|(name, value)| (*name, value.as_str())).collect();
    env.push(("RUST_LOG", level));
    env.extend(more);
    let split = Split::start(1, 1, &env).await;
    let swept = live(&places, &split.api(0)).await;
    let sweeper = split.sweep().await;
    let logs = [split.foregrounds[0].log(), split.backgrounds[0].log(), sweeper.stderr, sweeper.stdout];
    nothing_is_told(&places, level, &swept, &logs);
}

/// The same in the functions, whose lines Lambda keeps as JSON.
async fn nothing_leaks_on_lambda(level: &str) {
    let places = Places::new().await;
    let own = places.env();
    let mut env: Vec<(&str, &str)> = own.iter().map(|(name, value)| (*name, value.as_str())).collect();
    env.push(("AWS_LAMBDA_LOG_LEVEL", level));
    // What alarms are made of is written as well.
    env.push(("METRICS_NAMESPACE", "Tandem/test"));
    let deployment = Deployment::start(&env).await;
    let swept = live(&places, &deployment.api()).await;
    deployment.invoke(SWEEPER, &json!({})).await;
    let logs = [FOREGROUND, BACKGROUND, SWEEPER].map(|function| deployment.host.log(function).join("\n"));
    let says = |log: &str, message: &str| log.lines().any(|line| line.starts_with('{') && line.contains(message));
    assert!(says(&logs[0], "started") && says(&logs[1], "claimed") && says(&logs[2], "swept"), "{logs:#?}");
    assert!(says(&logs[0], "RefusedSignIns"), "{}", logs[0]);
    nothing_is_told(&places, &level.to_lowercase(), &swept, &logs);
}

fn nothing_is_told(places: &Places, level: &str, swept: &Swept, logs: &[String]) {
    assert!(logs[0].contains("started"), "the log is written: {}", logs[0]);
    places.show_no_secret("the log", logs);
    places.show_no_secret("an answer", &swept.own);
    places.show_no_secret("an answer to others", &swept.others);
    let told: Vec<_> = swept.others.iter().filter(|text| text.contains(PRIVATE)).collect();
    assert!(told.is_empty(), "others are told: {told:#?}");
    if level == "info" {
        let told: Vec<_> = logs.iter().flat_map(|log| log.lines()).filter(|line| line.contains(PRIVATE)).collect();
        assert!(told.is_empty(), "the log has what was said: {told:#?}");
    }
    // The canaries did sing: what was planted was used.
    assert!(swept.own.iter().any(|text| text.contains(PRIVATE)));
    assert!(places.webhook_was_called() && places.mail_server_was_asked());
    let keys: Vec<_> = places.provider.requests().iter().map(|request| format!("{:?}", request.headers)).collect();
    assert!(keys.iter().any(|headers| headers.contains(SECRET)), "{keys:?}");
}

#[tokio::test]
async fn the_log_of_production_has_neither_secrets_nor_what_people_say() {
    nothing_leaks("info", &[]).await;
}

/// What an operator turns on for an hour may hold what people say, and no secret.
#[tokio::test]
async fn the_log_of_a_search_for_a_fault_has_no_secrets() {
    // The way to the background is broken as well: the foreground drives.
    let away = [("BACKGROUND_URL", "http://user:canary-secret-road@127.0.0.1:9"), ("CLAIM_GRACE_MS", "300")];
    nothing_leaks("debug", &away).await;
}

#[tokio::test]
async fn the_log_of_lambda_has_neither_secrets_nor_what_people_say() {
    nothing_leaks_on_lambda("INFO").await;
}

#[tokio::test]
async fn the_log_of_lambda_in_a_search_for_a_fault_has_no_secrets() {
    nothing_leaks_on_lambda("DEBUG").await;
}

#[tokio::test]
async fn a_configuration_that_is_refused_is_not_repeated() {
    let cases = [
        ("DISPATCH_KEYS", "CANARY"),
        ("DISPATCH_KEYS", "{\"CANARY\": 7}"),
        ("DISPATCH_KEYS", "{\"CANARY\": \"x\"}"),
        ("DISPATCH_KEYS", "{\"k\": \"CANARY\", \"k\": \"CANARY\"}"),
        ("WEBHOOK_URL", "CANARY"),
        ("WEBHOOK_URL", "ftp://user:CANARY@example.com"),
        ("SMTP_URL", "mail://user:CANARY@example.com"),
        ("SMTP_URL", "CANARY"),
        ("OIDC_ISSUER", "https://user:CANARY@issuer.example"),
        ("OIDC_ISSUER", "https://issuer.example?key=CANARY"),
        ("ANTHROPIC_BASE_URL", "CANARY"),
        ("OPENAI_BASE_URL", "user:CANARY@example.com"),
        ("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", "CANARY"),
        ("AWS_ENDPOINT_URL_DYNAMODB", "http://user:CANARY@example.com"),
        ("AWS_SECRET_ACCESS_KEY", "CANARY"),
        ("BACKGROUND_URL", "CANARY"),
    ];
    let programs: [&[&str]; 2] = [&["foreground", "--port", "0"], &["sweeper", "--once"]];
    let starts = cases.iter().flat_map(|case| programs.map(|args| start_with(args, *case)));
    for (what, finished) in futures::future::join_all(starts).await {
        assert_ne!(finished.code, Some(0), "{what}: {finished:#?}");
        assert!(!finished.stderr.contains(SECRET), "{what}: {}", finished.stderr);
    }
}

/// Starts a program with one variable that is wrong.
async fn start_with(args: &[&str], (name, value): (&str, &str)) -> (String, Finished) {
    let value = value.replace("CANARY", "canary-secret-0123456789");
    let mut env = vec![("BACKGROUND_URL", "http://127.0.0.1:9"), ("AWS_ENDPOINT_URL_DYNAMODB", "http://127.0.0.1:9")];
    env.push(("OIDC_AUDIENCE", if name == "OIDC_ISSUER" { "tandem" } else { "" }));
    env.extend([("RUST_LOG", "debug"), (name, &value)]);
    (format!("{args:?} {name}={value}"), run_to_end(args, &env).await)
}

/// A client of the command line that is not let in.
#[tokio::test]
async fn a_command_does_not_repeat_its_token() {
    let dev = tandem_tests::Dev::start(&[]).await;
    for args in [&["chat", "hello"][..], &["tail", "run_1"], &["action", "list-emails"]] {
        let env = [("TANDEM_TOKEN", "canary-secret-token"), ("TANDEM_URL", dev.url()), ("RUST_LOG", "debug")];
        let finished = run_to_end(args, &env).await;
        assert_ne!(finished.code, Some(0), "{finished:#?}");
        assert!(!format!("{finished:?}").contains(SECRET), "{finished:#?}");
    }
    let help = run_to_end(&["chat", "--help"], &[("TANDEM_TOKEN", "canary-secret-token")]).await;
    assert!(!format!("{help:?}").contains(SECRET), "{help:#?}");
}
