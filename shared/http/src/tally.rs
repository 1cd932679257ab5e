//! What strangers can make happen as often as they like is counted, and told seldom: a line for each would fill the log.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Pause between two lines of one process.
const PAUSE: Duration = Duration::from_secs(10);

/// A number that waits to be told.
pub(crate) struct Tally(Mutex<(u64, Option<Instant>)>);

impl Tally {
    pub(crate) const fn new() -> Self {
        Tally(Mutex::new((0, None)))
    }

    /// One more; the number since the last line, where it is time for another.
    pub(crate) fn add(&self, now: Instant) -> Option<u64> {
        let mut tally = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (count, told) = &mut *tally;
        *count += 1;
        if told.is_some_and(|told| now.duration_since(told) < PAUSE) {
            return None;
        }
        *told = Some(now);
        Some(std::mem::take(count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_is_told_at_once_and_others_together() {
        let (tally, start) = (Tally::new(), Instant::now());
        let at = |seconds| start + Duration::from_secs(seconds);
        let told: Vec<_> = [0, 1, 5, 9, 10, 30].map(|seconds| tally.add(at(seconds))).to_vec();
        assert_eq!(told, [Some(1), None, None, None, Some(4), Some(1)]);
    }
}
