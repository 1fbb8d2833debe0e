//! The scanner's own promises: its counts, its order of formats, and what a careless format cannot do.

use tool_call_aggregator::{
    BlockParser, Limits, NotACall, ParsedTextBlock, PatternError, Registration, ScanEvent, Step,
    TextCalls, TextPattern, TextPatterns, TextScanner, ToolCallAggregator, extract_use_tool_blocks,
};

/// What was met in a text: blocks, unnamed, nested, unclosed, oversized.
fn counted(text: &str) -> [u64; 5] {
    let mut scanner = TextScanner::new(&TextPatterns::default());
    scanner.push(text);
    scanner.finish();
    let counts = scanner.counts();
    [counts.blocks, counts.unnamed, counts.nested, counts.unclosed, counts.oversized]
}

#[test]
fn everything_is_counted() {
    let block = "<use_tool><name>x</name></use_tool>";
    assert_eq!(counted("text <use_tools> <use_tool/> <"), [0; 5]);
    assert_eq!(counted(&format!("{block}{block} {block}")), [3, 0, 0, 0, 0]);
    assert_eq!(
        counted(&format!("<use_tool></use_tool>{block}<use_tool>{{}}</use_tool>")),
        [1, 2, 0, 0, 0]
    );
    assert_eq!(counted(&format!("<use_tool><use_tool><name>a {block}")), [1, 0, 2, 0, 0]);
    assert_eq!(counted(&format!("{block}<use_tool><name>x")), [1, 0, 0, 1, 0]);
    assert_eq!(counted("<use_tool name="), [0; 5], "never opened");
    // Counts go on over texts.
    let mut scanner = TextScanner::new(&TextPatterns::default());
    for _ in 0..2 {
        let events: Vec<_> =
            scanner.push("a<use_tool>b").map(|event| format!("{event:?}")).collect();
        assert_eq!(events, ["Text(\"a\")", "BlockOpened { start: 1 }"]);
        assert_eq!(scanner.held_back(), 11);
        assert_eq!(scanner.finish().collect::<Vec<_>>(), [ScanEvent::Text("<use_tool>b")]);
    }
    assert_eq!(scanner.counts().unclosed, 2);
}

#[test]
fn events_know_their_number() {
    let mut scanner = TextScanner::new(&TextPatterns::default());
    let text = "a<use_tool><name>x</name></use_tool>b";
    assert_eq!(scanner.push(text).len(), 4);
    assert_eq!(scanner.push("c").len(), 1);
    assert_eq!(scanner.push("").len(), 0);
    assert_eq!(scanner.push("<use").len(), 0);
    // Text that stands together comes together.
    let events: Vec<_> = scanner.push("_tool 1<use_tool 2 <use_tool ! <").collect();
    assert_eq!(events, [ScanEvent::Text("<use_tool 1<use_tool 2 <use_tool ! ")]);
}

#[test]
fn a_text_that_ends_in_a_block_is_known() {
    let block = "<use_tool><name>x</name>";
    for (text, last) in [
        (format!("a {block}"), Some(block.to_owned())),
        (format!("{block}{block}</use_tool> b {block}"), Some(block.to_owned())),
        (format!("{block}</use_tool> <use_tool"), None),
        ("<use_tool><args>{\"</use_tool> b".to_owned(), None),
        (format!("<use_tool><args>{{\"</use_tool> {block}"), Some(block.to_owned())),
        (String::new(), None),
    ] {
        for cut in (0..=text.len()).filter(|cut| text.is_char_boundary(*cut)) {
            let mut scanner = TextScanner::new(&TextPatterns::default());
            for part in [&text[..cut], &text[cut..]] {
                assert!(!scanner.push(part).ends_in_block());
            }
            let events = scanner.finish();
            let ends_in_block = events.ends_in_block();
            let text = events.last().and_then(|event| match event {
                ScanEvent::Text(text) if ends_in_block => Some(text.to_owned()),
                _ => None,
            });
            assert_eq!(text, last, "cut at {cut}");
            assert!(!scanner.push("x").ends_in_block());
        }
    }
}

