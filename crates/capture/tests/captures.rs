//! Records of real turns, and of turns that once went wrong: each still does what it did, or what it
//! should have done. A bug report becomes a test by putting its file into `tests/captures`.
#![cfg(test)]
#![allow(clippy::disallowed_methods, reason = "tests read their cases from files")]

use std::path::Path;
use std::time::Instant;

use capture::{Record, Redaction, Verdict};

#[test]
fn every_record_is_replayed_to_the_byte() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/captures");
    let (mut count, mut latest) = (0, 0);
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read(&path).unwrap();
        let record =
            Record::read(text.as_slice()).unwrap_or_else(|error| panic!("{path:?}: {error}"));
        assert_ne!(record.header.redaction, Redaction::Inexact, "{path:?}");
        let verdict = record.compare(&record.replay(Instant::now()));
        let same = matches!(verdict, Verdict::Same | Verdict::SameSoFar { .. });
        assert!(same, "{path:?}: {verdict:?}; codex-completions replay --diff shows more");
        // It is written as it was read, but for older formats.
        let mut again = Vec::new();
        record.write(&mut again).unwrap();
        if text.starts_with(b"{\"capture\":1,") {
            assert_eq!(Record::read(again.as_slice()).unwrap(), record, "{path:?}");
        } else {
            assert_eq!(String::from_utf8(again), String::from_utf8(text), "{path:?}");
            latest += 1;
        }
        count += 1;
    }
    assert!(latest >= 3 && count >= latest + 3, "{latest} of {count}");
}
