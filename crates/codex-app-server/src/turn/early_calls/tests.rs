use std::time::Duration;

use model_turn::ToolCallKind;

use super::*;

fn started(output_index: u64, id: &str) -> StartedCall {
    StartedCall {
        output_index,
        item_id: format!("fc_{id}").into(),
        call_id: format!("call_{id}"),
        name: "f".into(),
    }
}

fn whole(id: &str, arguments: &str) -> ToolCall {
    ToolCall {
        call_id: format!("call_{id}"),
        item_id: Some(format!("fc_{id}")),
        name: "f".into(),
        arguments: arguments.to_owned(),
        kind: ToolCallKind::Function,
        deviation: None,
    }
}

/// Calls as the log and standard output report them, by their ids.
struct Bench {
    early: EarlyCalls,
    now: Instant,
}

impl Bench {
    fn new() -> Self {
        Self { early: EarlyCalls::new(true), now: Instant::now() }
    }

    fn start(&mut self, output_index: u64, id: &str) {
        self.early.on_started(started(output_index, id));
    }

    fn arguments(&mut self, id: &str, offset: usize, text: &str) -> Option<String> {
        self.early.on_arguments(&format!("fc_{id}"), offset, text.to_owned())
    }

    /// The call that opens now, and the arguments that have waited.
    fn opened(&mut self) -> Option<(String, String)> {
        let (call, arguments) = self.early.open_next(self.now)?;
        assert_eq!(call.name, "f".into());
        Some((call.call_id.clone(), arguments))
    }

    #[track_caller]
    fn opens(&mut self, id: &str, arguments: &str) {
        assert_eq!(self.opened(), Some((format!("call_{id}"), arguments.to_owned())));
    }

    fn whole(&mut self, id: &str, arguments: &str) -> Result<Option<Instant>, Contradiction> {
        self.early.on_call(&whole(id, arguments))
    }
}

#[test]
fn a_call_opens_when_every_item_before_it_has_come() {
    let mut bench = Bench::new();
    bench.start(2, "a");
    assert_eq!(bench.arguments("a", 0, "{\"x"), None);
    assert_eq!(bench.opened(), None);
    bench.early.on_item();
    assert_eq!(bench.opened(), None);
    assert_eq!(bench.arguments("a", 3, "\":"), None);
    bench.early.on_item();
    bench.opens("a", "{\"x\":");
    assert!(bench.early.is_open());
    assert_eq!(bench.arguments("a", 5, "1}").as_deref(), Some("1}"));
    let since = bench.now;
    bench.now += Duration::from_secs(1);
    assert_eq!(bench.whole("a", "{\"x\":1}"), Ok(Some(since)));
    assert!(!bench.early.is_open());
}

#[test]
fn what_does_not_continue_the_arguments_is_not_streamed() {
    let mut bench = Bench::new();
    bench.start(0, "a");
    bench.opens("a", "");
    assert_eq!(bench.arguments("a", 0, "ab").as_deref(), Some("ab"));
    for (offset, text) in [(0, "ab"), (1, "b"), (3, "d"), (5, "")] {
        assert_eq!(bench.arguments("a", offset, text), None, "{offset}");
    }
    assert_eq!(bench.arguments("b", 2, "of another call"), None);
    assert!(matches!(bench.whole("a", "abcd"), Ok(Some(_))));
    // The same while it waits.
    bench.start(2, "c");
    assert_eq!(bench.arguments("c", 0, "ab"), None);
    assert_eq!(bench.arguments("c", 3, "d"), None);
    bench.early.on_item();
    bench.opens("c", "ab");
    assert_eq!(bench.arguments("c", 4, "e"), None);
    assert!(bench.whole("c", "abcde").is_ok());
}

#[test]
fn calls_open_one_after_the_other_in_the_order_of_their_indices() {
    let mut bench = Bench::new();
    for (index, id) in [(2, "c"), (1, "b"), (0, "a")] {
        bench.start(index, id);
        assert_eq!(bench.arguments(id, 0, id), None);
    }
    for id in ["a", "b", "c"] {
        bench.opens(id, id);
        assert_eq!(bench.opened(), None, "one at a time");
        assert!(matches!(bench.whole(id, id), Ok(Some(_))));
    }
    assert_eq!(bench.opened(), None);
}

#[test]
fn a_call_that_is_announced_late_or_twice_is_not_streamed() {
    let mut bench = Bench::new();
    bench.start(0, "a");
    bench.start(0, "other");
    bench.opens("a", "");
    bench.start(0, "late");
    assert!(bench.whole("a", "").is_ok());
    assert_eq!(bench.opened(), None);
    bench.early.on_item();
    bench.start(1, "later");
    assert_eq!(bench.opened(), None);
    // One that waits for an item that came without it.
    bench.start(2, "b");
    bench.early.on_item();
    assert_eq!(bench.opened(), None);
    assert_eq!((bench.early.waiting.len(), bench.early.waiting_bytes), (0, 0));
}

