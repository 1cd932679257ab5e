//! The counts: on the screen, and as the tables of `docs/reliability.md`.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use crate::case::{Case, Verdict};
use crate::faults::BREAKINGS;

/// Tables in Markdown: by fault, and by the write that was struck. `planned`: the cases that there are.
pub(crate) fn tables(verdicts: &[Verdict], planned: &[Case]) -> String {
    let mut text = String::from(
        "| fault | turns | struck | taken over | unknown | slowest | violations |\n|---|--:|--:|--:|--:|--:|--:|\n",
    );
    for breaking in BREAKINGS {
        let of: Vec<&Verdict> = verdicts.iter().filter(|verdict| verdict.case.breaks(breaking)).collect();
        let planned = planned.iter().filter(|case| case.breaks(breaking)).count();
        text += &row(breaking.name, &of, planned);
    }
    text += &row("all", &verdicts.iter().collect::<Vec<_>>(), planned.len());
    let again = verdicts.iter().filter(|verdict| verdict.again).count();
    text += &format!("\nTurns that were given up at first, and tried again alone: {again}.\n");
    text += "\n| victim | turn | write | struck |\n|---|---|---|--:|\n";
    let mut kinds: BTreeMap<(&str, &str, &str), usize> = BTreeMap::new();
    for verdict in verdicts {
        if let Some(kind) = verdict.struck {
            *kinds.entry((verdict.case.setting.name, verdict.case.scenario.name, kind)).or_default() += 1;
        }
    }
    for ((victim, turn, kind), count) in kinds {
        text += &format!("| {victim} | {turn} | {kind} | {count} |\n");
    }
    text
}

fn row(name: &str, verdicts: &[&Verdict], planned: usize) -> String {
    let count = |is: fn(&Verdict) -> bool| verdicts.iter().filter(|verdict| is(verdict)).count();
    let struck = count(|verdict| verdict.struck.is_some());
    let again = count(|verdict| verdict.attempts > 1);
    let unknown = count(|verdict| verdict.unknown);
    let slowest = verdicts.iter().map(|verdict| verdict.took).max().map_or("-".into(), seconds);
    let wrong = count(|verdict| !verdict.findings.is_empty());
    let turns = verdicts.len();
    let turns = if turns == planned { turns.to_string() } else { format!("{turns} of {planned}") };
    format!("| {name} | {turns} | {struck} | {again} | {unknown} | {slowest} | {wrong} |\n")
}

pub(crate) fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}

/// Replaces what stands between the markers of this name in `docs/reliability.md`.
pub(crate) fn write(name: &str, text: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../docs/reliability.md");
    let document = std::fs::read_to_string(&path).unwrap();
    let (begin, end) = (format!("<!-- {name}: begin -->\n"), format!("<!-- {name}: end -->"));
    let (before, rest) = document.split_once(&begin).unwrap();
    let (_, after) = rest.split_once(&end).unwrap();
    std::fs::write(&path, format!("{before}{begin}{text}{end}{after}")).unwrap();
}
