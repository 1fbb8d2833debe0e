//! How often memory is asked for. A test binary of its own, because it counts for the whole process.
#![cfg(test)]

use allocation_counter::measure;
use tool_call_aggregator::{CallEvent, ScanEvent, TextPatterns, TextScanner, ToolCallAggregator};

/// Allocations while `chunks` are pushed, after the scanner has seen enough to have its buffers.
fn while_scanning(scanner: &mut TextScanner, chunks: &[&str]) -> u64 {
    let mut length = 0;
    let info = measure(|| {
        for chunk in chunks {
            for event in scanner.push(chunk) {
                if let ScanEvent::Text(text) = event {
                    length += text.len();
                }
            }
        }
    });
    std::hint::black_box(length);
    info.count_total
}

#[test]
fn plain_text_costs_no_allocation() {
    let mut scanner = TextScanner::new(&TextPatterns::default());
    // Text that is held back for a moment needs a buffer once.
    while_scanning(&mut scanner, &["a", "<us", "er> and <use_tool or not"]);
    let chunks = ["some ", "text ", "<b>bold</b>", "é", "a < b", " <use", "rs>", "<use_tools>", ""];
    let all: Vec<&str> = chunks.into_iter().cycle().take(9000).collect();
    assert_eq!(while_scanning(&mut scanner, &all), 0);
}

#[test]
fn a_block_costs_as_many_allocations_as_a_growing_buffer() {
    let mut scanner = TextScanner::new(&TextPatterns::default());
    scanner.push("<use_tool><name>write</name><args>{\"text\":\"");
    let chunks = vec!["abcd"; 100_000];
    let count = while_scanning(&mut scanner, &chunks);
    assert!(count <= 20, "{count} allocations for 400 KB in 4-byte chunks");
}

#[test]
fn structured_fragments_cost_as_many_allocations_as_a_growing_buffer() {
    let mut calls = ToolCallAggregator::new();
    calls.ingest(0, &CallEvent { item_id: Some("fc_1"), ..CallEvent::whole("call_1", "f", "") });
    calls.reset_turn(None);
    let added = CallEvent { name: Some("f"), ..CallEvent::increment("fc_1", "{") };
    calls.ingest(0, &added);
    let mut length = 0;
    let count = measure(|| {
        for _ in 0..100_000 {
            for delta in calls.ingest(0, &CallEvent::increment("fc_1", "abcd")).deltas {
                length += delta.appended.len();
            }
        }
    })
    .count_total;
    assert_eq!(length, 400_000);
    assert!(count <= 20, "{count} allocations for 400 KB in 4-byte fragments");
}
