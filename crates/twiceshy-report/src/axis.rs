//! Axes: what lies where, and which places are named.

use crate::text::short;

/// An axis of a chart, linear or logarithmic.
#[derive(Clone, Debug)]
pub struct Axis {
    label: String,
    is_log: bool,
    from: Option<f64>,
    to: Option<f64>,
}

impl Axis {
    /// Equal steps.
    pub fn linear(label: impl Into<String>) -> Self {
        Axis {
            label: label.into(),
            is_log: false,
            from: None,
            to: None,
        }
    }

    /// Equal ratios. A zero has a place of its own below all others.
    pub fn log(label: impl Into<String>) -> Self {
        Axis {
            is_log: true,
            ..Axis::linear(label)
        }
    }

    /// Begins here at the latest. A linear axis of values above zero begins at zero anyway.
    #[must_use]
    pub fn from(mut self, value: f64) -> Self {
        self.from = Some(value);
        self
    }

    /// Ends here at the earliest.
    #[must_use]
    pub fn to(mut self, value: f64) -> Self {
        self.to = Some(value);
        self
    }

    pub(crate) fn label(&self) -> &str {
        &self.label
    }

    /// The scale for these values. `tight` ends it at the last value rather than at a round one.
    pub(crate) fn scale(&self, values: impl Iterator<Item = f64>, tight: bool) -> Scale {
        let values: Vec<f64> = values
            .chain(self.from)
            .chain(self.to)
            .filter(|value| value.is_finite())
            .collect();
        if self.is_log {
            Scale::log(&values, tight)
        } else {
            Scale::linear(&values, tight)
        }
    }
}

/// Where values lie between 0 and 1, and the ticks.
#[derive(Clone, Debug)]
pub(crate) struct Scale {
    is_log: bool,
    /// Ends, as logarithms where it is logarithmic.
    low: f64,
    high: f64,
    /// The share at the low end that belongs to zero.
    zero: f64,
    ticks: Vec<f64>,
}

impl Scale {
    fn linear(values: &[f64], tight: bool) -> Self {
        let mut high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let mut low = values.iter().copied().fold(f64::INFINITY, f64::min);
        if !high.is_finite() {
            (low, high) = (0.0, 1.0);
        }
        if !tight {
            (low, high) = (low.min(0.0), high.max(0.0));
        }
        if high - low <= f64::EPSILON * high.abs() {
            high = low + 1.0;
        }
        let step = round_step((high - low) / 4.5);
        let first = (low / step).floor();
        let last = (high / step).ceil();
        let ticks = (0..=(last - first) as usize).map(|i| (first + i as f64) * step);
        let (from, to) = if tight {
            (low, high)
        } else {
            (first * step, last * step)
        };
        let slack = (to - from) * 1e-9;
        let ticks = ticks.filter(|tick| (from - slack..=to + slack).contains(tick));
        Scale {
            is_log: false,
            ticks: ticks.collect(),
            low: from,
            high: to,
            zero: 0.0,
        }
    }

    fn log(values: &[f64], tight: bool) -> Self {
        let has_zero = values.iter().any(|&value| value <= 0.0);
        let logs = || {
            values
                .iter()
                .filter(|&&value| value > 0.0)
                .map(|v| v.log10())
        };
        let (mut low, mut high) = (
            logs().fold(f64::INFINITY, f64::min),
            logs().fold(f64::NEG_INFINITY, f64::max),
        );
        if !high.is_finite() {
            (low, high) = (0.0, 1.0);
        }
        if !tight || high - low < 1e-9 {
            (low, high) = ((low + 1e-9).floor(), (high - 1e-9).ceil());
            if high <= low {
                high = low + 1.0;
            }
        }
        // At most about eight decades are named.
        let every = ((high - low) / 8.0).ceil().max(1.0) as i32;
        let (first, last) = ((low - 1e-9).ceil() as i32, (high + 1e-9).floor() as i32);
        let mut ticks = Vec::new();
        if has_zero {
            ticks.push(0.0);
        }
        let decades = (first..=last).filter(|power| power.rem_euclid(every) == 0);
        ticks.extend(decades.map(|power| 10_f64.powi(power)));
        if last - first < 2 {
            // Few powers of ten: twos and fives as well.
            let between =
                (first - 1..=last).flat_map(|power| [2.0, 5.0].map(|d| d * 10_f64.powi(power)));
            ticks.extend(between.filter(|tick| (low - 1e-9..=high + 1e-9).contains(&tick.log10())));
            ticks.sort_by(f64::total_cmp);
        }
        Scale {
            is_log: true,
            low,
            high,
            zero: if has_zero { 0.1 } else { 0.0 },
            ticks,
        }
    }

