//! What every parser is driven through: chunks in, text and calls out.

use std::hint::black_box;
use std::time::{Duration, Instant};

/// Takes what a parser gives, so that timing and judging share one adapter.
pub trait Sink {
    /// Text outside calls.
    fn text(&mut self, text: &str);
    /// The name of call `index`.
    fn name(&mut self, index: usize, name: &str);
    /// More of the arguments of call `index`.
    fn arguments(&mut self, index: usize, more: &str);
    /// Call `index`, announced before, was none.
    fn withdraw(&mut self, index: usize);
}

/// A parser in the middle of one stream.
pub trait Reader {
    fn push(&mut self, chunk: &str, sink: &mut impl Sink);
    /// The end of the stream: what was held back comes out.
    fn finish(&mut self, sink: &mut impl Sink);
}

/// Looks at everything and keeps nothing: what timing needs.
#[derive(Debug, Default)]
pub struct Count {
    pub bytes: usize,
    pub names: usize,
}

/// Everything a parser gave, put together.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Outcome {
    pub text: String,
    pub calls: Vec<Call>,
}

/// One call.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Call {
    pub name: String,
    /// JSON text.
    pub arguments: String,
}

/// Puts an [`Outcome`] together.
#[derive(Debug, Default)]
pub struct Collect {
    text: String,
    calls: Vec<Option<Call>>,
}

/// Reads a whole stream.
pub fn read<R: Reader>(mut reader: R, chunks: &[&str]) -> Outcome {
    let mut collect = Collect::default();
    for chunk in chunks {
        reader.push(chunk, &mut collect);
    }
    reader.finish(&mut collect);
    collect.outcome()
}

/// The time for all chunks and the end.
pub fn time<R: Reader>(mut reader: R, chunks: &[&str]) -> Duration {
    let mut count = Count::default();
    let start = Instant::now();
    for chunk in chunks {
        reader.push(black_box(chunk), &mut count);
    }
    reader.finish(&mut count);
    let time = start.elapsed();
    black_box(count);
    time
}

// === impl Count ===

impl Sink for Count {
    fn text(&mut self, text: &str) {
        self.bytes += text.len();
    }

    fn name(&mut self, _index: usize, name: &str) {
        self.names += name.len();
    }

    fn arguments(&mut self, _index: usize, more: &str) {
        self.bytes += more.len();
    }

    fn withdraw(&mut self, _index: usize) {}
}

// === impl Collect ===

impl Collect {
    fn call(&mut self, index: usize) -> &mut Call {
        if self.calls.len() <= index {
            self.calls.resize(index + 1, None);
        }
        self.calls[index].get_or_insert_default()
    }

    pub fn outcome(self) -> Outcome {
        Outcome { text: self.text, calls: self.calls.into_iter().flatten().collect() }
    }
}

impl Sink for Collect {
    fn text(&mut self, text: &str) {
        self.text.push_str(text);
    }

    fn name(&mut self, index: usize, name: &str) {
        self.call(index).name.push_str(name);
    }

    fn arguments(&mut self, index: usize, more: &str) {
        self.call(index).arguments.push_str(more);
    }

    fn withdraw(&mut self, index: usize) {
        if let Some(call) = self.calls.get_mut(index) {
            *call = None;
        }
    }
}
