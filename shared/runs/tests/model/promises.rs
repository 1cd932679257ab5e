//! The promises that hold in every state, whatever happened before.

use stateright::Property;

use crate::life::Life;
use crate::log::{Entry, State};
use crate::rescue;
use crate::world::{Broken, World};

/// A promise holds of a world, or it is broken there.
type Promise = fn(&World) -> bool;

/// Those that are about one world alone.
pub(crate) const PROMISES: &[(&str, Promise)] = &[
    ("the log is dense", is_dense),
    ("attempts never decrease along the log", attempts_never_decrease),
    ("nothing follows the terminal chunk", nothing_follows_the_end),
    ("a run has ended exactly when its log has", log_and_record_agree),
    ("a thread is free exactly when its run has ended", |w| w.active != w.run.has_ended()),
    ("due exactly while the run has not ended", |w| w.run.due_at.is_some() != w.run.has_ended()),
    ("no transactional effect happens twice", |w| w.commits <= 1),
    ("no transactional effect after the end", |w| w.broken != Some(Broken::CommittedAfterEnd)),
    ("no external effect happens twice by itself", |w| w.acts <= 1),
    ("the transcript agrees with the outcomes", outcomes_agree),
    ("no call begins without a stored intent", |w| w.broken != Some(Broken::BeganWithoutIntent)),
    ("at the end every call that may have begun is settled", nothing_is_left_open),
    ("a claim needs the version that it saw", |w| w.broken != Some(Broken::VoidClaim)),
    ("a holder stops only when the run is not its own", |w| w.broken != Some(Broken::StoppedForNothing)),
];

pub(crate) fn all() -> Vec<Property<Life>> {
    // Stateright takes functions without captures, so each promise is found by its place.
    macro_rules! promise {
        ($($at:literal)*) => {
            vec![$(Property::<Life>::always(PROMISES[$at].0, |_, world| PROMISES[$at].1(world))),*]
        };
    }
    let mut all = promise!(0 1 2 3 4 5 6 7 8 9 10 11 12 13);
    assert_eq!(all.len(), PROMISES.len(), "every promise is checked");
    all.push(Property::<Life>::always("an end can be reached", rescue::ends));
    all
}

fn is_dense(world: &World) -> bool {
    let mut next = 0;
    world.log.frames().iter().all(|frame| {
        let follows = frame.first == next && !frame.entries.is_empty();
        next = frame.first + frame.entries.len();
        follows
    })
}

fn attempts_never_decrease(world: &World) -> bool {
    world.log.frames().windows(2).all(|pair| pair[0].attempt <= pair[1].attempt)
}

fn nothing_follows_the_end(world: &World) -> bool {
    let ends = world.log.entries().filter(|entry| entry.is_terminal()).count();
    ends == 0 || (ends == 1 && world.log.entries().last().is_some_and(Entry::is_terminal))
}

fn log_and_record_agree(world: &World) -> bool {
    world.run.has_ended() == world.log.has_ended()
}

/// What the log shows of a call is what is stored, and what happened is not forgotten.
fn outcomes_agree(world: &World) -> bool {
    let calls = &world.log.facts().calls;
    let shown = calls.iter().all(|call| match call.state {
        State::Settled(outcome) => world.outcome(call.id) == Some(outcome),
        State::Ready => world.outcome(call.id).is_none(),
        State::Intended => true,
    });
    shown && world.outcomes.iter().all(|(id, _)| calls.iter().any(|call| call.id == *id))
}

fn nothing_is_left_open(world: &World) -> bool {
    let facts = world.log.facts();
    let unsettled = |state: State| matches!(state, State::Intended);
    !world.run.has_ended()
        || (facts.closing.is_empty()
            && facts.calls.iter().all(|call| !unsettled(call.state) || world.outcome(call.id).is_some()))
}