    /// Where a value lies, from 0 to 1.
    pub(crate) fn place(&self, value: f64) -> f64 {
        if !self.is_log {
            return (value - self.low) / (self.high - self.low);
        }
        if value <= 0.0 {
            return 0.0;
        }
        let place = (value.log10() - self.low) / (self.high - self.low);
        self.zero + place.max(0.0) * (1.0 - self.zero)
    }

    /// Ticks: their values and names.
    pub(crate) fn ticks(&self) -> impl Iterator<Item = (f64, String)> + '_ {
        self.ticks.iter().map(|&tick| (tick, short(tick)))
    }
}

/// The round number next above.
fn round_step(rough: f64) -> f64 {
    let unit = 10_f64.powf(rough.log10().floor());
    let steps = [1.0, 2.0, 2.5, 5.0, 10.0];
    let step = steps.into_iter().find(|step| step * unit >= rough * 0.999);
    step.unwrap_or(10.0) * unit
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scale(axis: &Axis, values: &[f64], tight: bool) -> Scale {
        axis.scale(values.iter().copied(), tight)
    }

    fn ticks(scale: &Scale) -> Vec<f64> {
        scale.ticks().map(|tick| tick.0).collect()
    }

    #[test]
    fn linear_axes_begin_at_zero_and_end_on_a_tick() {
        let scale = scale(&Axis::linear("x"), &[3.0, 87.0], false);
        assert_eq!(ticks(&scale), [0.0, 20.0, 40.0, 60.0, 80.0, 100.0]);
        assert!((scale.place(50.0) - 0.5).abs() < 1e-12);
    }

    #[test]
    fn tight_axes_end_at_the_values() {
        let scale = scale(&Axis::linear("x"), &[0.1, 0.95], true);
        assert!(scale.place(0.1).abs() < 1e-12 && (scale.place(0.95) - 1.0).abs() < 1e-12);
        assert!(ticks(&scale).iter().all(|tick| (0.1..=0.95).contains(tick)));
    }

    #[test]
    fn a_log_axis_has_a_place_for_zero() {
        let axis = Axis::log("x");
        let with = scale(&axis, &[0.0, 1e-3, 1.0], false);
        assert_eq!(with.place(0.0), 0.0);
        assert!((with.place(1e-3) - 0.1).abs() < 1e-9);
        assert!((with.place(1.0) - 1.0).abs() < 1e-9);
        assert_eq!(ticks(&with)[0], 0.0);
        let without = scale(&axis, &[1e-3, 1.0], false);
        assert!(without.place(1e-3).abs() < 1e-9);
    }

    #[test]
    fn odd_values_give_a_scale_all_the_same() {
        for axis in [Axis::linear("x"), Axis::log("x")] {
            for values in [
                &[][..],
                &[0.0],
                &[5.0],
                &[5.0, 5.0],
                &[f64::NAN, 2.0],
                &[1e-300, 1e300],
            ] {
                for tight in [false, true] {
                    let scale = scale(&axis, values, tight);
                    assert!(!ticks(&scale).is_empty(), "{axis:?} {values:?} {tight}");
                    for &value in values.iter().filter(|value| value.is_finite()) {
                        let place = scale.place(value);
                        assert!(
                            (-1e-9..=1.0 + 1e-9).contains(&place),
                            "{axis:?} {values:?} {place}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn ends_can_be_given() {
        let scale = scale(&Axis::log("x").from(1e-4).to(1.0), &[1e-2], false);
        assert_eq!(ticks(&scale).len(), 5);
    }
}
