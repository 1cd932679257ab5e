//! How runs begin: posts to one thread, at the same time, repeated when their answer is lost. Mirrors `start` and
//! `plan` of runs/src/start.rs and `start_run` of store/src/start.rs.

use std::time::Instant;

use stateright::{Checker, HasDiscoveries, Model, Property};

/// What a client asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Post {
    /// The user's message, which is the turn.
    Submit { turn: usize },
    /// Another answer to it instead of this run.
    Regenerate { turn: usize, replaces: usize },
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct World {
    thread: Thread,
    /// The run that each turn points to.
    turns: [Option<usize>; 2],
    runs: Vec<Run>,
    posts: Vec<At>,
    lost_replies: u8,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
struct Thread {
    version: u8,
    active: Option<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Run {
    turn: usize,
    ended: bool,
    /// The post that started it.
    by: Post,
}

/// How far the handling of a post is. Each move is one read, or the one transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum At {
    ReadThread,
    ReadTurn(Thread),
    Write { thread: Thread, follows: Option<usize> },
    Streams(usize),
    Busy,
}

#[derive(Debug)]
struct Starts {
    posts: Vec<Post>,
    lost_replies: u8,
    /// The start needs the thread as it was read.
    thread_version: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Move {
    Step(usize),
    /// The answer is lost, and the client posts the same again.
    Repeat(usize),
    End,
}

impl Post {
    fn turn(self) -> usize {
        match self {
            Post::Submit { turn } | Post::Regenerate { turn, .. } => turn,
        }
    }

    /// What the post means; `Err`: it needs no new run. Mirrors `plan`.
    fn plan(self, thread: Thread, pointer: Option<usize>) -> Result<Option<usize>, At> {
        match (self, pointer) {
            (Post::Submit { .. }, Some(run)) => return Err(At::Streams(run)),
            (Post::Regenerate { replaces, .. }, Some(run)) if replaces != run => return Err(At::Streams(run)),
            _ => {}
        }
        if thread.active.is_some() { Err(At::Busy) } else { Ok(pointer) }
    }
}

impl Model for Starts {
    type State = World;
    type Action = Move;

    fn init_states(&self) -> Vec<World> {
        // Turn 0 has been answered once.
        let first = Run { turn: 0, ended: true, by: Post::Submit { turn: 0 } };
        vec![World {
            thread: Thread { version: 1, active: None },
            turns: [Some(0), None],
            runs: vec![first],
            posts: vec![At::ReadThread; self.posts.len()],
            lost_replies: self.lost_replies,
        }]
    }

    fn actions(&self, world: &World, moves: &mut Vec<Move>) {
        for (at, post) in world.posts.iter().enumerate() {
            match post {
                At::Streams(_) | At::Busy if world.lost_replies > 0 => moves.push(Move::Repeat(at)),
                At::Streams(_) | At::Busy => {}
                At::ReadThread | At::ReadTurn(_) | At::Write { .. } => moves.push(Move::Step(at)),
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
                let post = self.posts[at];
                let turn = post.turn();
                world.posts[at] = match world.posts[at] {
                    At::ReadThread => At::ReadTurn(world.thread),
                    At::ReadTurn(thread) => match post.plan(thread, world.turns[turn]) {
                        Ok(follows) => At::Write { thread, follows },
                        Err(answer) => answer,
                    },
                    At::Write { thread, follows } => {
                        let same = thread.version == world.thread.version || !self.thread_version;
                        if same && world.turns[turn] == follows {
                            let run = world.runs.len();
                            world.runs.push(Run { turn, ended: false, by: post });
                            world.turns[turn] = Some(run);
                            world.thread = Thread { version: world.thread.version + 1, active: Some(run) };
                            At::Streams(run)
                        } else {
                            At::ReadThread
                        }
                    }
                    done => done,
                };
            }
            Move::Repeat(at) => {
                world.posts[at] = At::ReadThread;
                world.lost_replies -= 1;
            }
            // The end of a run, whoever ends it, frees the thread: store/src/runs.rs.
            Move::End => {
                let run = world.thread.active.take()?;
                world.runs[run].ended = true;
                world.thread.version += 1;
            }
        }
        Some(world)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("one run at a time, and the thread names it", |_, w: &World| {
                w.runs.iter().enumerate().all(|(run, found)| found.ended == (w.thread.active != Some(run)))
            }),
            Property::always("the same post starts one run", |_, w: &World| {
                w.runs.iter().enumerate().all(|(n, run)| w.runs[..n].iter().all(|before| before.by != run.by))
            }),
            Property::always("a turn points to its latest run", |_, w: &World| {
                (0..2).all(|turn| w.turns[turn] == w.runs.iter().rposition(|run| run.turn == turn))
            }),
            Property::always("a post is answered with a run of its turn", |model: &Starts, w: &World| {
                let mut answered = w.posts.iter().zip(&model.posts);
                answered.all(|(at, post)| match at {
                    At::Streams(run) => w.runs[*run].turn == post.turn(),
                    _ => true,
                })
            }),
        ]
    }
}

fn explore(posts: Vec<Post>, thread_version: bool) -> Vec<&'static str> {
    let began = Instant::now();
    let starts = Starts { posts, lost_replies: 2, thread_version };
    let checker = starts.checker().threads(2).finish_when(HasDiscoveries::AnyFailures).spawn_bfs().join();
    println!("starts: {} unique states in {:.1} s", checker.unique_state_count(), began.elapsed().as_secs_f64());
    checker.discoveries().into_keys().collect()
}

const NEW: Post = Post::Submit { turn: 1 };
const AGAIN: Post = Post::Regenerate { turn: 0, replaces: 0 };

#[test]
fn posts_at_the_same_time_and_repeated_start_one_run_each() {
    assert_eq!(explore(vec![NEW, NEW, AGAIN, AGAIN], true), [""; 0]);
}

#[test]
fn without_the_version_of_the_thread_two_runs_are_under_way() {
    assert_eq!(explore(vec![NEW, AGAIN], false), ["one run at a time, and the thread names it"]);
}
