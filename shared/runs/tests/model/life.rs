//! The life of one run, as the checker explores it.

use std::collections::HashSet;
use std::time::Instant;

use stateright::{Checker, HasDiscoveries, Model, Property};

use crate::guards::{Bounds, Guards};
use crate::moves::{Move, moves};
use crate::promises;
use crate::rescue::Rescued;
use crate::world::World;

#[derive(Debug)]
pub(crate) struct Life {
    pub(crate) bounds: Bounds,
    pub(crate) guards: Guards,
    pub(crate) rescued: Rescued,
}

impl Model for Life {
    type State = World;
    type Action = Move;

    fn init_states(&self) -> Vec<World> {
        vec![World::started(&self.bounds)]
    }

    fn actions(&self, world: &World, actions: &mut Vec<Move>) {
        // A broken promise is found where it broke; what follows from it is of no interest.
        if world.broken.is_none() {
            moves(world, &self.bounds, actions);
        }
    }

    fn next_state(&self, world: &World, made: Move) -> Option<World> {
        world.after(made, &self.bounds, &self.guards)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        promises::all()
    }
}

/// What the checker found.
pub(crate) struct Found {
    /// The promises that were broken, each with the shortest way there that was seen.
    pub(crate) broken: Vec<(&'static str, String)>,
}

/// Explores every order of moves within the bounds, and prints how much that was.
pub(crate) fn explore(name: &str, bounds: Bounds, guards: Guards, enough: HasDiscoveries) -> Found {
    let began = Instant::now();
    let life = Life { bounds, guards, rescued: Rescued::default() };
    let checker = life.checker().threads(2).finish_when(enough).spawn_bfs().join();
    let broken: Vec<(&str, String)> = checker
        .discoveries()
        .into_iter()
        .map(|(promise, path)| {
            let moves: Vec<String> = path.into_actions().iter().map(|made| format!("{made:?}")).collect();
            (promise, moves.join(", "))
        })
        .collect();
    println!(
        "{name}: {} unique states, {} moves deep, in {:.1} s",
        checker.unique_state_count(),
        checker.max_depth(),
        began.elapsed().as_secs_f64()
    );
    for (promise, path) in &broken {
        println!("  broken: {promise}\n  by: {path}");
    }
    Found { broken }
}

/// Walks every world within the bounds, and fails if `missing` still names something at the end.
// Of a log only its frames are compared and hashed, and they never change.
#[allow(clippy::mutable_key_type)]
pub(crate) fn explore_all(bounds: Bounds, mut missing: impl FnMut(&World) -> Vec<&'static str>) {
    let mut seen: HashSet<World> = HashSet::new();
    let mut waiting = vec![World::started(&bounds)];
    let mut still = Vec::new();
    while let Some(world) = waiting.pop() {
        still = missing(&world);
        if still.is_empty() {
            return;
        }
        let mut made = Vec::new();
        moves(&world, &bounds, &mut made);
        let next = made.into_iter().filter_map(|made| world.after(made, &bounds, &Guards::ALL));
        waiting.extend(next.filter(|next| seen.insert(next.clone())));
    }
    panic!("never reached: {still:?}");
}
