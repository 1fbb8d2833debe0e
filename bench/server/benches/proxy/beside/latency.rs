//! What each adds to an answer, with 1, 16 and 64 clients. Everything on one core.

use std::time::Duration;

use server_bench::chart::{self, Bar, Colour, Group};

use crate::case::{Case, Delivery};
use crate::figures::Figures;
use crate::processor::Cores;
use crate::table::{Goal, written};

use super::Setting;
use super::contender::Field;
use super::markdown::{self, Aim, differences, median, spread};
use super::pipes::Pipes;
use super::tail::Tail;
use super::volley::{Seen, Spell, Volley};

const CLIENTS: [usize; 3] = [1, 16, 64];

const COLUMNS: [&str; 8] = [
    "clients",
    "",
    "p50",
    "p99",
    "added p50 (rounds)",
    "added p99",
    "first word, added p50",
    "added p99",
];

/// What one way took with so many clients, in microseconds, round by round.
#[derive(Debug, Default)]
struct Tally {
    half: Vec<f64>,
    tail: Tail,
    first_half: Vec<f64>,
    first_tail: Tail,
    /// Why it does not count.
    void: Option<String>,
}

/// Everybody's tallies for one case; each has one for each number of clients.
struct Tallies {
    pipes: [Tally; CLIENTS.len()],
    mock: [Tally; CLIENTS.len()],
    /// Ours, then the gateways.
    contenders: Vec<[Tally; CLIENTS.len()]>,
}

pub(super) fn measure(setting: Setting<'_>) {
    Cores::One.pin();
    let cases = [Case::text(1, Delivery::Whole), Case::text(66, Delivery::Streamed)];
    let shares = [0.25, 0.33];
    let limits = [60.0, 100.0];
    let field = setting.field(&cases[0]);
    let mut pipes = Pipes::start(setting.runtime, &cases, CLIENTS[2]);
    let (rounds, spell) = (setting.effort.rounds, setting.effort.spell.as_millis());
    markdown::rounds(&format!(
        "{rounds}, of {spell} ms for each row, after one that does not count"
    ));
    let mut groups = Vec::new();
    for (number, case) in cases.iter().enumerate() {
        let tallies = run(setting, &field, &mut pipes, case, number);
        println!("\n**{}**\n", capitalized(&case.name));
        print(&field, &tallies);
        let (ours, smg) = (&tallies.contenders[0][0], tallies.smg(&field));
        let added = differences(&ours.half, &tallies.pipes[0].half);
        let smg_added = smg.map(|smg| differences(&smg.half, &tallies.mock[0].half));
        markdown::goals(&[
            Aim::of("added p50, 1 client", &added, "µs", Goal::AtMost(limits[number])),
            Aim::ratio(
                "the same, of smg's",
                &added,
                &smg_added.unwrap_or_default(),
                Goal::AtMost(shares[number]),
            ),
        ]);
        groups.push(group(&field, &tallies, &case.name));
    }
    let svg = chart::bars("Added to an answer, 1 client, p50", "µs", &groups);
    setting.chart("latency", "What each adds to an answer", &svg);
    Cores::All.pin();
}

fn run(
    setting: Setting<'_>,
    field: &Field,
    pipes: &mut Pipes,
    case: &Case,
    number: usize,
) -> Tallies {
    let mut tallies = Tallies {
        pipes: Default::default(),
        mock: Default::default(),
        contenders: field.contenders.iter().map(|_| Default::default()).collect(),
    };
    for round in 0..=setting.effort.rounds {
        for (place, clients) in CLIENTS.into_iter().enumerate() {
            let volley = Volley::new(case, clients, Spell::For(setting.effort.spell));
            // The first round is for the caches.
            let counts = round > 0;
            let seen = Ok(pipes.fly(&volley, number));
            tallies.pipes[place].add(seen, counts);
            let fly = |endpoint| Ok(volley.fly(setting.runtime, endpoint)?.0);
            tallies.mock[place].add(fly(&field.mock.endpoint), counts);
            for (contender, tallies) in field.contenders.iter().zip(&mut tallies.contenders) {
                if tallies[place].void.is_none() {
                    tallies[place].add(fly(contender.endpoint()), counts);
                    std::thread::sleep(Duration::from_millis(5));
                }
            }
        }
    }
    tallies
}

