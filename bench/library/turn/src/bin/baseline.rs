//! Holds counted instructions against those that are kept in a file, and fails where they have grown.
//!
//! Counts come as lines of JSON on standard input: those of gungraun, and `{"name", "instructions"}`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{BufRead as _, stdin};
use std::process::ExitCode;

use serde_json::Value;

/// Growth that is not accepted, in percent.
const MOST: f64 = 5.0;

/// Instructions by name.
type Counts = BTreeMap<String, u64>;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let Some(file) = arguments.next() else {
        eprintln!("baseline FILE [--update]");
        return ExitCode::FAILURE;
    };
    let update = arguments.next().is_some_and(|argument| argument == "--update");
    let lines = stdin().lock().lines().map(|line| line.expect("no input"));
    let counted: Counts = lines.map(|line| read(&line)).collect();
    // Before it is written anew: the change is that to what was kept so far.
    let kept = std::fs::read_to_string(&file).expect("no baseline");
    let kept = serde_json::from_str(&kept).expect("a baseline that is no JSON");
    let (table, wrong) = compare(&kept, &counted);
    print!("{table}");
    for wrong in &wrong {
        eprintln!("{wrong}");
    }
    if update {
        let text = serde_json::to_string_pretty(&counted).expect("counts are JSON");
        std::fs::write(&file, text + "\n").expect("cannot write the baseline");
    }
    // Whoever updates accepts what there is.
    if update || wrong.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// One count.
fn read(line: &str) -> (String, u64) {
    let line: Value = serde_json::from_str(line).expect("a line that is no JSON");
    if let (Some(name), Some(count)) = (line["name"].as_str(), line["instructions"].as_u64()) {
        return (name.to_owned(), count);
    }
    let text = |member: &str| line[member].as_str().expect("a line without a name").to_owned();
    let name = format!("{}::{}::{}", text("group"), text("function_name"), text("id"));
    let count = &line["profiles"][0]["data"]["total"]["metrics"]["Ir"]["values"]["new"];
    (name, count.as_u64().expect("a line without instructions"))
}

/// A table of both, and what is wrong.
fn compare(kept: &Counts, counted: &Counts) -> (String, Vec<String>) {
    let mut table = "| what | instructions | change |\n|---|---|---|\n".to_owned();
    let mut wrong = Vec::new();
    for (name, now) in counted {
        let Some(before) = kept.get(name) else {
            let _ = writeln!(table, "| {name} | {now} | new |");
            wrong.push(format!("{name} is not in the baseline"));
            continue;
        };
        let change = (*now as f64 / *before as f64 - 1.0) * 100.0;
        let _ = writeln!(table, "| {name} | {now} | {change:+.1} % |");
        if change > MOST {
            wrong.push(format!("{name} has grown from {before} to {now}: {change:+.1} %"));
        }
    }
    let missing = kept.keys().filter(|name| !counted.contains_key(*name));
    wrong.extend(missing.map(|name| format!("{name} was not counted")));
    (table, wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(counts: &[(&str, u64)]) -> Counts {
        counts.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect()
    }

    #[test]
    fn growth_of_more_than_a_twentieth_is_wrong() {
        let kept = counts(&[("a", 1_000), ("b", 1_000), ("c", 1_000)]);
        let (_, wrong) = compare(&kept, &counts(&[("a", 1_050), ("b", 1_051), ("c", 10)]));
        assert_eq!(wrong, ["b has grown from 1000 to 1051: +5.1 %"]);
    }

    #[test]
    fn what_is_new_or_missing_is_wrong() {
        let (table, wrong) = compare(&counts(&[("old", 1)]), &counts(&[("new", 1)]));
        assert!(table.ends_with("| new | 1 | new |\n"), "{table}");
        assert_eq!(wrong, ["new is not in the baseline", "old was not counted"]);
    }

    #[test]
    fn both_kinds_of_lines_are_read() {
        let ours = r#"{"name": "server::text", "instructions": 7}"#;
        assert_eq!(read(ours), ("server::text".to_owned(), 7));
        let gungraun = r#"{"group": "turn", "function_name": "answer", "id": "one_call", "profiles":
            [{"data": {"total": {"metrics": {"Ir": {"values": {"new": 9}}}}}}]}"#;
        assert_eq!(read(gungraun), ("turn::answer::one_call".to_owned(), 9));
    }
}
