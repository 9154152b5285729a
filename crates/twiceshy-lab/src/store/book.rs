//! Where the figures go: samples under a name, and the rows made of them.

use std::cmp::Ordering;

use serde::Serialize;

/// What a sample counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    /// Operations a second.
    PerSecond,
    /// Nanoseconds an operation.
    Nanoseconds,
    /// Milliseconds.
    Milliseconds,
    /// A number, such as engine reads per lookup.
    Count,
}

impl Unit {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Unit::PerSecond => "per second",
            Unit::Nanoseconds => "ns",
            Unit::Milliseconds => "ms",
            Unit::Count => "each",
        }
    }

    /// How many times as good `a` is as `b`.
    fn ratio(self, a: f64, b: f64) -> f64 {
        match self {
            Unit::PerSecond => a / b,
            Unit::Nanoseconds | Unit::Milliseconds | Unit::Count => b / a,
        }
    }
}

/// What is asked of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Bar {
    /// So many times as good as the peer.
    Times(f64),
    AtLeast(f64),
    AtMost(f64),
}

/// The median and the middle half of some samples.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Spread {
    pub(crate) median: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

impl Spread {
    /// `None` if there are none.
    pub(crate) fn of(samples: impl IntoIterator<Item = f64>) -> Option<Self> {
        let mut samples: Vec<f64> = samples.into_iter().collect();
        samples.sort_by(|a, b| a.partial_cmp(b).unwrap_or(Ordering::Equal));
        let last = samples.len().checked_sub(1)?;
        let at = |share: f64| {
            let place = share * last as f64;
            let (below, above) = (samples[place as usize], samples[place.ceil() as usize]);
            below + (above - below) * place.fract()
        };
        Some(Spread {
            median: at(0.5),
            low: at(0.25),
            high: at(0.75),
        })
    }
}

impl Spread {
    /// The mean in place of the median, and as far as its standard error to both sides.
    pub(crate) fn of_mean(samples: &[f64]) -> Option<Self> {
        let count = samples.len() as f64;
        let mean = samples.iter().sum::<f64>() / count;
        let variance = samples.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / (count - 1.0);
        let error = if samples.len() > 1 {
            (variance / count).sqrt()
        } else {
            0.0
        };
        let least = samples.iter().copied().min_by(f64::total_cmp)?;
        Some(Spread {
            median: mean,
            // Never below what was ever seen.
            low: (mean - error).max(least),
            high: mean + error,
        })
    }
}

/// The name of a figure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Name {
    pub(crate) experiment: &'static str,
    pub(crate) engine: &'static str,
    /// What was varied.
    pub(crate) setting: String,
    /// Who was measured.
    pub(crate) subject: &'static str,
}

struct Entry {
    name: Name,
    unit: Unit,
    samples: Vec<f64>,
    peer: Option<&'static str>,
    bar: Option<Bar>,
}

/// All samples so far, in the order in which their names came.
#[derive(Default)]
pub(crate) struct Book {
    entries: Vec<Entry>,
    /// Figures along a line, to be drawn.
    pub(crate) lines: Vec<Line>,
}

/// Throughput along an axis.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Line {
    pub(crate) chart: String,
    pub(crate) engine: &'static str,
    pub(crate) subject: &'static str,
    pub(crate) points: Vec<(f64, f64)>,
}

/// A figure, as it stands in the table and in the JSON file.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Row {
    pub(crate) experiment: &'static str,
    pub(crate) engine: &'static str,
    pub(crate) setting: String,
    pub(crate) subject: &'static str,
    pub(crate) unit: &'static str,
    #[serde(flatten)]
    pub(crate) spread: Spread,
    pub(crate) samples: usize,
    /// Who it is compared with.
    pub(crate) peer: Option<&'static str>,
    /// How many times as good as the peer: the median of the samples' own ratios, in which
    /// the machine's drift cancels.
    pub(crate) times: Option<Spread>,
    pub(crate) bar: Option<Bar>,
    pub(crate) holds: Option<bool>,
}

impl Book {
    /// Notes a sample.
    pub(crate) fn add(&mut self, name: &Name, unit: Unit, sample: f64) {
        match self.find(name, unit) {
            Some(entry) => entry.samples.push(sample),
            None => self.entries.push(Entry {
                name: name.clone(),
                unit,
                samples: vec![sample],
                peer: None,
                bar: None,
            }),
        }
    }

    /// A figure is compared with the one of the same name but another subject.
    pub(crate) fn compare(&mut self, name: &Name, unit: Unit, peer: &'static str) {
        if let Some(entry) = self.find(name, unit) {
            entry.peer = Some(peer);
        }
    }

    /// What must hold of a figure.
    pub(crate) fn demand(&mut self, name: &Name, unit: Unit, bar: Option<Bar>) {
        if let Some(entry) = self.find(name, unit) {
            entry.bar = bar;
        }
    }

    fn find(&mut self, name: &Name, unit: Unit) -> Option<&mut Entry> {
        let mut entries = self.entries.iter_mut();
        entries.find(|entry| entry.name == *name && entry.unit == unit)
    }