fn print(field: &Field, tallies: &Tallies) {
    markdown::head(&COLUMNS);
    for (place, clients) in CLIENTS.into_iter().enumerate() {
        let clients = clients.to_string();
        let (pipes, mock) = (&tallies.pipes[place], &tallies.mock[place]);
        for (contender, tallies) in field.contenders.iter().zip(&tallies.contenders) {
            let is_ours = contender.colour() == Colour::Ours;
            let direct = if is_ours { pipes } else { mock };
            tallies[place].print(&clients, contender.name(), Some(direct));
        }
        pipes.print(&clients, "*direct, pipes*", None);
        mock.print(&clients, "*direct, HTTP mock*", None);
    }
    for (name, reason) in &field.absent {
        markdown::row(&["", name, reason, "", "", "", "", ""]);
    }
}

/// The bars of one case.
fn group(field: &Field, tallies: &Tallies, title: &str) -> Group {
    let all = field.contenders.iter().zip(&tallies.contenders);
    let bars = all.filter(|(_, tallies)| tallies[0].void.is_none()).map(|(contender, of)| {
        let is_ours = contender.colour() == Colour::Ours;
        let direct = if is_ours { &tallies.pipes[0] } else { &tallies.mock[0] };
        let added: Figures = differences(&of[0].half, &direct.half).into_iter().collect();
        let value = added.median();
        let text = format!("{} µs", written(value));
        Bar { label: contender.name().to_owned(), value, text, colour: contender.colour() }
    });
    Group { title: capitalized(title), bars: bars.collect() }
}

fn capitalized(words: &str) -> String {
    let (first, rest) = words.split_at(1);
    first.to_uppercase() + rest
}

// === impl Tallies ===

impl Tallies {
    /// smg with one client, if it runs.
    fn smg(&self, field: &Field) -> Option<&Tally> {
        let place = field.contenders.iter().position(|contender| contender.name() == "smg")?;
        let smg = &self.contenders[place][0];
        smg.void.is_none().then_some(smg)
    }
}

// === impl Tally ===

impl Tally {
    fn add(&mut self, seen: Result<Vec<Seen>, String>, counts: bool) {
        match seen {
            Err(reason) => self.void = Some(reason),
            Ok(seen) if counts => {
                let whole: Figures = seen.iter().map(|seen| seen.whole).collect();
                self.half.push(whole.percentile(50));
                self.tail.push(&whole);
                let firsts = seen.iter().map(|seen| *seen.words.first().unwrap_or(&seen.whole));
                let first: Figures = firsts.collect();
                self.first_half.push(first.percentile(50));
                self.first_tail.push(&first);
            }
            Ok(_) => {}
        }
    }

    fn print(&self, clients: &str, name: &str, direct: Option<&Self>) {
        if let Some(reason) = &self.void {
            let reason = reason.replace('|', "\\|");
            return markdown::row(&[clients, name, &reason, "", "", "", "", ""]);
        }
        let mut cells = vec![
            clients.to_owned(),
            name.to_owned(),
            median(&self.half, "µs"),
            self.tail.written("µs"),
        ];
        if let Some(direct) = direct {
            cells.push(spread(&differences(&self.half, &direct.half), "µs"));
            cells.push(self.tail.added_to(&direct.tail, "µs"));
            cells.push(median(&differences(&self.first_half, &direct.first_half), "µs"));
            cells.push(self.first_tail.added_to(&direct.first_tail, "µs"));
        } else {
            cells.extend(vec![String::new(); 4]);
        }
        markdown::row(&cells);
    }
}
