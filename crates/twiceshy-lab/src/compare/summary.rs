//! From the samples of all rounds to the figures of one row.

use std::cmp::Ordering;

/// The middle and the ends of some measurements.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Summary {
    pub(crate) median: f64,
    pub(crate) min: f64,
    pub(crate) max: f64,
}

impl Summary {
    /// `None` if nothing was measured.
    pub(crate) fn of(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let mut values: Vec<f64> = values.into_iter().collect();
        values.sort_by(|a, b| a.partial_cmp(b).unwrap_or(Ordering::Equal));
        let (&min, &max) = (values.first()?, values.last()?);
        let middle = values.len() / 2;
        let median = if values.len() % 2 == 1 {
            values[middle]
        } else {
            f64::midpoint(values[middle - 1], values[middle])
        };
        Some(Summary { median, min, max })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn median(values: &[f64]) -> Option<f64> {
        Summary::of(values.iter().copied()).map(|summary| summary.median)
    }

    #[test]
    fn the_median_is_the_middle() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[4.0]), Some(4.0));
        assert_eq!(median(&[9.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[9.0, 1.0, 2.0, 4.0]), Some(3.0));
    }

    #[test]
    fn the_ends_are_the_ends() {
        let summary = Summary::of([3.0, 1.0, 2.0]).unwrap();
        assert_eq!((summary.min, summary.max), (1.0, 3.0));
    }
}
