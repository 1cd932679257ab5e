//! Every write of a turn, broken in every way.

use std::time::Duration;

use tokio::time::Instant;

use crate::case::{Case, Verdict};
use crate::faults::{BREAKINGS, Breaking};
use crate::scenario::{IMPORT, INTERRUPTED, SHORT_IMPORT, STOPPED, STOPPED_AT_ONCE, Scenario, TWO_STEPS};
use crate::setting::{BACKGROUND, CLOCKS_APART, CLOCKS_MIXED, DRIVING_FOREGROUND, FOREGROUND, Setting};
use crate::{ALONE, all, lanes, report};

/// Turns, whose writes are broken, at how many places (`None`: at each), and how.
type Round = (&'static Setting, &'static Scenario, Option<u64>, fn(&Breaking) -> bool);

const ALL: &[Round] = &[
    (&BACKGROUND, &TWO_STEPS, None, anything),
    (&BACKGROUND, &IMPORT, None, anything),
    (&FOREGROUND, &TWO_STEPS, None, anything),
    (&DRIVING_FOREGROUND, &TWO_STEPS, None, anything),
    (&CLOCKS_APART, &TWO_STEPS, None, Breaking::displaces),
    (&CLOCKS_MIXED, &TWO_STEPS, None, Breaking::displaces),
    // By the foreground that it was posted to.
    (&BACKGROUND, &STOPPED, None, anything),
    (&FOREGROUND, &STOPPED, None, anything),
    (&DRIVING_FOREGROUND, &STOPPED, None, anything),
    (&BACKGROUND, &STOPPED_AT_ONCE, None, anything),
    (&FOREGROUND, &INTERRUPTED, None, anything),
];

const SAMPLE: &[Round] = &[
    (&BACKGROUND, &TWO_STEPS, Some(3), anything),
    (&BACKGROUND, &SHORT_IMPORT, Some(1), anything),
    (&FOREGROUND, &TWO_STEPS, Some(1), anything),
    (&DRIVING_FOREGROUND, &TWO_STEPS, Some(1), anything),
    (&CLOCKS_APART, &TWO_STEPS, Some(1), Breaking::displaces),
    (&BACKGROUND, &STOPPED, Some(1), anything),
    (&FOREGROUND, &INTERRUPTED, Some(1), anything),
];

fn anything(_: &Breaking) -> bool {
    true
}

/// Heartbeats come and go, so one run writes more than another.
const MORE: u64 = 2;

#[tokio::test(flavor = "multi_thread")]
async fn whatever_breaks_at_any_write_nothing_runs_twice_and_nothing_is_lost() {
    let _alone = ALONE.lock().await;
    let rounds = if all() { ALL } else { SAMPLE };
    let unbroken = rounds.iter().map(|(setting, scenario, ..)| Case { setting, scenario, strike: None });
    let counted = lanes::run(unbroken.collect(), None).await;
    assert_eq!(wrong(&counted), Vec::<String>::new());
    let mut cases: Vec<Case> = rounds.iter().flat_map(|round| cases(round, &counted)).filter(is_asked_for).collect();
    assert!(!cases.is_empty(), "no case has {:?} in its name: is TORTURE_ONLY right?", only().unwrap_or_default());
    // Fault by fault: if the time does not suffice for all, the first ones are complete.
    cases.sort_by_key(|case| BREAKINGS.iter().position(|breaking| case.breaks(breaking)));
    let verdicts = lanes::run(cases.clone(), end()).await;
    let tables = report::tables(&verdicts, &cases);
    println!("{tables}");
    let wrong = wrong(&verdicts);
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), verdicts.len(), wrong.join("\n"));
    // Who asks for some cases only may ask for those that strike nothing.
    if only().is_none() {
        assert_eq!(spared(&verdicts), Vec::<String>::new(), "{tables}");
    }
    if all() && only().is_none() {
        report::write("every-write", &tables);
    }
}

/// Every fault at every place of a round.
fn cases(&(setting, scenario, places, how): &Round, counted: &[Verdict]) -> Vec<Case> {
    let is_round = |verdict: &&Verdict| verdict.case.setting == setting && verdict.case.scenario.name == scenario.name;
    let writes = counted.iter().find(is_round).unwrap().writes;
    let places = places.map_or_else(|| (1..=writes + MORE).collect(), |places| spread(writes, places));
    let breakings = move || BREAKINGS.iter().filter(move |breaking| how(breaking));
    let at = |k| breakings().map(move |breaking| Case { setting, scenario, strike: Some((breaking, k)) });
    places.into_iter().flat_map(at).collect()
}

/// When no case begins any more: after `TORTURE_MINUTES`, if that is said.
fn end() -> Option<Instant> {
    let minutes: u64 = std::env::var("TORTURE_MINUTES").ok()?.parse().unwrap();
    Some(Instant::now() + Duration::from_secs(60 * minutes))
}

/// A part of the name of the cases that are asked for; none: every case.
fn only() -> Option<String> {
    std::env::var("TORTURE_ONLY").ok()
}

fn is_asked_for(case: &Case) -> bool {
    only().is_none_or(|part| case.to_string().contains(&part))
}

/// So many places, at equal distances: one in the middle, or two at a quarter and at three quarters.
fn spread(writes: u64, places: u64) -> Vec<u64> {
    (0..places).map(|n| (writes * (2 * n + 1)).div_ceil(2 * places)).collect()
}

/// Faults that hardly struck: what was not broken is not shown to hold. Heartbeats come and go, so that some cases find
/// their write not there.
fn spared(verdicts: &[Verdict]) -> Vec<String> {
    let of = |breaking: &Breaking| {
        let tried: Vec<_> = verdicts.iter().filter(|verdict| verdict.case.breaks(breaking)).collect();
        let struck = tried.iter().filter(|verdict| verdict.struck.is_some()).count();
        let few = !tried.is_empty() && struck * 2 <= tried.len();
        few.then(|| format!("{}: {struck} of {} struck", breaking.name, tried.len()))
    };
    BREAKINGS.iter().filter_map(of).collect()
}

fn wrong(verdicts: &[Verdict]) -> Vec<String> {
    let wrong = verdicts.iter().filter(|verdict| !verdict.findings.is_empty());
    wrong.map(|verdict| format!("{}: {}", verdict.case, verdict.findings.join("; "))).collect()
}
