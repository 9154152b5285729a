//! Line charts.

use std::fmt::Write;

use crate::axis::{Axis, Scale};
use crate::frame::{Frame, WIDTH, colour, dashes};
use crate::text::number;

const LEFT: f64 = 58.0;
const RIGHT: f64 = 18.0;
const HEIGHT: f64 = 230.0;
/// With more points than this, a line has no dots.
const DOTS: usize = 40;

/// One line of a [`LineChart`].
#[derive(Clone, Debug)]
pub struct Series {
    name: String,
    /// x, y, and the ends of its spread.
    points: Vec<(f64, f64, f64, f64)>,
    is_dashed: bool,
    colour: Option<usize>,
}

impl Series {
    /// A line without points.
    pub fn new(name: impl Into<String>) -> Self {
        Series {
            name: name.into(),
            points: Vec::new(),
            is_dashed: false,
            colour: None,
        }
    }

    /// Adds points `(x, y)`. Those that are not finite are left out.
    #[must_use]
    pub fn points(self, points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        self.spread(points.into_iter().map(|(x, y)| (x, y, y, y)))
    }

    /// Adds points with their spread, `(x, y, low, high)`.
    #[must_use]
    pub fn spread(mut self, points: impl IntoIterator<Item = (f64, f64, f64, f64)>) -> Self {
        let finite = |(x, y, low, high): &(f64, f64, f64, f64)| {
            [x, y, low, high].iter().all(|value| value.is_finite())
        };
        self.points.extend(points.into_iter().filter(finite));
        self
    }

    /// Draws it with dashes: a bound, a prediction, somebody else's.
    #[must_use]
    pub fn dashed(mut self) -> Self {
        self.is_dashed = true;
        self
    }

    /// Takes the colour with this number, so that a contestant looks the same in every chart. By
    /// default the first series has the first colour, and so on.
    #[must_use]
    pub fn colour(mut self, number: usize) -> Self {
        self.colour = Some(number);
        self
    }
}

/// Lines over two axes.
#[derive(Clone, Debug)]
pub struct LineChart {
    title: String,
    x: Axis,
    y: Axis,
    series: Vec<Series>,
}

impl LineChart {
    /// A chart with linear axes without names.
    pub fn new(title: impl Into<String>) -> Self {
        LineChart {
            title: title.into(),
            x: Axis::linear(""),
            y: Axis::linear(""),
            series: Vec::new(),
        }
    }

    /// The axis to the right.
    #[must_use]
    pub fn x(mut self, axis: Axis) -> Self {
        self.x = axis;
        self
    }

    /// The axis upwards.
    #[must_use]
    pub fn y(mut self, axis: Axis) -> Self {
        self.y = axis;
        self
    }

    /// Adds a line.
    #[must_use]
    pub fn series(mut self, series: Series) -> Self {
        self.series.push(series);
        self
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
        let points = || self.series.iter().flat_map(|series| &series.points);
        let x = self.x.scale(points().map(|point| point.0), true);
        let ys = points().flat_map(|point| [point.1, point.2, point.3]);
        let y = self.y.scale(ys, false);

        let mut frame = Frame::new(&self.title);
        if !self.y.label().is_empty() {
            frame.y += 12.0;
            frame.text(14.0, frame.y, "tick", self.y.label());
            frame.y += 4.0;
        }
        let plot = Plot {
            x,
            y,
            top: frame.y + 8.0,
        };
        plot.draw_axes(&mut frame, self.x.label());
        for (i, series) in self.series.iter().enumerate() {
            plot.draw_series(&mut frame, series, series.colour.unwrap_or(i));
        }
        frame.legend(self.series.iter().enumerate().map(|(i, series)| {
            let number = series.colour.unwrap_or(i);
            let swatch = format!(
                "<path d=\"M0 0h22\" class=\"line\" stroke=\"{}\"{}/>",
                colour(number),
                dashes(number, series.is_dashed)
            );
            (series.name.as_str(), swatch)
        }));
        frame
    }
}

/// The rectangle between the axes.
struct Plot {
    x: Scale,
    y: Scale,
    top: f64,
}

impl Plot {
    fn x_at(&self, value: f64) -> f64 {
        LEFT + self.x.place(value) * (WIDTH - LEFT - RIGHT)
    }

    fn y_at(&self, value: f64) -> f64 {
        self.top + (1.0 - self.y.place(value)) * HEIGHT
    }

