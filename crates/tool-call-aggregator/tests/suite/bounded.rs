//! Linear work and bounded memory.

use tool_call_aggregator::{
    Arguments, CallEvent, Limit, Limits, Position, ScanEvent, TextPatterns, TextScanner,
    ToolCallAggregator, ToolCallJson,
};

fn patterns() -> TextPatterns {
    let mut patterns = TextPatterns::default();
    patterns.register(ToolCallJson::NAME, ToolCallJson).unwrap();
    patterns
}

/// Texts that make a careless parser look at the same bytes again and again.
fn hard_texts(length: usize) -> Vec<String> {
    let fill = |piece: &str| piece.repeat(length / piece.len());
    vec![
        fill("plain text, "),
        fill("<"),
        fill("<use_tool"),
        fill("<use_tool "),
        fill("<use_tool>"),
        fill("<use_tool name=\"x\">"),
        fill("<use_tool><name>x</name>"),
        fill("<use_tool><name>x</name></use_tool>"),
        fill("<use_tool></use_tool>"),
        fill("<tool_call>"),
        fill("<tool_call>{"),
        fill("<tool_call>{\"name\":\"x\"}</tool_call>"),
        format!("<use_tool>{}", fill("<a>")),
        format!("<use_tool>{}", fill("</a>")),
        format!("<use_tool><a>{}", fill("</b>")),
        format!("<use_tool><args>{{\"a\":\"{}", fill("</use_tool>")),
        format!("<use_tool>{{{}", fill("<use_tool a=\"b ")),
        format!("<use_tool>{{\"{}", fill("\\")),
        format!("<use_tool a=\"{}", fill("x")),
        format!("<tool_call>{{{}", fill("</tool_cal")),
        format!("<use_tool><name>x</name><content>{}</content></use_tool>", fill("é<b>")),
    ]
}

fn scanned(text: &str, chunk: usize) -> u64 {
    let mut scanner = TextScanner::new(&patterns());
    for chunk in text.as_bytes().chunks(chunk) {
        scanner.push_bytes(chunk);
    }
    scanner.finish();
    scanner.counts().scanned
}

#[test]
fn every_byte_is_looked_at_about_once() {
    for (short, long) in hard_texts(1 << 12).into_iter().zip(hard_texts(1 << 16)) {
        for chunk in [1, 4, 64, 1 << 20] {
            // In hundredths, so that no fractions are needed.
            let per_byte = |text: &str| scanned(text, chunk) * 100 / text.len() as u64;
            let (few, many) = (per_byte(&short), per_byte(&long));
            let begins = &long[..40.min(long.len())];
            assert!(many <= 300, "{many} % of the bytes, {chunk}-byte chunks of {begins}");
            assert!(many >= 90, "only {many} % of the bytes of {begins}");
            assert!(many * 10 <= few * 11, "{few} % of the bytes, then {many} %: {begins}");
        }
    }
}

#[test]
fn no_more_is_held_back_than_allowed_and_the_outcome_does_not_depend_on_the_cuts() {
    let limits = Limits { held_bytes: 64, ..Limits::default() };
    let outcome = |text: &str, chunk: usize| {
        let mut scanner = TextScanner::with_limits(&patterns(), limits);
        let (mut passed, mut blocks) = (String::new(), Vec::new());
        let mut take = |event: ScanEvent<'_>| match event {
            ScanEvent::Text(text) => passed.push_str(text),
            ScanEvent::BlockOpened { .. } => {}
            ScanEvent::Block(block) => {
                passed.push_str(&block.raw);
                blocks.push(block.clone());
            }
        };
        for chunk in text.as_bytes().chunks(chunk) {
            scanner.push_bytes(chunk).for_each(&mut take);
            assert!(scanner.held_back() <= 64 + chunk.len());
        }
        scanner.finish().for_each(&mut take);
        assert_eq!(passed, text);
        let counts = scanner.counts();
        (blocks, counts.oversized, counts.unclosed, counts.nested, counts.unnamed)
    };
    for text in hard_texts(2000) {
        let whole = outcome(&text, text.len());
        for chunk in [1, 2, 3, 7, 61, 63, 64, 65, 66, 500] {
            assert_eq!(outcome(&text, chunk), whole, "{chunk}-byte chunks of {}", &text[..30]);
        }
    }
    let small = "<use_tool><name>x</name></use_tool>";
    let text = format!("<use_tool><name>{}</name></use_tool>{small}", "é".repeat(40));
    let (blocks, oversized, ..) = outcome(&text, 1);
    assert_eq!((blocks.len(), oversized), (1, 1));
    assert_eq!(blocks[0].raw, small);
}

