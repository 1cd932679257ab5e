use super::*;
use tandem_protocol::{Principal, TenantId, ThreadChoice, ThreadId, UserId};

use crate::start_write::new_thread;

fn chat(text: &str, trigger: Trigger) -> AgentChat {
    AgentChat {
        thread: ThreadChoice::Named(ThreadId::new("t").unwrap()),
        text: text.into(),
        turn: None,
        trigger,
        model: None,
        interrupts: false,
    }
}

fn by() -> UserId {
    UserId::new("b").unwrap()
}

fn run_id(n: u32) -> RunId {
    RunId::new(format!("run_{n}")).unwrap()
}

fn the_turn() -> Turn {
    let turn = TurnId::new("m").unwrap();
    Turn { turn, run: run_id(1), message_n: 0, message_id: None, approvals: Vec::new(), version: 0 }
}

/// A thread with the turn `m` at 0, said `hello`, answered by run 1.
fn stored(active: Option<u32>) -> (Thread, Turn, Message) {
    let principal = Principal { tenant: TenantId::new("a").unwrap(), user: UserId::new("b").unwrap(), roles: vec![] };
    let mut thread = new_thread(&principal, ThreadId::new("t").unwrap(), "hello", 0);
    thread.length = 2;
    thread.active = active.map(run_id);
    let turn = the_turn();
    let body = MessageBody::User { text: "hello".into() };
    let id = MessageId::new("m").unwrap();
    (thread, turn, Message { n: 0, id, body, author: Some(by()), version: 1, created_at: 0 })
}

fn regenerate(replaces: Option<u32>) -> Trigger {
    Trigger::Regenerate { replaces: replaces.map(|n| MessageId::of_run(&run_id(n))) }
}

#[test]
fn a_request_means_one_thing_for_a_thread() {
    let run = |user_n, text: &str, writes_message, follows: Option<u32>| {
        Plan::Run(Wanted {
            user_n,
            text: text.into(),
            author: None,
            writes_message,
            follows: follows.map(|_| the_turn()),
        })
    };
    let known = TurnId::new("m").unwrap();
    for (case, chat, active, want) in [
        ("the same again", chat("hello", Trigger::Submit), None, Plan::Repeat(run_id(1))),
        ("the same while it runs", chat("hello", Trigger::Submit), Some(1), Plan::Repeat(run_id(1))),
        ("another text", chat("other", Trigger::Submit), None, Plan::Taken),
        ("another text while it runs", chat("other", Trigger::Submit), Some(1), Plan::Taken),
        ("an edit", chat("other", Trigger::Edit { must_exist: true }), None, run(0, "other", true, Some(1))),
        ("an edit while it runs", chat("other", Trigger::Edit { must_exist: true }), Some(1), Plan::Busy(run_id(1))),
        ("regenerate the last", chat("hello", regenerate(None)), None, run(0, "hello", false, Some(1))),
        ("regenerate by name", chat("hello", regenerate(Some(1))), None, run(0, "hello", false, Some(1))),
        ("regenerate again", chat("hello", regenerate(Some(0))), None, Plan::Repeat(run_id(1))),
        ("regenerate while it runs", chat("hello", regenerate(None)), Some(1), Plan::Repeat(run_id(1))),
        ("regenerate what runs", chat("hello", regenerate(Some(1))), Some(1), Plan::Busy(run_id(1))),
    ] {
        let (thread, turn, said) = stored(active);
        assert_eq!(plan(&by(), &chat, &known, Some(&thread), Some(&turn), Some(&said)), want, "{case}");
        // Who interrupts is never refused, and otherwise means the same.
        let interrupting = match want {
            Plan::Busy(active) => {
                let idle = Thread { active: None, ..thread.clone() };
                let Plan::Run(wanted) = plan(&by(), &chat, &known, Some(&idle), Some(&turn), Some(&said)) else {
                    panic!("{case}")
                };
                Plan::Interrupt(active, wanted)
            }
            other => other,
        };
        let chat = AgentChat { interrupts: true, ..chat };
        assert_eq!(plan(&by(), &chat, &known, Some(&thread), Some(&turn), Some(&said)), interrupting, "{case}");
    }
}

