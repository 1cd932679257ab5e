//! Calls that are sent with an idempotency key: one effect and one answer, however often they are sent.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::future::join_all;
use serde_json::json;
use tandem_actions::{ActionError, Call};
use tandem_protocol::{TenantId, UserId};
use tandem_store::{Intent, IntentKey, new_id};

use crate::brief;
use crate::sample::{App, gate, rings_of, runs_of, until_run};

const DAY: i64 = 24 * 3600 * 1000;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sixteen_callers_with_one_key_have_one_effect_and_the_same_answer() {
    let app = App::new().await;
    for (name, input, effect) in [
        ("add", json!({"name": "sixteen", "by": 5}), 0),
        ("count-up", json!({"name": "up", "by": 3}), 0),
        ("ring", json!({"name": "sixteen-ring"}), 1),
        ("call-out", json!({"name": "sixteen-out", "by": 5}), 1),
    ] {
        let calls = (0..16).map(|_| app.spawn(name, input.clone(), app.keyed("k")));
        let answers: Vec<_> = join_all(calls).await.into_iter().map(|call| brief(&call.unwrap())).collect();
        assert!(answers[0].starts_with(['{', '"']), "{name} {answers:?}");
        assert!(answers.iter().all(|answer| *answer == answers[0]), "{name} {answers:?}");
        assert_eq!(runs_of(input["name"].as_str().unwrap()), effect, "{name}");
    }
    assert_eq!(app.value("sixteen").await, Some(json!(5)));
    assert_eq!(app.value("up").await, Some(json!(3)));
}

