//! Memory idle, under load and afterwards, and how long a start takes.

use std::thread;
use std::time::Duration;

use server_bench::chart::{self, Bar, Colour, Group};
use testkit::server_process::ServerFolder;

use crate::case::{Case, Delivery};
use crate::figures::{Figures, micros};
use crate::gateway::{Gateway, Product};
use crate::mock_upstream::MockUpstream;
use crate::processor::Cores;
use crate::table::{Goal, written};

use super::Setting;
use super::contender::{Contender, colour};
use super::markdown::{self, Aim, spread};
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
    /// It cannot stream, so that it had less to do.
    had_no_streams: bool,
    void: Option<String>,
}

pub(super) fn measure(setting: Setting<'_>) {
    Cores::All.pin();
    let cases = [Case::text(1, Delivery::Whole), Case::text(66, Delivery::Streamed)];
    let mock = MockUpstream::start();
    let mut ours = Tally::new("codex-completions", Colour::Ours);
    let mut others = Product::ALL.map(|product| Tally::new(product.name(), colour(product)));
    let folder = ServerFolder::new().expect("no temporary folder");
    for round in 0..=setting.effort.long_rounds {
        // The first start of each is for the caches: everybody has been started once before.
        let counts = round > 0;
        let (contender, accepting) = Contender::start_ours_in(&folder, setting.server);
        // A gateway is waited for until it has answered one request.
        let request = contender.endpoint().request(&cases[0]);
        contender.endpoint().check(&cases[0], contender.endpoint().connect().ask(&request));
        if counts {
            ours.add(&contender, accepting, setting, &cases);
        }
        drop(contender);
        for (product, tally) in Product::ALL.into_iter().zip(&mut others) {
            if tally.void.is_some() {
                continue;
            }
            match Gateway::start(product, setting.installed, &mock, &cases[0]) {
                Err(reason) => tally.void = Some(reason),
                Ok(gateway) if counts => {
                    let accepting = gateway.accepting;
                    tally.add(&Contender::Gateway(product, gateway), accepting, setting, &cases);
                }
                Ok(_) => {}
            }
        }
    }
    let all: Vec<&Tally> = [&ours].into_iter().chain(&others).collect();
    markdown::rounds(&format!(
        "{}, after a start of each that does not count",
        setting.effort.long_rounds
    ));
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
                spread(&tally.loaded, "MB") + tally.remark(),
                spread(&tally.after, "MB") + tally.remark(),
            ]),
        }
    }
    markdown::goals(&[
        Aim::of("process start to accepting", &ours.start, "ms", Goal::AtMost(20.0)),
        Aim::of("memory, idle", &ours.idle, "MB", Goal::AtMost(10.0)),
        Aim::of("memory, after 64 clients", &ours.after, "MB", Goal::AtMost(20.0)),
    ]);
    let there = || all.iter().filter(|tally| tally.void.is_none());
    let group = |title: &str, of: fn(&Tally) -> &Vec<f64>, unit: &str| {
        let bars = there().map(|tally| {
            let value = of(tally).iter().copied().collect::<Figures>().median();
            let remark = if title.contains("64 clients") { tally.remark() } else { "" };
            let text = format!("{} {unit}{remark}", written(value));
            let label = tally.name.to_owned();
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
        Self { name, colour, start, idle, loaded, after, had_no_streams: false, void: None }
    }

    fn remark(&self) -> &'static str {
        if self.had_no_streams { ", without streams" } else { "" }
    }

    fn add(
        &mut self,
        contender: &Contender,
        accepting: Duration,
        setting: Setting<'_>,
        cases: &[Case],
    ) {
        let idle = contender.megabytes();
        contender.forget_peak();
        for case in cases {
            let volley = Volley::new(case, CLIENTS, Spell::For(setting.effort.spell * 3));
            match (volley.fly(setting.runtime, contender.endpoint()), case.delivery) {
                (Ok(_), _) => {}
                (Err(_), Delivery::Streamed) => self.had_no_streams = true,
                (Err(reason), Delivery::Whole) => {
                    self.void = Some(reason);
                    return;
                }
            }
        }
        let loaded = contender.peak_megabytes();
        thread::sleep(REST);
        self.start.push(micros(accepting) / 1e3);
        self.idle.push(idle);
        self.loaded.push(loaded);
        self.after.push(contender.megabytes());
    }
}