    fn draw_axes(&self, frame: &mut Frame, label: &str) {
        let bottom = self.top + HEIGHT;
        for (value, name) in self.y.ticks() {
            let y = self.y_at(value);
            frame.raw(format_args!(
                "<path d=\"M{LEFT} {y:.1}H{}\" class=\"grid\"/>",
                WIDTH - RIGHT
            ));
            frame.text(LEFT - 7.0, y + 4.0, "tick end", &name);
        }
        for (value, name) in self.x.ticks() {
            let x = self.x_at(value);
            frame.raw(format_args!(
                "<path d=\"M{x:.1} {bottom:.1}v5\" class=\"axis\"/>"
            ));
            frame.text(x, bottom + 19.0, "tick middle", &name);
        }
        frame.raw(format_args!(
            "<path d=\"M{LEFT} {bottom:.1}H{}\" class=\"axis\"/>",
            WIDTH - RIGHT
        ));
        frame.y = bottom + 19.0;
        if !label.is_empty() {
            frame.y += 19.0;
            let middle = f64::midpoint(LEFT, WIDTH - RIGHT);
            frame.text(middle, frame.y, "tick middle", label);
        }
    }

    fn draw_series(&self, frame: &mut Frame, series: &Series, number_of: usize) {
        let stroke = colour(number_of);
        if series.points.iter().any(|point| point.2 < point.3) {
            let there = series.points.iter().map(|&(x, _, _, high)| (x, high));
            let back = series.points.iter().rev().map(|&(x, _, low, _)| (x, low));
            let path = self.path(there.chain(back));
            frame.raw(format_args!(
                "<path d=\"{path}Z\" class=\"band\" fill=\"{stroke}\"/>"
            ));
        }
        let path = self.path(series.points.iter().map(|point| (point.0, point.1)));
        if path.is_empty() {
            return;
        }
        frame.raw(format_args!(
            "<path d=\"{path}\" class=\"line\" stroke=\"{stroke}\"{}/>",
            dashes(number_of, series.is_dashed)
        ));
        if series.points.len() > DOTS {
            return;
        }
        for &(x, y, ..) in &series.points {
            // The title is what a pointer over the dot shows.
            frame.raw(format_args!(
                "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"2.8\" fill=\"{stroke}\"><title>{}: {} at {}</title></circle>",
                self.x_at(x),
                self.y_at(y),
                crate::text::escape(&series.name),
                number(y),
                number(x),
            ));
        }
    }

    fn path(&self, points: impl Iterator<Item = (f64, f64)>) -> String {
        let mut path = String::new();
        for (x, y) in points {
            let step = if path.is_empty() { 'M' } else { 'L' };
            // Writing to a string can't fail.
            let _ = write!(path, "{step}{:.1} {:.1}", self.x_at(x), self.y_at(y));
        }
        path
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(y: Axis) -> LineChart {
        LineChart::new("two lines & a bound")
            .x(Axis::linear("x"))
            .y(y)
            .series(Series::new("one").points([(0.0, 5.0), (10.0, 50.0)]))
            .series(Series::new("other").spread([(0.0, 6.0, 5.0, 7.0), (10.0, 0.0, 0.0, 1.0)]))
            .series(
                Series::new("bound")
                    .points([(0.0, 2.0), (10.0, 2.0)])
                    .dashed(),
            )
    }

    #[test]
    fn everything_is_drawn_inside() {
        for axis in [Axis::linear("y"), Axis::log("y")] {
            let svg = chart(axis).svg();
            assert_eq!(svg.matches("class=\"band\"").count(), 1);
            assert_eq!(svg.matches("<circle").count(), 6);
            assert_eq!(
                svg.matches("stroke-dasharray").count(),
                2,
                "line and legend"
            );
            assert!(svg.contains("two lines &amp; a bound"));
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
            for part in svg.split("cx=\"").skip(1) {
                let x: f64 = part.split_once('"').unwrap().0.parse().unwrap();
                assert!((LEFT - 0.1..=WIDTH - RIGHT + 0.1).contains(&x), "{x}");
            }
        }
    }

    #[test]
    fn nothing_to_draw_is_drawn_as_nothing() {
        let chart = LineChart::new("empty").series(Series::new("none").points([(0.0, f64::NAN)]));
        let svg = chart.svg();
        assert!(
            !svg.contains("NaN") && !svg.contains("class=\"line\""),
            "{svg}"
        );
    }

    #[test]
    fn a_file_brings_its_style() {
        let svg = chart(Axis::linear("y")).standalone();
        assert!(svg.contains("xmlns=") && svg.contains("prefers-color-scheme"));
    }
}
