//! How long a store that is not on this machine takes to answer.

use std::time::Duration;

/// Latencies that are spread as those of a distant store are: most are near the median, few are much longer. The same
/// seed gives the same ones in the same order.
#[derive(Debug, Clone)]
pub struct Latency {
    median: f64,
    /// Standard deviation of the logarithm.
    sigma: f64,
    state: u64,
}

/// How many standard deviations the 99th percentile of a normal distribution is above its middle.
const P99: f64 = 2.326_347_9;

impl Latency {
    /// Log-normal, by two of its points.
    pub fn new(median: Duration, p99: Duration, seed: u64) -> Self {
        let (median, p99) = (median.as_secs_f64(), p99.as_secs_f64());
        Latency { median, sigma: (p99 / median).ln() / P99, state: seed }
    }

    /// What DynamoDB takes as its clients see it: 5 ms in the median, 25 ms at the 99th percentile.
    pub fn of_dynamodb(seed: u64) -> Self {
        Self::new(Duration::from_millis(5), Duration::from_millis(25), seed)
    }

    /// The next one.
    pub fn sample(&mut self) -> Duration {
        // The sum of twelve even numbers is normal enough, up to six standard deviations.
        let normal = (0..12).map(|_| self.even()).sum::<f64>() - 6.0;
        Duration::from_secs_f64(self.median * (self.sigma * normal).exp())
    }

    /// From 0 to 1, by SplitMix64.
    fn even(&mut self) -> f64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        (mixed >> 11) as f64 / (1_u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latencies_have_the_median_and_the_p99_that_were_asked_for() {
        let mut latency = Latency::of_dynamodb(7);
        let mut seen: Vec<Duration> = (0..20_000).map(|_| latency.sample()).collect();
        let mut same = Latency::of_dynamodb(7);
        assert!(seen.iter().all(|one| *one == same.sample()));
        seen.sort();
        let at = |part: usize| seen[seen.len() * part / 100].as_secs_f64() * 1000.0;
        assert!((4.9..5.1).contains(&at(50)), "median {}", at(50));
        assert!((23.0..27.0).contains(&at(99)), "p99 {}", at(99));
    }
}
