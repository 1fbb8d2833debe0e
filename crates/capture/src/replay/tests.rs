use model_turn::TurnEvent;

use super::*;
use crate::record::{Entry, ReadError};
use crate::replay::Verdict;

fn recorded(name: &str) -> String {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/captures");
    std::fs::read_to_string(folder.join(name)).unwrap()
}

fn read(text: &str) -> Record {
    Record::read(text.as_bytes()).unwrap()
}

fn verdict(record: &Record) -> Verdict {
    record.compare(&record.replay(Instant::now()))
}

#[test]
fn an_answer_that_lacks_its_end_is_another_one_unless_the_client_left() {
    for name in [
        "parallel-calls.jsonl",
        "whole-answer-cut-by-tokens.jsonl",
        "response-with-reasoning-and-calls.jsonl",
        "response-that-goes-on.jsonl",
    ] {
        let mut record = read(&recorded(name));
        assert_eq!(verdict(&record), Verdict::Same, "{name}");
        let is_told = |entry: &Entry| matches!(entry.what, What::Sent(_) | What::Answer { .. });
        let last = record.entries.iter().rposition(is_told).unwrap();
        record.entries.remove(last);
        let at = record.received().text().len();
        assert_eq!(verdict(&record), Verdict::OtherAnswer { at }, "{name}");

        let mut cut = record.clone();
        cut.entries.push(Entry { at: 0, what: What::Cut { limit: 1 } });
        assert!(matches!(verdict(&cut), Verdict::SameSoFar { .. }), "{name}");

        for entry in &mut record.entries {
            if let What::End(reports) = &mut entry.what {
                reports[0].stop_reason = EndReason::ClientGone;
            }
        }
        assert!(!matches!(verdict(&record), Verdict::OtherAnswer { .. }), "{name}");
    }
}

#[test]
fn a_choice_that_does_not_end_has_the_reason_that_was_recorded() {
    let mut record = read(&recorded("parallel-calls.jsonl"));
    let is_call =
        |entry: &Entry| matches!(&entry.what, What::Event { event: TurnEvent::ToolCall(_), .. });
    let first = record.entries.iter().position(is_call).unwrap();
    let reports = record.reports().to_vec();
    record.entries.truncate(first + 1);
    for what in [What::Cut { limit: 1 }, What::End(reports.clone())] {
        record.entries.push(Entry { at: 0, what });
    }
    let replayed = record.replay(Instant::now());
    assert_eq!(replayed.reports[0].stop_reason, reports[0].stop_reason);
}

#[test]
fn a_client_may_leave_after_the_turns_have_ended() {
    let mut record = read(&recorded("response-with-reasoning-and-calls.jsonl"));
    let is_end = |entry: &Entry| matches!(entry.what, What::Settle { .. } | What::Stored(_));
    record.entries.retain(|entry| !is_end(entry));
    let is_sent = |entry: &Entry| matches!(entry.what, What::Sent(_));
    let last = record.entries.iter().rposition(is_sent).unwrap();
    record.entries.remove(last);
    assert!(matches!(verdict(&record), Verdict::OtherAnswer { .. }));
    record.entries.push(Entry { at: 0, what: What::Abandon(EndReason::ClientGone) });
    assert!(matches!(verdict(&record), Verdict::SameSoFar { .. }));
}

#[test]
fn more_choices_than_any_answer_has_are_refused() {
    let text = recorded("parallel-calls.jsonl");
    let many = text.replacen("\"choices\":1,", "\"choices\":4000000000,", 1);
    let error = Record::read(many.as_bytes()).unwrap_err();
    assert!(matches!(error, ReadError::Choices { line: 1, found: 4_000_000_000 }), "{error}");
    assert_eq!(error.to_string(), "line 1: there are 4000000000 choices, more than 128");
}

#[test]
fn items_keep_apart_where_more_of_them_come_than_were_recorded() {
    let mut record = read(&recorded("response-with-reasoning-and-calls.jsonl"));
    record.entries.retain(|entry| !matches!(entry.what, What::Suffix(_)));
    let received = record.replay(Instant::now()).received;
    let added = received.text().lines().filter(|line| line.contains("output_item.added\","));
    let ids = added.map(|line| {
        let data: serde_json::Value =
            serde_json::from_str(line.strip_prefix("data: ").unwrap()).unwrap();
        data["item"]["id"].as_str().unwrap().to_owned()
    });
    assert_eq!(ids.collect::<Vec<_>>(), ["rs_0", "msg_1", "fc_2", "fc_3"]);
}

#[test]
fn a_record_of_an_unknown_api_is_refused_with_the_known_ones() {
    let text = recorded("parallel-calls.jsonl");
    let other = text.replacen("/v1/chat/completions", "/v1/other", 1);
    let error = Record::read(other.as_bytes()).unwrap_err().to_string();
    for name in ["line 1", "/v1/other", "/v1/chat/completions", "/v1/responses"] {
        assert!(error.contains(name), "{error}");
    }
}
