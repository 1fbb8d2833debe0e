//! Line plots as SVG: panels one above the other that share their time axis, readable on light and on
//! dark pages.

use std::fmt::{self, Write as _};

const WIDTH: f64 = 760.0;

/// Height of a panel's plot, and of the line with its title and names above it.
const PANEL: f64 = 120.0;
const TITLE: f64 = 30.0;

/// Room for the figures at the left, for a margin at the right, and for the time below.
const LEFT: f64 = 64.0;
const RIGHT: f64 = 16.0;
const BELOW: f64 = 44.0;

/// About how wide a letter is at this size.
const LETTER: f64 = 6.6;

/// About how many lines a panel has, and about how many moments are named below.
const LINES: f64 = 4.0;
const MOMENTS: f64 = 8.0;

/// Colours on light and on dark pages, told apart by whoever does not see red and green too.
const COLOURS: [(&str, &str); 4] = [
    ("#0b62c4", "#6cb0ff"),
    ("#c2410c", "#ffa35c"),
    ("#0f7b5f", "#4fd1a5"),
    ("#86198f", "#e39bf0"),
];

/// A picture.
#[derive(Debug, Clone)]
pub struct Plot {
    /// What it shows, for whoever cannot see it.
    pub title: String,
    /// What the horizontal axis counts.
    pub across: String,
    /// From top to bottom.
    pub panels: Vec<Panel>,
}

/// Lines that share their axes.
#[derive(Debug, Clone)]
pub struct Panel {
    /// What is shown, with its unit.
    pub title: String,
    /// At most four.
    pub lines: Vec<Line>,
}

/// One line.
#[derive(Debug, Clone)]
pub struct Line {
    /// Its name beside the title; empty if the title says it all.
    pub name: String,
    /// Across and up.
    pub points: Vec<(f64, f64)>,
}

// === impl Plot ===

impl Plot {
    /// The picture as SVG.
    pub fn svg(&self) -> String {
        let mut svg = String::new();
        // A string takes everything.
        let _ = self.write(&mut svg);
        svg
    }

    fn write(&self, svg: &mut String) -> fmt::Result {
        let panels = f64::from(u32::try_from(self.panels.len()).unwrap_or(u32::MAX));
        let height = panels * (TITLE + PANEL) + BELOW;
        writeln!(
            svg,
            r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" font-family="system-ui, sans-serif" font-size="12">
<title>{}</title>
<style>{}</style>
<rect class="page" width="100%" height="100%"/>"#,
            escaped(&self.title),
            style(),
        )?;
        let points = self.panels.iter().flat_map(|panel| panel.lines.iter());
        let across = points.flat_map(|line| line.points.iter().map(|point| point.0));
        let scale = Scale::over(across, MOMENTS, Fit::ToTheEnd);
        for (number, panel) in (0_u32..).zip(&self.panels) {
            panel.write(svg, f64::from(number) * (TITLE + PANEL) + TITLE, &scale)?;
        }
        let bottom = height - BELOW;
        for moment in scale.marks() {
            let x = scale.place(moment, LEFT, WIDTH - RIGHT);
            let y = bottom + 16.0;
            writeln!(
                svg,
                r#"<text x="{x:.1}" y="{y:.1}" text-anchor="middle">{}</text>"#,
                scale.told(moment)
            )?;
        }
        let (x, y) = (f64::midpoint(LEFT, WIDTH - RIGHT), bottom + 34.0);
        writeln!(
            svg,
            r#"<text x="{x:.1}" y="{y:.1}" text-anchor="middle">{}</text>
</svg>"#,
            escaped(&self.across)
        )
    }
}

// === impl Panel ===

