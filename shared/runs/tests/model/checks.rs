//! What is explored: several small models with different faults, rather than one that never ends.

use stateright::HasDiscoveries;
use tandem_actions::Effect;

use crate::guards::{Bounds, Guards};
use crate::life::{explore, explore_all};
use crate::world::World;

const PLAIN: Bounds =
    Bounds { attempts: 2, calls: &[Effect::Transactional], lost_replies: 0, broken_answers: 0, timeouts: 0 };

fn holds(name: &str, bounds: Bounds) {
    let found = explore(name, bounds, Guards::ALL, HasDiscoveries::AnyFailures);
    assert!(found.broken.is_empty(), "{name}: {:#?}", found.broken);
}

#[test]
fn two_holders_with_replies_lost_answers_broken_and_time_up() {
    holds("one call, all faults", Bounds { lost_replies: 1, broken_answers: 1, timeouts: 1, ..PLAIN });
}

#[test]
fn three_holders_of_a_transactional_call() {
    holds("three holders", Bounds { attempts: 3, ..PLAIN });
}

#[test]
fn an_external_call_after_a_transactional_one() {
    let calls = &[Effect::Transactional, Effect::External];
    holds("transactional, external", Bounds { calls, timeouts: 1, ..PLAIN });
}

#[test]
fn a_read_beside_an_external_call() {
    let calls = &[Effect::Read, Effect::External];
    holds("read, external", Bounds { calls, lost_replies: 1, ..PLAIN });
}

/// Something that a world may show.
type Sight = Box<dyn Fn(&World) -> bool>;

/// A promise about states that are never reached says nothing.
#[test]
fn the_model_reaches_what_it_is_about() {
    use crate::log::{Entry, Outcome};
    let says = |world: &World, entry: &Entry| world.log.entries().any(|said| said == entry);
    let calls = &[Effect::External];
    let bounds = Bounds { calls, lost_replies: 1, broken_answers: 1, timeouts: 1, ..PLAIN };
    let mut wanted: Vec<(&str, Sight)> = vec![
        ("a second holder completes the run", Box::new(move |w| says(w, &Entry::Finish) && w.holders.len() == 2)),
        ("a call under way is closed by the end", Box::new(|w| w.outcomes.iter().any(|(_, o)| *o == Outcome::Closed))),
        ("an effect happens and its outcome is unknown", {
            Box::new(|w| w.acts == 1 && w.outcomes.iter().any(|(_, outcome)| *outcome == Outcome::Unknown))
        }),
        ("a cut step is asked again", Box::new(move |w| says(w, &Entry::ResetStep))),
        ("a hand-over is continued", Box::new(|w| w.run.continuations == 1 && w.run.attempt == 2)),
        ("nobody claimed", Box::new(|w| w.run.end_reason == Some(tandem_protocol::EndReason::NeverClaimed))),
    ];
    explore_all(bounds, move |world| {
        wanted.retain(|(_, seen)| !seen(world));
        wanted.iter().map(|(name, _)| *name).collect()
    });
}

/// Switches one guard off and expects that these promises are broken.
fn breaks(name: &str, bounds: Bounds, switch: fn(&mut Guards), promises: &[&'static str]) {
    let mut guards = Guards::ALL;
    switch(&mut guards);
    let began = std::time::Instant::now();
    let found =
        explore(&format!("without {name}"), bounds, guards, HasDiscoveries::AllOf(promises.iter().copied().collect()));
    let kept = promises.iter().find(|promise| found.broken.iter().all(|(broken, _)| broken != *promise));
    assert_eq!(kept, None, "without {name}");
    assert!(began.elapsed().as_secs() < 60, "within a minute");
}

#[test]
fn without_the_position_fence_a_displaced_holder_writes_on() {
    let promises = ["nothing follows the terminal chunk", "attempts never decrease along the log"];
    breaks("the position fence", PLAIN, |guards| guards.position_fence = false, &promises);
}

#[test]
fn without_the_attempt_check_a_late_holder_takes_the_log_back() {
    let promises = ["attempts never decrease along the log"];
    breaks("the attempt check", PLAIN, |guards| guards.attempt_check = false, &promises);
}

#[test]
fn without_closed_outcomes_a_call_commits_after_the_end() {
    let promises = ["no transactional effect after the end"];
    breaks("closed outcomes", PLAIN, |guards| guards.closed_outcomes = false, &promises);
}

#[test]
fn with_intents_before_the_response_is_complete_an_effect_happens_twice() {
    let bounds = Bounds { attempts: 1, calls: &[Effect::Transactional, Effect::External], broken_answers: 1, ..PLAIN };
    let promises = ["no transactional effect happens twice", "the transcript agrees with the outcomes"];
    breaks("intents after the response", bounds, |guards| guards.intents_after_response = false, &promises);
}

#[test]
fn without_the_version_in_the_claim_a_late_dispatch_takes_the_run() {
    let promises = ["a claim needs the version that it saw"];
    breaks("the version in the claim", PLAIN, |guards| guards.claim_version = false, &promises);
}
