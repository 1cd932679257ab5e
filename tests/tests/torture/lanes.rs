//! Many cases side by side, each lane in a world of its own.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use futures::future::join_all;
use tokio::time::Instant;

use crate::all;
use crate::case::{Case, Verdict};
use crate::world::World;

/// Cases of a long run after which it tells how far it is.
const TELL_EVERY: usize = 50;
/// How often a turn that was given up is tried again.
const AGAIN: usize = 2;

/// Runs the cases in their order and gives their verdicts, in any order; none begins after `end`. Turns that were given up are tried again one by one, when
/// the machine has nothing else to do for us: then they must come to their end.
pub(crate) async fn run(cases: Vec<Case>, end: Option<Instant>) -> Vec<Verdict> {
    let mut verdicts = side_by_side(cases, lanes(), end).await;
    for _ in 0..AGAIN {
        let (given_up, others) =
            verdicts.into_iter().partition(|verdict| verdict.given_up && verdict.findings.is_empty());
        let again: Vec<Case> = Vec::<Verdict>::into_iter(given_up).map(|verdict| verdict.case).collect();
        verdicts = others;
        let alone = side_by_side(again, 1, None).await;
        verdicts.extend(alone.into_iter().map(|verdict| Verdict { again: true, ..verdict }));
    }
    for verdict in &mut verdicts {
        if verdict.given_up {
            verdict.findings.push("given up, and again on a calm machine".into());
        }
    }
    verdicts
}

/// Worlds at a time: a case mostly waits for leases. `TORTURE_LANES` says otherwise.
fn lanes() -> usize {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    std::env::var("TORTURE_LANES").map_or(cores + cores / 2, |lanes| lanes.parse().unwrap())
}

async fn side_by_side(cases: Vec<Case>, lanes: usize, end: Option<Instant>) -> Vec<Verdict> {
    let queue = Arc::new(Mutex::new(VecDeque::from(cases)));
    join_all((0..lanes).map(|_| lane(Arc::clone(&queue), end))).await.into_iter().flatten().collect()
}

async fn lane(queue: Arc<Mutex<VecDeque<Case>>>, end: Option<Instant>) -> Vec<Verdict> {
    let mut verdicts = Vec::new();
    let mut world: Option<World> = None;
    let mut fits = None;
    loop {
        let (next, left) = {
            let mut queue = queue.lock().unwrap();
            (queue.pop_front(), queue.len())
        };
        let Some(case) = next.filter(|_| end.is_none_or(|end| Instant::now() < end)) else { return verdicts };
        if all() && left % TELL_EVERY == 0 {
            eprintln!("{case}; then {left} more");
        }
        if world.is_none() || fits != Some((case.setting.env, case.setting.clocks)) {
            drop(world.take());
            world = Some(World::start(case.setting).await);
            fits = Some((case.setting.env, case.setting.clocks));
        }
        let verdict = case.run(world.as_ref().unwrap()).await;
        if !verdict.findings.is_empty() {
            eprintln!("--- {case}\n{}\n{}", verdict.findings.join("\n"), verdict.story);
            world = None;
        }
        verdicts.push(verdict);
    }
}
