//! Ours by the clock: 64 KiB in chunks of 4 bytes.

use aggregator_bench::corpus::Pattern;
use aggregator_bench::format::Format;
use aggregator_bench::inputs::{Content, Stream, call, chunks, text};
use aggregator_bench::ours::Text;
use aggregator_bench::reader::{Count, Reader};
use aggregator_bench::structured::Open;
use divan::counter::ItemsCount;
use divan::{Bencher, black_box};

const SIZE: usize = 64 << 10;

fn main() {
    divan::main();
}

#[divan::bench]
fn text_block(bencher: Bencher<'_, '_>) {
    scan(bencher, &Stream::new(Format::UseTool, Content::Prose, SIZE).text);
}

#[divan::bench]
fn plain_text(bencher: Bencher<'_, '_>) {
    scan(bencher, &text(Content::Prose, SIZE));
}

#[divan::bench]
fn structured(bencher: Bencher<'_, '_>) {
    let arguments = call(Content::Prose, SIZE).text;
    let fragments = chunks(&arguments);
    bencher
        .counter(ItemsCount::new(fragments.len()))
        .with_inputs(Open::new)
        .bench_local_refs(|open| open.borrowed(black_box(&fragments)));
}

fn scan(bencher: Bencher<'_, '_>, text: &str) {
    let chunks = chunks(text);
    bencher
        .counter(ItemsCount::new(chunks.len()))
        .with_inputs(|| Text::new(Pattern::Both))
        .bench_local_refs(|reader| {
            let mut count = Count::default();
            for chunk in &chunks {
                reader.push(black_box(chunk), &mut count);
            }
            reader.finish(&mut count);
            count.bytes
        });
}
