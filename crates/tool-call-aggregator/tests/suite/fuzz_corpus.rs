//! What the fuzzer begins with, and every input that once failed, taken again.

use std::fs;

use crate::fuzzed;

fn inputs(target: &str) -> Vec<Vec<u8>> {
    let folder = format!("{}/../../fuzz/corpus/{target}", env!("CARGO_MANIFEST_DIR"));
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    files.map(|file| fs::read(file).unwrap()).collect()
}

#[test]
fn texts() {
    let inputs = inputs("text");
    assert!(inputs.len() >= 100, "{} inputs", inputs.len());
    for input in inputs {
        fuzzed::text(&input);
    }
}

#[test]
fn events() {
    let inputs = inputs("events");
    assert!(inputs.len() >= 100, "{} inputs", inputs.len());
    for input in inputs {
        fuzzed::events(&input);
    }
}
