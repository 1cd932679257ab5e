//! What is explored, and what must hold of it.

use std::time::Instant;

use stateright::{Checker, DiscoveryClassification, HasDiscoveries, Model, Property};

use crate::unit::{Guards, Read, Script};
use crate::world::{Broken, KEYS, World};

#[derive(Debug)]
struct Feed {
    scripts: Vec<Script>,
    client: bool,
    lost_replies: u8,
    guards: Guards,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Move {
    Step(usize),
    /// The transaction is applied, and its reply lost.
    Unanswered(usize),
    Watch,
}

impl Model for Feed {
    type State = World;
    type Action = Move;

    fn init_states(&self) -> Vec<World> {
        vec![World::new(self.scripts.len(), self.client, self.lost_replies)]
    }

    fn actions(&self, world: &World, actions: &mut Vec<Move>) {
        for (at, unit) in world.units.iter().enumerate().filter(|(_, unit)| !unit.is_done()) {
            actions.push(Move::Step(at));
            if world.lost_replies > 0 && !unit.resends {
                actions.push(Move::Unanswered(at));
            }
        }
        if world.client.is_some() && !world.is_heard() {
            actions.push(Move::Watch);
        }
    }

    fn next_state(&self, before: &World, made: Move) -> Option<World> {
        let mut world = before.clone();
        match made {
            Move::Step(at) => world.step(at, &self.scripts[at], &self.guards),
            Move::Unanswered(at) => {
                let unit = world.units[at].clone();
                world.step(at, &self.scripts[at], &self.guards);
                if world.units[at].at != crate::unit::At::Committed {
                    return None;
                }
                world.units[at] = crate::unit::Unit { resends: true, ..unit };
                world.lost_replies -= 1;
            }
            Move::Watch => world.watch(self.guards.head_first),
        }
        (world != *before).then_some(world)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("a commit is made on what was read", |_, w: &World| w.broken != Some(Broken::StaleRead)),
            Property::always("the documents are the fold of the feed", |_, w: &World| {
                w.documents.iter().all(|((scope, key), value)| {
                    w.feed[*scope].iter().rev().find(|(changed, _)| changed == key) == Some(&(*key, *value))
                })
            }),
            Property::always("every increment is kept", |model: &Feed, w: &World| {
                let counts = Script { reads: vec![Read::One((0, 0))], write: (0, 0), call: None };
                let all = model.scripts.iter().all(|script| *script == counts);
                // Each adds two to what it read: one, and one for the document being there.
                !all || w.documents.get(&(0, 0)).is_none_or(|value| *value + 1 == 2 * w.head(0))
            }),
            Property::always("a call commits once", |_, w: &World| {
                (0..w.units.len()).all(|call| w.outcomes.iter().filter(|done| **done == call).count() <= 1)
            }),
            Property::always("a window that has heard everything shows everything", |_, w: &World| {
                let client = w.client.as_ref().filter(|_| w.is_heard());
                client.is_none_or(|c| (0..KEYS).all(|key| c.shows.get(&key) == w.documents.get(&(0, key))))
            }),
            Property::always("whoever is not done can go on", |model: &Feed, w: &World| {
                let mut moves = Vec::new();
                model.actions(w, &mut moves);
                !moves.is_empty() || (w.units.iter().all(crate::unit::Unit::is_done) && w.is_heard())
            }),
            Property::sometimes("the function runs again", |_, w: &World| w.reruns > 0),
        ]
    }
}

fn explore(name: &str, feed: Feed) -> Vec<&'static str> {
    let began = Instant::now();
    let checker = feed.checker().threads(2).finish_when(HasDiscoveries::AnyFailures).spawn_bfs().join();
    println!("{name}: {} unique states in {:.1} s", checker.unique_state_count(), began.elapsed().as_secs_f64());
    let mut broken = Vec::new();
    for (promise, path) in checker.discoveries() {
        if matches!(checker.discovery_classification(promise), DiscoveryClassification::Counterexample) {
            println!("  broken: {promise}\n  by: {:?}", path.into_actions());
            broken.push(promise);
        }
    }
    broken
}

fn unit(reads: &[Read], write: (usize, u8)) -> Script {
    Script { reads: reads.to_vec(), write, call: None }
}

fn increments(n: usize) -> Vec<Script> {
    vec![unit(&[Read::One((0, 0))], (0, 0)); n]
}

/// Two that each read what the other one writes, in two scopes.
fn skewed() -> Vec<Script> {
    vec![unit(&[Read::One((0, 0))], (1, 0)), unit(&[Read::One((1, 0))], (0, 0))]
}

fn holds(name: &str, scripts: Vec<Script>, client: bool, lost_replies: u8) {
    let broken = explore(name, Feed { scripts, client, lost_replies, guards: Guards::ALL });
    assert_eq!(broken, [""; 0], "{name}");
}

#[test]
fn no_increment_is_lost() {
    holds("three increments", increments(3), true, 0);
    holds("two increments, replies lost", increments(2), true, 2);
}

#[test]
fn what_was_read_in_another_scope_is_still_so() {
    holds("two scopes", skewed(), false, 1);
    let mut three = skewed();
    three.push(unit(&[Read::One((0, 0)), Read::One((1, 0))], (1, 1)));
    holds("two scopes, three units", three, false, 0);
}

#[test]
fn a_list_that_was_read_has_not_grown() {
    let adds = |key| unit(&[Read::All(0)], (0, key));
    holds("lists", vec![adds(0), adds(1), unit(&[Read::One((0, 1))], (1, 0))], true, 0);
}

#[test]
fn changes_that_do_not_touch_are_both_made() {
    holds("side by side", vec![unit(&[Read::One((0, 0))], (0, 0)), unit(&[Read::One((0, 1))], (0, 1))], true, 2);
}

#[test]
fn a_call_that_two_holders_run_commits_once() {
    let call = Script { call: Some(0), ..unit(&[Read::One((0, 0))], (0, 0)) };
    holds("one call, two holders", vec![call.clone(), call, unit(&[], (0, 1))], true, 1);
}

#[test]
fn without_head_before_documents_a_change_is_overwritten() {
    let guards = Guards { head_first: false, ..Guards::ALL };
    let broken =
        explore("HEAD after documents", Feed { scripts: increments(2), client: false, lost_replies: 0, guards });
    assert!(broken.contains(&"a commit is made on what was read") || broken.contains(&"every increment is kept"));
    let writes = vec![unit(&[], (0, 0))];
    let broken =
        explore("a window's HEAD after documents", Feed { scripts: writes, client: true, lost_replies: 0, guards });
    assert_eq!(broken, ["a window that has heard everything shows everything"]);
}

#[test]
fn without_the_check_of_scopes_that_were_only_read_a_commit_is_stale() {
    let guards = Guards { checks_what_was_read: false, ..Guards::ALL };
    let broken =
        explore("no check of what was read", Feed { scripts: skewed(), client: false, lost_replies: 0, guards });
    assert_eq!(broken, ["a commit is made on what was read"]);
}

#[test]
fn without_a_look_at_the_frames_in_between_a_commit_is_stale() {
    let guards = Guards { looks_in_between: false, ..Guards::ALL };
    let broken = explore("no look in between", Feed { scripts: increments(2), client: false, lost_replies: 0, guards });
    assert!(broken.contains(&"a commit is made on what was read") || broken.contains(&"every increment is kept"));
}