#[test]
fn a_block_that_begins_right_before_the_limit_is_found() {
    let block = "<use_tool><name>x</name></use_tool>";
    for before in 40..80 {
        let text = format!("<use_tool><a>{}{block}", ".".repeat(before));
        let limits = Limits { held_bytes: 64, ..Limits::default() };
        let mut scanner = TextScanner::with_limits(&patterns(), limits);
        let blocks =
            scanner.push(&text).filter(|event| matches!(event, ScanEvent::Block(_))).count();
        assert_eq!(blocks, 1, "{before}");
    }
}

fn named<'a>(id: &'a str, name: &'a str, arguments: &'a str) -> CallEvent<'a> {
    CallEvent {
        call_id: Some(id),
        name: Some(name),
        arguments: Arguments::Increment(arguments),
        ..CallEvent::default()
    }
}

#[test]
fn a_call_too_many_is_left_out_and_its_fragments_go_nowhere() {
    let limits = Limits { calls: 1, ..Limits::default() };
    let mut calls = ToolCallAggregator::builder().limits(limits).build();
    calls.ingest(0, &named("a", "f", "1"));
    assert_eq!(calls.ingest(0, &named("b", "g", "2")).limit, Some(Limit::Calls));
    let fragment = CallEvent { arguments: Arguments::Increment("3"), ..CallEvent::default() };
    let ingest = calls.ingest(0, &fragment);
    assert_eq!((ingest.updated, ingest.limit), (false, Some(Limit::Calls)));
    assert_eq!(calls.ingest(1, &named("c", "h", "4")).limit, Some(Limit::Calls));
    assert_eq!(calls.snapshot(0).len(), 1);
    assert_eq!(calls.snapshot(0)[0].arguments, "1");
    calls.reset_turn(Some(0));
    assert_eq!(calls.ingest(1, &named("c", "h", "4")).limit, None);
}

#[test]
fn a_call_with_too_long_a_name_never_appears() {
    let limits = Limits { name_bytes: 3, ..Limits::default() };
    let mut calls = ToolCallAggregator::builder().limits(limits).build();
    assert_eq!(calls.ingest(0, &named("a", "long", "1")).limit, Some(Limit::NameBytes));
    assert_eq!(calls.ingest(0, &named("a", "f", "2")).limit, Some(Limit::NameBytes));
    assert!(calls.ingest(0, &named("b", "abc", "3")).updated);
    assert_eq!(calls.snapshot(0).len(), 1);
}

#[test]
fn arguments_stop_growing_at_the_limit_and_say_so() {
    let limits = Limits { argument_bytes: 16, ..Limits::default() };
    let mut calls = ToolCallAggregator::builder().limits(limits).build();
    assert!(calls.ingest(0, &named("a", "f", "12345")).updated);
    let more = CallEvent { name: None, ..named("a", "", "123456789") };
    let ingest = calls.ingest(0, &more);
    assert_eq!((ingest.updated, ingest.limit), (false, Some(Limit::ArgumentBytes)));
    let less = CallEvent { name: None, ..named("a", "", "1") };
    assert_eq!(calls.ingest(0, &less).limit, Some(Limit::ArgumentBytes));
    assert_eq!(calls.snapshot(0)[0].arguments, "12345");
    assert!(calls.is_cut_off(0, 0) && !calls.is_cut_off(0, 1) && !calls.is_cut_off(1, 0));
    calls.reset_turn(None);
    assert!(calls.ingest(0, &named("a", "f", "12345")).updated);
}

