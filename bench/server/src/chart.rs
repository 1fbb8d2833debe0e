//! Small charts on a logarithmic scale, as SVG: bars beside each other, and lines.
//!
//! They bring their own background, so that they can be read wherever they are shown. The benchmark of
//! the aggregator, which is no part of this workspace, includes this file as it is: it needs nothing.

use std::fmt::Write as _;

const WIDTH: f64 = 760.0;

/// What a colour stands for, the same in every chart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colour {
    /// Us.
    Ours,
    /// The peers, in their order.
    First,
    /// The second peer.
    Second,
    /// The third peer.
    Third,
    /// What nobody can be better than.
    Floor,
}

/// One bar.
#[derive(Debug, Clone)]
pub struct Bar {
    /// Stands before it.
    pub label: String,
    /// How long it is.
    pub value: f64,
    /// Stands behind it.
    pub text: String,
    /// Whose it is.
    pub colour: Colour,
}

/// Bars that are compared.
#[derive(Debug, Clone)]
pub struct Group {
    /// Stands above them.
    pub title: String,
    /// From top to bottom.
    pub bars: Vec<Bar>,
}

/// One line through points.
#[derive(Debug, Clone)]
pub struct Line {
    /// Stands in the legend.
    pub label: String,
    /// Whose it is.
    pub colour: Colour,
    /// In the order in which they are joined.
    pub points: Vec<(f64, f64)>,
}

/// The decades that some values need.
struct Scale {
    /// Exponents of ten.
    from: f64,
    to: f64,
    /// Where these are in the picture.
    start: f64,
    end: f64,
}

