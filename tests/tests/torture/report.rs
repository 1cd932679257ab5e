//! The counts: on the screen, and as the tables of `docs/reliability.md`.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use crate::case::Verdict;
use crate::faults::BREAKINGS;

/// Prints what was done and found.
#[allow(clippy::print_stdout)]
pub(crate) fn print(verdicts: &[Verdict]) {
    println!("{}", tables(verdicts));
}

/// Tables in Markdown: by fault, and by the write that was struck.
pub(crate) fn tables(verdicts: &[Verdict]) -> String {
    let mut text = String::from(
        "| fault | turns | struck | taken over | unknown | slowest | violations |\n|---|--:|--:|--:|--:|--:|--:|\n",
    );
    for breaking in BREAKINGS {
        let of: Vec<&Verdict> = verdicts.iter().filter(|verdict| name(verdict) == breaking.name).collect();
        text += &row(breaking.name, &of);
    }
    text += &row("all", &verdicts.iter().collect::<Vec<_>>());
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

fn row(name: &str, verdicts: &[&Verdict]) -> String {
    let count = |is: fn(&Verdict) -> bool| verdicts.iter().filter(|verdict| is(verdict)).count();
    let struck = count(|verdict| verdict.struck.is_some());
    let again = count(|verdict| verdict.attempts > 1);
    let unknown = count(|verdict| verdict.unknown);
    let slowest = verdicts.iter().map(|verdict| verdict.took).max().unwrap_or_default();
    let wrong = count(|verdict| !verdict.findings.is_empty());
    format!("| {name} | {} | {struck} | {again} | {unknown} | {} | {wrong} |\n", verdicts.len(), seconds(slowest))
}

fn name(verdict: &Verdict) -> &'static str {
    verdict.case.strike.map_or("nothing", |(breaking, _)| breaking.name)
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