#[test]
fn streamed_arguments_fill_the_limit_to_the_byte() {
    // A name and an id of one byte each; the id is kept twice.
    let limits = Limits { argument_bytes: 3 + 16, ..Limits::default() };
    let mut calls = ToolCallAggregator::builder().limits(limits).build();
    calls.ingest(0, &named("a", "f", "x"));
    let part = |text| CallEvent { name: None, ..named("a", "", text) };
    for text in ["12345", "123", "1234", "123"] {
        assert!(calls.ingest(0, &part(text)).updated);
    }
    let ingest = calls.ingest(0, &part("1"));
    assert_eq!((ingest.updated, ingest.limit), (false, Some(Limit::ArgumentBytes)));
    assert_eq!(calls.snapshot(0)[0].arguments.len(), 16);
}

#[test]
fn replaced_arguments_are_counted_as_they_are_then() {
    let limits = Limits { argument_bytes: 3 + 10, ..Limits::default() };
    let mut calls = ToolCallAggregator::builder().limits(limits).build();
    for (arguments, fits) in
        [("0123456789", true), ("x", true), ("y123456789", true), ("z1234567890", false)]
    {
        assert_eq!(
            calls.ingest(0, &CallEvent::whole("a", "f", arguments)).updated,
            fits,
            "{arguments}"
        );
    }
}

#[test]
fn ids_are_capped_as_arguments_are() {
    let limits = Limits { argument_bytes: 100, ..Limits::default() };
    let mut calls = ToolCallAggregator::builder().limits(limits).build();
    let long = "x".repeat(60);
    let ingest = calls.ingest(0, &named(&long, "f", ""));
    assert_eq!((ingest.updated, ingest.limit), (false, Some(Limit::ArgumentBytes)));
    assert!(calls.ingest(0, &named("a", "f", "")).updated);
    assert!(!calls.is_cut_off(0, 0));
    // 3 bytes are held; 2 × 48 more fill the limit but for one.
    let item = "y".repeat(48);
    let event = CallEvent { item_id: Some(&item), ..named("a", "f", "") };
    assert_eq!(calls.ingest(0, &event).limit, None);
    assert!(calls.ingest(0, &CallEvent::increment(&item, "z")).updated);
    assert_eq!(
        calls.ingest(0, &CallEvent::increment(&item, "z")).limit,
        Some(Limit::ArgumentBytes)
    );
}

#[test]
fn identities_do_not_pile_up() {
    let limits = Limits { argument_bytes: 1000, ..Limits::default() };
    let mut calls = ToolCallAggregator::builder().limits(limits).build();
    calls.ingest(0, &named("a", "f", ""));
    for index in 0..10_000 {
        let item = format!("fc_{index}");
        let event = CallEvent { name: None, ..named("a", "", "") };
        for event in [
            CallEvent { position: Some(Position::ChatIndex(index)), ..event },
            CallEvent { position: Some(Position::OutputIndex(0)), item_id: Some(&item), ..event },
        ] {
            assert_eq!(calls.ingest(0, &event).limit, None);
        }
    }
    assert_eq!(calls.snapshot(0).len(), 1);
    // The place that it had first is free again.
    let first = CallEvent { position: Some(Position::ChatIndex(0)), ..named("", "g", "") };
    assert!(calls.ingest(0, &first).updated);
}

#[test]
fn public_types_can_be_shared_between_threads() {
    fn shared<T: Send + Sync>() {}
    shared::<ToolCallAggregator>();
    shared::<TextScanner>();
    shared::<TextPatterns>();
    shared::<tool_call_aggregator::Builder>();
    shared::<tool_call_aggregator::Ingest<'_>>();
    shared::<tool_call_aggregator::ToolCallDelta<'_>>();
    shared::<tool_call_aggregator::ToolCallRecord>();
    shared::<tool_call_aggregator::ScanEvents<'_>>();
    shared::<CallEvent<'_>>();
}
