//! When a Lambda invocation is killed.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tandem_runs::Config;
use tokio::time::Instant;

/// What is assumed of an invocation whose deadline is not told: some emulators send one that lies in the past.
#[derive(Debug, Clone, Copy)]
pub struct Invocation {
    fallback: Duration,
}

impl Invocation {
    /// A response may stay open for its window, or until a run that was reclaimed is handed over.
    pub fn foreground(config: &Config) -> Self {
        let reclaimed = config.claim_grace + config.foreground_soft_timeout;
        Invocation { fallback: config.stream_window.max(reclaimed) + config.margin * 2 }
    }

    pub fn background(config: &Config) -> Self {
        Invocation { fallback: config.background_soft_timeout + config.margin * 2 }
    }

    pub fn sweeper() -> Self {
        Invocation { fallback: Duration::from_secs(60) }
    }

    /// `deadline_ms`: milliseconds since 1970, as Lambda tells it.
    pub fn deadline(&self, deadline_ms: u64) -> Instant {
        let at = UNIX_EPOCH + Duration::from_millis(deadline_ms);
        Instant::now() + at.duration_since(SystemTime::now()).unwrap_or(self.fallback)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deadline_in_the_past_is_the_emulator_s() {
        let invocation = Invocation::sweeper();
        let left = |ms: u64| invocation.deadline(ms).saturating_duration_since(Instant::now());
        assert!(left(0) > Duration::from_secs(59));
        let soon = SystemTime::now().duration_since(UNIX_EPOCH).unwrap() + Duration::from_secs(10);
        let told = left(u64::try_from(soon.as_millis()).unwrap());
        assert!(told <= Duration::from_secs(10) && told > Duration::from_secs(8), "{told:?}");
    }
}
