use super::*;
use tandem_protocol::{MessageId, Principal, RunId, TenantId, ThreadId, TurnId, UserId};

fn run() -> Run {
    Run {
        run_id: RunId::new("run_1").unwrap(),
        thread_id: Some(ThreadId::new("t").unwrap()),
        turn_id: Some(TurnId::new("m").unwrap()),
        action: None,
        continues: None,
        message_id: MessageId::new("msg_1").unwrap(),
        owner: Principal { tenant: TenantId::new("a").unwrap(), user: UserId::new("b").unwrap(), roles: vec![] },
        trace: None,
        status: RunStatus::Dispatched,
        version: 1,
        attempt: 0,
        holder: None,
        dispatches: 1,
        dispatched_at: 0,
        continuations: 0,
        handed_over: false,
        no_progress: 0,
        end_reason: None,
        counted_in: Vec::new(),
        created_at: 0,
        ended_at: None,
        due_at: Some(30_000),
        expires_at: None,
    }
}

fn step(run: &Run, event: Event) -> Result<Run, Refused> {
    apply(run, &event, 1_000, &Limits::default())
}

fn claim(observed: u64) -> Event {
    Event::Claim { observed, holder: format!("h{observed}") }
}

#[test]
fn a_claim_needs_the_version_of_its_dispatch() {
    let held = step(&run(), claim(1)).unwrap();
    assert_eq!((held.status, held.attempt, held.version, held.dispatches), (RunStatus::Running, 1, 2, 0));
    assert_eq!(step(&held, claim(1)), Err(Refused::Moved));
}

#[test]
fn a_heartbeat_voids_a_recovery_that_saw_the_version_before() {
    let held = step(&run(), claim(1)).unwrap();
    let beaten = step(&held, Event::Heartbeat { attempt: 1, progressed: false }).unwrap();
    assert_eq!(step(&beaten, Event::DispatchAgain { observed: held.version }), Err(Refused::Moved));
    assert!(step(&beaten, Event::DispatchAgain { observed: beaten.version }).is_ok());
}

#[test]
fn a_displaced_holder_can_neither_beat_nor_hand_over_nor_end() {
    let first = step(&run(), claim(1)).unwrap();
    let recovered = step(&first, Event::DispatchAgain { observed: 2 }).unwrap();
    let second = step(&recovered, claim(3)).unwrap();
    for run in [&recovered, &second] {
        for event in [
            Event::Heartbeat { attempt: 1, progressed: true },
            Event::HandOver { attempt: 1, progressed: true },
            Event::End { by: EndBy::Holder { attempt: 1 }, reason: EndReason::Completed },
        ] {
            assert_eq!(step(run, event), Err(Refused::Displaced));
        }
    }
}

#[test]
fn nothing_happens_after_the_end() {
    let ended = step(&run(), Event::End { by: EndBy::Anyone, reason: EndReason::Aborted }).unwrap();
    assert_eq!((ended.status, ended.due_at), (RunStatus::Aborted, None));
    for event in
        [claim(2), Event::DispatchAgain { observed: 2 }, Event::End { by: EndBy::Anyone, reason: EndReason::Completed }]
    {
        assert_eq!(step(&ended, event), Err(Refused::Ended(RunStatus::Aborted)));
    }
}

#[test]
fn the_index_key_moves_seldom() {
    let held = step(&run(), claim(1)).unwrap();
    assert_eq!(held.due_at, Some(61_000));
    let beat = Event::Heartbeat { attempt: 1, progressed: false };
    let early = apply(&held, &beat, 30_000, &Limits::default()).unwrap();
    assert_eq!(early.due_at, Some(61_000));
    let late = apply(&early, &beat, 31_001, &Limits::default()).unwrap();
    assert_eq!(late.due_at, Some(91_001));
}

#[test]
fn a_run_that_gets_nowhere_is_given_up_with_the_true_reason() {
    let limits = Limits::default();
    let after = |change: fn(&mut Run)| {
        let mut run = run();
        change(&mut run);
        recovery(&run, 400_000, &limits)
    };
    assert_eq!(after(|_| {}), Recovery::DispatchAgain);
    assert_eq!(after(|r| r.dispatches = 5), Recovery::GiveUp(EndReason::NeverClaimed));
    assert_eq!(
        after(|r| {
            r.dispatches = 5;
            r.dispatched_at = 200_000;
        }),
        Recovery::DispatchAgain
    );
    assert_eq!(after(|r| r.no_progress = 3), Recovery::GiveUp(EndReason::NoProgress));
    assert_eq!(after(|r| r.continuations = 20), Recovery::GiveUp(EndReason::RunBudgetExhausted));
    assert_eq!(after(|r| r.created_at = -6_000_000), Recovery::GiveUp(EndReason::RunBudgetExhausted));
}

#[test]
fn progress_starts_the_count_anew() {
    let mut run = step(&run(), claim(1)).unwrap();
    assert_eq!(run.no_progress, 1);
    run = step(&run, Event::HandOver { attempt: 1, progressed: false }).unwrap();
    run = step(&run, claim(run.version)).unwrap();
    assert_eq!(run.no_progress, 2);
    run = step(&run, Event::Heartbeat { attempt: 2, progressed: true }).unwrap();
    assert_eq!((run.no_progress, run.continuations), (0, 1));
}

#[test]
fn who_is_displaced_for_an_end_that_does_not_come_has_not_failed() {
    let mut run = step(&run(), claim(1)).unwrap();
    for _ in 0..5 {
        run = step(&run, Event::Displace { observed: run.version, holder: "stop".into() }).unwrap();
        run = step(&run, Event::DispatchAgain { observed: run.version }).unwrap();
        run = step(&run, claim(run.version)).unwrap();
    }
    assert_eq!((run.no_progress, run.attempt), (1, 11));
    assert_eq!(step(&run, Event::Displace { observed: run.version - 1, holder: "stop".into() }), Err(Refused::Moved));
}
