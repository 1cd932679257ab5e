//! Units of work against a real engine: each test is named after the promise that it keeps.

#![allow(clippy::unwrap_used)]

use serde_json::{Value, json};
use tandem_embedded::Engine;
use tandem_protocol::{Caller, Principal, RunId, TenantId, ToolCallId, UserId};
use tandem_store::{
    Attached, Author, CallPart, Commit, List, Outcome, Pause, ProgressPart, Scope, Slot, StateError, Store, Unit,
};

async fn store() -> Store {
    let store = Store::new(Engine::in_memory().unwrap().client(), "tandem");
    store.create_table().await.unwrap();
    store
}

fn principal(tenant: &str, user: &str) -> Principal {
    Principal { tenant: TenantId::new(tenant).unwrap(), user: UserId::new(user).unwrap(), roles: Vec::new() }
}

fn unit_of(store: &Store, principal: &Principal) -> Unit {
    store.unit(principal, Author { user: principal.user.clone(), caller: Caller::Http, run_id: None })
}

fn unit(store: &Store) -> Unit {
    unit_of(store, &principal("acme", "ann"))
}

fn inbox() -> Scope {
    Scope::app("inbox")
}

/// Writes documents of the inbox and commits.
async fn write(store: &Store, values: &[(&str, Value)]) {
    let mut unit = unit(store);
    for (key, value) in values {
        unit.put(&inbox(), key, value).await.unwrap();
    }
    assert!(matches!(unit.commit(&Attached::default()).await.unwrap(), Commit::Committed(_)));
}

async fn read(store: &Store, key: &str) -> Option<Value> {
    unit(store).get(&inbox(), key).await.unwrap().map(|document| document.value)
}

async fn keys(unit: &mut Unit, list: &List) -> Vec<String> {
    unit.list(&inbox(), list).await.unwrap().items.into_iter().map(|document| document.key).collect()
}

fn call() -> Slot {
    Slot::Call { run: RunId::new("run_1").unwrap(), call: ToolCallId::new("c1").unwrap() }
}

fn with_outcome(outcome: Option<Outcome>) -> Attached {
    Attached { call: Some(CallPart { slot: call(), outcome }), progress: None }
}

#[tokio::test]
async fn values_come_back_as_they_were_written() {
    let store = store().await;
    for text in [
        "9007199254740993",
        "18446744073709551615",
        "-9223372036854775808",
        "-0.0",
        "1e+300",
        "0.1",
        "\"\"",
        "[]",
        "{}",
        "null",
        r#"{"status":{"name":[true,null,"ü\u0000"]}}"#,
    ] {
        let value: Value = serde_json::from_str(text).unwrap();
        write(&store, &[("status", value)]).await;
        assert_eq!(read(&store, "status").await.unwrap().to_string(), text);
    }
    assert_eq!(read(&store, "name").await, None);
}

#[tokio::test]
async fn a_revision_is_the_position_of_the_change() {
    let store = store().await;
    write(&store, &[("a", json!(1)), ("b", json!(1))]).await;
    write(&store, &[("b", json!(2))]).await;
    let mut unit = unit(&store);
    let a = unit.get(&inbox(), "a").await.unwrap().unwrap();
    let b = unit.get(&inbox(), "b").await.unwrap().unwrap();
    assert_eq!((a.rev, b.rev), (1, 2));
    unit.put(&inbox(), "a", &json!(3)).await.unwrap();
    unit.delete(&inbox(), "b").await.unwrap();
    unit.put(&Scope::User, "x", &json!(1)).await.unwrap();
    let committed = unit.commit(&Attached::default()).await.unwrap();
    assert_eq!(committed, Commit::Committed(vec![(inbox(), 3), (Scope::User, 1)]));
    assert_eq!(read(&store, "b").await, None);
}

#[tokio::test]
async fn a_lost_race_without_overlap_is_committed_at_the_new_position() {
    let store = store().await;
    write(&store, &[("a", json!(1)), ("b", json!(1))]).await;
    let mut mine = unit(&store);
    assert!(mine.get(&inbox(), "a").await.unwrap().is_some());
    mine.put(&inbox(), "a", &json!(2)).await.unwrap();
    write(&store, &[("b", json!(2))]).await;
    write(&store, &[("c", json!(2))]).await;
    assert_eq!(mine.commit(&Attached::default()).await.unwrap(), Commit::Committed(vec![(inbox(), 4)]));
    for (key, want) in [("a", 2), ("b", 2), ("c", 2)] {
        assert_eq!(read(&store, key).await, Some(json!(want)), "{key}");
    }
}