#[tokio::test]
async fn the_same_key_means_another_call_for_another_person_tenant_action_or_day() {
    let app = App::new().await;
    let add = |call: Call| app.call("add", json!({"name": "n", "by": 1}), call);
    let by = |change: fn(&mut Call)| {
        let mut call = app.keyed("k");
        change(&mut call);
        call
    };
    for (call, want) in [
        (app.keyed("k"), r#"{"value":1}"#),
        (app.keyed("k"), r#"{"value":1}"#),
        (app.keyed("K"), r#"{"value":2}"#),
        (by(|call| call.principal.user = UserId::new("bob").unwrap()), r#"{"value":3}"#),
        (by(|call| call.principal.tenant = TenantId::new("other").unwrap()), r#"{"value":1}"#),
        (by(|call| call.started_at += DAY - 1000), r#"{"value":1}"#),
        (by(|call| call.started_at += DAY), r#"{"value":4}"#),
        (by(|call| call.started_at += DAY), r#"{"value":4}"#),
    ] {
        assert_eq!(brief(&add(call).await), want);
    }
    // The other side is told different keys too.
    let ring = |call: Call| app.call("ring", json!({"name": "told"}), call);
    let mine = ring(app.keyed("k")).await.unwrap();
    assert_eq!(ring(app.keyed("k")).await.unwrap(), mine);
    assert_ne!(ring(by(|call| call.principal.user = UserId::new("bob").unwrap())).await.unwrap(), mine);
    assert_ne!(ring(by(|call| call.started_at += DAY)).await.unwrap(), mine);
    assert_eq!(rings_of("told").len(), 3);
}

#[tokio::test]
async fn a_key_belongs_to_one_input() {
    let app = App::new().await;
    assert!(app.call("add", json!({"name": "n", "by": 1}), app.keyed("k")).await.is_ok());
    let other = app.call("add", json!({"name": "n", "by": 2}), app.keyed("k")).await;
    assert!(matches!(other, Err(ActionError::KeyReused)), "{}", brief(&other));
    // Written differently it is the same input.
    assert_eq!(brief(&app.call("add", json!({"by": 1.0, "name": "n"}), app.keyed("k")).await), r#"{"value":1}"#);
    assert_eq!(app.value("n").await, Some(json!(1)));
}

#[tokio::test]
async fn what_is_not_let_in_does_not_use_up_the_key() {
    let app = App::new().await;
    for (name, input, code) in [
        ("add", json!({"name": "n", "by": "one"}), "invalid_input"),
        ("ad", json!({}), "not_found"),
        ("add", json!({"name": "n", "by": 1}), r#"{"value":1}"#),
    ] {
        assert_eq!(brief(&app.call(name, input, app.keyed("k")).await), code);
    }
    // A read takes no notice of it.
    for (by, value) in [(1, 1), (2, 3)] {
        app.call("add", json!({"name": "m", "by": by}), app.person()).await.unwrap();
        assert_eq!(app.call("peek", json!({"name": "m"}), app.keyed("k")).await.unwrap(), value);
    }
}

#[tokio::test]
async fn a_failure_is_the_answer_too() {
    let app = App::new().await;
    let out = || app.call("call-out", json!({"name": "failing", "by": 0}), app.keyed("k"));
    let told = out().await.unwrap_err().to_string();
    assert_eq!(told, "Nobody is there. [refused]");
    assert_eq!(out().await.unwrap_err().to_string(), told);
    assert_eq!(runs_of("failing"), 1);
}

#[tokio::test]
async fn after_a_crash_the_next_caller_goes_on_by_the_effect() {
    let app = App::new().await;
    for (name, input, again) in
        [("ring", json!({"name": "crash-ring"}), Ok(2)), ("call-out", json!({"name": "crash-out", "by": 1}), Err(1))]
    {
        let what = input["name"].as_str().unwrap();
        let gate = gate(what);
        let dying = app.spawn(name, input.clone(), app.hasty("k"));
        until_run(what, 1).await;
        dying.abort();
        assert!(dying.await.unwrap_err().is_cancelled());
        gate.add_permits(1);
        let result = app.call(name, input.clone(), app.hasty("k")).await;
        match again {
            Ok(runs) => assert_eq!((result.is_ok(), runs_of(what)), (true, runs), "{}", brief(&result)),
            Err(runs) => assert_eq!((brief(&result), runs_of(what)), ("unknown".into(), runs)),
        }
        let told = app.call(name, input, app.hasty("k")).await;
        assert_eq!(brief(&told), brief(&result));
    }
    let rings = rings_of("crash-ring");
    assert_eq!(rings, [rings[0].clone(), rings[0].clone()]);
}

#[tokio::test]
async fn long_work_goes_on_from_its_last_slice_after_a_crash() {
    let app = App::new().await;
    let input = json!({"name": "n", "by": 40});
    let dying = app.spawn("count-up", input.clone(), app.hasty("k"));
    while app.value("n").await.is_none_or(|n| n.as_i64() < Some(3)) {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    dying.abort();
    assert_eq!(brief(&app.call("count-up", input, app.hasty("k")).await), r#"{"value":40}"#);
    assert_eq!(app.value("n").await, Some(json!(40)));
}

#[tokio::test(start_paused = true)]
async fn a_caller_that_is_slow_and_alive_is_waited_for() {
    let app = App::new().await;
    let (input, gate) = (json!({"name": "slow-out", "by": 1}), gate("slow-out"));
    let first = app.spawn("call-out", input.clone(), app.hasty("k"));
    until_run("slow-out", 1).await;
    // Longer than a lease, and no longer than its own time.
    let mut hasty = app.hasty("k");
    hasty.deadline = tokio::time::Instant::now() + Duration::from_millis(900);
    let hasty = app.call("call-out", input.clone(), hasty).await;
    assert!(matches!(hasty, Err(ActionError::InProgress)), "{}", brief(&hasty));
    let patient = app.spawn("call-out", input, app.hasty("k"));
    gate.add_permits(1);
    assert_eq!(brief(&first.await.unwrap()), r#"{"value":1}"#);
    assert_eq!(brief(&patient.await.unwrap()), r#"{"value":1}"#);
    assert_eq!(runs_of("slow-out"), 1);
}

#[tokio::test]
async fn a_caller_that_slept_too_long_does_not_change_what_was_told() {
    let app = App::new().await;
    let (input, gate) = (json!({"name": "asleep", "by": 1}), gate("asleep"));
    let registry = Arc::clone(&app.registry);
    let mut asleep = Box::pin(registry.call("call-out", input.clone(), app.hasty("k")));
    let begins = async {
        tokio::select! {
            _ = &mut asleep => panic!("the gate is closed"),
            () = until_run("asleep", 1) => {}
        }
    };
    begins.await;
    // Nobody polls it any more: it gives no sign of life.
    let told = app.call("call-out", input.clone(), app.hasty("k")).await;
    assert!(matches!(told, Err(ActionError::Unknown)), "{}", brief(&told));
    gate.add_permits(1);
    assert!(matches!(asleep.await, Err(ActionError::Unknown)));
    assert!(matches!(app.call("call-out", input, app.hasty("k")).await, Err(ActionError::Unknown)));
    assert_eq!(runs_of("asleep"), 1);
}

#[tokio::test(start_paused = true)]
async fn a_caller_whose_time_is_up_lets_the_next_one_go_on_at_once() {
    let app = App::new().await;
    let (input, gate) = (json!({"name": "handed-on"}), gate("handed-on"));
    let mut short = app.keyed("k");
    short.deadline = tokio::time::Instant::now() + Duration::from_millis(100);
    assert!(matches!(app.call("ring", input.clone(), short).await, Err(ActionError::Cancelled)));
    gate.add_permits(1);
    let begun = tokio::time::Instant::now();
    assert!(app.call("ring", input, app.keyed("k")).await.is_ok());
    assert!(begun.elapsed() < Duration::from_secs(10));
    assert_eq!(runs_of("handed-on"), 2);
}

#[tokio::test]
async fn a_sign_of_life_that_is_under_way_when_a_caller_leaves_holds_nobody_up() {
    let app = App::new().await;
    for n in 0..20 {
        let (name, key) = (format!("left-{n}"), format!("k-{n}"));
        let (input, gate) = (json!({"name": name}), gate(&name));
        let restless = |mut call: Call| {
            let once = call.once.as_mut().unwrap();
            // One after the other, without a pause.
            (once.lease, once.heartbeat) = (Duration::from_secs(60), Duration::ZERO);
            call
        };
        let mut short = restless(app.keyed(&key));
        short.deadline = tokio::time::Instant::now() + Duration::from_millis(20 + n);
        assert!(matches!(app.call("ring", input.clone(), short).await, Err(ActionError::Cancelled)));
        gate.add_permits(1);
        let begun = Instant::now();
        assert!(app.call("ring", input, restless(app.keyed(&key))).await.is_ok());
        assert!(begun.elapsed() < Duration::from_secs(20), "{name}");
    }
}

#[tokio::test]
async fn who_is_told_to_stop_while_it_waits_does_nothing() {
    let app = App::new().await;
    let (input, gate) = (json!({"name": "waited-for"}), gate("waited-for"));
    let first = app.spawn("ring", input.clone(), app.keyed("k"));
    until_run("waited-for", 1).await;
    let call = app.keyed("k");
    let cancel = call.cancel.clone();
    let waiting = app.spawn("ring", input, call);
    tokio::time::sleep(Duration::from_millis(50)).await;
    cancel.cancel();
    assert!(matches!(waiting.await.unwrap(), Err(ActionError::Cancelled)));
    gate.add_permits(1);
    assert!(first.await.unwrap().is_ok());
    assert_eq!(runs_of("waited-for"), 1);
}

#[tokio::test]
async fn an_intent_recognises_its_own_earlier_success() {
    let app = App::new().await;
    let key = IntentKey { tenant: TenantId::new("acme").unwrap(), digest: "d".into() };
    let intent = |holder: &str, beat| Intent { input: "i".into(), started_at: DAY, holder: holder.into(), beat };
    let (a, b) = (new_id(), new_id());
    for again in [false, true] {
        assert_eq!(app.store.put_intent(&key, &intent(&a, 0)).await.unwrap(), None, "{again}");
    }
    assert_eq!(app.store.put_intent(&key, &intent(&b, 0)).await.unwrap(), Some(intent(&a, 0)));
    for again in [false, true] {
        assert!(app.store.move_intent(&key, &intent(&a, 0), &intent(&a, 1)).await.unwrap(), "{again}");
    }
    assert!(!app.store.move_intent(&key, &intent(&a, 0), &intent(&b, 1)).await.unwrap());
    assert!(app.store.move_intent(&key, &intent(&a, 1), &intent(&b, 2)).await.unwrap());
    // The old holder's next sign of life is refused.
    assert!(!app.store.move_intent(&key, &intent(&a, 1), &intent(&a, 2)).await.unwrap());
    assert_eq!(app.store.intent(&key).await.unwrap(), Some(intent(&b, 2)));
}

#[tokio::test]
async fn now_and_ids_are_those_of_the_first_request() {
    let app = App::new().await;
    let (input, gate) = (json!({"name": "when"}), gate("when"));
    let first = app.hasty("k");
    let started_at = first.started_at;
    // Holders die; whoever goes on, seconds later, computes what the first one would have.
    let mut ids = std::collections::BTreeSet::new();
    for (life, key) in ["k", "k", "l"].into_iter().enumerate() {
        let mut dying = app.hasty(key);
        dying.started_at += 1000 * i64::try_from(life).unwrap();
        let dying = app.spawn("when", input.clone(), dying);
        until_run("when", u32::try_from(life).unwrap() + 1).await;
        dying.abort();
        assert!(dying.await.unwrap_err().is_cancelled());
    }
    gate.add_permits(10);
    for (key, begun_at) in [("k", started_at), ("l", started_at + 2000)] {
        let mut last = app.hasty(key);
        last.started_at += 9000;
        let answer = app.call("when", input.clone(), last).await.unwrap();
        assert_eq!(answer[0], begun_at);
        ids.insert(answer[1].as_str().unwrap().to_owned());
    }
    assert_eq!(ids.len(), 2);
}
