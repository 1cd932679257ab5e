//! Wall clocks that are wrong, and the proof that they are.

use std::ops::RangeInclusive;
use std::path::Path;
use std::time::SystemTime;

use aws_sdk_dynamodb::primitives::{DateTime, DateTimeFormat};
use tandem_testkit::faults::ClockShift;

use crate::checks::Findings;

/// By how many seconds the wall clocks of the processes are wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Clocks {
    pub(crate) foregrounds: [i64; 2],
    pub(crate) backgrounds: [i64; 2],
    pub(crate) sweeper: i64,
}

/// Seconds that a time may differ from the one that is expected: the machine is busy.
const TOLERANCE: i64 = 20;

impl Clocks {
    pub(crate) const RIGHT: Clocks = Clocks { foregrounds: [0, 0], backgrounds: [0, 0], sweeper: 0 };

    /// The environment of a process whose clock is wrong by so many seconds; `dir`: for the library that does it.
    pub(crate) fn env(&self, dir: &Path) -> impl Fn(i64) -> Vec<(&'static str, String)> + use<> {
        // Nothing stands between the others and their clocks.
        let shift = (*self != Clocks::RIGHT).then(|| ClockShift::compile(dir).unwrap());
        move |seconds| shift.iter().flat_map(|shift| shift.env(seconds)).collect()
    }
}

/// Seconds since 1970, by our own clock, which is right.
pub(crate) fn now() -> i64 {
    i64::try_from(SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs()).unwrap()
}

/// What a process wrote `during` this time must bear times that are wrong by `shift` seconds. `lines`: each begins
/// with its time.
pub(crate) fn check(
    process: &str,
    lines: &[String],
    shift: i64,
    during: &RangeInclusive<i64>,
    findings: &mut Findings,
) {
    let (first, last) = (during.start() + shift - TOLERANCE, during.end() + shift + TOLERANCE);
    for line in lines {
        let time = line.split(' ').next().unwrap_or_default();
        let told = DateTime::from_str(time, DateTimeFormat::DateTime).map(|time| time.secs());
        let fits = told.is_ok_and(|told| (first..=last).contains(&told));
        findings.must(fits, || format!("the clock of {process} should be wrong by {shift} s: {line}"));
    }
}
