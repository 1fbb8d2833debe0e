//! Memory over time, as a small picture.

use std::fmt::Write as _;

use crate::sampling::Sample;

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 200.0;

/// Room for the figures at the axes.
const LEFT: f64 = 60.0;
const BELOW: f64 = 24.0;

/// Resident memory, and the turns that ran.
#[allow(clippy::cast_precision_loss, reason = "some gigabytes, and some minutes")]
pub(crate) fn memory(samples: &[Sample]) -> String {
    let time = samples.last().map_or(1.0, |last| last.at.as_secs_f64());
    let megabytes = |sample: &Sample| sample.resident_kilobytes as f64 / 1_000.0;
    let running = |sample: &Sample| sample.running as f64;
    let most = |of: fn(&Sample) -> f64| samples.iter().map(of).fold(1.0, f64::max);
    let (most_memory, most_turns) = (most(megabytes), most(running));
    let line = |of: fn(&Sample) -> f64, most: f64| {
        samples.iter().fold(String::new(), |mut points, sample| {
            let x = LEFT + sample.at.as_secs_f64() / time * (WIDTH - LEFT);
            let y = (HEIGHT - BELOW) * (1.0 - of(sample) / most);
            // A string takes everything.
            let _ = write!(points, "{x:.1},{y:.1} ");
            points
        })
    };
    let (memory, turns) = (line(megabytes, most_memory), line(running, most_turns));
    let (bottom, label) = (HEIGHT - BELOW, HEIGHT - 8.0);
    format!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12">
<rect width="100%" height="100%" fill="#fff"/>
<path d="M{LEFT} 0V{bottom}H{WIDTH}" fill="none" stroke="#999"/>
<polyline points="{turns}" fill="none" stroke="#bbb"/>
<polyline points="{memory}" fill="none" stroke="#06c" stroke-width="2"/>
<text x="4" y="14" fill="#06c">{most_memory:.0} MB</text>
<text x="4" y="30" fill="#888">{most_turns:.0} turns</text>
<text x="4" y="{bottom}">0</text>
<text x="{LEFT}" y="{label}">0 s</text>
<text x="{WIDTH}" y="{label}" text-anchor="end">{time:.0} s</text>
</svg>
"##
    )
}
