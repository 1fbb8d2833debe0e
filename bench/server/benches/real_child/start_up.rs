//! From nothing to a child that takes turns.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use codex_app_server::{Client, ClientConfig, CodexBinary, CodexHome, Direction};
use tokio::runtime::Runtime;

use crate::figures::{Figures, micros};

/// One start, in microseconds.
struct Start {
    /// The home alone, measured in a home like it.
    home: f64,
    /// Up to the first line to the child: the home, the catalog, the new process.
    spawn: f64,
    /// From there to the child's first line.
    handshake: f64,
    whole: f64,
}

/// Prints how long `count` starts take, in new homes and in homes that a child has used before.
pub(crate) fn measure(runtime: &Runtime, count: usize) {
    let binary = runtime.block_on(testkit::codex_binary());
    let (mut fresh, mut used) = (Vec::new(), Vec::new());
    for _ in 0..count {
        let [home, other] = [(); 2].map(|()| tempfile::tempdir().expect("no temporary folder"));
        for starts in [&mut fresh, &mut used] {
            starts.push(runtime.block_on(start(&binary, home.path(), other.path())));
        }
    }
    println!("\nStart-up to ready, {count} each{:>17}{:>10}{:>10}", "p50 ms", "min ms", "max ms");
    for (name, starts) in [("new home", &fresh), ("home used before", &used)] {
        let row = |name: &str, part: fn(&Start) -> f64| {
            let figures: Figures = starts.iter().map(|start| part(start) / 1_000.0).collect();
            let (median, min, max) = (figures.median(), figures.min(), figures.max());
            println!("  {name:<36}{median:>8.1}{min:>10.1}{max:>10.1}");
        };
        row(&format!("{name}: Client::start"), |start| start.whole);
        row("  of it until spawned", |start| start.spawn);
        row("  of it spawned to handshake", |start| start.handshake);
        row("  home and catalog, alone", |start| start.home);
    }
}

/// Starts a client in `home`; `other` is a home in the same state.
async fn start(binary: &CodexBinary, home: &Path, other: &Path) -> Start {
    let started = Instant::now();
    let config = ClientConfig::new(binary.clone(), other);
    CodexHome::prepare(&config).await.expect("no home");
    let home_alone = micros(started.elapsed());

    let lines: Arc<Mutex<Vec<(Direction, Instant)>>> = Arc::default();
    let mut config = ClientConfig::new(binary.clone(), home);
    config.tap = Some(Arc::new({
        let lines = Arc::clone(&lines);
        move |direction, _| {
            lines.lock().expect("a poisoned list").push((direction, Instant::now()));
        }
    }));
    let started = Instant::now();
    let client = Client::start(config).await.expect("the child does not start");
    let whole = micros(started.elapsed());
    client.shutdown().await;

    let first = |wanted: Direction| {
        let lines = lines.lock().expect("a poisoned list");
        let line = lines.iter().find(|(direction, _)| *direction == wanted);
        line.expect("no line").1
    };
    let (sent, answered) = (first(Direction::ToCodex), first(Direction::FromCodex));
    Start {
        home: home_alone,
        spawn: micros(sent - started),
        handshake: micros(answered - sent),
        whole,
    }
}
