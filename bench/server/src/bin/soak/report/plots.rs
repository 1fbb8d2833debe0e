//! The plots of a run.

use server_bench::plot::{Line, Panel, Plot};

use crate::series::Point;

/// A figure of a point.
type Figure = fn(&Point) -> f64;

/// File names and plots.
pub(super) fn plots(points: &[Point]) -> Vec<(&'static str, Plot)> {
    let panel = |title: &str, lines: &[(&str, Figure)]| Panel {
        title: title.to_owned(),
        lines: lines.iter().map(|(name, of)| line(points, name, *of)).collect(),
    };
    let plot = |title: &str, panels: Vec<Panel>| Plot {
        title: title.to_owned(),
        across: "minutes".to_owned(),
        panels,
    };
    let memory = vec![
        panel("Memory of the server, MB", &[("", |p| p.server_megabytes)]),
        panel("Memory of Codex, MB", &[("", |p| p.codex_megabytes)]),
        panel(
            "Threads kept in Codex",
            &[("idle", |p| p.idle_threads), ("held", |p| p.held_threads)],
        ),
    ];
    let resources = vec![
        panel("File descriptors", &[("server", |p| p.server_files), ("Codex", |p| p.codex_files)]),
        panel("Threads", &[("server", |p| p.server_threads), ("Codex", |p| p.codex_threads)]),
        panel(
            "On disk, MB",
            &[("database", |p| p.database_megabytes), ("log", |p| p.log_megabytes)],
        ),
    ];
    let latency = vec![
        panel(
            "A new chat, not streamed, ms",
            &[("p50", |p| p.whole_p50), ("p99", |p| p.whole_p99)],
        ),
        panel(
            "First text of a new chat, ms",
            &[("p50", |p| p.first_p50), ("p99", |p| p.first_p99)],
        ),
        panel(
            "Processor time a turn, ms",
            &[("server", |p| p.server_processor), ("Codex", |p| p.codex_processor)],
        ),
        panel(
            "Turns a second, and load of the machine",
            &[("turns", |p| p.turns), ("load average", |p| p.load)],
        ),
    ];
    vec![
        ("soak-memory.svg", plot("Memory over time", memory)),
        ("soak-resources.svg", plot("Descriptors, threads and files over time", resources)),
        ("soak-latency.svg", plot("Latency and load over time", latency)),
    ]
}

fn line(points: &[Point], name: &str, of: Figure) -> Line {
    let points = points.iter().map(|point| (point.minute, of(point))).collect();
    Line { name: name.to_owned(), points }
}