#[test]
fn a_block_that_only_the_end_completes_is_found_in_a_whole_message() {
    let text = "See <use_tool><name>g</name><args>{\"a</args></use_tool> then";
    let growing = extract_use_tool_blocks(text, 0);
    assert_eq!((growing.blocks.len(), growing.next), (0, 4), "it may become JSON");
    let mut calls = ToolCallAggregator::new();
    let message = serde_json::json!({"content": text});
    calls.ingest_message(&message, None, TextCalls::EmitIfMissing);
    assert_eq!(calls.snapshot(0)[0].arguments, "{\"a");
}

/// A format whose answer is fixed.
#[derive(Debug, Clone)]
struct Fixed(&'static [&'static str], Option<Step>);

impl TextPattern for Fixed {
    fn open_markers(&self) -> &[&str] {
        self.0
    }

    fn open(&self) -> Box<dyn BlockParser> {
        Box::new(self.clone())
    }
}

impl BlockParser for Fixed {
    fn step(&mut self, buffer: &str, _: usize) -> Step {
        assert!(self.0.iter().any(|marker| buffer.starts_with(marker)), "{buffer}");
        self.1.clone().unwrap_or(Step::Block {
            end: buffer.len(),
            name: "n".into(),
            args_text: "a".into(),
        })
    }
}

/// The blocks and all the text of one scan, character by character.
fn scanned(patterns: &TextPatterns, text: &str) -> (Vec<String>, String) {
    let mut scanner = patterns.scanner();
    let (mut blocks, mut passed) = (Vec::new(), String::new());
    let mut take = |event: ScanEvent<'_>| match event {
        ScanEvent::Text(text) => passed.push_str(text),
        ScanEvent::BlockOpened { .. } => {}
        ScanEvent::Block(block) => {
            assert_eq!(block.raw, text[block.start..block.end]);
            blocks.push(format!("{}: {}", block.name, block.raw));
        }
    };
    for character in text.chars() {
        scanner.push(character.encode_utf8(&mut [0; 4])).for_each(&mut take);
    }
    scanner.finish().for_each(&mut take);
    (blocks, passed)
}

#[test]
fn a_result_outside_its_buffer_is_no_result() {
    let block = |end| Step::Block { end, name: "n".into(), args_text: String::new() };
    let text = |end| Step::Text { end, why: NotACall::NoBlock };
    for step in [block(0), block(2), block(99), text(0), text(2), text(99)] {
        let mut patterns = TextPatterns::none();
        patterns.register("fixed", Fixed(&["é@"], Some(step.clone()))).unwrap();
        let (blocks, passed) = match step {
            Step::Block { end: 2, .. } => (vec!["n: é".to_owned()], "a@ b é".to_owned()),
            _ => (Vec::new(), "aé@ b é".to_owned()),
        };
        assert_eq!(scanned(&patterns, "aé@ b é"), (blocks, passed), "{step:?}");
    }
    let mut patterns = TextPatterns::none();
    patterns.register("fixed", Fixed(&["é@"], Some(block(1)))).unwrap();
    assert_eq!(scanned(&patterns, "é@"), (Vec::new(), "é@".to_owned()), "inside a character");
}

#[test]
fn formats_are_asked_in_their_order() {
    let declines = Some(Step::Text { end: 1, why: NotACall::NoBlock });
    let takes =
        |name: &str| Some(Step::Block { end: 2, name: name.into(), args_text: String::new() });
    let mut patterns = TextPatterns::none();
    patterns.register("long", Fixed(&["@@x"], takes("long"))).unwrap();
    let outside = Step::Block { end: 99, name: "n".into(), args_text: String::new() };
    patterns.register("outside", Fixed(&["@@"], Some(outside))).unwrap();
    patterns.register("declines", Fixed(&["@@"], declines)).unwrap();
    patterns.register("short", Fixed(&["@@", "##"], takes("short"))).unwrap();
    patterns.register("late", Fixed(&["@@"], takes("late"))).unwrap();
    let names = |text: &str| scanned(&patterns, text).0;
    assert_eq!(names("@@x"), ["long: @@"]);
    assert_eq!(names("@@y"), ["short: @@"]);
    assert_eq!(
        names("@@"),
        ["short: @@"],
        "the text has ended: it cannot become the longer marker"
    );
    assert_eq!(names("##@@x#"), ["short: ##", "long: @@"]);
}