#[test]
fn new_and_dropped_turns_go_to_the_end() {
    let (thread, turn, said) = stored(None);
    let other = TurnId::new("n").unwrap();
    let new = plan(&by(), &chat("x", Trigger::Submit), &other, Some(&thread), None, None);
    assert_eq!(
        new,
        Plan::Run(Wanted { user_n: 2, text: "x".into(), author: None, writes_message: true, follows: None })
    );
    // `n` was said once, at a place where `m` stands now.
    let dropped = plan(&by(), &chat("x", Trigger::Submit), &other, Some(&thread), Some(&turn), Some(&said));
    assert_eq!(
        dropped,
        Plan::Run(Wanted {
            user_n: 2,
            text: "x".into(),
            author: None,
            writes_message: true,
            follows: Some(the_turn())
        })
    );
    let refused_before = plan(&by(), &chat("x", regenerate(None)), &other, Some(&thread), None, None);
    assert_eq!(
        refused_before,
        Plan::Run(Wanted { user_n: 2, text: "x".into(), author: None, writes_message: true, follows: None })
    );
    assert_eq!(
        plan(&by(), &chat("x", Trigger::Submit), &other, None, None, None),
        Plan::Run(Wanted { user_n: 0, text: "x".into(), author: None, writes_message: true, follows: None })
    );
}

#[test]
fn an_edit_that_changes_nothing_still_drops_what_came_after() {
    let (mut thread, turn, said) = stored(None);
    let known = TurnId::new("m").unwrap();
    let planned =
        |thread: &Thread, trigger| plan(&by(), &chat("hello", trigger), &known, Some(thread), Some(&turn), Some(&said));
    assert_eq!(planned(&thread, Trigger::Edit { must_exist: true }), Plan::Repeat(run_id(1)));
    thread.length = 4;
    assert_eq!(planned(&thread, Trigger::Submit), Plan::Repeat(run_id(1)));
    let want = Plan::Run(Wanted {
        user_n: 0,
        text: "hello".into(),
        author: None,
        writes_message: true,
        follows: Some(the_turn()),
    });
    assert_eq!(planned(&thread, Trigger::Edit { must_exist: true }), want);
}

#[test]
fn only_its_author_edits_a_message_and_only_one_that_is_there() {
    let (thread, turn, said) = stored(None);
    let (known, other) = (TurnId::new("m").unwrap(), UserId::new("other").unwrap());
    let edit = |must_exist| chat("other", Trigger::Edit { must_exist });
    assert_eq!(plan(&other, &edit(true), &known, Some(&thread), Some(&turn), Some(&said)), Plan::NotTheirs);
    assert_eq!(plan(&other, &edit(false), &known, Some(&thread), Some(&turn), Some(&said)), Plan::NotTheirs);
    assert_eq!(plan(&by(), &edit(true), &known, Some(&thread), None, None), Plan::NothingToEdit);
    // What the AI SDK edits may never have been stored, as its first request was refused.
    assert!(matches!(plan(&by(), &edit(false), &known, Some(&thread), None, None), Plan::Run(_)));
}

#[test]
fn others_try_the_last_answer_again_and_drop_nothing_that_was_said_since() {
    let (mut thread, turn, said) = stored(None);
    let (known, other) = (TurnId::new("m").unwrap(), UserId::new("other").unwrap());
    let planned = |who: &UserId, thread: &Thread, replaces| {
        plan(who, &chat("hello", regenerate(replaces)), &known, Some(thread), Some(&turn), Some(&said))
    };
    let again = |author: Option<&UserId>| {
        let (text, author, follows) = ("hello".into(), author.cloned(), Some(the_turn()));
        Plan::Run(Wanted { user_n: 0, text, author, writes_message: false, follows })
    };
    // The run is for who asks, and the model is told whose words it answers.
    assert_eq!(planned(&other, &thread, Some(1)), again(Some(&by())));
    assert_eq!(planned(&by(), &thread, Some(1)), again(None));
    thread.length = 4;
    for replaces in [None, Some(1)] {
        assert_eq!(planned(&other, &thread, replaces), Plan::NotTheirs);
        assert_eq!(planned(&by(), &thread, replaces), again(None));
    }
    // A repeat of what was done already drops nothing.
    assert_eq!(planned(&other, &thread, Some(0)), Plan::Repeat(run_id(1)));
}
