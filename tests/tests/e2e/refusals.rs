//! A configuration that cannot work is refused at start-up, with the names of what to change.

use tandem_tests::{Env, Split, run_to_end};

/// Starting must fail with these words in its last line.
async fn check(args: &[&str], env: Env<'_>, says: &[&str]) {
    let finished = run_to_end(&[args, &["--port", "0"]].concat(), env).await;
    let last = finished.stderr.lines().last().unwrap_or_default();
    let told = last.starts_with("tandem: ") && says.iter().all(|word| last.contains(word));
    assert!(finished.code == Some(1) && told, "{args:?} {env:?} must say {says:?}: {finished:#?}");
    assert_eq!(finished.stdout, "");
}

#[tokio::test]
async fn constants_that_contradict_each_other_are_named() {
    for (name, value, other) in [
        ("HEARTBEAT_MS", "4000", "LEASE_MS"),
        ("HEARTBEAT_MS", "0", "HEARTBEAT_MS"),
        ("LEASE_MS", "3000", "HEARTBEAT_MS"),
        ("CLAIM_GRACE_MS", "50000", "FOREGROUND_SOFT_TIMEOUT_MS"),
        ("FOREGROUND_SOFT_TIMEOUT_MS", "800000", "BACKGROUND_SOFT_TIMEOUT_MS"),
        ("KEEP_ALIVE_MS", "60000", "STREAM_WINDOW_MS"),
        ("LEASE_MS", "soon", "whole number"),
        ("AGENT_CHAT_DURABLE_BACKGROUND", "maybe", "true or false"),
        ("MODEL", "nothing", "MODEL"),
        ("MODEL_PRICES", "scripted=1/2,a=1/1, scripted=1/3", "twice what scripted costs"),
        ("MAX_RUNS_PER_USER", "0", "from 1"),
    ] {
        check(&["dev", "--data", "data"], &[(name, value)], &[name, other]).await;
    }
    // 8,192 tokens cost 0.016384 dollars, before anything is sent.
    let priced = [("MODEL_PRICES", "scripted=1/2"), ("BUDGET_RUN_USD", "0.016")];
    let says = ["BUDGET_RUN_USD", "0.016384000 dollars", "scripted", "MAX_OUTPUT_TOKENS"];
    check(&["dev", "--data", "data"], &priced, &says).await;
}

#[tokio::test]
async fn a_foreground_needs_a_background_or_to_be_told_to_do_without() {
    let split = Split::start(0, 0, &[]).await;
    let store = ("AWS_ENDPOINT_URL_DYNAMODB", split.database());
    let says = ["BACKGROUND_URL", "BACKGROUND_FUNCTION_NAME", "AGENT_CHAT_DURABLE_BACKGROUND"];
    check(&["foreground"], &[store], &says).await;
    check(&["foreground"], &[store, ("BACKGROUND_URL", " ")], &says).await;
}

#[tokio::test]
async fn whoever_can_be_reached_from_elsewhere_needs_keys() {
    let split = Split::start(0, 0, &[]).await;
    let store = ("AWS_ENDPOINT_URL_DYNAMODB", split.database());
    let there = ("BACKGROUND_URL", "http://127.0.0.1:9");
    for program in ["dev", "foreground", "background"] {
        check(&[program, "--host", "0.0.0.0"], &[store, there], &["DISPATCH_KEYS"]).await;
    }
    let far = ("BACKGROUND_URL", "http://background.example");
    check(&["foreground"], &[store, far], &["DISPATCH_KEYS"]).await;
    check(&["foreground"], &[store, there, ("DISPATCH_KEYS", "{\"k\":\"short\"}")], &["DISPATCH_KEYS"]).await;
}

#[tokio::test]
async fn without_sign_in_only_a_store_of_one_s_own_will_do() {
    for program in ["foreground", "background"] {
        check(&[program], &[("BACKGROUND_URL", "http://127.0.0.1:9")], &["OIDC_ISSUER"]).await;
    }
}

#[tokio::test]
async fn where_there_is_an_issuer_nobody_is_let_in_without_its_token() {
    let issuer = ("OIDC_ISSUER", "http://127.0.0.1:9");
    check(&["dev", "--data", "data"], &[issuer], &["OIDC_AUDIENCE"]).await;
    let dev = tandem_tests::Dev::start(&[issuer, ("OIDC_AUDIENCE", "tandem")]).await;
    for token in [None, Some("dev.local.you")] {
        let request = reqwest::Client::new().get(format!("{}/threads", dev.url()));
        let request = token.into_iter().fold(request, |request, token| request.bearer_auth(token));
        assert_eq!(request.send().await.unwrap().status(), 401, "{token:?}");
    }
}

#[tokio::test]
async fn one_data_folder_has_one_owner() {
    let first = tandem_tests::Dev::start(&[]).await;
    let data = first.data().to_str().unwrap().to_owned();
    check(&["dev", "--data", &data], &[], &[&data, "--data"]).await;
    check(&["dynamodb", "--data", &data], &[], &[&data]).await;
}