#[tokio::test]
async fn a_lost_race_with_overlap_writes_nothing() {
    let store = store().await;
    write(&store, &[("a", json!(1))]).await;
    let mut mine = unit(&store);
    mine.get(&inbox(), "a").await.unwrap();
    mine.put(&inbox(), "z", &json!("from the old value")).await.unwrap();
    write(&store, &[("a", json!(2))]).await;
    assert_eq!(mine.commit(&Attached::default()).await.unwrap(), Commit::Lost);
    assert_eq!(read(&store, "z").await, None);
    assert_eq!(read(&store, "a").await, Some(json!(2)));
}

#[tokio::test]
async fn a_scope_that_was_only_read_must_not_have_changed() {
    let store = store().await;
    let mut mine = unit(&store);
    assert_eq!(mine.get(&inbox(), "limit").await.unwrap(), None);
    mine.put(&Scope::User, "x", &json!(1)).await.unwrap();
    write(&store, &[("limit", json!(0))]).await;
    assert_eq!(mine.commit(&Attached::default()).await.unwrap(), Commit::Lost);
    assert_eq!(unit(&store).get(&Scope::User, "x").await.unwrap(), None);

    let mut mine = unit(&store);
    mine.get(&inbox(), "other").await.unwrap();
    mine.put(&Scope::User, "x", &json!(1)).await.unwrap();
    write(&store, &[("limit", json!(1))]).await;
    assert_eq!(mine.commit(&Attached::default()).await.unwrap(), Commit::Committed(vec![(Scope::User, 1)]));
}

#[tokio::test]
async fn a_key_that_appears_in_a_list_that_was_read_is_an_overlap() {
    let store = store().await;
    write(&store, &[("emails/1", json!(1)), ("emails/5", json!(1)), ("notes/1", json!(1))]).await;
    for (list, appears, lost) in [
        (List::prefix("emails/"), "emails/3", true),
        (List::prefix("emails/"), "emails/9", true),
        (List::prefix("emails/"), "notes/2", false),
        (List::prefix("emails/").limit(1), "emails/0", true),
        (List::prefix("emails/").limit(1), "emails/7", false),
        (List::prefix("emails/").limit(1).descending(), "emails/4", false),
        (List::prefix("emails/").limit(1).descending(), "emails/8", true),
        (List::prefix("emails/").after("emails/5"), "emails/2", false),
    ] {
        let mut mine = unit(&store);
        keys(&mut mine, &list).await;
        mine.put(&inbox(), "count", &json!(2)).await.unwrap();
        write(&store, &[(appears, json!(1))]).await;
        let commit = mine.commit(&Attached::default()).await.unwrap();
        assert_eq!(commit == Commit::Lost, lost, "{list:?} {appears}");
        let mut clean = unit(&store);
        clean.delete(&inbox(), appears).await.unwrap();
        clean.commit(&Attached::default()).await.unwrap();
    }
}

#[tokio::test]
async fn lists_go_on_where_a_page_ended() {
    let store = store().await;
    let all: Vec<String> = (0..25).map(|n| format!("emails/{n:02}")).collect();
    let values: Vec<_> = all.iter().map(|key| (key.as_str(), json!({}))).collect();
    write(&store, &values).await;
    write(&store, &[("email", json!(1)), ("emails0", json!(1))]).await;
    for descending in [false, true] {
        let (mut seen, mut after) = (Vec::new(), None);
        loop {
            let mut list = List::prefix("emails/").limit(7);
            list = if descending { list.descending() } else { list };
            list = after.into_iter().fold(list, List::after);
            let page = unit(&store).list(&inbox(), &list).await.unwrap();
            seen.extend(page.items.into_iter().map(|document| document.key));
            after = page.cursor;
            if after.is_none() {
                break;
            }
        }
        if descending {
            seen.reverse();
        }
        assert_eq!(seen, all);
    }
    for (after, descending, want) in [("a", false, 25), ("z", false, 0), ("a", true, 0), ("z", true, 25)] {
        let list = List::prefix("emails/").after(after);
        let list = if descending { list.descending() } else { list };
        assert_eq!(keys(&mut unit(&store), &list).await.len(), want, "{after} {descending}");
    }
}

