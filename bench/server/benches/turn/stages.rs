//! One turn after the other, each way in turn.

use codex_app_server::CodexBinary;

use crate::figures::Figures;
use crate::model::Model;
use crate::way::{Change, Times, Way};

/// Turns of each way that are not counted.
const WARM_UP: usize = 4;

const CHANGES: [Change; 5] = [
    Change::Nothing,
    Change::OneRoot,
    Change::Together,
    Change::Workers("1"),
    Change::Workers("4"),
];

pub(crate) async fn measure(codex: &CodexBinary, model: &Model, turns: usize) {
    let mut ways = Vec::new();
    for change in CHANGES {
        ways.push(Way::start(codex, change).await);
    }
    for round in 0..WARM_UP + turns {
        if round == WARM_UP {
            for way in &mut ways {
                way.turns.clear();
            }
        }
        for index in 0..ways.len() {
            let index = if round % 2 == 0 { index } else { ways.len() - 1 - index };
            ways[index].turn(model).await;
        }
    }
    println!("{turns} turns a row, one after the other, medians in ms\n");
    println!(
        "| what is changed | thread/start | inject | turn/start | model asked | p10 – p90 | of the first row | first text | end | Codex's CPU |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    let baseline = median(&ways[0], |times| times.asked);
    for way in &ways {
        let asked: Figures = way.turns.iter().map(|times| times.asked).collect();
        println!(
            "| {} | {} | {} | {} | {} | {:.1} – {:.1} | {:.2} × | {} | {} | {} |",
            way.change.name(),
            shown(median(way, |times| times.thread)),
            shown(median(way, |times| times.inject)),
            shown(median(way, |times| times.turn)),
            shown(asked.median()),
            asked.percentile(10),
            asked.percentile(90),
            asked.median() / baseline,
            shown(median(way, |times| times.first)),
            shown(median(way, |times| times.end)),
            shown(median(way, |times| times.processor)),
        );
    }
    for way in ways {
        way.end().await;
    }
}

fn median(way: &Way, figure: fn(&Times) -> f64) -> f64 {
    way.turns.iter().map(figure).collect::<Figures>().median()
}

/// Nothing for what was not seen.
fn shown(millis: f64) -> String {
    if millis.is_nan() { String::new() } else { format!("{millis:.1}") }
}
