//! From every state an end can be reached, also when no holder of that state ever moves again.
//!
//! Of each state that the checker finds, the holders are stopped for good: that is the worst of all crashes. Then
//! only observers and new holders act, in a fixed order, without bounds and without further faults. Nobody aborts.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Mutex;

use crate::guards::{Bounds, Guards};
use crate::life::Life;
use crate::moves::Move;
use crate::promises::PROMISES;
use crate::world::World;

/// Moves after which a rescue that goes on is taken for endless.
const MOST: usize = 200;

/// States that were rescued before: most states differ only in holders that stop here anyway.
#[derive(Debug, Default)]
pub(crate) struct Rescued(Mutex<HashSet<u64>>);

pub(crate) fn ends(life: &Life, world: &World) -> bool {
    if world.run.has_ended() {
        return true;
    }
    let mut world = world.clone();
    for holder in &mut world.holders {
        holder.late = None;
        holder.stop();
    }
    let mut hasher = DefaultHasher::new();
    (&world.run, &world.log, &world.outcomes).hash(&mut hasher);
    if !life.rescued.0.lock().unwrap().insert(hasher.finish()) {
        return true;
    }
    [Helper::Works, Helper::Dies, Helper::NeverComes].iter().all(|helper| rescue(world.clone(), *helper, life))
}

/// What becomes of those who are dispatched from now on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Helper {
    Works,
    /// Each claims, and then crashes.
    Dies,
    NeverComes,
}

fn rescue(mut world: World, helper: Helper, life: &Life) -> bool {
    let bounds = Bounds { attempts: u32::MAX, ..life.bounds };
    for turn in 0..MOST {
        if world.run.has_ended() {
            return PROMISES.iter().all(|(_, holds)| holds(&world));
        }
        let working = world.holders.iter().position(|holder| holder.op.is_some());
        let made = match (helper, working) {
            (Helper::Works, Some(at)) => Move::Step(at),
            (Helper::Works | Helper::Dies, _) if turn % 2 == 1 => Move::Claim,
            _ => Move::Recover,
        };
        match world.after(made, &bounds, &Guards::ALL) {
            Some(next) => world = next,
            None => return false,
        }
        if helper == Helper::Dies {
            world.holders.iter_mut().for_each(crate::holder::Holder::stop);
        }
    }
    false
}