/// The indices are counted anew in every response.
#[test]
fn fragments_of_another_call_at_the_same_index_are_not_streamed() {
    let mut bench = Bench::new();
    bench.start(0, "a");
    assert_eq!(bench.arguments("earlier", 0, "x"), None);
    bench.opens("a", "");
    assert_eq!(bench.arguments("earlier", 0, "x"), None);
    assert_eq!(bench.arguments("a", 0, "{}").as_deref(), Some("{}"));
    assert!(bench.whole("a", "{}").is_ok());
}

#[test]
fn a_whole_call_has_to_be_the_one_that_was_streamed() {
    let streamed = || {
        let mut bench = Bench::new();
        bench.start(0, "a");
        bench.opens("a", "");
        bench.arguments("a", 0, "{\"x\"");
        bench
    };
    let good = whole("a", "{\"x\":1}");
    let confirms = |item_id: Option<&str>, call: &ToolCall| {
        let call = ToolCall { item_id: item_id.map(str::to_owned), ..call.clone() };
        matches!(streamed().early.on_call(&call), Ok(Some(_)))
    };
    assert!(confirms(Some("fc_a"), &good));
    assert!(confirms(None, &good), "not every whole item has an id");
    assert!(!confirms(Some("fc_b"), &good));
    assert!(!confirms(Some(""), &good));
    assert!(!confirms(None, &ToolCall { name: "g".into(), ..good.clone() }));
    for (id, arguments) in [("b", "{\"x\":1}"), ("a", "{\"y\":1}"), ("a", "{\"x"), ("a", "")] {
        assert!(!confirms(None, &whole(id, arguments)), "{id} {arguments}");
    }
}

#[test]
fn a_call_of_which_nothing_was_streamed_confirms_nothing() {
    let mut bench = Bench::new();
    assert_eq!(bench.whole("a", "{}"), Ok(None));
    bench.start(2, "c");
    assert_eq!(bench.whole("b", "{}"), Ok(None));
    bench.opens("c", "");
}

#[test]
fn a_second_call_with_the_same_call_id_comes_whole() {
    let second = || StartedCall { item_id: "fc_b".into(), ..started(1, "a") };
    let whole_second = || ToolCall { item_id: Some("fc_b".to_owned()), ..whole("a", "{\"b\":1}") };
    for announced_early in [true, false] {
        let mut bench = Bench::new();
        bench.start(0, "a");
        bench.opens("a", "");
        if announced_early {
            bench.early.on_started(second());
            assert_eq!(bench.arguments("b", 0, "{"), None);
        }
        assert!(matches!(bench.whole("a", "{}"), Ok(Some(_))));
        bench.early.on_started(second());
        assert_eq!(bench.opened(), None);
        assert_eq!(bench.arguments("b", 0, "{"), None);
        assert_eq!(bench.early.on_call(&whole_second()), Ok(None));
    }
}

#[test]
fn a_consumer_that_wants_whole_calls_gets_nothing_early() {
    let mut bench = Bench { early: EarlyCalls::new(false), ..Bench::new() };
    bench.start(0, "a");
    assert_eq!(bench.arguments("a", 0, "x"), None);
    assert_eq!(bench.opened(), None);
    assert_eq!(bench.whole("a", "other"), Ok(None));
}

#[test]
fn calls_of_an_earlier_response_are_not_streamed_again() {
    let mut first = Bench::new();
    first.early.ignore(&EarlyCalls::new(true), ["call_a"].into_iter());
    let mut second = Bench::new();
    second.early.ignore(&first.early, ["call_b"].into_iter());
    for id in ["a", "b"] {
        second.start(0, id);
        assert_eq!(second.opened(), None);
    }
    second.start(0, "c");
    second.opens("c", "");
}

#[test]
fn the_calls_that_wait_are_limited() {
    let mut bench = Bench::new();
    for index in 1..100 {
        bench.start(index, &index.to_string());
    }
    assert_eq!(bench.early.waiting.len(), MOST_WAITING);
    for _ in 0..99 {
        bench.early.on_item();
    }
    assert_eq!(bench.early.waiting.len(), 0);
}

#[test]
fn the_bytes_that_wait_are_limited() {
    let half = "x".repeat(MOST_WAITING_BYTES / 2);
    let mut bench = Bench::new();
    for index in 1..4 {
        let id = index.to_string();
        bench.start(index, &id);
        assert_eq!(bench.arguments(&id, 0, &half), None);
    }
    assert_eq!(bench.early.waiting_bytes, MOST_WAITING_BYTES);
    // What has no space is missing from then on.
    bench.early.on_item();
    bench.opens("1", &half);
    assert_eq!(bench.early.waiting_bytes, MOST_WAITING_BYTES / 2);
    assert_eq!(bench.arguments("3", half.len(), "later"), None);
    assert!(bench.whole("1", &half).is_ok());
    bench.opens("2", &half);
    assert!(bench.whole("2", &half).is_ok());
    bench.opens("3", "");
    assert_eq!(bench.early.waiting_bytes, 0);
}
