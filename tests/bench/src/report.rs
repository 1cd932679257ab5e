//! The results: `results.json` for programs, `results.md` for people.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::figures::FIGURES;
use crate::machine::Machine;
use crate::samples::Samples;

/// One line of the table.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Row {
    what: String,
    unit: String,
    median: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    p99: Option<f64>,
    /// The lowest and the highest median of a repetition.
    spread: (f64, f64),
    samples: usize,
    repetitions: usize,
    /// The median of the same through a server that only forwards.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    floor: Option<f64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    bars: Vec<Bar>,
}

/// What is wanted of a figure.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Bar {
    on: On,
    limit: f64,
    met: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum On {
    MedianAtMost,
    MedianAtLeast,
    P99AtMost,
}

impl Row {
    pub(crate) fn new(what: impl Into<String>, unit: &str, samples: &Samples) -> Self {
        Row {
            what: what.into(),
            unit: unit.to_owned(),
            median: samples.median(),
            p99: samples.p99(),
            spread: samples.spread(),
            samples: samples.count(),
            repetitions: samples.repetitions(),
            floor: None,
            bars: Vec::new(),
        }
    }

    pub(crate) fn floor(self, floor: &Samples) -> Self {
        Row { floor: Some(floor.median()), ..self }
    }

    pub(crate) fn at_most(self, limit: f64) -> Self {
        let met = self.median <= limit;
        self.bar(On::MedianAtMost, limit, met)
    }

    pub(crate) fn at_least(self, limit: f64) -> Self {
        let met = self.median >= limit;
        self.bar(On::MedianAtLeast, limit, met)
    }

    /// There must be values enough for a 99th percentile.
    pub(crate) fn p99_at_most(self, limit: f64) -> Self {
        let met = self.p99.unwrap() <= limit;
        self.bar(On::P99AtMost, limit, met)
    }

    fn bar(mut self, on: On, limit: f64, met: bool) -> Self {
        self.bars.push(Bar { on, limit, met });
        self
    }

    /// For the one who waits.
    pub(crate) fn shown(&self) -> String {
        let [what, median, p99, spread, floor, wanted, met] = self.cells();
        format!("{what}: median {median}, p99 {p99}, medians {spread}, floor {floor}; wanted {wanted} {met}")
    }

    fn cells(&self) -> [String; 7] {
        let shown = |value: f64| format!("{} {}", number(value), self.unit).trim_end().to_owned();
        let optional = |value: Option<f64>| value.map_or("-".to_owned(), shown);
        let wanted = self.bars.iter().map(|bar| {
            let (of, than) = match bar.on {
                On::MedianAtMost => ("", "at most"),
                On::MedianAtLeast => ("", "at least"),
                On::P99AtMost => ("p99 ", "at most"),
            };
            format!("{of}{than} {}", number(bar.limit))
        });
        let met = self.bars.iter().map(|bar| if bar.met { "yes" } else { "**no**" });
        let join = |words: Vec<String>| if words.is_empty() { "-".to_owned() } else { words.join(", ") };
        [
            self.what.clone(),
            shown(self.median),
            optional(self.p99),
            format!("{} to {}", number(self.spread.0), number(self.spread.1)),
            optional(self.floor),
            join(wanted.collect()),
            join(met.map(str::to_owned).collect()),
        ]
    }
}

/// Three digits that count, and no more.
fn number(value: f64) -> String {
    match value.abs() {
        0.0 => "0".to_owned(),
        large if large >= 100.0 => format!("{value:.0}"),
        middle if middle >= 10.0 => format!("{value:.1}").trim_end_matches(".0").to_owned(),
        _ => format!("{value:.2}").trim_end_matches('0').trim_end_matches('.').to_owned(),
    }
}

/// The rows of one figure, and where they were taken.
#[derive(Debug, Serialize, Deserialize)]
struct Taken {
    machine: Machine,
    rows: Vec<Row>,
}

/// All results in a folder.
#[derive(Debug)]
pub(crate) struct Report {
    folder: PathBuf,
    taken: BTreeMap<String, Taken>,
}

impl Report {
    /// With what was measured before.
    pub(crate) fn open(folder: &Path) -> Self {
        std::fs::create_dir_all(folder).unwrap();
        let known = std::fs::read(folder.join("results.json")).ok();
        let taken = known.and_then(|json| serde_json::from_slice(&json).ok()).unwrap_or_default();
        Report { folder: folder.to_owned(), taken }
    }

    pub(crate) fn replace(&mut self, figure: &str, rows: Vec<Row>) {
        self.taken.insert(figure.to_owned(), Taken { machine: Machine::this(), rows });
    }

    pub(crate) fn write(&self) {
        let json = serde_json::to_vec_pretty(&self.taken).unwrap();
        std::fs::write(self.folder.join("results.json"), json).unwrap();
        std::fs::write(self.folder.join("results.md"), self.markdown()).unwrap();
    }

    fn markdown(&self) -> String {
        let mut text = String::new();
        let mut machine = None;
        for figure in FIGURES {
            let Some(taken) = self.taken.get(figure.name) else { continue };
            if machine != Some(&taken.machine) {
                let Machine { processor, cores, memory_gb, kernel, commit, rustc, build } = &taken.machine;
                writeln!(
                    text,
                    "{processor}, {cores} cores, {memory_gb} GB, Linux {kernel}; commit {commit}, {rustc}, "
                )
                .unwrap();
                writeln!(text, "built as {build}.\n").unwrap();
                machine = Some(&taken.machine);
            }
            writeln!(text, "### {}\n\n`make bench ARGS={}`\n", figure.about, figure.name).unwrap();
            writeln!(text, "| | median | p99 | medians of the repetitions | floor | wanted | met |").unwrap();
            writeln!(text, "|---|---|---|---|---|---|---|").unwrap();
            for row in &taken.rows {
                writeln!(text, "| {} |", row.cells().join(" | ")).unwrap();
            }
            text.push('\n');
        }
        text
    }
}
