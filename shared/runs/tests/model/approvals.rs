//! How people answer what a run asked: several at once, repeated when their answer is lost, while somebody else goes on
//! with the conversation. What an answer means is the runtime's own `weigh`; the reads and the conditional writes
//! around it mirror `decide` of runs/src/approve.rs and `start` of runs/src/start.rs.

use std::time::Instant;

use stateright::{Checker, HasDiscoveries, Model, Property};
use tandem_protocol::{MessageId, Run, RunId, RunStatus, ThreadId, ToolCallId, TurnId, UserId};
use tandem_runs::{DecideError, Verdict, weigh};
use tandem_store::{Decision, PendingApproval, Thread, Turn};

use crate::record::template;

/// What somebody does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Post {
    Answer {
        call: usize,
        approved: bool,
    },
    /// A new message: what is pending is refused.
    GoOn,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct World {
    thread: Thread,
    turn: Turn,
    /// The decisions that each run which goes on was started with.
    continued: Vec<Vec<PendingApproval>>,
    /// A new message has refused what was asked.
    refused: bool,
    /// Two runs of the thread were under way at once.
    at_once: bool,
    posts: Vec<At>,
    lost_replies: u8,
}

/// How far the handling of a post is. Each move is one read of both items, or one write.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum At {
    Read,
    Write(Box<(Thread, Turn)>),
    /// What holds for the call, as it was told.
    Told(bool),
    Refused,
    Started,
}

#[derive(Debug)]
struct Approvals {
    posts: Vec<Post>,
    /// A decision needs the turn as it was read.
    turn_version: bool,
    /// A decision and the next run need the thread as it was read.
    thread_version: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Move {
    Step(usize),
    Repeat(usize),
    /// The other turn's run ends, which frees the thread.
    End,
}

fn call(n: usize) -> ToolCallId {
    ToolCallId::new(format!("c{n}")).unwrap()
}

fn run_id(n: usize) -> RunId {
    RunId::new(format!("run_{n}")).unwrap()
}

/// The run that asked.
fn asked() -> Run {
    Run { run_id: run_id(0), status: RunStatus::AwaitingApproval, ..template().clone() }
}

impl World {
    /// What was decided about a call, where somebody reads it: in the run that goes on, or in the turn.
    fn decided(&self, n: usize) -> Option<bool> {
        let said = self.continued.first().unwrap_or(&self.turn.approvals);
        said.iter().find(|asked| asked.call == call(n))?.decision.as_ref().map(|decision| decision.approved)
    }

    fn answer(&mut self, model: &Approvals, read: &(Thread, Turn), n: usize, approved: bool) -> At {
        let (thread, turn) = read;
        let decision = || Ok(Decision { approved, input: None, reason: None, by: UserId::new("b").unwrap() });
        let same_turn = turn.version == self.turn.version || !model.turn_version;
        match weigh(&asked(), thread, turn, &call(n), decision) {
            Ok(Verdict::Answered) => self.decided(n).map_or(At::Refused, At::Told),
            Ok(Verdict::Told { approved, .. }) => At::Told(approved),
            Ok(Verdict::Write { approvals, .. }) if same_turn && self.same_thread(model, thread) => {
                self.turn = Turn { approvals, version: self.turn.version + 1, ..self.turn.clone() };
                self.thread.version += 1;
                At::Told(approved)
            }
            Ok(Verdict::Start(approvals)) if same_turn && self.same_thread(model, thread) => {
                self.at_once |= self.thread.active.is_some();
                self.continued.push(approvals);
                let run = run_id(self.continued.len());
                self.turn = Turn {
                    run: run.clone(),
                    approvals: Vec::new(),
                    version: self.turn.version + 1,
                    ..self.turn.clone()
                };
                self.thread.active = Some(run);
                self.thread.no_longer_awaits();
                self.thread.version += 1;
                At::Told(approved)
            }
            // A lost race: what is there now decides.
            Ok(Verdict::Write { .. } | Verdict::Start(_)) => At::Read,
            Err(DecideError::NotAsked(_)) => At::Refused,
            Err(other) => unreachable!("{other}"),
        }
    }

    fn go_on(&mut self, model: &Approvals, thread: &Thread) -> At {
        // Busy, as a client is told.
        if thread.active.is_some() {
            return At::Refused;
        }
        if !self.same_thread(model, thread) {
            return At::Read;
        }
        self.refused |= self.thread.awaiting.is_some();
        self.at_once |= self.thread.active.is_some();
        self.thread.active = Some(RunId::new("run_other").unwrap());
        self.thread.no_longer_awaits();
        self.thread.version += 1;
        At::Started
    }

