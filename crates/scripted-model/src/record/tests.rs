use std::sync::Arc;

use serde_json::json;

use super::{Counters, MOST_BYTES, MOST_REQUESTS, Record, RecordedRequest};

fn request(path: &str) -> RecordedRequest {
    RecordedRequest { path: path.into(), headers: Vec::new(), body: json!(null) }
}

#[test]
fn only_so_many_requests_are_kept() {
    let record = Record::default();
    for number in 0..=MOST_REQUESTS {
        record.refused(1, request(&number.to_string()));
    }
    let kept = record.all();
    assert_eq!(kept.len(), MOST_REQUESTS);
    assert_eq!(kept[0].path, "1");
}

#[test]
fn only_so_many_bytes_are_kept_and_the_newest_always() {
    let record = Record::default();
    record.refused(10, request("first"));
    record.refused(MOST_BYTES, request("second"));
    record.refused(MOST_BYTES + 1, request("third"));
    let paths: Vec<String> = record.all().into_iter().map(|request| request.path).collect();
    assert_eq!(paths, ["third"]);
}

#[test]
fn a_response_dropped_before_its_end_is_a_disconnect() {
    let record = Arc::new(Record::default());
    let mut whole = record.begun(0, request("whole"));
    let left = record.begun(0, request("left"));
    whole.end();
    drop((whole, left));
    assert_eq!(
        record.counters(),
        Counters { requests: 2, in_flight: 0, max_in_flight: 2, disconnects: 1 }
    );
}

#[test]
fn a_reset_keeps_what_is_in_flight() {
    let record = Arc::new(Record::default());
    let response = record.begun(0, request("x"));
    assert_eq!((record.attempt("a"), record.attempt("a"), record.attempt("b")), (1, 2, 1));
    record.reset();
    assert_eq!(record.attempt("a"), 1);
    assert_eq!(record.last(), None);
    let expected = Counters { in_flight: 1, max_in_flight: 1, ..Counters::default() };
    assert_eq!(record.counters(), expected);
    drop(response);
}