/// Bars from left to right.
pub fn bars(title: &str, unit: &str, groups: &[Group]) -> String {
    const LEFT: f64 = 210.0;
    const BAR: f64 = 24.0;
    const TOP: f64 = 34.0;
    let values = groups.iter().flat_map(|group| group.bars.iter().map(|bar| bar.value));
    let scale = Scale::of(values, LEFT, WIDTH - 130.0);
    let mut body = String::new();
    let mut y = TOP;
    for group in groups {
        if !group.title.is_empty() {
            y += 24.0;
            text(&mut body, "bold", 12.0, y - 6.0, "start", &group.title);
        }
        for bar in &group.bars {
            let (end, middle) = (scale.at(bar.value), y + 16.0);
            text(&mut body, "plain", LEFT - 8.0, middle, "end", &bar.label);
            let (width, height, fill) = (end - LEFT, BAR - 5.0, bar.colour.code());
            put(
                &mut body,
                format_args!(
                    r#"<rect x="{LEFT}" y="{:.0}" width="{width:.1}" height="{height}" rx="2" fill="{fill}"/>"#,
                    y + 2.0
                ),
            );
            text(&mut body, "plain", end + 6.0, middle, "start", &bar.text);
            y += BAR;
        }
        y += 6.0;
    }
    let mut grid = String::new();
    for (value, x) in scale.decades() {
        put(&mut grid, format_args!(r#"<path d="M{x:.1} {TOP}V{y:.0}" class="grid"/>"#));
        text(&mut grid, "quiet", x, y + 16.0, "middle", &short(value));
    }
    let unit = format!("{unit}, logarithmic");
    text(&mut grid, "quiet", WIDTH - 12.0, 24.0, "end", &unit);
    page(title, y + 28.0, &(grid + &body))
}

/// Lines, both scales logarithmic.
pub fn lines(title: &str, across: &str, upward: &str, lines: &[Line]) -> String {
    const LEFT: f64 = 64.0;
    const RIGHT: f64 = 590.0;
    const TOP: f64 = 58.0;
    const BOTTOM: f64 = 380.0;
    let points = || lines.iter().flat_map(|line| line.points.iter().copied());
    let horizontal = Scale::of(points().map(|(x, _)| x), LEFT, RIGHT);
    let vertical = Scale::of(points().map(|(_, y)| y), BOTTOM, TOP);
    let mut body = String::new();
    for (value, x) in horizontal.decades() {
        put(&mut body, format_args!(r#"<path d="M{x:.1} {TOP}V{BOTTOM}" class="grid"/>"#));
        text(&mut body, "quiet", x, BOTTOM + 18.0, "middle", &short(value));
    }
    for (value, y) in vertical.decades() {
        put(&mut body, format_args!(r#"<path d="M{LEFT} {y:.1}H{RIGHT}" class="grid"/>"#));
        text(&mut body, "quiet", LEFT - 8.0, y + 4.0, "end", &short(value));
    }
    text(&mut body, "quiet", RIGHT, BOTTOM + 38.0, "end", across);
    text(&mut body, "quiet", 12.0, TOP - 14.0, "start", upward);
    for (place, line) in (0_u32..).zip(lines) {
        let colour = line.colour.code();
        let at = |(x, y): &(f64, f64)| (horizontal.at(*x), vertical.at(*y));
        let mut joined = String::new();
        for (x, y) in line.points.iter().map(at) {
            put(&mut joined, format_args!("{x:.1},{y:.1}"));
            put(
                &mut body,
                format_args!(r#"<circle cx="{x:.1}" cy="{y:.1}" r="3.5" fill="{colour}"/>"#),
            );
        }
        let joined = joined.replace('\n', " ");
        put(
            &mut body,
            format_args!(
                r#"<polyline points="{joined}" fill="none" stroke="{colour}" stroke-width="2"/>"#
            ),
        );
        let y = TOP + 14.0 + 24.0 * f64::from(place);
        put(
            &mut body,
            format_args!(
                r#"<rect x="{:.0}" y="{:.0}" width="12" height="12" rx="2" fill="{colour}"/>"#,
                RIGHT + 16.0,
                y - 10.0
            ),
        );
        text(&mut body, "plain", RIGHT + 34.0, y, "start", &line.label);
    }
    page(title, BOTTOM + 50.0, &body)
}

fn page(title: &str, height: f64, body: &str) -> String {
    let mut heading = String::new();
    text(&mut heading, "title", 12.0, 24.0, "start", title);
    format!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:.0}" width="{WIDTH}" height="{height:.0}" font-family="sans-serif" font-size="13">
<style>
.card {{ fill: #ffffff }} .grid {{ stroke: #d1d9e0; fill: none }}
.title, .bold, .plain {{ fill: #1f2328 }} .title {{ font-size: 15px }} .title, .bold {{ font-weight: bold }} .quiet {{ fill: #59636e }}
@media (prefers-color-scheme: dark) {{
.card {{ fill: #0d1117 }} .grid {{ stroke: #30363d }} .title, .bold, .plain {{ fill: #e6edf3 }} .quiet {{ fill: #9198a1 }}
}}
</style>
<rect class="card" width="100%" height="100%" rx="6"/>
{heading}{body}</svg>
"#
    )
}

fn text(into: &mut String, class: &str, x: f64, y: f64, anchor: &str, words: &str) {
    let words = words.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    put(
        into,
        format_args!(
            r#"<text class="{class}" x="{x:.1}" y="{y:.1}" text-anchor="{anchor}">{words}</text>"#
        ),
    );
}

/// A line of the picture.
fn put(into: &mut String, line: std::fmt::Arguments<'_>) {
    // A string takes everything.
    let _ = writeln!(into, "{line}");
}

/// A power of ten in a few letters.
fn short(value: f64) -> String {
    match value {
        value if value >= 1e6 => format!("{} M", value / 1e6),
        value if value >= 1e3 => format!("{} k", value / 1e3),
        value => format!("{value}"),
    }
}

// === impl Scale ===

impl Scale {
    fn of(values: impl Iterator<Item = f64>, start: f64, end: f64) -> Self {
        let logs = values.filter(|value| *value > 0.0).map(f64::log10);
        let (low, high) =
            logs.fold((f64::MAX, f64::MIN), |(low, high), log| (low.min(log), high.max(log)));
        if low > high {
            return Self { from: 0.0, to: 1.0, start, end };
        }
        // A shortest bar that cannot be seen would look like none.
        let from = (low - 0.1).floor();
        Self { from, to: high.ceil().max(from + 1.0), start, end }
    }

    fn at(&self, value: f64) -> f64 {
        let share = (value.max(f64::MIN_POSITIVE).log10() - self.from) / (self.to - self.from);
        self.start + share.clamp(0.0, 1.0) * (self.end - self.start)
    }

    /// Each power of ten, and where it is.
    fn decades(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        let next = |exponent: &f64| Some(exponent + 1.0);
        let exponents = std::iter::successors(Some(self.from), next);
        let inside = exponents.take_while(|exponent| *exponent <= self.to);
        inside.map(|exponent| (10_f64.powf(exponent), self.at(10_f64.powf(exponent))))
    }
}

// === impl Colour ===

impl Colour {
    fn code(self) -> &'static str {
        match self {
            Self::Ours => "#2f81f7",
            Self::First => "#d4762c",
            Self::Second => "#2da44e",
            Self::Third => "#a475f9",
            Self::Floor => "#8c959f",
        }
    }
}