#[test]
fn markers_of_many_kinds_are_found() {
    for count in 1..=6 {
        let all = ["<a", "[b", "{c", "(d", "@e", "#f"];
        let mut patterns = TextPatterns::none();
        for marker in &all[..count] {
            let markers: &'static [&'static str] = Box::leak(Box::new([*marker]));
            patterns.register(*marker, Fixed(markers, None)).unwrap();
        }
        for (place, marker) in all.iter().enumerate() {
            let found = !scanned(&patterns, &format!("x < [ {{ ( @ # {marker}")).0.is_empty();
            assert_eq!(found, place < count, "{marker} of {count}");
        }
    }
    assert_eq!(scanned(&TextPatterns::none(), "<use_tool>"), (Vec::new(), "<use_tool>".to_owned()));
}

#[test]
fn a_format_needs_markers_that_are_not_empty() {
    let mut patterns = TextPatterns::none();
    for markers in [&[] as &[&str], &[""], &["a", ""]] {
        let error = patterns.register("x", Fixed(markers, None)).unwrap_err();
        assert_eq!(error, PatternError::NoMarker("x".to_owned()));
        assert!(error.to_string().contains("needs open markers"), "{error}");
    }
    assert!(patterns.names().next().is_none());
}

/// A format that reads again as often as it can.
#[derive(Debug, Clone)]
struct Stubborn {
    from: usize,
    /// Whether it waits for the end first.
    waits: bool,
}

impl TextPattern for Stubborn {
    fn open_markers(&self) -> &[&str] {
        &["@@"]
    }

    fn open(&self) -> Box<dyn BlockParser> {
        Box::new(self.clone())
    }
}

impl BlockParser for Stubborn {
    fn step(&mut self, buffer: &str, _: usize) -> Step {
        if self.waits {
            return Step::Opened;
        }
        Step::Again { read: buffer.len(), from: self.from }
    }

    fn give_up(&mut self) -> Option<usize> {
        Some(self.from)
    }
}

#[test]
fn a_format_that_reads_the_same_bytes_again_and_again_is_left() {
    for from in [0, 1, 2, 3, 99] {
        for waits in [false, true] {
            let mut patterns = TextPatterns::none();
            patterns.register("stubborn", Stubborn { from, waits }).unwrap();
            assert_eq!(scanned(&patterns, "a@@bc@@"), (Vec::new(), "a@@bc@@".to_owned()), "{from}");
        }
    }
}

#[test]
fn a_name_over_the_limit_leaves_the_place_to_the_next_format() {
    let takes = |name: String| Some(Step::Block { end: 2, name, args_text: String::new() });
    let mut patterns = TextPatterns::none();
    patterns.register("long", Fixed(&["@@"], takes("n".repeat(513)))).unwrap();
    assert_eq!(scanned(&patterns, "@@"), (Vec::new(), "@@".to_owned()));
    patterns.register("short", Fixed(&["@@"], takes("n".repeat(512)))).unwrap();
    assert_eq!(scanned(&patterns, "@@").0.len(), 1);
}

/// `!NAME!` anywhere in a whole text.
fn shouts(text: &str) -> Vec<ParsedTextBlock> {
    let ends: Vec<usize> = text.match_indices('!').map(|(at, _)| at).collect();
    let pairs = ends.chunks_exact(2).map(|pair| (pair[0], pair[1]));
    pairs
        .map(|(start, end)| ParsedTextBlock::new(start..end + 1, &text[start + 1..end], ""))
        .collect()
}

#[test]
fn a_format_for_whole_texts_is_honoured_by_all() {
    let mut patterns = TextPatterns::default();
    patterns.register_fn("shout", shouts).unwrap();
    let taken = patterns.register_fn("shout", shouts).unwrap_err();
    assert_eq!(taken, PatternError::Taken("shout".to_owned()));
    let block = "<use_tool><name>x!y!</name></use_tool>";
    let text = format!("é!a! {block} !b!<use_tool>!c!");
    let (blocks, passed) = scanned(&patterns, &text);
    assert_eq!(blocks, ["a: !a!".to_owned(), format!("x!y!: {block}"), "b: !b!".to_owned()]);
    assert_eq!(passed, "é  <use_tool>!c!", "inside another block it is text");
    let found = patterns.extract_blocks(&text, 2);
    assert_eq!(found.blocks.len(), 3);
    assert_eq!(found.next, found.blocks[2].end);
    assert_eq!(patterns.extract_blocks("nothing", 3).next, 3);

    let mut calls = ToolCallAggregator::builder().patterns(patterns).build();
    let message = serde_json::json!({"content": "Do !it!"});
    calls.ingest_message(&message, 0, TextCalls::EmitIfMissing);
    assert_eq!(calls.snapshot(0)[0].name, "it");
}

