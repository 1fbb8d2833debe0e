//! Whether a client that sends back what it got sends back what the model said.

use bridge::{CallShape, StopAfterTools, TurnPolicy};
use model_turn::FailureKind;

use crate::play::{json, play_whole, xml};
use crate::script::{Line, block, call, call_as, end, fail, item_as, message, say};

fn forwarded_everything(policy: TurnPolicy, script: &[Line]) -> bool {
    play_whole(policy, script).forwarded_everything
}

#[test]
fn text_and_calls_as_the_model_made_them() {
    let calls = [say("Hi. "), call("a", "{}"), call("b", "{}"), end()];
    assert!(forwarded_everything(json(), &calls));
    assert!(forwarded_everything(json(), &[say("Hi."), end()]));
    assert!(forwarded_everything(xml(), &[say("Hi."), end()]));
}

#[test]
fn nothing_that_is_cut_left_out_or_told_otherwise() {
    let one = std::num::NonZeroUsize::new(1);
    let two_calls = [call("a", "{}"), call("b", "{}"), end()];
    let same_calls = [call("a", "{}"), call("a", "{}"), end()];
    let one_id = ["fc_1", "fc_2"].map(|item| item_as(Some(item), "call_1", "a", "{}"));
    let one_id = [&one_id[..], &[end()]].concat();
    let block = block("a", "{}");
    for (why, policy, script) in [
        ("not ended", json(), &[say("Hi.")][..]),
        ("failed", json(), &[say("Hi."), fail(FailureKind::StreamCut)]),
        ("failed after a call", json(), &[call("a", "{}"), fail(FailureKind::StreamCut)]),
        ("capped", TurnPolicy { max_calls: one, ..json() }, &two_calls),
        ("deduplicated", TurnPolicy { dedup: true, ..json() }, &same_calls),
        (
            "cut after the first call",
            TurnPolicy { stop_after_tools: StopAfterTools::First, ..json() },
            &two_calls,
        ),
        ("tail suppressed", json(), &[call("a", "{}"), say("tail"), end()]),
        (
            "stop sequence",
            TurnPolicy { stop_sequences: vec!["i".to_owned()], ..json() },
            &[say("Hi."), end()],
        ),
        ("token limit", TurnPolicy { max_tokens: Some(1), ..json() }, &[say("Hi there."), end()]),
        ("messages as one", json(), &[say("One."), message(), say("Two."), end()]),
        ("calls as blocks", xml(), &two_calls),
        ("blocks as calls", json(), &[say(&block), end()]),
        ("an id that a client cannot carry", json(), &[call_as("toolu_1", "a", "{}"), end()]),
        ("another", json(), &[call_as("call_1_0", "a", "{}"), end()]),
        ("two calls with one id", json(), &one_id),
        (
            "the legacy way, without ids",
            TurnPolicy { shape: CallShape::FunctionCall, ..json() },
            &[call("a", "{}"), end()],
        ),
    ] {
        assert!(!forwarded_everything(policy, script), "{why}");
    }
}
