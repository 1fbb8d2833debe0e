//! Streams of another kind: slow ones, many at once, and a long one.

use std::path::Path;
use std::thread;
use std::time::Instant;

use crate::case::{Case, PAUSE};
use crate::figures::{Figures, micros};
use crate::processor::{self, Cores, ProcessorTime};
use crate::server_process::ServerProcess;
use crate::table::{self, Goal};

/// Streams at once.
const STREAMS: usize = 64;

/// Fragments of an argument: twice as many each time.
const FRAGMENTS: [usize; 3] = [2_500, 5_000, 10_000];

/// Deltas that come alone: each is read, written and sent by itself.
#[allow(clippy::cast_precision_loss, reason = "some ten thousand deltas")]
pub(crate) fn paced(server: &Path, rounds: usize, deltas: usize) {
    Cores::All.pin();
    let server = ServerProcess::start(server);
    let case = Case::paced(deltas);
    let request = server.endpoint.request(&case);
    let mut used = Vec::new();
    for _ in 0..rounds {
        let before = ProcessorTime::of(server.id());
        thread::scope(|scope| {
            for place in 0..STREAMS {
                let (server, case, request) = (&server, &case, &request);
                scope.spawn(move || {
                    // They take turns within a pause, so that no two deltas come at the same time.
                    thread::sleep(PAUSE.mul_f64(place as f64 / STREAMS as f64));
                    let mut connection = server.endpoint.connect();
                    server.endpoint.check(case, connection.ask(request));
                });
            }
        });
        used.push(ProcessorTime::of(server.id()).since(before));
    }
    let count = (STREAMS * deltas) as f64;
    let name = format!("CPU per isolated delta, {STREAMS} paced streams");
    let total: Figures = used.iter().map(|used| used.total / count).collect();
    table::row(&name, "µs", &total, Goal::None);
    // Of all rounds together: a round has too few ticks to tell.
    let outside = used.iter().map(|used| used.user).sum::<f64>();
    let count = count * rounds as f64;
    let (ticks, tick) = (outside / processor::TICK, processor::TICK / count);
    let name = format!("{name}, user, all rounds: {ticks:.0} ticks of {tick:.2} µs a delta each");
    table::row(name, "µs", &[outside / count].into_iter().collect(), Goal::AtMost(3.0));
}

/// A call in the text, in many small fragments: time and bytes must grow as the argument does.
#[allow(clippy::cast_precision_loss, reason = "some thousand fragments")]
pub(crate) fn fragments(server: &Path, rounds: usize) {
    Cores::One.pin();
    let server = ServerProcess::start(server);
    let cases = FRAGMENTS.map(Case::block);
    let mut connection = server.endpoint.connect();
    let mut times = cases.each_ref().map(|_| Vec::new());
    let mut bytes = cases.each_ref().map(|_| 0.0);
    for round in 0..=rounds {
        for ((case, times), bytes) in cases.iter().zip(&mut times).zip(&mut bytes) {
            let request = server.endpoint.request(case);
            let started = Instant::now();
            let response = connection.ask(&request);
            let time = micros(started.elapsed());
            server.endpoint.check(case, response);
            *bytes = response.wire_bytes as f64;
            // The first round makes room for the largest answer.
            if round > 0 {
                times.push(time);
            }
        }
    }
    let per_fragment = |index: usize| -> Figures {
        times[index].iter().map(|time| time / FRAGMENTS[index] as f64).collect()
    };
    for (index, count) in FRAGMENTS.iter().enumerate() {
        let name = format!("{count} fragments of 20 bytes, a fragment");
        table::row(&name, "µs", &per_fragment(index), Goal::None);
        let on_wire = [bytes[index] / *count as f64].into_iter().collect();
        table::row(format!("{name}, on the wire"), "bytes", &on_wire, Goal::None);
    }
    let growth = [per_fragment(2).median() / per_fragment(0).median()].into_iter().collect();
    table::row("a fragment of 10000 / of 2500", "×", &growth, Goal::AtMost(1.25));
    Cores::All.pin();
}