#[tokio::test]
async fn another_tenant_user_or_thread_sees_nothing() {
    let store = store().await;
    let ann = principal("acme", "ann");
    let thread = tandem_store::Thread::new(&ann, "t1".parse().unwrap(), String::new(), 0);
    assert!(store.create_thread(&thread).await.unwrap());
    let scopes = [Scope::User, Scope::Tenant, inbox(), Scope::Thread(thread.thread)];
    for scope in &scopes {
        let mut mine = unit_of(&store, &ann);
        mine.put(scope, "k", &json!("secret")).await.unwrap();
        mine.commit(&Attached::default()).await.unwrap();
    }
    for (tenant, user, visible) in [
        ("acme", "ann", [Some(true), Some(true), Some(true), Some(true)]),
        ("acme", "bob", [Some(false), Some(true), Some(true), None]),
        ("other", "ann", [Some(false), Some(false), Some(false), None]),
    ] {
        for (scope, want) in scopes.iter().zip(visible) {
            let mut theirs = unit_of(&store, &principal(tenant, user));
            let found = match theirs.get(scope, "k").await {
                Ok(document) => Some(document.is_some()),
                Err(StateError::NoSuchScope(_)) => None,
                Err(error) => panic!("{error}"),
            };
            assert_eq!(found, want, "{tenant} {user} {scope}");
        }
    }
}

#[tokio::test]
async fn writes_and_outcome_are_committed_once_whoever_runs_the_call() {
    let store = store().await;
    let rivals = (0..8).map(|n| {
        let store = store.clone();
        tokio::spawn(async move {
            let mut mine = unit(&store);
            mine.put(&inbox(), &format!("reply/{n}"), &json!(n)).await.unwrap();
            (n, mine.commit(&with_outcome(Some(Outcome::Done(json!(n))))).await.unwrap())
        })
    });
    let mut committed = Vec::new();
    let mut settled = Vec::new();
    for rival in futures::future::join_all(rivals).await {
        match rival.unwrap() {
            (n, Commit::Committed(_)) => committed.push(n),
            (_, Commit::Settled(outcome)) => settled.push(outcome),
            (_, Commit::Lost) => panic!("nothing was read"),
        }
    }
    assert_eq!((committed.len(), settled.len()), (1, 7));
    assert!(settled.iter().all(|outcome| *outcome == Outcome::Done(json!(committed[0]))));
    assert_eq!(keys(&mut unit(&store), &List::prefix("reply/")).await, [format!("reply/{}", committed[0])]);
}

#[tokio::test]
async fn a_closed_call_commits_nothing() {
    let store = store().await;
    store.put_outcome(&call(), &Outcome::Closed).await.unwrap();
    for outcome in [Some(Outcome::Done(json!(1))), None] {
        let mut mine = unit(&store);
        mine.put(&inbox(), "late", &json!(1)).await.unwrap();
        assert_eq!(mine.commit(&with_outcome(outcome)).await.unwrap(), Commit::Settled(Outcome::Closed));
    }
    assert_eq!(read(&store, "late").await, None);
}

#[tokio::test]
async fn a_slice_is_committed_once_and_moves_the_cursor() {
    let store = store().await;
    let slot = call();
    let slice = |step: u64| Attached {
        call: Some(CallPart { slot: slot.clone(), outcome: None }),
        progress: Some(ProgressPart { slot: slot.clone(), step, cursor: Some(json!({"done": (step + 1) * 10})) }),
    };
    assert_eq!(store.progress(&slot).await.unwrap(), None);
    for (step, want) in [(0, true), (0, false), (1, true), (0, false), (2, true)] {
        let mut mine = unit(&store);
        mine.put(&inbox(), &format!("row/{step}"), &json!(want)).await.unwrap();
        let commit = mine.commit(&slice(step)).await.unwrap();
        assert_eq!(matches!(commit, Commit::Committed(_)), want, "{step} {commit:?}");
    }
    let progress = store.progress(&slot).await.unwrap().unwrap();
    assert_eq!((progress.step, progress.cursor), (3, json!({"done": 30})));
    assert_eq!(read(&store, "row/0").await, Some(json!(true)));
}

