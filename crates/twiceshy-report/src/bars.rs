//! Bar charts.

use crate::axis::Axis;
use crate::frame::{Frame, WIDTH, colour};
use crate::text::{escape, number};

const LEFT: f64 = 14.0;
/// Room for the figure at the end of a bar.
const RIGHT: f64 = 84.0;
const THICK: f64 = 16.0;

/// One bar of a [`BarChart`].
#[derive(Clone, Debug)]
pub struct Bar {
    value: f64,
    low: f64,
    high: f64,
    text: String,
    colour: Option<usize>,
}

impl Bar {
    /// A bar with its figure at the end.
    pub fn new(value: f64) -> Self {
        Bar {
            value,
            low: value,
            high: value,
            text: number(value),
            colour: None,
        }
    }

    /// Takes the colour with this number, so that a contestant looks the same in every chart.
    #[must_use]
    pub fn colour(mut self, number: usize) -> Self {
        self.colour = Some(number);
        self
    }

    /// With its spread as a whisker.
    #[must_use]
    pub fn spread(mut self, low: f64, high: f64) -> Self {
        (self.low, self.high) = (low, high);
        self
    }

    /// With other words at the end than the figure.
    #[must_use]
    pub fn text(mut self, text: impl Into<String>) -> Self {
        self.text = text.into();
        self
    }
}

impl From<f64> for Bar {
    fn from(value: f64) -> Self {
        Bar::new(value)
    }
}

/// Groups of bars that lie, each group under its name. With one bar a group there is no legend.
#[derive(Clone, Debug)]
pub struct BarChart {
    title: String,
    axis: Axis,
    series: Vec<String>,
    groups: Vec<(String, Vec<Option<Bar>>)>,
}

impl BarChart {
    /// A chart without bars.
    pub fn new(title: impl Into<String>) -> Self {
        BarChart {
            title: title.into(),
            axis: Axis::linear(""),
            series: Vec::new(),
            groups: Vec::new(),
        }
    }

    /// What the length of a bar is.
    #[must_use]
    pub fn axis(mut self, axis: Axis) -> Self {
        self.axis = axis;
        self
    }

    /// The names of the bars of each group, for the legend.
    #[must_use]
    pub fn series<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Self {
        self.series = names.into_iter().map(Into::into).collect();
        self
    }

    /// Adds a group with a bar for each series, `None` where there is no figure.
    #[must_use]
    pub fn group(
        mut self,
        name: impl Into<String>,
        bars: impl IntoIterator<Item = Option<Bar>>,
    ) -> Self {
        self.groups.push((name.into(), bars.into_iter().collect()));
        self
    }

    /// Adds a single bar under its name. Each has a colour of its own.
    #[must_use]
    pub fn bar(self, name: impl Into<String>, bar: impl Into<Bar>) -> Self {
        self.group(name, [Some(bar.into())])
    }

    /// The chart as an element of a [`Page`](crate::Page).
    pub fn svg(&self) -> String {
        self.draw().inline()
    }

    /// The chart as a file of its own.
    pub fn standalone(&self) -> String {
        self.draw().standalone()
    }

