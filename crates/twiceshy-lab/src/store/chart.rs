//! Line charts as SVG, by hand.
//!
//! Colours are the page's CSS variables, so that a chart reads in light and dark alike.

use std::fmt::Write;

use super::table::number;

/// One line.
pub(super) struct Series<'s> {
    pub(super) name: &'s str,
    /// Which of the page's colours.
    pub(super) colour: usize,
    pub(super) points: Vec<(f64, f64)>,
}

/// A chart of throughput.
pub(super) struct Chart<'s> {
    pub(super) title: String,
    pub(super) x_axis: &'static str,
    /// Ticks of the x axis.
    pub(super) ticks: &'static [f64],
    pub(super) y_axis: &'static str,
    /// Powers of ten on the y axis, for lines that are far apart.
    pub(super) log: bool,
    pub(super) series: Vec<Series<'s>>,
}

const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 300.0;
const LEFT: f64 = 84.0;
const RIGHT: f64 = 118.0;
const TOP: f64 = 34.0;
const BOTTOM: f64 = 44.0;

impl Chart<'_> {
    /// The chart as an `<svg>` element; empty if there is nothing to draw.
    pub(super) fn svg(&self) -> String {
        let ys = || {
            self.series
                .iter()
                .flat_map(|s| s.points.iter().map(|p| p.1))
        };
        let highest = ys().fold(f64::NEG_INFINITY, f64::max);
        let lowest = ys().fold(f64::INFINITY, f64::min);
        if !highest.is_finite() || highest <= 0.0 {
            return String::new();
        }
        let y_ticks = self.y_ticks(lowest, highest);
        let scale = |y: f64| if self.log { y.max(1e-9).log10() } else { y };
        let first = y_ticks.first().copied().unwrap_or(0.0);
        let last = y_ticks.last().copied().unwrap_or(1.0);
        let (low, high) = (scale(first), scale(last));
        let (from, to) = (self.ticks[0], self.ticks[self.ticks.len() - 1]);
        let x_at = |x: f64| LEFT + (x - from) / (to - from) * (WIDTH - LEFT - RIGHT);
        let y_at =
            |y: f64| HEIGHT - BOTTOM - (scale(y) - low) / (high - low) * (HEIGHT - TOP - BOTTOM);

        let mut svg = String::new();
        let mut line = |text: String| {
            svg.push_str(&text);
            svg.push('\n');
        };
        line(format!(
            "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{}\">",
            self.title
        ));
        line(format!(
            "<text x=\"8\" y=\"18\" class=\"title\">{}</text>",
            self.title
        ));
        for &tick in &y_ticks {
            let (y, label) = (y_at(tick), number(tick));
            line(format!(
                "<line x1=\"{LEFT}\" x2=\"{}\" y1=\"{y:.1}\" y2=\"{y:.1}\" class=\"grid\"/>\
                 <text x=\"{}\" y=\"{:.1}\" class=\"tick end\">{label}</text>",
                WIDTH - RIGHT,
                LEFT - 6.0,
                y + 4.0,
            ));
        }
        for &tick in self.ticks {
            let (x, y) = (x_at(tick), HEIGHT - BOTTOM);
            line(format!(
                "<line x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{y}\" y2=\"{}\" class=\"axis\"/>\
                 <text x=\"{x:.1}\" y=\"{}\" class=\"tick middle\">{tick}</text>",
                y + 4.0,
                y + 17.0,
            ));
        }
        let (middle, bottom) = (f64::midpoint(LEFT, WIDTH - RIGHT), HEIGHT - 8.0);
        line(format!(
            "<text x=\"{middle}\" y=\"{bottom}\" class=\"tick middle\">{}</text>\
             <text x=\"{}\" y=\"{bottom}\" class=\"tick\">{}</text>",
            self.x_axis, 8.0, self.y_axis
        ));
        let mut labels = Vec::new();
        for series in &self.series {
            let Some(&(_, end)) = series.points.last() else {
                continue;
            };
            let mut path = String::new();
            for (i, &(x, y)) in series.points.iter().enumerate() {
                let step = if i == 0 { 'M' } else { 'L' };
                // Writing to a string can't fail.
                let _ = write!(path, "{step}{:.1} {:.1}", x_at(x), y_at(y));
            }
            let colour = format!("var(--line{})", series.colour);
            line(format!(
                "<path d=\"{path}\" stroke=\"{colour}\" class=\"line\"/>"
            ));
            labels.push((y_at(end), series.name, colour));
        }
        for (y, name, colour) in apart(labels) {
            let x = WIDTH - RIGHT + 8.0;
            line(format!(
                "<text x=\"{x}\" y=\"{:.1}\" fill=\"{colour}\" class=\"label\">{name}</text>",
                y + 4.0
            ));
        }
        svg.push_str("</svg>\n");
        svg
    }

    fn y_ticks(&self, lowest: f64, highest: f64) -> Vec<f64> {
        if self.log {
            let from = lowest.max(1e-9).log10().floor() as i32;
            let to = (highest.log10().ceil() as i32).max(from + 1);
            return (from..=to).map(|power| 10_f64.powi(power)).collect();
        }
        // Four to eight round steps from zero.
        let rough = highest / 5.0;
        let unit = 10_f64.powf(rough.log10().floor());
        let steps = [1.0, 2.0, 2.5, 5.0, 10.0];
        let step = unit
            * steps
                .into_iter()
                .find(|s| s * unit >= rough)
                .unwrap_or(10.0);
        (0..=(highest / step).ceil() as i32)
            .map(|i| f64::from(i) * step)
            .collect()
    }
}

/// Moves labels apart that would lie on each other.
fn apart(mut labels: Vec<(f64, &str, String)>) -> Vec<(f64, &str, String)> {
    labels.sort_by(|a, b| a.0.total_cmp(&b.0));
    for i in 1..labels.len() {
        labels[i].0 = labels[i].0.max(labels[i - 1].0 + 14.0);
    }
    labels
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_stay_inside_and_labels_apart() {
        for log in [false, true] {
            let series = |name, colour, y| Series {
                name,
                colour,
                points: vec![(0.0, y), (10.0, 2.0 * y)],
            };
            let chart = Chart {
                title: "two lines".to_owned(),
                x_axis: "x",
                ticks: &[0.0, 10.0],
                y_axis: "y",
                log,
                series: vec![series("one", 0, 500.0), series("other", 1, 501.0)],
            };
            let svg = chart.svg();
            assert_eq!(svg.matches("<path").count(), 2);
            assert!(svg.contains("aria-label=\"two lines\""));
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
            let label = |name: &str| {
                let (before, _) = svg.split_once(&format!(">{name}<")).unwrap();
                let (_, y) = before.rsplit_once(" y=\"").unwrap();
                y.split_once('"').unwrap().0.parse::<f64>().unwrap()
            };
            assert!((label("one") - label("other")).abs() >= 13.9);
        }
    }
}