#[tokio::test]
async fn what_is_too_large_is_refused_before_it_is_sent() {
    let store = store().await;
    let mut mine = unit(&store);
    let long = json!("x".repeat(tandem_store::MAX_VALUE_BYTES));
    assert!(matches!(mine.put(&inbox(), "k", &long).await, Err(StateError::TooLarge(_))));
    for n in 0..=tandem_store::MAX_DOCUMENTS {
        mine.put(&inbox(), &format!("k{n}"), &json!(n)).await.unwrap();
    }
    assert!(matches!(mine.commit(&Attached::default()).await, Err(StateError::TooLarge(_))));
    assert!(matches!(mine.put(&inbox(), "", &json!(1)).await, Err(StateError::BadKey { .. })));
    let nested = |levels: usize| (0..levels).fold(json!(1), |value, _| json!({"in": value}));
    assert!(matches!(mine.put(&inbox(), "k", &nested(65)).await, Err(StateError::TooDeep(_))));
    mine.put(&inbox(), "k", &nested(64)).await.unwrap();
    // 90 documents are fine.
    mine.discard_writes();
    for n in 0..tandem_store::MAX_DOCUMENTS {
        mine.put(&inbox(), &format!("k{n}"), &json!("x".repeat(2500))).await.unwrap();
    }
    assert!(matches!(mine.commit(&Attached::default()).await.unwrap(), Commit::Committed(_)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_hundred_parallel_increments_are_all_kept() {
    let store = store().await;
    let started = std::time::Instant::now();
    let rivals = (0..200).map(|_| {
        let store = store.clone();
        tokio::spawn(async move {
            let mut pause = Pause::up_to(60);
            let mut tries = 0;
            let mut line = None;
            loop {
                tries += 1;
                let mut mine = unit(&store);
                let before = mine.get(&inbox(), "n").await.unwrap().map_or(0, |d| d.value.as_u64().unwrap());
                mine.put(&inbox(), "n", &json!(before + 1)).await.unwrap();
                match mine.commit(&Attached::default()).await.unwrap() {
                    Commit::Committed(_) => return tries,
                    _ => assert!(pause.again().await, "too many lost races"),
                }
                if let (None, Some(others)) = (&line, mine.line()) {
                    line = Some(others.await);
                }
            }
        })
    });
    let tries: Vec<u32> = futures::future::join_all(rivals).await.into_iter().map(Result::unwrap).collect();
    println!("most tries {:?}, {:?}", tries.iter().max(), started.elapsed());
    assert_eq!(read(&store, "n").await, Some(json!(200)));
}

#[tokio::test]
async fn one_person_has_so_many_clients_in_a_scope_and_hides_nobody() {
    let store = store().await;
    let (ann, bob) = (principal("acme", "ann"), principal("acme", "bob"));
    let here = async |store: &Store, who: &Principal, client: &str| {
        store.show_presence(who, &Scope::Tenant, client, Some(&json!("x".repeat(2_000)))).await.unwrap();
    };
    here(&store, &bob, "w1").await;
    // From two processes, many at once.
    let (a, b) = (store.in_another_process(), store.in_another_process());
    let names: Vec<String> = (0..50).map(|n| format!("w{n}")).collect();
    let comings = names.iter().enumerate().map(|(n, name)| here(if n % 2 == 0 { &a } else { &b }, &ann, name));
    futures::future::join_all(comings).await;
    let present = store.presence(&bob, &Scope::Tenant).await.unwrap();
    let of = |user: &str| present.iter().filter(|present| present.user.as_str() == user).count();
    assert_eq!((of("ann"), of("bob")), (32, 1));
    // Who comes last is there, and who was there stays.
    here(&store, &ann, "last").await;
    here(&store, &ann, "last").await;
    let present = store.presence(&bob, &Scope::Tenant).await.unwrap();
    assert!(present.iter().any(|present| present.client == "last"));
    assert_eq!(present.len(), 33);
}