impl Panel {
    fn write(&self, svg: &mut String, top: f64, across: &Scale) -> fmt::Result {
        let (bottom, right) = (top + PANEL, WIDTH - RIGHT);
        let up = self.lines.iter().flat_map(|line| line.points.iter().map(|point| point.1));
        let up = Scale::over(up, LINES, Fit::ToTheNextMark);
        let heading = top - 10.0;
        writeln!(
            svg,
            r#"<text class="title" x="{LEFT}" y="{heading:.1}">{}</text>"#,
            escaped(&self.title)
        )?;
        for mark in up.marks() {
            let y = up.place(mark, bottom, top);
            let (end, text) = (LEFT - 8.0, y + 4.0);
            writeln!(
                svg,
                r#"<path class="grid" d="M{LEFT} {y:.1}H{right}"/><text x="{end}" y="{text:.1}" text-anchor="end">{}</text>"#,
                up.told(mark)
            )?;
        }
        // Names from the right, so that the last one ends where the lines do.
        let mut end = right;
        for (number, line) in self.lines.iter().enumerate().rev() {
            if !line.name.is_empty() {
                let name = escaped(&line.name);
                writeln!(
                    svg,
                    r#"<text class="name{number}" x="{end:.1}" y="{heading:.1}" text-anchor="end">{name}</text>"#
                )?;
                let letters = f64::from(u32::try_from(line.name.chars().count()).unwrap_or(0));
                end -= letters * LETTER + 16.0;
            }
        }
        for (number, line) in self.lines.iter().enumerate() {
            let points = line.points.iter().filter(|(x, y)| x.is_finite() && y.is_finite());
            let points: Vec<String> = points
                .map(|(x, y)| {
                    let (x, y) = (across.place(*x, LEFT, right), up.place(*y, bottom, top));
                    format!("{x:.1},{y:.1}")
                })
                .collect();
            writeln!(svg, r#"<polyline class="line{number}" points="{}"/>"#, points.join(" "))?;
        }
        Ok(())
    }
}

/// An axis from zero, with marks at round numbers.
struct Scale {
    most: f64,
    step: f64,
}

/// Where an axis ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fit {
    /// With the data.
    ToTheEnd,
    /// With the first mark above the data.
    ToTheNextMark,
}

// === impl Scale ===

impl Scale {
    fn over(values: impl Iterator<Item = f64>, marks: f64, fit: Fit) -> Self {
        let most = values.filter(|value| value.is_finite()).fold(0.0, f64::max);
        let most = if most > 0.0 { most } else { 1.0 };
        let step = round_up(most / marks);
        let most = if fit == Fit::ToTheNextMark { (most / step).ceil() * step } else { most };
        Self { most, step }
    }

    fn marks(&self) -> impl Iterator<Item = f64> + use<> {
        let (step, most) = (self.step, self.most * 1.000_001);
        (0_u32..).map(move |number| f64::from(number) * step).take_while(move |mark| *mark <= most)
    }

    fn place(&self, value: f64, from: f64, to: f64) -> f64 {
        from + value / self.most * (to - from)
    }

    /// With as many digits as its neighbours need.
    fn told(&self, mark: f64) -> String {
        if self.step >= 1.0 {
            format!("{mark:.0}")
        } else if self.step >= 0.1 {
            format!("{mark:.1}")
        } else {
            format!("{mark:.2}")
        }
    }
}

/// The next of 1, 2, 5, 10, 20 …
fn round_up(value: f64) -> f64 {
    let power = 10_f64.powf(value.log10().floor());
    let times = [1.0, 2.0, 5.0].into_iter().find(|times| times * power >= value * 0.999_999);
    times.unwrap_or(10.0) * power
}

fn style() -> String {
    let mut style = ".page{fill:#fff}text{fill:#444}.title{fill:#111;font-weight:600}.grid{stroke:#ddd;fill:none}polyline{fill:none;stroke-width:1.8;stroke-linejoin:round}".to_owned();
    let mut dark =
        ".page{fill:#0d1117}text{fill:#b5bcc4}.title{fill:#f0f3f6}.grid{stroke:#30363d}".to_owned();
    for (number, (on_light, on_dark)) in COLOURS.iter().enumerate() {
        // A string takes everything.
        let _ = write!(style, ".line{number}{{stroke:{on_light}}}.name{number}{{fill:{on_light}}}");
        let _ = write!(dark, ".line{number}{{stroke:{on_dark}}}.name{number}{{fill:{on_dark}}}");
    }
    format!("{style}@media (prefers-color-scheme:dark){{{dark}}}")
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

#[cfg(test)]
mod tests;