#[test]
fn a_format_for_whole_texts_cannot_do_harm() {
    let mut patterns = TextPatterns::none();
    patterns
        .register_fn("careless", |_| {
            let block = |start, end, name: &str| ParsedTextBlock::new(start..end, name, "");
            vec![
                block(6, 7, "last"),
                block(0, 1, "inside a character"),
                block(2, 2, "empty"),
                block(3, 2, "backwards"),
                block(5, 99, "outside"),
                block(2, 3, ""),
                block(2, 3, &"n".repeat(513)),
                block(4, 6, "first"),
                block(5, 7, "overlaps"),
            ]
        })
        .unwrap();
    assert_eq!(
        scanned(&patterns, "éabcdef"),
        (vec!["first: cd".to_owned(), "last: e".to_owned()], "éabf".to_owned())
    );
}

#[test]
fn a_format_for_whole_texts_sees_parts_of_a_text_over_the_limit() {
    let mut patterns = TextPatterns::none();
    patterns.register_fn("shout", shouts).unwrap();
    let limits = Limits { held_bytes: 8, ..Limits::default() };
    let outcome = |chunk: usize| {
        let mut scanner = TextScanner::with_limits(&patterns, limits);
        let mut starts = Vec::new();
        let mut take = |event: ScanEvent<'_>| {
            if let ScanEvent::Block(block) = event {
                starts.push((block.start, block.raw.clone()));
            }
        };
        for chunk in "!a!.éé..!b!.....!c!".as_bytes().chunks(chunk) {
            scanner.push_bytes(chunk).for_each(&mut take);
        }
        scanner.finish().for_each(&mut take);
        starts
    };
    let whole = outcome(99);
    let expected = [(0, "!a!"), (10, "!b!"), (18, "!c!")].map(|(at, raw)| (at, raw.to_owned()));
    assert_eq!(whole, expected);
    for chunk in 1..12 {
        assert_eq!(outcome(chunk), whole, "{chunk}-byte chunks");
    }
}

#[test]
fn a_format_for_whole_texts_in_the_order_of_registration() {
    let at_once = |name: &'static str| {
        move |text: &str| vec![ParsedTextBlock::new(0..text.len().min(2), name, "")]
    };
    let takes = Some(Step::Block { end: 2, name: "marker".into(), args_text: String::new() });
    let declines = Some(Step::Text { end: 1, why: NotACall::NoBlock });
    let names = |patterns: &TextPatterns| scanned(patterns, "@@").0;
    let mut patterns = TextPatterns::none();
    patterns.register("declines", Fixed(&["@@"], declines)).unwrap();
    patterns.register_fn("one", at_once("one")).unwrap();
    patterns.register_fn("two", at_once("two")).unwrap();
    patterns.register("takes", Fixed(&["@@"], takes)).unwrap();
    assert_eq!(names(&patterns), ["one: @@"]);
    assert!(patterns.remove("one") && patterns.remove("two"));
    patterns.register_fn("late", at_once("late")).unwrap();
    assert_eq!(names(&patterns), ["marker: @@"]);
}

#[test]
fn a_registration_ends_when_it_is_dropped() {
    let mut patterns = TextPatterns::none();
    {
        let mut guard = Registration::new(&mut patterns, "f", Fixed(&["@@"], None)).unwrap();
        assert!(guard.contains("f"));
        let error = Registration::new(&mut *guard, "f", Fixed(&["@@"], None)).unwrap_err();
        assert_eq!(error, PatternError::Taken("f".to_owned()));
        assert!(guard.contains("f"), "a refused one takes nothing with it");
    }
    assert!(!patterns.contains("f"));
}