    /// All samples, by name.
    pub(crate) fn samples(&self) -> impl Iterator<Item = (&Name, &[f64])> {
        let entries = self.entries.iter();
        entries.map(|entry| (&entry.name, &*entry.samples))
    }

    /// The median of the samples of a name.
    pub(crate) fn median(&mut self, name: &Name, unit: Unit) -> Option<f64> {
        let samples = &self.find(name, unit)?.samples;
        Some(Spread::of(samples.iter().copied())?.median)
    }

    /// A row for each name: engine by engine, what belongs together side by side, and everything
    /// else in the order in which it came.
    pub(crate) fn rows(&self) -> Vec<Row> {
        let mut entries: Vec<&Entry> = self.entries.iter().collect();
        let first = |is_alike: &dyn Fn(&Name) -> bool| {
            self.entries.iter().position(|entry| is_alike(&entry.name))
        };
        entries.sort_by_cached_key(|entry| {
            let name = &entry.name;
            let engine = |other: &Name| other.engine == name.engine;
            let experiment = |other: &Name| engine(other) && other.experiment == name.experiment;
            let setting = |other: &Name| experiment(other) && other.setting == name.setting;
            let subject = |other: &Name| experiment(other) && other.subject == name.subject;
            (
                first(&engine),
                first(&experiment),
                first(&setting),
                first(&subject),
            )
        });
        entries.iter().filter_map(|entry| self.row(entry)).collect()
    }

    fn row(&self, entry: &Entry) -> Option<Row> {
        let Name {
            experiment,
            engine,
            ref setting,
            subject,
        } = entry.name;
        let spread = Spread::of(entry.samples.iter().copied())?;
        let times = entry.peer.and_then(|peer| {
            let name = Name {
                subject: peer,
                ..entry.name.clone()
            };
            let mut entries = self.entries.iter();
            let peer = entries.find(|other| other.name == name && other.unit == entry.unit)?;
            let pairs = entry.samples.iter().zip(&peer.samples);
            Spread::of(pairs.map(|(&ours, &theirs)| entry.unit.ratio(ours, theirs)))
        });
        let holds = entry.bar.and_then(|bar| match bar {
            Bar::Times(bar) => times.map(|times| times.median >= bar),
            Bar::AtLeast(bar) => Some(spread.median >= bar),
            Bar::AtMost(bar) => Some(spread.median <= bar),
        });
        Some(Row {
            experiment,
            engine,
            setting: setting.clone(),
            subject,
            unit: entry.unit.name(),
            spread,
            samples: entry.samples.len(),
            // Where the peer was not measured, there is nothing to compare with.
            peer: entry.peer.filter(|_| times.is_some()),
            times,
            bar: entry.bar.filter(|_| holds.is_some()),
            holds,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spread_is_the_middle_half() {
        assert_eq!(Spread::of([]), None);
        let spread = Spread::of([5.0, 1.0, 2.0, 4.0, 3.0]).unwrap();
        assert_eq!((spread.low, spread.median, spread.high), (2.0, 3.0, 4.0));
        let spread = Spread::of([1.0, 2.0]).unwrap();
        assert_eq!((spread.low, spread.median, spread.high), (1.25, 1.5, 1.75));
    }

    #[test]
    fn a_mean_has_its_standard_error() {
        assert_eq!(Spread::of_mean(&[]), None);
        assert_eq!(Spread::of_mean(&[2.0]), Spread::of([2.0]));
        let spread = Spread::of_mean(&[1.0, 3.0, 5.0, 7.0]).unwrap();
        let error = (20.0_f64 / 3.0 / 4.0).sqrt();
        assert!((spread.median - 4.0).abs() < 1e-12);
        assert!((spread.high - 4.0 - error).abs() < 1e-12);
        assert!((4.0 - spread.low - error).abs() < 1e-12);
        assert_eq!(Spread::of_mean(&[0.0, 0.0, 9.0]).unwrap().low, 0.0);
    }

    #[test]
    fn ratios_are_those_of_the_rounds_and_bars_are_judged() {
        let name = |subject| Name {
            experiment: "misses",
            engine: "redb",
            setting: String::new(),
            subject,
        };
        let mut book = Book::default();
        for (ours, theirs) in [(10.0, 100.0), (20.0, 400.0), (30.0, 900.0)] {
            book.add(&name("ours"), Unit::Nanoseconds, ours);
            book.add(&name("theirs"), Unit::Nanoseconds, theirs);
        }
        book.compare(&name("ours"), Unit::Nanoseconds, "theirs");
        book.demand(&name("ours"), Unit::Nanoseconds, Some(Bar::Times(20.5)));
        book.demand(&name("theirs"), Unit::Nanoseconds, Some(Bar::AtMost(400.0)));
        let rows = book.rows();
        assert_eq!(rows[0].times.unwrap().median, 20.0);
        assert_eq!((rows[0].holds, rows[1].holds), (Some(false), Some(true)));
    }
}
