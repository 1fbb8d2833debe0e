//! Ours by the instruction: the same on a busy machine. 64 KB in chunks of 4 bytes.

#![allow(unused_qualifications, reason = "the macros write them")]

use std::hint::black_box;

use aggregator_bench::corpus::Pattern;
use aggregator_bench::format::Format;
use aggregator_bench::inputs::{Content, Stream, call, chunks, text};
use aggregator_bench::ours::Text;
use aggregator_bench::reader::{Count, Reader};
use aggregator_bench::structured::Open;
use gungraun::prelude::*;

const SIZE: usize = 64 << 10;

type Chunks = Vec<&'static str>;

/// What is set up lives as long as the process: cutting it is not measured, nor is dropping it.
fn cut(text: String) -> Chunks {
    chunks(text.leak())
}

fn block() -> (Text, Chunks) {
    (Text::new(Pattern::Both), cut(Stream::new(Format::UseTool, Content::Prose, SIZE).text))
}

fn plain() -> (Text, Chunks) {
    (Text::new(Pattern::Both), cut(text(Content::Prose, SIZE)))
}

fn fragments() -> (Open, Chunks) {
    (Open::new(), cut(call(Content::Prose, SIZE).text))
}

#[library_benchmark]
#[bench::text_block(block())]
#[bench::plain_text(plain())]
fn scan((mut reader, chunks): (Text, Chunks)) -> (Text, Chunks) {
    let mut count = Count::default();
    for chunk in &chunks {
        reader.push(black_box(chunk), &mut count);
    }
    reader.finish(&mut count);
    black_box(count);
    (reader, chunks)
}

#[library_benchmark]
#[bench::borrowed(fragments())]
fn structured((mut open, chunks): (Open, Chunks)) -> (Open, Chunks) {
    black_box(open.borrowed(black_box(&chunks)));
    (open, chunks)
}

library_benchmark_group!(name = ours, benchmarks = [scan, structured]);
main!(library_benchmark_groups = ours);
