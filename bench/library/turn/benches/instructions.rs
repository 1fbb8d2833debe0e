//! The library and the pure part of a turn by the instruction: the same on a busy machine.

#![allow(unused_qualifications, reason = "the macros write them")]

use std::hint::black_box;

use bridge::Prepared;
use gungraun::prelude::*;
use model_turn::TurnEvent;
use tool_call_aggregator::{TextScanner, ToolCallAggregator};
use turn_bench::aggregator::{
    Chunks, append, fragments, open_call, plain_text, scan, scanner, text_block,
};
use turn_bench::{
    Stream, agents_request, calls, log_lines, plain_request, prepare, request_with_tools,
    streamed_call, text,
};

/// What is set up is not measured; nor is dropping what is returned.
fn plain(events: Vec<TurnEvent>) -> (Stream, Vec<TurnEvent>) {
    (Stream::answering(&plain_request()), events)
}

fn with_tools(events: Vec<TurnEvent>) -> (Stream, Vec<TurnEvent>) {
    (Stream::answering(&request_with_tools()), events)
}

#[library_benchmark]
#[bench::text_1_delta(plain(text(1)))]
#[bench::text_66_deltas(plain(text(66)))]
#[bench::text_66_deltas_where_calls_are_looked_for(with_tools(text(66)))]
#[bench::one_call(with_tools(calls(1)))]
#[bench::three_calls(with_tools(calls(3)))]
#[bench::a_call_in_66_fragments(with_tools(streamed_call(66)))]
fn answer((mut stream, events): (Stream, Vec<TurnEvent>)) -> Stream {
    black_box(stream.take(black_box(events)));
    stream
}

#[library_benchmark]
#[bench::plain(plain_request())]
#[bench::three_tools(request_with_tools())]
#[bench::agent(agents_request())]
fn request(body: String) -> (Prepared, String) {
    (prepare(black_box(&body)), body)
}

#[library_benchmark]
#[bench::without_use(log_lines()[0].clone())]
#[bench::fragment(log_lines()[1].clone())]
fn log_line(line: String) -> String {
    black_box(codex_app_server::is_from_our_filter(black_box(line.as_bytes())));
    line
}

#[library_benchmark]
#[bench::plain_text((scanner(), plain_text()))]
#[bench::text_block((scanner(), text_block()))]
fn scan_64_kb((mut scanner, chunks): (TextScanner, Chunks)) -> (TextScanner, Chunks) {
    black_box(scan(&mut scanner, &chunks));
    (scanner, chunks)
}

#[library_benchmark]
#[bench::borrowed((open_call(), fragments()))]
fn structured_64_kb(
    (mut calls, fragments): (ToolCallAggregator, Chunks),
) -> (ToolCallAggregator, Chunks) {
    black_box(append(&mut calls, &fragments));
    (calls, fragments)
}

library_benchmark_group!(name = library, benchmarks = [scan_64_kb, structured_64_kb]);
library_benchmark_group!(name = turn, benchmarks = [answer, request, log_line]);
main!(library_benchmark_groups = library, turn);
