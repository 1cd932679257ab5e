//! Dispatches that Lambda gives up: the sweeper gets them by the failure queue, and nobody has to wait for the sweep,
//! which never comes here.

use super::{BACKGROUND, Deployment, FOREGROUND, SWEEPER, message};
use serde_json::{Value, json};
use tandem_auth::DispatchKeys;
use tandem_protocol::RunId;
use tandem_testkit::lambda::{Invoker, Outcome};
use tandem_tests::{Env, until};

/// Short times for whoever waits, and room for a busy machine.
const SOON: Env<'_> = &[("LEASE_MS", "1500"), ("HEARTBEAT_MS", "300"), ("CLAIM_GRACE_MS", "300")];

/// A deployment whose failure queue the sweeper empties, as the template has it.
async fn with_failure_queue(env: Env<'_>, background: Env<'_>) -> Deployment {
    Deployment::with(&[SOON, env].concat(), &|function| {
        if function.name == BACKGROUND {
            function.queue.on_failure = Some(SWEEPER.into());
            function.env.extend(background.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        }
    })
    .await
}

#[tokio::test]
async fn a_run_whose_worker_died_and_that_nobody_watches_goes_on_before_it_is_due() {
    let deployment = with_failure_queue(&[("LEASE_MS", "2500")], &[]).await;
    let api = deployment.api();
    // Whoever kills has time for it before the run ends.
    let run = api.start(&message("@say 30 every 60ms")).await.run;
    api.run_is(&run, "running").await;
    deployment.kill_background().await;
    api.run_is(&run, "completed").await;
    let log = api.log(&run).await;
    assert_eq!(log.attempts(), ["1 background claimed", "2 background recovered"]);
    deployment.check_log(&run, &log, 30).await;
    let [taken_up] = &deployment.ended(SWEEPER, 1).await[..] else { panic!("one message") };
    assert_eq!((taken_up.invoker, taken_up.outcome), (Invoker::Queue, Some(Outcome::Answered)));
    let lines = deployment.host.log(SWEEPER).join("\n");
    assert!(lines.contains("dispatch given up") && lines.contains("RetriesExhausted"), "{lines}");
}

#[tokio::test]
async fn a_run_whose_background_never_starts_ends_with_the_true_reason() {
    let limits: Env<'_> = &[("NEVER_CLAIMED_MS", "1")];
    let deployment = with_failure_queue(limits, &[("MAX_STEPS", "none")]).await;
    let api = deployment.api();
    let run = api.start(&message("@say 3 every 0")).await.run;
    api.run_is(&run, "failed").await;
    assert_eq!(api.read(&format!("/runs/{run}")).await["endReason"], "never_claimed");
    assert!(api.log(&run).await.attempts().is_empty());
    // The first dispatch, and four more: each failed, and each came back by the queue.
    assert_eq!(deployment.host.failed_events(BACKGROUND).len(), 5);
}

#[tokio::test]
async fn a_run_whose_dispatch_waited_too_long_for_a_throttled_background_goes_on_when_there_is_room() {
    let deployment = Deployment::with(SOON, &|function| {
        if function.name == BACKGROUND {
            function.max_processes = 0;
            function.queue.max_age = super::MS(500);
            function.queue.on_failure = Some(SWEEPER.into());
        }
    })
    .await;
    let (api, host) = (deployment.api(), &deployment.host);
    let run = api.start(&message("@say 5 every 10ms")).await.run;
    let failed = until("Lambda to give up", async || host.failed_events(BACKGROUND).pop()).await;
    assert_eq!((failed.condition, host.invocations(BACKGROUND)), ("EventAgeExceeded", vec![]));
    host.limit(BACKGROUND, 1);
    api.run_is(&run, "completed").await;
    let log = api.log(&run).await;
    // Nobody had it before.
    assert_eq!(log.attempts(), ["1 background claimed"]);
    deployment.check_log(&run, &log, 5).await;
}

#[tokio::test]
async fn a_foreground_that_watches_has_the_first_right_to_a_dispatch_that_failed() {
    let deployment = with_failure_queue(&[], &[("MAX_STEPS", "none")]).await;
    let mut stream = deployment.api().say("@say 20 every 20ms").await;
    let (run, mut log) = (stream.run(), tandem_tests::Log::default());
    assert_eq!(log.read_all(&mut stream).await, tandem_tests::End::Done);
    assert_eq!(log.attempts(), ["1 foreground reclaimed"]);
    deployment.ended(SWEEPER, 1).await;
    assert_eq!(deployment.host.failed_events(BACKGROUND).len(), 1);
    deployment.check_log(&run, &log, 20).await;
    assert_eq!(deployment.outcomes(FOREGROUND).await.first(), Some(&Outcome::Answered));
}

/// One message of the queue, about a run.
fn failed(id: &str, run: &str) -> Value {
    let keys = DispatchKeys::parse(super::DISPATCH_KEYS).unwrap();
    let payload = serde_json::to_value(keys.sign(&RunId::new(run).unwrap(), 1, 0)).unwrap();
    let context = json!({"requestId": "r-1", "condition": "RetriesExhausted"});
    let body = json!({"requestContext": context, "requestPayload": payload});
    json!({"messageId": id, "body": body.to_string()})
}

#[tokio::test]
async fn a_message_comes_again_only_while_the_store_is_away() {
    let mut deployment = with_failure_queue(&[], &[]).await;
    let foreign = json!({"messageId": "m2", "body": "{}"});
    let batch = json!({"Records": [failed("m1", "run_unknown"), foreign]});
    assert_eq!(deployment.invoke(SWEEPER, &batch).await, json!({"batchItemFailures": []}));
    deployment.database.kill();
    let again = json!({"batchItemFailures": [{"itemIdentifier": "m1"}]});
    assert_eq!(deployment.invoke(SWEEPER, &batch).await, again);
    until("the process to be free", async || deployment.host.busy(SWEEPER).is_empty().then_some(())).await;
}
