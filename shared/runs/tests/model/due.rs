//! A run that has not ended is always found: it has one `due_at`, in one shard, whatever has happened to it.

use std::collections::{BTreeMap, HashSet};

use proptest::prelude::*;
use tandem_embedded::Engine;
use tandem_protocol::{EndReason, MessageId, Run, RunId, ThreadId};
use tandem_runs::{EndBy, Event, Limits, apply};
use tandem_store::{DUE_SHARDS, Input, MostRuns, RunWrite, StartWrite, Store, Thread, Turn, TurnBefore};

use crate::record::{PRESENT, Record, template};

/// Every record that any order of events leads to, within small counts.
fn reachable() -> HashSet<Record> {
    let mut found = HashSet::from([Record::started()]);
    let mut waiting = vec![Record::started()];
    while let Some(record) = waiting.pop() {
        for event in events(&record) {
            let Ok(next) = record.apply(&event) else { continue };
            let next = Record { version: PRESENT, ..next };
            let small = next.attempt <= 3 && next.dispatches <= 2 && next.continuations <= 2;
            if small && found.insert(next.clone()) {
                waiting.push(next);
            }
        }
    }
    found
}

fn events(record: &Record) -> Vec<Event> {
    let (observed, attempt) = (record.version, record.attempt);
    let by = EndBy::Observer { observed };
    let mut events = vec![Event::Claim { observed, holder: "1".into() }, Event::DispatchAgain { observed }];
    for progressed in [false, true] {
        events.extend([Event::Heartbeat { attempt, progressed }, Event::HandOver { attempt, progressed }]);
    }
    events.extend([
        Event::End { by: EndBy::Anyone, reason: EndReason::Aborted },
        Event::End { by: EndBy::Holder { attempt }, reason: EndReason::Completed },
        Event::End { by, reason: EndReason::NeverClaimed },
    ]);
    events
}

/// Starts a run in a thread of its own, and makes it this record.
async fn store_as(store: &Store, run: Run) {
    let start = Run { version: PRESENT, status: template().status, ..run.clone() };
    let (thread, turn) = (run.thread_id.clone().unwrap(), run.turn_id.clone().unwrap());
    let thread =
        Thread { active: Some(run.run_id.clone()), length: 2, ..Thread::new(&run.owner, thread, String::new(), 0) };
    let write = StartWrite {
        input: Input {
            text: "hello".into(),
            author: None,
            model: None,
            message_n: 1,
            decisions: Vec::new(),
            action: None,
        },
        turn: Turn { turn, run: run.run_id.clone(), message_n: 0, message_id: None, approvals: Vec::new(), version: 0 },
        run: start,
        thread,
        thread_version: None,
        follows: TurnBefore::Nothing,
        user_message: None,
        most: MostRuns::default(),
    };
    assert_eq!(store.start_run(&write, None).await.unwrap(), Ok(()));
    assert_eq!(store.put_run(&run, PRESENT).await.unwrap(), RunWrite::Stored);
}

#[tokio::test]
async fn every_reachable_run_that_has_not_ended_is_found_by_one_query() {
    let store = Store::new(Engine::in_memory().unwrap().client(), "tandem");
    store.create_table().await.unwrap();
    let records = reachable();
    let mut wanted = BTreeMap::new();
    for (n, record) in records.iter().enumerate() {
        let run_id = RunId::new(format!("run_{n}")).unwrap();
        let run = Run {
            message_id: MessageId::of_run(&run_id),
            thread_id: Some(ThreadId::new(format!("t{n}")).unwrap()),
            run_id: run_id.clone(),
            version: PRESENT + 1,
            ..record.run()
        };
        wanted.extend(run.due_at.map(|due_at| (run_id, due_at)));
        store_as(&store, run).await;
    }
    let open = records.iter().filter(|record| !record.has_ended()).count();
    println!("{} reachable records, {open} of them not ended", records.len());
    assert_eq!(wanted.len(), open);
    let mut found = Vec::new();
    for shard in 0..DUE_SHARDS {
        let due = store.due_runs(shard, i64::MAX, 10_000).await.unwrap();
        found.extend(due.into_iter().map(|due| (due.run, due.due_at)));
    }
    assert_eq!(found.len(), wanted.len(), "each in one shard");
    assert_eq!(BTreeMap::from_iter(found), wanted);
}

/// An event at some time after the one before.
fn later() -> impl Strategy<Value = (u8, bool, i64)> {
    (0..6_u8, any::<bool>(), 0..100_000_i64)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// The index key is kept ahead, so that nobody looks at a run that is alive, and never far ahead, so that one
    /// that is dead is looked at soon.
    #[test]
    fn due_is_kept_ahead_but_not_far(events in prop::collection::vec(later(), 1..40)) {
        let limits = Limits::default();
        let (mut run, mut now) = (template().clone(), 0);
        for (kind, progressed, wait) in events {
            now += wait;
            let (observed, attempt) = (run.version, run.attempt);
            let event = match kind {
                0 | 1 => Event::Claim { observed, holder: "h".into() },
                2 => Event::Heartbeat { attempt, progressed },
                3 => Event::HandOver { attempt, progressed },
                4 => Event::DispatchAgain { observed },
                _ if wait % 4 == 0 => Event::End { by: EndBy::Anyone, reason: EndReason::Aborted },
                _ => continue,
            };
            let Ok(next) = apply(&run, &event, now, &limits) else { continue };
            prop_assert_eq!(next.version, run.version + 1);
            prop_assert!(next.attempt >= run.attempt);
            run = next;
            match run.due_at {
                None => prop_assert!(run.status.is_terminal()),
                Some(due) => {
                    prop_assert!(!run.status.is_terminal());
                    let ahead = limits.due_ahead_ms..=2 * limits.due_ahead_ms;
                    prop_assert!(ahead.contains(&(due - now)), "{} ahead after {event:?}", due - now);
                }
            }
        }
    }
}
