//! The built functions: how large they are, how soon they ask for work, and what they hold then.

use std::process::Command;

use crate::report::Row;
use crate::samples::Samples;

const SCRIPT: &str = "scripts/measure-startup.py";
const STARTS: &str = "50";

pub(crate) async fn take(repeat: usize) -> Vec<Row> {
    let program = tandem_tests::binary();
    let folder = program.parent().unwrap();
    // Per function: median and 99th percentile in milliseconds, size and memory in MB.
    let mut measured: Vec<(String, [Samples; 4])> = Vec::new();
    for _ in 0..repeat {
        let output = Command::new(SCRIPT).args([folder.as_os_str(), STARTS.as_ref()]).output().unwrap();
        assert!(output.status.success(), "{SCRIPT}: {}", String::from_utf8_lossy(&output.stderr));
        let table = String::from_utf8(output.stdout).unwrap();
        for (at, line) in table.lines().skip(2).enumerate() {
            let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
            let value = |cell: usize| cells[cell].split(' ').next().unwrap().parse::<f64>().unwrap();
            if measured.len() == at {
                measured.push((cells[0].to_owned(), Default::default()));
            }
            for (samples, cell) in measured[at].1.iter_mut().zip(1..) {
                samples.add(vec![value(cell)]);
            }
        }
    }
    let rows = measured.iter().flat_map(|(name, [median, p99, size, memory])| {
        [
            Row::new(format!("{name}: start to the first question for work"), "ms", median).at_most(25.0),
            Row::new(format!("{name}: the same, 99th percentile"), "ms", p99),
            Row::new(format!("{name}: size"), "MB", size).at_most(15.0),
            Row::new(format!("{name}: memory when it asks"), "MB", memory).at_most(30.0),
        ]
    });
    rows.collect()
}
