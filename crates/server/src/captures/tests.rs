use std::path::Path;
use std::time::Instant;

use axum::body::Bytes;
use bridge::{ChoiceReport, RequestOptions, TurnSettings};
use capture::{Record, What};
use codex_app_server::turn::event::TurnEvent;
use openai_wire::chat::ChatRequest;

use super::*;

const REQUEST: &str = r#"{"model": "m", "messages": [{"role": "user", "content": "private"}]}"#;

fn settings(folder: &Path) -> CaptureSettings {
    CaptureSettings {
        folder: folder.to_owned(),
        max_bytes: 1 << 30,
        // Masking takes its time where code is not optimised.
        content: CapturedContent::Verbatim,
    }
}

fn draft(request_id: &str) -> Draft {
    let turns = TurnSettings::default();
    let options = RequestOptions { settings: &turns, requested_mode: None };
    let request = ChatRequest::parse(REQUEST.as_bytes()).unwrap();
    let prepared = bridge::prepare(request, &options).unwrap();
    Draft {
        time: jiff::Timestamp::UNIX_EPOCH,
        request_id: request_id.to_owned(),
        codex: None,
        requested_mode: None,
        settings: "".into(),
        model: "m".to_owned(),
        backend_model: "m".to_owned(),
        stream: true,
        include_usage: false,
        choices: 1,
        id: "chatcmpl-1".to_owned(),
        created: 0,
        policy: Arc::new(prepared.policy),
        body: Bytes::from_static(REQUEST.as_bytes()),
    }
}

fn text(bytes: usize) -> TurnEvent {
    TurnEvent::Text("word ".repeat(bytes / 5))
}

fn read(folder: &Path, request_id: &str) -> Record {
    let file = folder.join(format!("19700101T000000.000000Z-{request_id}.jsonl"));
    Record::read(std::fs::read(file).unwrap().as_slice()).unwrap()
}

#[tokio::test]
async fn a_record_is_cut_where_it_gets_too_large_and_memory_is_given_back() {
    let folder = tempfile::tempdir().unwrap();
    let captures = Arc::<Captures>::default();
    let recording = Recording::begin(&captures, &settings(folder.path()), draft("large"));
    for _ in 0..20 {
        recording.event(0, &text(500_000), Instant::now());
    }
    recording.end(&Vec::<ChoiceReport>::new());
    let held = captures.held_bytes.load(Ordering::Relaxed);
    assert!((7_000_000..9_000_000).contains(&held), "{held}");
    drop(recording);
    captures.written().await;
    assert_eq!(captures.held_bytes.load(Ordering::Relaxed), 0);
    let record = read(folder.path(), "large");
    let [first, .., cut, end] = record.entries.as_slice() else { panic!("{record:?}") };
    assert!(matches!(first.what, What::Event { .. }));
    assert!(matches!(cut.what, What::Cut { .. }), "{cut:?}");
    assert!(matches!(end.what, What::End(_)), "{end:?}");
}

#[tokio::test]
async fn records_share_what_memory_there_is() {
    let folder = tempfile::tempdir().unwrap();
    let captures = Arc::<Captures>::default();
    let recordings: Vec<_> = (0..6)
        .map(|at| {
            let draft = draft(&format!("r{at}"));
            let recording = Recording::begin(&captures, &settings(folder.path()), draft);
            for _ in 0..12 {
                recording.event(0, &text(600_000), Instant::now());
            }
            recording
        })
        .collect();
    let held = captures.held_bytes.load(Ordering::Relaxed);
    assert!(held <= MOST_HELD_BYTES, "{held}");
    drop(recordings);
    captures.written().await;
    assert!(!read(folder.path(), "r0").is_cut());
    assert!(read(folder.path(), "r5").is_cut());
    assert_eq!(captures.held_bytes.load(Ordering::Relaxed), 0);
}

#[tokio::test]
async fn a_request_whose_turns_never_start_leaves_no_record() {
    let folder = tempfile::tempdir().unwrap();
    let captures = Arc::<Captures>::default();
    drop(Recording::begin(&captures, &settings(folder.path()), draft("none")));
    captures.written().await;
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    assert_eq!(captures.held_bytes.load(Ordering::Relaxed), 0);
}
