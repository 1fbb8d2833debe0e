//! Requests a second, and how slow the slowest are: from one client to a hundred, on all cores.

use server_bench::chart::{self, Line};

use crate::case::{Case, Delivery};
use crate::figures::Figures;
use crate::processor::Cores;
use crate::table::{Goal, written};

use super::Setting;
use super::markdown::{self, Aim, spread};
use super::tail::Tail;
use super::volley::{Spell, Volley};

const CLIENTS: [usize; 8] = [1, 2, 4, 8, 16, 32, 64, 128];

/// The place of 16 in it, for which there are goals.
const SIXTEEN: usize = 4;

/// Milliseconds that 99 of 100 requests may take.
const BOUNDS: [f64; 3] = [2.0, 5.0, 10.0];

/// One contender with so many clients, round by round.
#[derive(Debug, Default, Clone)]
struct Tally {
    requests_per_second: Vec<f64>,
    /// Milliseconds.
    tail: Tail,
    /// Microseconds of processor time.
    per_request: Vec<f64>,
}

/// One contender.
#[derive(Debug, Default)]
struct Sweep {
    tallies: [Tally; CLIENTS.len()],
    void: Option<String>,
}

pub(super) fn measure(setting: Setting<'_>) {
    Cores::All.pin();
    let case = Case::text(1, Delivery::Whole);
    let field = setting.field(&case);
    let mut sweeps: Vec<Sweep> = field.contenders.iter().map(|_| Sweep::default()).collect();
    for round in 0..=setting.effort.rounds {
        for (place, clients) in CLIENTS.into_iter().enumerate() {
            let volley = Volley::new(&case, clients, Spell::For(setting.effort.spell));
            for (contender, sweep) in field.contenders.iter().zip(&mut sweeps) {
                if sweep.void.is_some() {
                    continue;
                }
                let before = contender.processor_time();
                match volley.fly(setting.runtime, contender.endpoint()) {
                    Err(reason) => sweep.void = Some(reason),
                    // The first round is for the caches.
                    Ok(_) if round == 0 => {}
                    Ok((seen, time)) => {
                        let used = contender.processor_time() - before;
                        #[allow(clippy::cast_precision_loss, reason = "some thousand requests")]
                        let count = seen.len() as f64;
                        let tally = &mut sweep.tallies[place];
                        tally.requests_per_second.push(count / time.as_secs_f64());
                        tally.per_request.push(used / count);
                        let times: Figures = seen.iter().map(|seen| seen.whole / 1e3).collect();
                        tally.tail.push(&times);
                    }
                }
            }
        }
    }
    let (rounds, spell) = (setting.effort.rounds, setting.effort.spell.as_millis());
    markdown::rounds(&format!(
        "{rounds}, of {spell} ms for each number of clients, after one that does not count; where a round \
         has fewer than 100 requests, its slowest stands for p99"
    ));
    let mut columns = vec![String::new()];
    columns.extend(BOUNDS.map(|bound| format!("most with p99 ≤ {bound} ms (clients)")));
    columns.push("16 clients (rounds)".to_owned());
    columns.push("CPU per request, 16 clients (rounds)".to_owned());
    columns.push("128 clients, p99".to_owned());
    markdown::head(&columns.iter().map(String::as_str).collect::<Vec<_>>());
    for (contender, sweep) in field.contenders.iter().zip(&sweeps) {
        match &sweep.void {
            Some(reason) => markdown::void(contender.name(), reason, columns.len()),
            None => sweep.print(contender.name()),
        }
    }
    for (name, reason) in &field.absent {
        markdown::void(name, reason, columns.len());
    }
    let at_sixteen = |name: &str| {
        let place = field.contenders.iter().position(|contender| contender.name() == name)?;
        sweeps[place].void.is_none().then(|| sweeps[place].tallies[SIXTEEN].clone())
    };
    let ours = at_sixteen("codex-completions").unwrap_or_default();
    let smg = at_sixteen("smg").unwrap_or_default();
    let (speed, cost) = (&ours.requests_per_second, &ours.per_request);
    markdown::goals(&[
        Aim::of("requests/s, 16 clients", speed, "", Goal::AtLeast(15_000.0)),
        Aim::ratio("the same, of smg's", speed, &smg.requests_per_second, Goal::AtLeast(3.0)),
        Aim::of("CPU per request, 16 clients", cost, "µs", Goal::AtMost(50.0)),
        Aim::ratio("the same, of smg's", cost, &smg.per_request, Goal::AtMost(0.25)),
    ]);
    let all = field.contenders.iter().zip(&sweeps).filter(|(_, sweep)| sweep.void.is_none());
    let lines = all.map(|(contender, sweep)| Line {
        label: contender.name().to_owned(),
        colour: contender.colour(),
        points: sweep.tallies.iter().map(|tally| (tally.speed(), tally.tail())).collect(),
    });
    let title = "Requests a second and their slowest hundredth, 1 to 128 clients";
    let svg = chart::lines(title, "requests/s", "p99, ms", &lines.collect::<Vec<_>>());
    setting.chart("throughput", title, &svg);
}

// === impl Tally ===

impl Tally {
    fn speed(&self) -> f64 {
        self.requests_per_second.iter().copied().collect::<Figures>().median()
    }

    fn tail(&self) -> f64 {
        self.tail.median()
    }
}

// === impl Sweep ===

impl Sweep {
    fn print(&self, name: &str) {
        let mut cells = vec![name.to_owned()];
        for bound in BOUNDS {
            let within = self.tallies.iter().zip(CLIENTS);
            let within = within.filter(|(tally, _)| tally.tail() <= bound);
            let best = within.max_by(|(one, _), (other, _)| one.speed().total_cmp(&other.speed()));
            cells.push(best.map_or("not with one client".to_owned(), |(tally, clients)| {
                format!("{}/s ({clients})", written(tally.speed()))
            }));
        }
        let sixteen = &self.tallies[SIXTEEN];
        cells.push(spread(&sixteen.requests_per_second, "/s"));
        cells.push(spread(&sixteen.per_request, "µs"));
        let last = &self.tallies[CLIENTS.len() - 1];
        cells.push(last.tail.written("ms"));
        markdown::row(&cells);
    }
}