    fn same_thread(&self, model: &Approvals, read: &Thread) -> bool {
        read.version == self.thread.version || !model.thread_version
    }
}

impl Model for Approvals {
    type State = World;
    type Action = Move;

    fn init_states(&self) -> Vec<World> {
        let ask = |n| PendingApproval { call: call(n), name: "send-email".into(), decision: None };
        vec![World {
            thread: Thread {
                awaiting: Some(run_id(0)),
                length: 2,
                ..Thread::new(&template().owner, ThreadId::new("t").unwrap(), String::new(), 0)
            },
            turn: Turn {
                turn: TurnId::new("m").unwrap(),
                run: run_id(0),
                message_n: 0,
                message_id: Some(MessageId::of_run(&run_id(0))),
                approvals: vec![ask(0), ask(1)],
                version: 1,
            },
            continued: Vec::new(),
            refused: false,
            at_once: false,
            posts: vec![At::Read; self.posts.len()],
            lost_replies: 1,
        }]
    }

    fn actions(&self, world: &World, moves: &mut Vec<Move>) {
        for (at, post) in world.posts.iter().enumerate() {
            match post {
                At::Read | At::Write(_) => moves.push(Move::Step(at)),
                At::Told(_) if world.lost_replies > 0 => moves.push(Move::Repeat(at)),
                At::Told(_) | At::Refused | At::Started => {}
            }
        }
        if world.thread.active.is_some() {
            moves.push(Move::End);
        }
    }

    fn next_state(&self, before: &World, made: Move) -> Option<World> {
        let mut world = before.clone();
        match made {
            Move::Step(at) => {
                world.posts[at] = match (world.posts[at].clone(), self.posts[at]) {
                    (At::Read, _) => At::Write(Box::new((world.thread.clone(), world.turn.clone()))),
                    (At::Write(read), Post::Answer { call, approved }) => world.answer(self, &read, call, approved),
                    (At::Write(read), Post::GoOn) => world.go_on(self, &read.0),
                    (done, _) => done,
                };
            }
            Move::Repeat(at) => {
                world.posts[at] = At::Read;
                world.lost_replies -= 1;
            }
            Move::End => {
                world.thread.active = None;
                world.thread.version += 1;
            }
        }
        Some(world)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("one run goes on", |_, w: &World| w.continued.len() <= 1),
            Property::always("it goes on with every call decided", |_, w: &World| {
                w.continued.iter().flatten().all(|asked| asked.decision.is_some())
            }),
            Property::always("everybody is told what holds", |model: &Approvals, w: &World| {
                let mut told = w.posts.iter().zip(&model.posts);
                told.all(|(at, post)| match (at, post) {
                    (At::Told(approved), Post::Answer { call, .. }) => w.decided(*call) == Some(*approved),
                    _ => true,
                })
            }),
            Property::always("what a new message refused never goes on", |_, w: &World| {
                !w.refused || w.continued.is_empty()
            }),
            Property::always("one run at a time", |_, w: &World| !w.at_once),
            Property::sometimes("it goes on", |_, w: &World| !w.continued.is_empty()),
            Property::sometimes("a new message wins", |_, w: &World| w.refused && w.posts.contains(&At::Refused)),
        ]
    }
}

fn explore(turn_version: bool, thread_version: bool, enough: HasDiscoveries) -> Vec<&'static str> {
    let began = Instant::now();
    let answer = |call, approved| Post::Answer { call, approved };
    let posts = vec![answer(0, true), answer(0, false), answer(1, true), Post::GoOn];
    let model = Approvals { posts, turn_version, thread_version };
    let checker = model.checker().threads(2).finish_when(enough).spawn_bfs().join();
    println!("approvals: {} unique states in {:.1} s", checker.unique_state_count(), began.elapsed().as_secs_f64());
    checker.discoveries().into_keys().collect()
}

#[test]
fn whoever_answers_at_once_one_run_goes_on_with_what_everybody_was_told() {
    let mut found = explore(true, true, HasDiscoveries::AnyFailures);
    found.sort_unstable();
    assert_eq!(found, ["a new message wins", "it goes on"]);
}

#[test]
fn without_the_versions_of_turn_and_thread_somebody_is_told_what_does_not_hold() {
    let wanted = "everybody is told what holds";
    let found = explore(false, false, HasDiscoveries::AllOf([wanted].into()));
    assert!(found.contains(&wanted), "{found:?}");
}

#[test]
fn without_the_version_of_the_thread_two_runs_begin_at_once() {
    let wanted = ["what a new message refused never goes on", "one run at a time"];
    let found = explore(true, false, HasDiscoveries::AllOf(wanted.into()));
    assert!(wanted.iter().all(|name| found.contains(name)), "{found:?}");
}
