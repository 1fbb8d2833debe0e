//! How long turns take, and what they cost.

use std::time::Duration;

use serde_json::Value;

use crate::HISTORIES;
use crate::conversation::{TEXT, Way};
use crate::exchange::{Answer, Continuity};
use crate::figures::{Figures, micros};
use crate::processor::ProcessorTime;
use crate::server::{Server, Surroundings};

/// Long enough for what a turn leaves to be tidied up.
const SETTLE: Duration = Duration::from_millis(25);

/// As many threads as a server keeps by default.
const THREADS: usize = 64;

/// Turns of one kind, in microseconds.
#[derive(Default)]
struct Turns {
    to_first_byte: Vec<f64>,
    to_end: Vec<f64>,
    /// Processor time of the server, and of Codex.
    server: Vec<f64>,
    child: Vec<f64>,
}

/// Prints a table of all kinds of turns.
pub(crate) fn measure(surroundings: &Surroundings<'_>, rounds: usize) {
    println!(
        "| items before | turn | first byte p50 | p90 | end p50 | p90 | end, of fresh | our CPU | Codex's CPU |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    let server = Server::start(surroundings, THREADS);
    let mut number = 0;
    for items in HISTORIES {
        for way in Way::BOTH {
            let [mut fresh, mut continued] = [(); 2].map(|()| Turns::default());
            // The first round is to warm up.
            for round in 0..=rounds {
                let request = way.begin(&server, items, number);
                number += 1;
                std::thread::sleep(SETTLE);
                if round == 0 {
                    Turns::default().take(&server, &request, Continuity::Off, way);
                    Turns::default().take(&server, &request, Continuity::On, way);
                } else if round % 2 == 0 {
                    fresh.take(&server, &request, Continuity::Off, way);
                    continued.take(&server, &request, Continuity::On, way);
                } else {
                    // What was gone on with is in the way of nobody who does not want to.
                    continued.take(&server, &request, Continuity::On, way);
                    fresh.take(&server, &request, Continuity::Off, way);
                }
            }
            let name = match way {
                Way::Reused => "fresh, with a message",
                Way::Resumed => "fresh, with an output",
            };
            let base = fresh.print(items, name, None);
            continued.print(items, way.as_str(), Some(base));
        }
    }
}

// === impl Turns ===

impl Turns {
    /// Runs a turn, and takes down what it cost.
    fn take(&mut self, server: &Server, request: &Value, continuity: Continuity, way: Way) {
        let processes = [server.id(), server.child()];
        let before = processes.map(ProcessorTime::of);
        let answer = Answer::to(server, request, continuity);
        std::thread::sleep(SETTLE);
        let after = processes.map(ProcessorTime::of);
        answer.check(
            match continuity {
                Continuity::On => way.as_str(),
                Continuity::Off => "fresh",
            },
            TEXT,
        );
        self.to_first_byte.push(micros(answer.to_first_byte));
        self.to_end.push(micros(answer.to_end));
        self.server.push(after[0].since(before[0]).total);
        self.child.push(after[1].since(before[1]).total);
    }

    /// Prints a row, and gives the median of how long the turns took.
    fn print(self, items: usize, name: &str, base: Option<f64>) -> f64 {
        let Self { to_first_byte, to_end, server, child } = self;
        let [first, end, server, child] = [to_first_byte, to_end, server, child]
            .map(|values| values.into_iter().collect::<Figures>());
        let milli = |figures: &Figures, percent| figures.percentile(percent) / 1_000.0;
        let ratio = base.map(|base| format!("{:.2} ×", end.median() / base)).unwrap_or_default();
        println!(
            "| {items} | {name} | {:.1} ms | {:.1} ms | {:.1} ms | {:.1} ms | {ratio} | {:.2} ms | {:.1} ms |",
            milli(&first, 50),
            milli(&first, 90),
            milli(&end, 50),
            milli(&end, 90),
            milli(&server, 50),
            milli(&child, 50),
        );
        end.median()
    }
}
