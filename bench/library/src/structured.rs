//! Our structured ways in, each with a call that is opened first and then gets its arguments.

use std::hint::black_box;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tool_call_aggregator::{CallEvent, ToolCallAggregator};

const ITEM: &str = "fc_68af0c1e3b5c8190";

/// An aggregator with one open call.
pub struct Open(ToolCallAggregator);

/// The fragments as the Responses API sends them: JSON text.
pub struct Events(Vec<String>);

/// The time of `String::push_str`: nobody who keeps the arguments is faster.
pub fn floor(fragments: &[&str]) -> Duration {
    let mut whole = String::new();
    let start = Instant::now();
    for fragment in fragments {
        whole.push_str(black_box(fragment));
        black_box(whole.len());
    }
    let time = start.elapsed();
    black_box(whole);
    time
}

/// The time for borrowed events.
pub fn borrowed(fragments: &[&str]) -> Duration {
    let mut open = Open::new();
    let start = Instant::now();
    let appended = open.borrowed(fragments);
    let time = start.elapsed();
    assert_eq!(appended, fragments.iter().map(|fragment| fragment.len()).sum::<usize>());
    time
}

/// The time for events as JSON text.
pub fn json(events: &Events) -> Duration {
    let mut open = Open::new();
    let start = Instant::now();
    black_box(open.json(events));
    start.elapsed()
}

/// The time for the same as `Value`s, parsing included.
pub fn values(events: &Events) -> Duration {
    let mut open = Open::new();
    let start = Instant::now();
    black_box(open.values(events));
    start.elapsed()
}

/// The time of parsing alone.
pub fn parsing(events: &Events) -> Duration {
    let start = Instant::now();
    for event in &events.0 {
        black_box(parse(event));
    }
    start.elapsed()
}

fn parse(event: &str) -> Value {
    serde_json::from_str(black_box(event)).expect("JSON")
}

// === impl Open ===

impl Open {
    pub fn new() -> Self {
        let mut calls = ToolCallAggregator::new();
        let event = CallEvent {
            call_id: Some("call_9qXbW1"),
            name: Some("write_file"),
            ..CallEvent::increment(ITEM, "")
        };
        calls.ingest(0, &event);
        Self(calls)
    }

    /// Gives how many bytes the deltas had.
    pub fn borrowed(&mut self, fragments: &[&str]) -> usize {
        let mut appended = 0;
        for fragment in fragments {
            let ingest = self.0.ingest(0, &CallEvent::increment(ITEM, black_box(fragment)));
            appended += ingest.deltas.map(|delta| delta.appended.len()).sum::<usize>();
        }
        appended
    }

    /// Gives how many bytes the deltas had.
    pub fn json(&mut self, events: &Events) -> usize {
        let mut appended = 0;
        for event in &events.0 {
            let ingest = self.0.ingest_json(black_box(event), None).expect("JSON");
            appended += ingest.deltas.map(|delta| delta.appended.len()).sum::<usize>();
        }
        appended
    }

    /// Gives how many bytes the deltas had.
    pub fn values(&mut self, events: &Events) -> usize {
        let mut appended = 0;
        for event in &events.0 {
            let event = parse(event);
            let ingest = self.0.ingest_delta(&event, None);
            appended += ingest.deltas.map(|delta| delta.appended.len()).sum::<usize>();
        }
        appended
    }

    pub fn arguments(&self) -> String {
        self.0.snapshot(0).into_iter().map(|call| call.arguments).collect()
    }
}

impl Default for Open {
    fn default() -> Self {
        Self::new()
    }
}

// === impl Events ===

impl Events {
    pub fn new(fragments: &[&str]) -> Self {
        let event = |(number, delta): (usize, &&str)| {
            json!({
                "type": "response.function_call_arguments.delta",
                "sequence_number": number,
                "item_id": ITEM,
                "output_index": 0,
                "delta": delta,
            })
            .to_string()
        };
        Self(fragments.iter().enumerate().map(event).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_in_keeps_every_byte() {
        let fragments = ["{\"a\"", ":\"}}", "\\n", "\"}"];
        let events = Events::new(&fragments);
        let [mut borrowed, mut json, mut values] = [Open::new(), Open::new(), Open::new()];
        assert_eq!(borrowed.borrowed(&fragments), 12);
        assert_eq!(json.json(&events), 12);
        assert_eq!(values.values(&events), 12);
        for open in [borrowed, json, values] {
            assert_eq!(open.arguments(), fragments.concat());
        }
    }
}
