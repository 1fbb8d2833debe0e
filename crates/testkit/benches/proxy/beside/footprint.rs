//! Memory idle, under load and afterwards, and how long a start takes.

use std::thread;
use std::time::Duration;

use testkit::chart::{self, Bar, Colour, Group};

use crate::case::{Case, Delivery};
use crate::figures::{Figures, micros};
use crate::gateway::{Gateway, Product};
use crate::mock_upstream::MockUpstream;
use crate::processor::Cores;
use crate::server_process::time_to_accept;
use crate::table::{Goal, written};

use super::Setting;
use super::contender::{Contender, colour};
use super::markdown::{self, spread};
use super::volley::{Spell, Volley};

const CLIENTS: usize = 64;

/// After the load, before the memory is looked at again.
const REST: Duration = Duration::from_secs(2);

/// One contender, round by round: milliseconds, then megabytes.
struct Tally {
    name: &'static str,
    colour: Colour,
    start: Vec<f64>,
    idle: Vec<f64>,
    loaded: Vec<f64>,
    after: Vec<f64>,
    void: Option<String>,
}

pub(super) fn measure(setting: Setting<'_>) {
    Cores::All.pin();
    let cases = [Case::text(1, Delivery::Whole), Case::text(66, Delivery::Streamed)];
    let mock = MockUpstream::start();
    let mut ours = Tally::new("codex-completions", Colour::Ours);
    let mut others = Product::ALL.map(|product| Tally::new(product.name(), colour(product)));
    for _ in 0..setting.effort.long_rounds {
        let started = time_to_accept(setting.server, 3);
        ours.start.extend(started.into_iter().map(|time| micros(time) / 1e3));
        ours.add(&Contender::start_ours(setting.server), setting, &cases);
        for (product, tally) in Product::ALL.into_iter().zip(&mut others) {
            if tally.void.is_some() {
                continue;
            }
            match Gateway::start(product, setting.installed, &mock, &cases[0]) {
                Err(reason) => tally.void = Some(reason),
                Ok(gateway) => {
                    tally.start.push(micros(gateway.accepting) / 1e3);
                    tally.add(&Contender::Gateway(product, gateway), setting, &cases);
                }
            }
        }
    }
    let all: Vec<&Tally> = [&ours].into_iter().chain(&others).collect();
    let columns =
        ["", "process start to accepting (rounds)", "memory idle", "peak under load", "afterwards"];
    markdown::head(&columns);
    for tally in &all {
        match &tally.void {
            Some(reason) => markdown::void(tally.name, reason, columns.len()),
            None => markdown::row(&[
                tally.name.to_owned(),
                spread(&tally.start, "ms"),
                spread(&tally.idle, "MB"),
                spread(&tally.loaded, "MB"),
                spread(&tally.after, "MB"),
            ]),
        }
    }
    markdown::goals(&[
        ("process start to accepting", ours.start.clone(), "ms", Goal::AtMost(20.0)),
        ("memory, idle", ours.idle.clone(), "MB", Goal::AtMost(10.0)),
        ("memory, after 64 clients", ours.after.clone(), "MB", Goal::AtMost(20.0)),
    ]);
    let there = || all.iter().filter(|tally| tally.void.is_none());
    let group = |title: &str, of: fn(&Tally) -> &Vec<f64>, unit: &str| {
        let bars = there().map(|tally| {
            let value = of(tally).iter().copied().collect::<Figures>().median();
            let (label, text) = (tally.name.to_owned(), format!("{} {unit}", written(value)));
            Bar { label, value, text, colour: tally.colour }
        });
        Group { title: title.to_owned(), bars: bars.collect() }
    };
    let groups = [
        group("Idle", |tally| &tally.idle, "MB"),
        group("Peak with 64 clients", |tally| &tally.loaded, "MB"),
        group("Two seconds after them", |tally| &tally.after, "MB"),
    ];
    setting.chart("memory", "Memory", &chart::bars("Memory", "MB", &groups));
    let groups = [group("", |tally| &tally.start, "ms")];
    let title = "From the start of the process to the first connection";
    setting.chart("start", title, &chart::bars(title, "ms", &groups));
}

// === impl Tally ===

impl Tally {
    fn new(name: &'static str, colour: Colour) -> Self {
        let [start, idle, loaded, after] = Default::default();
        Self { name, colour, start, idle, loaded, after, void: None }
    }

    fn add(&mut self, contender: &Contender, setting: Setting<'_>, cases: &[Case]) {
        let idle = contender.megabytes();
        contender.forget_peak();
        for case in cases {
            let volley = Volley::new(case, CLIENTS, Spell::For(setting.effort.spell * 3));
            // Whoever cannot stream has no such load.
            if let Err(reason) = volley.fly(setting.runtime, contender.endpoint())
                && case.delivery == Delivery::Whole
            {
                self.void = Some(reason);
                return;
            }
        }
        let loaded = contender.peak_megabytes();
        thread::sleep(REST);
        self.idle.push(idle);
        self.loaded.push(loaded);
        self.after.push(contender.megabytes());
    }
}
