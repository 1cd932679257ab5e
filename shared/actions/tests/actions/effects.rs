//! What calls of tools promise that change something elsewhere.

use std::time::Duration;

use serde_json::{Value, json};
use tandem_actions::ActionError;
use tandem_store::Outcome;

use crate::brief;
use crate::sample::{App, gate, rings_of, runs_of, until_run};

#[tokio::test]
async fn an_external_call_whose_outcome_is_unknown_does_not_run_again() {
    let app = App::new().await;
    let input = json!({"name": "external", "by": 1});
    app.put_outcome("c1", Outcome::Unknown).await;
    assert!(matches!(app.call("call-out", input.clone(), app.tool("c1")).await, Err(ActionError::Unknown)));
    assert_eq!(runs_of("external"), 0);
    assert_eq!(brief(&app.call("call-out", input.clone(), app.tool("c2")).await), r#"{"value":1}"#);
    assert_eq!(brief(&app.call("call-out", input, app.tool("c2")).await), r#"{"value":1}"#);
    assert_eq!(runs_of("external"), 1);
}

#[tokio::test]
async fn a_late_result_is_kept_beside_the_outcome_and_never_instead_of_it() {
    let app = App::new().await;
    for (n, (told, by, late)) in [
        (Outcome::Unknown, 7, Outcome::Done(json!({"value": 7}))),
        (Outcome::Closed, 7, Outcome::Done(json!({"value": 7}))),
        (Outcome::Unknown, 0, Outcome::Failed("Nobody is there. [refused]".into())),
    ]
    .into_iter()
    .enumerate()
    {
        let (id, name) = (format!("c{n}"), format!("late-{n}"));
        let gate = gate(&name);
        let under_way = app.spawn("call-out", json!({"name": name, "by": by}), app.tool(&id));
        until_run(&name, 1).await;
        // Another holder has given up on it, or the run has ended.
        app.put_outcome(&id, told.clone()).await;
        gate.add_permits(1);
        let result = under_way.await.unwrap();
        assert_eq!(brief(&result), if told == Outcome::Closed { "closed" } else { "unknown" });
        assert_eq!(app.outcome(&id).await, Some(told.clone()));
        assert_eq!(app.late_result(&id).await, Some(late.clone()));
        // It is told the same way ever after, and does not run again.
        let again = app.call("call-out", json!({"name": name, "by": by}), app.tool(&id)).await;
        assert_eq!(brief(&again), brief(&result));
        assert_eq!((runs_of(&name), app.late_result(&id).await), (1, Some(late)));
    }
}

#[tokio::test]
async fn a_result_in_time_is_no_late_result() {
    let app = App::new().await;
    for name in ["call-out", "call-out"] {
        app.call(name, json!({"name": "in-time", "by": 1}), app.tool("c1")).await.unwrap();
    }
    assert_eq!(app.late_result("c1").await, None);
}

#[tokio::test]
async fn a_keyed_call_runs_again_with_the_same_key_and_its_outcome_is_put_once() {
    let app = App::new().await;
    let (input, gate) = (json!({"name": "keyed"}), gate("keyed"));
    // Its holder dies in the middle, twice.
    for life in 1..=2 {
        let dying = app.spawn("ring", input.clone(), app.tool("c1"));
        until_run("keyed", life).await;
        dying.abort();
        assert!(dying.await.unwrap_err().is_cancelled());
        assert_eq!(app.outcome("c1").await, None);
    }
    gate.add_permits(10);
    for _ in 0..2 {
        assert_eq!(app.call("ring", input.clone(), app.tool("c1")).await.unwrap(), "run_1/c1");
    }
    assert_eq!(rings_of("keyed"), ["run_1/c1"; 3]);
    assert_eq!(app.outcome("c1").await, Some(Outcome::Done(json!("run_1/c1"))));
    assert_eq!(app.call("ring", input, app.tool("c2")).await.unwrap(), "run_1/c2");
}

#[tokio::test]
async fn two_holders_of_a_keyed_call_give_one_outcome() {
    let app = App::new().await;
    let gate = gate("both");
    let calls = [0; 2].map(|_| app.spawn("ring", json!({"name": "both"}), app.tool("c1")));
    until_run("both", 2).await;
    gate.add_permits(2);
    for call in calls {
        assert_eq!(call.await.unwrap().unwrap(), "run_1/c1");
    }
    assert_eq!(app.late_result("c1").await, None);
}

#[tokio::test(start_paused = true)]
async fn an_external_call_that_breaks_off_is_unknown_and_not_failed() {
    let app = App::new().await;
    let _never_opened = gate("slow");
    for (n, input) in [
        // Takes too long; cannot tell; panics.
        json!({"name": "slow", "by": 1}),
        json!({"name": "unsure", "by": -1}),
        json!({"name": "breaking", "by": -2}),
    ]
    .into_iter()
    .enumerate()
    {
        let id = format!("c{n}");
        for _ in 0..2 {
            let result = app.call("call-out", input.clone(), app.tool(&id)).await;
            assert!(matches!(result, Err(ActionError::Unknown)), "{input} {}", brief(&result));
        }
        assert_eq!(app.outcome(&id).await, Some(Outcome::Unknown), "{input}");
        assert_eq!(runs_of(input["name"].as_str().unwrap()), 1, "{input}");
    }
    // Where no outcome is stored, whoever waits is told what is known.
    let error = app.call("call-out", json!({"name": "slow", "by": 1}), app.person()).await.unwrap_err();
    assert_eq!(error.code(), "timeout");
    assert!(error.to_string().contains("60 s, and may have happened"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_holder_whose_time_is_up_settles_nothing() {
    let app = App::new().await;
    let _never_opened = gate("stopped");
    for (name, input) in [("call-out", json!({"name": "stopped", "by": 1})), ("ring", json!({"name": "stopped"}))] {
        let mut call = app.tool(name);
        call.deadline = tokio::time::Instant::now() + Duration::from_secs(5);
        assert!(matches!(app.call(name, input, call).await, Err(ActionError::Cancelled)), "{name}");
        assert_eq!(app.outcome(name).await, None, "{name}");
    }
}

#[tokio::test]
async fn what_the_application_gives_reaches_its_actions() {
    let app = App::new().await;
    assert_eq!(app.call("greet", json!({}), app.person()).await.unwrap(), Value::from("hello"));
    assert_eq!(brief(&app.call("lack", json!({}), app.person()).await), "not_configured");
}

#[tokio::test]
async fn what_has_happened_is_written_down_although_the_call_is_dropped() {
    let app = App::new().await;
    for (n, told) in [None, Some(Outcome::Unknown)].into_iter().enumerate() {
        let (id, name) = (format!("c{n}"), format!("dropped-{n}"));
        let gate = gate(&name);
        let mut call = Box::pin(app.call("call-out", json!({"name": name, "by": 7}), app.tool(&id)));
        tokio::select! {
            _ = &mut call => panic!("the gate is closed"),
            () = until_run(&name, 1) => {}
        }
        if let Some(told) = &told {
            app.put_outcome(&id, told.clone()).await;
        }
        gate.add_permits(1);
        // The function returns now, and its holder goes away in the same moment.
        assert!(futures::poll!(&mut call).is_pending());
        drop(call);
        let done = Outcome::Done(json!({"value": 7}));
        let written = async {
            loop {
                let late = app.late_result(&id).await;
                match (app.outcome(&id).await, &told) {
                    (Some(outcome), None) => break (outcome, late),
                    (Some(outcome), Some(_)) if late.is_some() => break (outcome, late),
                    _ => tokio::time::sleep(Duration::from_millis(2)).await,
                }
            }
        };
        let written = tokio::time::timeout(Duration::from_secs(20), written).await.unwrap();
        let want = if told.is_none() { (done, None) } else { (Outcome::Unknown, Some(done)) };
        assert_eq!(written, want);
    }
}