    fn draw(&self) -> Frame {
        let bars = self
            .groups
            .iter()
            .flat_map(|(_, bars)| bars.iter().flatten());
        let scale = self
            .axis
            .scale(bars.flat_map(|bar| [bar.value, bar.low, bar.high]), false);
        let x_at = |value: f64| LEFT + scale.place(value).clamp(0.0, 1.0) * (WIDTH - LEFT - RIGHT);
        let are_single = self.groups.iter().all(|(_, bars)| bars.len() == 1);

        let mut frame = Frame::new(&self.title);
        let top = frame.y + 2.0;
        // The grid goes below the bars, and its height is known.
        let rows: f64 = self
            .groups
            .iter()
            .map(|(_, bars)| height_of(bars.len()))
            .sum();
        for (value, name) in scale.ticks() {
            let x = x_at(value);
            frame.raw(format_args!(
                "<path d=\"M{x:.1} {top:.1}v{rows:.1}\" class=\"grid\"/>"
            ));
            frame.text(x, top + rows + 16.0, "tick middle", &name);
        }
        frame.y = top;
        for (i, (name, bars)) in self.groups.iter().enumerate() {
            frame.text(LEFT, frame.y + 15.0, "name", name);
            let mut y = frame.y + 21.0;
            for (j, bar) in bars.iter().enumerate() {
                if let Some(bar) = bar.as_ref().filter(|bar| bar.value.is_finite()) {
                    let number = bar.colour.unwrap_or(if are_single { i } else { j });
                    let fill = colour(number);
                    draw_bar(&mut frame, bar, y, &fill, &x_at);
                }
                y += THICK + 3.0;
            }
            frame.y += height_of(bars.len());
        }
        frame.y = top + rows + 16.0;
        if !self.axis.label().is_empty() {
            frame.y += 18.0;
            let middle = f64::midpoint(LEFT, WIDTH - RIGHT);
            frame.text(middle, frame.y, "tick middle", self.axis.label());
        }
        if !are_single {
            frame.legend(self.series.iter().enumerate().map(|(i, name)| {
                let bars = self
                    .groups
                    .iter()
                    .filter_map(|(_, bars)| bars.get(i)?.as_ref());
                let number = bars.filter_map(|bar| bar.colour).next().unwrap_or(i);
                let swatch = format!(
                    "<rect y=\"-6\" width=\"20\" height=\"11\" rx=\"2\" fill=\"{}\"/>",
                    colour(number)
                );
                (name.as_str(), swatch)
            }));
        }
        frame
    }
}

fn height_of(bars: usize) -> f64 {
    21.0 + bars as f64 * (THICK + 3.0) + 8.0
}

fn draw_bar(frame: &mut Frame, bar: &Bar, y: f64, fill: &str, x_at: &dyn Fn(f64) -> f64) {
    // What is too small to be seen is still there.
    let width = (x_at(bar.value) - LEFT).max(1.5);
    frame.raw(format_args!(
        "<rect x=\"{LEFT}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{THICK}\" rx=\"2\" fill=\"{fill}\">\
         <title>{}</title></rect>",
        escape(&bar.text)
    ));
    let mut end = LEFT + width;
    if bar.low < bar.high && bar.low.is_finite() && bar.high.is_finite() {
        let (low, high, middle) = (x_at(bar.low), x_at(bar.high), y + THICK / 2.0);
        frame.raw(format_args!(
            "<path d=\"M{low:.1} {middle:.1}H{high:.1}M{low:.1} {0:.1}v6M{high:.1} {0:.1}v6\" class=\"whisker\"/>",
            middle - 3.0
        ));
        end = end.max(high);
    }
    frame.text(end + 6.0, y + THICK - 3.5, "name", &bar.text);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn single_bars_have_colours_and_no_legend() {
        let chart = BarChart::new("reads")
            .bar("no filter", 1e6)
            .bar("plain", Bar::new(1953.0).spread(1900.0, 2000.0))
            .bar("adaptive", Bar::new(0.0).text("none"));
        let svg = chart.svg();
        assert_eq!(svg.matches("<rect").count(), 3);
        assert!(svg.contains("var(--c2)") && svg.contains("none") && svg.contains("1,953"));
        assert_eq!(svg.matches("class=\"whisker\"").count(), 1);
        assert!(!svg.contains("NaN"));
    }

    #[test]
    fn a_colour_can_be_chosen_and_the_legend_follows() {
        let bars = || [Some(Bar::new(1.0).colour(5)), Some(Bar::new(2.0).colour(3))];
        let chart = BarChart::new("speed").series(["one", "other"]);
        let svg = chart.group("insert", bars()).group("query", bars()).svg();
        assert_eq!(svg.matches("var(--c5)").count(), 3);
        assert_eq!(svg.matches("var(--c3)").count(), 3);
    }

    #[test]
    fn groups_have_a_legend_and_gaps() {
        let chart = BarChart::new("speed")
            .axis(Axis::log("a second"))
            .series(["one", "other"])
            .group("insert", [Some(Bar::new(10.0)), None])
            .group("query", [Some(Bar::new(100.0)), Some(Bar::new(f64::NAN))]);
        let svg = chart.svg();
        assert_eq!(
            svg.matches("<rect").count(),
            2 + 2,
            "two bars, two swatches"
        );
        assert!(!svg.contains("NaN"), "{svg}");
    }
}
