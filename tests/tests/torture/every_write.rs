//! Every write of a turn, broken in every way.

use crate::case::{Case, Verdict};
use crate::faults::BREAKINGS;
use crate::scenario::{IMPORT, SHORT_IMPORT, Scenario, TWO_STEPS};
use crate::setting::{BACKGROUND, DRIVING_FOREGROUND, FOREGROUND, Setting};
use crate::{ALONE, all, lanes, report};

/// Turns, whose writes are broken, and at how many places; `None`: at each.
type Round = (&'static Setting, &'static Scenario, Option<u64>);

const ALL: &[Round] = &[
    (&BACKGROUND, &TWO_STEPS, None),
    (&BACKGROUND, &IMPORT, None),
    (&FOREGROUND, &TWO_STEPS, None),
    (&DRIVING_FOREGROUND, &TWO_STEPS, None),
];

const SAMPLE: &[Round] = &[
    (&BACKGROUND, &TWO_STEPS, Some(3)),
    (&BACKGROUND, &SHORT_IMPORT, Some(2)),
    (&FOREGROUND, &TWO_STEPS, Some(1)),
    (&DRIVING_FOREGROUND, &TWO_STEPS, Some(1)),
];

/// Heartbeats come and go, so one run writes more than another.
const MORE: u64 = 2;

#[tokio::test(flavor = "multi_thread")]
async fn whatever_breaks_at_any_write_nothing_runs_twice_and_nothing_is_lost() {
    let _alone = ALONE.lock().await;
    let rounds = if all() { ALL } else { SAMPLE };
    let unbroken = rounds.iter().map(|(setting, scenario, _)| Case { setting, scenario, strike: None });
    let counted = lanes::run(unbroken.collect()).await;
    assert_eq!(wrong(&counted), Vec::<String>::new());
    let verdicts = lanes::run(rounds.iter().flat_map(|round| cases(round, &counted)).collect()).await;
    report::print(&verdicts);
    let wrong = wrong(&verdicts);
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), verdicts.len(), wrong.join("\n"));
    if all() {
        report::write("every-write", &report::tables(&verdicts));
    }
}

/// Every fault at every place of a round.
fn cases(&(setting, scenario, places): &Round, counted: &[Verdict]) -> Vec<Case> {
    let is_round = |verdict: &&Verdict| verdict.case.setting == setting && verdict.case.scenario.name == scenario.name;
    let writes = counted.iter().find(is_round).unwrap().writes;
    let places = places.map_or_else(|| (1..=writes + MORE).collect(), |places| spread(writes, places));
    let at = |k| BREAKINGS.iter().map(move |breaking| Case { setting, scenario, strike: Some((breaking, k)) });
    places.into_iter().flat_map(at).collect()
}

/// So many places from the first write to the last.
fn spread(writes: u64, places: u64) -> Vec<u64> {
    (0..places).map(|n| 1 + (writes - 1) * n / (places - 1).max(1)).collect()
}

fn wrong(verdicts: &[Verdict]) -> Vec<String> {
    let wrong = verdicts.iter().filter(|verdict| !verdict.findings.is_empty());
    wrong.map(|verdict| format!("{}: {}", verdict.case, verdict.findings.join("; "))).collect()
}
