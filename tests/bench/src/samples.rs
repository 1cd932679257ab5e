//! What was measured: values of several repetitions, and what is told of them.

/// Values, sorted, by repetition.
#[derive(Debug, Default)]
pub(crate) struct Samples(Vec<Vec<f64>>);

impl Samples {
    /// Adds a repetition; it must have values.
    pub(crate) fn add(&mut self, mut values: Vec<f64>) {
        assert!(!values.is_empty(), "a repetition without a value");
        values.sort_by(f64::total_cmp);
        self.0.push(values);
    }

    pub(crate) fn count(&self) -> usize {
        self.0.iter().map(Vec::len).sum()
    }

    pub(crate) fn repetitions(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn median(&self) -> f64 {
        at(&self.all(), 50)
    }

    /// None: there are too few values for one.
    pub(crate) fn p99(&self) -> Option<f64> {
        let all = self.all();
        (all.len() >= 20).then(|| at(&all, 99))
    }

    /// The lowest and the highest median of a repetition.
    pub(crate) fn spread(&self) -> (f64, f64) {
        let medians = self.0.iter().map(|values| at(values, 50));
        medians.fold((f64::MAX, f64::MIN), |(low, high), median| (low.min(median), high.max(median)))
    }

    fn all(&self) -> Vec<f64> {
        let mut all: Vec<f64> = self.0.concat();
        all.sort_by(f64::total_cmp);
        all
    }
}

/// The value below which so many per cent of them are.
fn at(sorted: &[f64], percent: usize) -> f64 {
    sorted[(sorted.len() * percent / 100).min(sorted.len() - 1)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_spread_is_that_of_the_repetitions_and_the_percentiles_are_of_all_values() {
        let mut samples = Samples::default();
        samples.add((0..100).rev().map(f64::from).collect());
        samples.add((100..200).map(f64::from).collect());
        assert_eq!((samples.median(), samples.p99()), (100.0, Some(198.0)));
        assert_eq!((samples.spread(), samples.count(), samples.repetitions()), ((50.0, 150.0), 200, 2));
        let mut few = Samples::default();
        few.add(vec![3.0, 1.0, 2.0]);
        assert_eq!((few.median(), few.p99()), (2.0, None));
    }
}
