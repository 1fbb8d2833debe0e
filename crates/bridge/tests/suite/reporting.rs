//! What is reported about a choice, whole.

use bridge::{BlockCounts, ChoiceReport, EndReason, InputDeviations, TextBlocks, TurnPolicy};
use model_turn::{FailureKind, ReasoningKind, TurnEvent};

use crate::play::{completed, json, play, play_whole, reasoning, text, xml};
use crate::script::{Line, USAGE, block, call_as, end, fail, say, think};

#[test]
fn a_text_is_reported() {
    assert_eq!(
        play_whole(json(), &[say("Hi "), say("there."), end()]).report,
        ChoiceReport {
            end: EndReason::Completed,
            failure: None,
            call_count: 0,
            streamed_calls: 0,
            text_calls: 0,
            blocks: BlockCounts::default(),
            altered_values: 0,
            input_deviations: InputDeviations::default(),
            truncated: false,
            call_names: vec![],
            call_ids: vec![],
            last_call_end: None,
            suppressed_bytes: 0,
            usage: Some(USAGE),
            reasoning: Vec::new(),
            said: "Hi there.".to_owned(),
        }
    );
}

#[test]
fn calls_are_reported_with_where_the_last_one_ends() {
    let b = block("b", "{}");
    let script =
        [say("Hi. "), call_as("call_x1", "a", "{}"), say("And "), say(&b), say("tail"), end()];
    let report = |last_call_end| ChoiceReport {
        end: EndReason::ToolCalls,
        failure: None,
        call_count: 2,
        streamed_calls: 0,
        text_calls: 1,
        blocks: BlockCounts { started: 1, flushed: 1 },
        altered_values: 0,
        input_deviations: InputDeviations::default(),
        truncated: false,
        call_names: vec!["a".to_owned(), "b".to_owned()],
        call_ids: vec!["tool_2_0_x1".to_owned(), "tool_2_1_text".to_owned()],
        last_call_end: Some(last_call_end),
        suppressed_bytes: 4,
        usage: Some(USAGE),
        reasoning: Vec::new(),
        said: format!("Hi. a{{}}And {b}tail"),
    };
    assert_eq!(play_whole(json(), &script).report, report("Hi. And ".len()));
    let rendered = "<use_tool>\n  <name>a</name>\n</use_tool>";
    let content = format!("Hi. {rendered}And {b}");
    assert_eq!(play_whole(xml(), &script).report, report(content.len()));
}

#[test]
fn a_cut_turn_has_no_figures_but_all_that_was_said() {
    let policy = TurnPolicy { dedup: true, max_calls: std::num::NonZeroUsize::new(1), ..json() };
    let script = [
        call_as("call_1", "a", "{}"),
        call_as("call_2", "a", "{}"),
        say("tail"),
        call_as("call_3", "b", "[]"),
        end(),
    ];
    assert_eq!(
        play_whole(policy, &script).report,
        ChoiceReport {
            end: EndReason::CallCap,
            failure: None,
            call_count: 1,
            streamed_calls: 0,
            text_calls: 0,
            blocks: BlockCounts::default(),
            altered_values: 0,
            input_deviations: InputDeviations::default(),
            truncated: true,
            call_names: vec!["a".to_owned()],
            call_ids: vec!["tool_2_0_1".to_owned()],
            last_call_end: Some(0),
            suppressed_bytes: 4,
            usage: None,
            reasoning: Vec::new(),
            said: "a{}a{}b[]tail".to_owned(),
        }
    );
}

#[test]
fn a_failure_is_reported() {
    assert_eq!(
        play_whole(json(), &[say("Hi."), fail(FailureKind::StreamCut)]).report,
        ChoiceReport {
            end: EndReason::Failed,
            failure: Some(FailureKind::StreamCut),
            call_count: 0,
            streamed_calls: 0,
            text_calls: 0,
            blocks: BlockCounts::default(),
            altered_values: 0,
            input_deviations: InputDeviations::default(),
            truncated: true,
            call_names: vec![],
            call_ids: vec![],
            last_call_end: None,
            suppressed_bytes: 0,
            usage: None,
            reasoning: Vec::new(),
            said: "Hi.".to_owned(),
        }
    );
}

#[test]
fn a_client_that_leaves_is_reported() {
    // The script ends before the answer does.
    let script = [call_as("call_1", "a", "{}"), say("tail")];
    assert_eq!(
        play_whole(json(), &script).report,
        ChoiceReport {
            end: EndReason::ClientGone,
            failure: None,
            call_count: 1,
            streamed_calls: 0,
            text_calls: 0,
            blocks: BlockCounts::default(),
            altered_values: 0,
            input_deviations: InputDeviations::default(),
            truncated: true,
            call_names: vec!["a".to_owned()],
            call_ids: vec!["tool_2_0_1".to_owned()],
            last_call_end: Some(0),
            suppressed_bytes: 4,
            usage: None,
            reasoning: Vec::new(),
            said: "a{}tail".to_owned(),
        }
    );
}

/// However the text is cut: one that is a call, one of an unknown name, and one that never ends.
#[test]
fn blocks_are_counted_by_what_became_of_them() {
    let said = [&block("a", "{}"), &block("unknown", "{}"), "<use_tool><name>a</name>"].concat();
    let policy = TurnPolicy { text_blocks: TextBlocks::Declared, ..json() };
    let whole = [say(&said), end()];
    let letters: Vec<_> =
        said.chars().map(|letter| say(&letter.to_string())).chain([end()]).collect();
    for script in [&whole[..], &letters] {
        let report = play_whole(policy.clone(), script).report;
        assert_eq!((report.call_count, report.text_calls), (1, 1));
        assert_eq!(report.blocks, BlockCounts { started: 3, flushed: 1 });
        assert_eq!(report.blocks.aborted(), 2);
    }
}

#[test]
fn parts_of_the_reasoning_are_apart() {
    let script =
        [think(0, "One"), think(0, " more."), think(1, ""), think(1, "Two."), say("Hi."), end()];
    let hi = || text("Hi.");
    assert_eq!(play(json(), &script), completed([reasoning("One more.\n\nTwo."), hi()]));
    let hidden = TurnPolicy { reasoning: false, ..json() };
    assert_eq!(play(hidden, &script), completed([hi()]));
    let raw = Line::Event(TurnEvent::Reasoning {
        kind: ReasoningKind::Raw,
        part: 0,
        text: "secret".to_owned(),
    });
    assert_eq!(play(json(), &[raw, say("Hi."), end()]), completed([hi()]));
}

#[test]
fn nothing_in_the_reasoning_is_a_call() {
    let b = block("b", "{}");
    assert_eq!(play(json(), &[think(0, &b), say("Hi."), end()]).sent, [reasoning(&b), text("Hi.")]);
}
