//! See `fuzzed.rs`: what holds for any bytes is said there.
#![no_main]
#![allow(dead_code)]

#[path = "../../crates/tool-call-aggregator/tests/suite/bracket.rs"]
mod bracket;
#[path = "../../crates/tool-call-aggregator/tests/suite/fuzzed.rs"]
mod fuzzed;
#[path = "../../crates/tool-call-aggregator/tests/suite/reference/mod.rs"]
mod reference;
#[path = "../../crates/tool-call-aggregator/tests/suite/scan.rs"]
mod scan;

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzzed::events(data));
