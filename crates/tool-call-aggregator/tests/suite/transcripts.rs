//! What the real Codex said in recorded turns: each call once, with the backend's own bytes.
//!
//! The expectations were taken from the recordings by another program: the raw items that belong to
//! the turn, or, in recordings without raw items, the parsed arguments.

use std::fs;

use serde_json::Value;
use tool_call_aggregator::ToolCallAggregator;

fn recordings() -> Vec<Value> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/transcripts");
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    files.map(|file| serde_json::from_slice(&fs::read(file).unwrap()).unwrap()).collect()
}

fn expected(recording: &Value) -> Vec<(&str, &str, &str)> {
    recording["expected"]
        .as_array()
        .unwrap()
        .iter()
        .map(|call| {
            let field = |name: &str| call[name].as_str().unwrap();
            (field("backend_id"), field("name"), field("arguments"))
        })
        .collect()
}

#[test]
fn every_recorded_call_appears_once_and_verbatim() {
    let recordings = recordings();
    assert_eq!(recordings.len(), 28);
    for recording in &recordings {
        let mut calls = ToolCallAggregator::new();
        let mut streamed: Vec<String> = Vec::new();
        for event in recording["events"].as_array().unwrap() {
            for delta in calls.ingest_delta(event, None).deltas {
                assert!(!delta.replaced && delta.complete, "{}: {delta:?}", recording["source"]);
                if delta.is_first() {
                    assert_eq!(delta.index, streamed.len());
                    streamed.push(String::new());
                }
                streamed[delta.index].push_str(delta.appended);
            }
        }
        let snapshot = calls.snapshot(0);
        let seen: Vec<_> = snapshot
            .iter()
            .map(|call| {
                (call.backend_id.as_deref().unwrap(), call.name.as_str(), call.arguments.as_str())
            })
            .collect();
        assert_eq!(seen, expected(recording), "{}", recording["source"]);
        let arguments: Vec<_> = snapshot.into_iter().map(|call| call.arguments).collect();
        assert_eq!(streamed, arguments, "{}", recording["source"]);
    }
}

#[test]
fn a_recording_taken_without_its_envelopes_gives_the_same_calls() {
    for recording in recordings() {
        let (mut whole, mut bare) = (ToolCallAggregator::new(), ToolCallAggregator::new());
        for event in recording["events"].as_array().unwrap() {
            whole.ingest_delta(event, None);
            bare.ingest_delta(&event["params"], None);
        }
        assert_eq!(whole.snapshot(0), bare.snapshot(0), "{}", recording["source"]);
    }
}

#[test]
fn a_recording_taken_twice_changes_nothing_the_second_time() {
    for recording in recordings() {
        let mut calls = ToolCallAggregator::new();
        let events = recording["events"].as_array().unwrap();
        for event in events {
            calls.ingest_delta(event, None);
        }
        let snapshot = calls.snapshot(0);
        for event in events {
            assert!(!calls.ingest_delta(event, None).updated, "{event}");
        }
        assert_eq!(calls.snapshot(0), snapshot);
    }
}
