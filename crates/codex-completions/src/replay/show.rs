//! A replay, for people and for programs.

use std::fmt::Write as _;

use bridge::Collected;
use capture::{Received, Record, Redaction, Replayed, Verdict};
use openai_wire::FinishReason;
use serde_json::{Value, json};

use super::Finding;
use crate::console::is_obeyed;

/// Longest text that is shown of a choice.
const MOST_TEXT: usize = 2_000;

/// Most lines of a list of differences.
const MOST_LINES: usize = 40;

/// What is around the first byte that differs.
const AROUND: usize = 60;

/// The request in one line, then each choice.
pub(super) fn text(record: &Record, replayed: &Replayed) -> String {
    let header = &record.header;
    let streamed = if header.stream { "streamed" } else { "whole" };
    let redaction = match header.redaction {
        Redaction::None => "not redacted",
        Redaction::Exact => "redacted",
        Redaction::Inexact => "redacted, and not the same any more",
    };
    let mut text = format!(
        "{} {} {}: {} as {}, {} choice(s), {streamed}, {redaction}\n",
        plain(&header.time),
        plain(header.api.path()),
        plain(&header.request_id),
        plain(&header.model),
        plain(&header.backend_model),
        header.choices,
    );
    if !header.settings.is_empty() {
        // A string takes everything.
        let _ = writeln!(text, "settings: {}", plain(&header.settings));
    }
    for ((index, choice), report) in replayed.choices.iter().enumerate().zip(&replayed.reports) {
        let finish = choice.finish.map_or("none", FinishReason::as_str);
        let _ = writeln!(
            text,
            "choice {index}: finish_reason {finish}, stop_reason {}, {} call(s){}, {} bytes suppressed",
            report.stop_reason.as_str(),
            report.call_count,
            if report.truncated { ", truncated" } else { "" },
            report.suppressed_bytes,
        );
        write_choice(choice, &mut text);
    }
    if let Received::Whole { status, body } = &replayed.received
        && *status != 200
    {
        let _ = writeln!(text, "status {status}: {}", plain(body));
    }
    text
}

fn write_choice(choice: &Collected, text: &mut String) {
    for call in &choice.calls {
        let [id, name, arguments] = [&call.id, &call.name, &call.text].map(|said| plain(said));
        let _ = writeln!(text, "  call {id} {name} {arguments}");
    }
    for (name, said) in [("reasoning", &choice.reasoning), ("text", &choice.content)] {
        if !said.is_empty() {
            let start: String = said.chars().take(MOST_TEXT).collect();
            let more = if start.len() < said.len() { "…" } else { "" };
            let _ = writeln!(text, "  {name} {}{more}", quoted(&start));
        }
    }
}

/// What a client would get.
pub(super) fn frames(replayed: &Replayed) -> String {
    match &replayed.received {
        Received::Stream(frames) => frames.clone(),
        Received::Whole { body, .. } => format!("{body}\n"),
        Received::Nothing => String::new(),
    }
}

pub(super) fn json(record: &Record, replayed: &Replayed, finding: Finding) -> Value {
    let choice = |choice: &Collected| {
        let calls = choice
            .calls
            .iter()
            .map(|call| json!({"id": call.id, "name": call.name, "arguments": call.text}));
        json!({
            "content": choice.content,
            "reasoning": choice.reasoning,
            "calls": calls.collect::<Vec<_>>(),
            "finish_reason": choice.finish.map(FinishReason::as_str),
        })
    };
    json!({
        "request_id": record.header.request_id,
        "redaction": record.header.redaction,
        "finding": name(finding),
        "choices": replayed.choices.iter().map(choice).collect::<Vec<_>>(),
        "reports": replayed.reports,
    })
}

fn name(finding: Finding) -> &'static str {
    match finding {
        Finding::Compared(Verdict::Same) => "same",
        Finding::Compared(Verdict::SameSoFar { .. }) => "same_so_far",
        Finding::Compared(Verdict::OtherAnswer { .. }) => "other_answer",
        Finding::Compared(Verdict::OtherReport) => "other_report",
        Finding::Changed => "other_settings",
        Finding::Inexact => "inexact",
    }
}

pub(super) fn finding(record: &Record, replayed: &Replayed, finding: Finding) -> String {
    match finding {
        Finding::Compared(Verdict::Same) => {
            "same: the answer is the recorded one, to the byte".to_owned()
        }
        Finding::Compared(Verdict::SameSoFar { missing }) => format!(
            "same: the answer is the recorded one as far as that goes; {missing} bytes were not \
             taken by the client, or not recorded"
        ),
        Finding::Compared(Verdict::OtherReport) => format!(
            "DIFFERENT: the answer is the recorded one, but not what is told about it\n  \
             recorded  {}\n  replayed  {}",
            plain(&json!(record.reports()).to_string()),
            plain(&json!(replayed.reports).to_string()),
        ),
        Finding::Compared(Verdict::OtherAnswer { at }) => {
            let around = |received: &Received| {
                let text = received.text();
                let start = text.floor_char_boundary(at.saturating_sub(AROUND));
                let end = text.floor_char_boundary(at + AROUND);
                quoted(&text[start.min(end)..end])
            };
            format!(
                "DIFFERENT from byte {at} on\n  recorded  {}\n  replayed  {}",
                around(&record.received()),
                around(&replayed.received),
            )
        }
        Finding::Changed => "not compared: played under another setting".to_owned(),
        Finding::Inexact => {
            "not compared: the words that were taken out of this record mattered; one that is made \
             with PROXY_LOG_CONTENT=true has them"
                .to_owned()
        }
    }
}

/// Every line of the two answers that is not the same.
pub(super) fn differences(record: &Record, replayed: &Replayed) -> String {
    let recorded = record.received();
    let (recorded, replayed) = (recorded.text(), replayed.received.text());
    let lines =
        |text: &str| text.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect();
    let (recorded, replayed): (Vec<String>, Vec<String>) = (lines(recorded), lines(replayed));
    let mut text = String::new();
    let count = recorded.len().max(replayed.len());
    let differing = (0..count).filter(|at| recorded.get(*at) != replayed.get(*at));
    for at in differing.take(MOST_LINES) {
        for (sign, lines) in [('-', &recorded), ('+', &replayed)] {
            if let Some(line) = lines.get(at) {
                let _ = writeln!(text, "{sign} {}", plain(line));
            }
        }
    }
    text
}

/// A foreign text within a line of ours, so that it cannot look like another line: also in a pipe.
pub(super) fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for letter in text.chars() {
        if is_obeyed(letter) {
            plain.extend(letter.escape_default());
        } else {
            plain.push(letter);
        }
    }
    plain
}

/// As JSON.
fn quoted(text: &str) -> String {
    plain(&Value::from(text).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_a_terminal_obeys_is_shown() {
        let text = "a\u{1b}[31m\r\nsame: \u{9b}2J \u{202e}\u{2028}\t\u{e9}\u{5b57}\"";
        let expected = "a\\u{1b}[31m\\r\\nsame: \\u{9b}2J \\u{202e}\\u{2028}\\t\u{e9}\u{5b57}\"";
        assert_eq!(plain(text), expected);
        assert_eq!(quoted("\n\u{9b}"), "\"\\n\\u{9b}\"");
    }
}
