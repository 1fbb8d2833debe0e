use std::path::Path;
use std::time::Instant;

use axum::body::Bytes;
use bridge::{ChoiceReport, Input, RequestOptions, TurnSettings};
use bytes::BytesMut;
use capture::{Api, Record, ResponseHeader, What};
use model_turn::TurnEvent;
use openai_wire::chat::ChatRequest;
use openai_wire::responses::{
    Echo, EncryptedContent, ResponseHead, ResponseState, ResponseStatus, ResponseWriter,
};

use super::*;
use crate::request_info::{Endpoint, RequestInfo};

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
    let options = RequestOptions::new(&turns);
    let request = ChatRequest::parse(REQUEST.as_bytes()).unwrap();
    let prepared = bridge::prepare(request, &options).unwrap();
    Draft {
        request: Arc::new(request_info(request_id, Endpoint::Chat)),
        time: jiff::Timestamp::UNIX_EPOCH,
        codex: None,
        requested_mode: None,
        policy: Arc::new(prepared.policy),
        api: RecordedApi::Chat,
        body: Bytes::from_static(REQUEST.as_bytes()),
    }
}

fn request_info(id: &str, endpoint: Endpoint) -> RequestInfo {
    let model = "m".to_owned();
    let backend_model = model.clone();
    RequestInfo { id: id.to_owned(), endpoint, model, backend_model, ..RequestInfo::example() }
}

fn begin(captures: &Arc<Captures>, folder: &Path, draft: Draft) -> Option<Arc<Recording>> {
    Recording::begin(captures, &settings(folder), draft)
}

fn text(bytes: usize) -> Input {
    Input::Event { choice: 0, event: TurnEvent::Text("word ".repeat(bytes / 5)) }
}

fn read(folder: &Path, request_id: &str) -> Record {
    let file = folder.join(format!("19700101T000000.000000Z-{request_id}.jsonl"));
    Record::read(std::fs::read(file).unwrap().as_slice()).unwrap()
}

#[tokio::test]
async fn a_record_is_cut_where_it_gets_too_large_and_memory_is_given_back() {
    let folder = tempfile::tempdir().unwrap();
    let captures = Arc::<Captures>::default();
    let recording = begin(&captures, folder.path(), draft("large")).unwrap();
    for _ in 0..20 {
        recording.input(&text(500_000), Instant::now());
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
            let recording = begin(&captures, folder.path(), draft(&format!("r{at}"))).unwrap();
            for _ in 0..12 {
                recording.input(&text(600_000), Instant::now());
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
    drop(begin(&captures, folder.path(), draft("none")));
    captures.written().await;
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    assert_eq!(captures.held_bytes.load(Ordering::Relaxed), 0);
}

#[tokio::test]
async fn a_response_is_recorded_if_there_is_room_for_what_it_repeats() {
    let folder = tempfile::tempdir().unwrap();
    let captures = Arc::<Captures>::default();
    let response = |instructions: &str| {
        let head = ResponseHead {
            id: "resp_1",
            created_at: 0,
            model: "m",
            instructions: Some(instructions),
            max_output_tokens: None,
            parallel_tool_calls: true,
            previous_response_id: None,
            store: false,
            echo: &Echo::default(),
        };
        let state = ResponseState { status: &ResponseStatus::InProgress, output: &[], usage: None };
        let mut object = BytesMut::new();
        ResponseWriter::new(&head).write(&state, EncryptedContent::LeftOut, &mut object);
        let (object, encrypted) = (object.freeze(), EncryptedContent::Included);
        let api = RecordedApi::Responses { object, encrypted };
        let request = Arc::new(request_info("response", Endpoint::Responses));
        Draft { request, api, ..draft("response") }
    };
    assert!(begin(&captures, folder.path(), response(&"x".repeat(5_000_000))).is_none());
    assert_eq!(captures.held_bytes.load(Ordering::Relaxed), 0);

    let recording = begin(&captures, folder.path(), response("be brief")).unwrap();
    recording.input(&Input::Settle { usage: None, at: 7 }, Instant::now());
    recording.input(&Input::Stored(true), Instant::now());
    drop(recording);
    captures.written().await;
    assert_eq!(captures.held_bytes.load(Ordering::Relaxed), 0);
    let record = read(folder.path(), "response");
    assert_eq!(record.header.api.path(), "/v1/responses");
    let object = r#"{"instructions":"be brief","max_output_tokens":null,"max_tool_calls":null,
        "parallel_tool_calls":true,"previous_response_id":null,"prompt_cache_key":null,
        "reasoning":{"effort":null,"summary":null},"safety_identifier":null,"service_tier":"default","store":false,
        "text":{"format":{"type":"text"}},"tool_choice":"auto","tools":[],"truncation":"disabled",
        "user":null,"metadata":{}}"#;
    let expected = ResponseHeader::of(object.as_bytes(), EncryptedContent::Included).unwrap();
    assert_eq!(record.header.api, Api::Responses { response: Box::new(expected) });
    let whats: Vec<_> = record.entries.into_iter().map(|entry| entry.what).collect();
    assert_eq!(whats, [What::Settle { usage: None, at: 7 }, What::Stored(true)]);
}
