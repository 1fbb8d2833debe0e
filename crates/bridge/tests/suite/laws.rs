//! What holds for every turn and policy.

use bridge::{EndReason, Ended, OutputMode, TurnPolicy};
use model_turn::{FailureKind, TurnEvent};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;

use crate::play::{Answer, BREAK, Played, Sent, play_whole};
use crate::random::{
    cut, letter_by_letter, patient_policy, policy, script, streamed, timed_policy, whole_script,
};
use crate::reference;
use crate::script::{Line, fail};

/// Longer texts without a word's end are counted in parts, which the plain way does not do.
const COUNTED_AT_ONCE: usize = 256;

/// Everything but the chunks.
fn outcome(played: Played) -> impl PartialEq + std::fmt::Debug {
    (played.sent, played.ended, played.report)
}

/// What the plain way makes: reasoning is not its business.
fn without_reasoning(sent: Vec<Sent>) -> Vec<Sent> {
    let mut rest: Vec<Sent> = Vec::new();
    for sent in sent {
        match (sent, rest.last_mut()) {
            (Sent::Reasoning(_), _) => {}
            (Sent::Text(text), Some(Sent::Text(before))) => before.push_str(&text),
            (other, _) => rest.push(other),
        }
    }
    rest
}

/// The model's own text outside of blocks.
fn texts(sent: &[Sent]) -> String {
    let texts = sent.iter().filter_map(|sent| match sent {
        Sent::Text(text) => Some(text.as_str()),
        Sent::Block(_) | Sent::Reasoning(_) | Sent::Refusal(_) | Sent::Call { .. } => None,
    });
    texts.collect::<String>().replace(BREAK, "")
}

/// Whether `part` is `whole` with something left out.
fn is_left_of(part: &str, whole: &str) -> bool {
    let mut rest = whole.bytes();
    part.bytes().all(|byte| rest.any(|other| other == byte))
}

/// Only in JSON mode a block in fenced code is an example.
fn without_fences(mut script: Vec<Line>) -> Vec<Line> {
    for line in &mut script {
        if let Line::Event(TurnEvent::Text(text)) = line {
            *text = text.replace('`', "'");
        }
    }
    script
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

    #[test]
    fn how_text_is_cut_changes_nothing(
        policy in timed_policy(),
        script in script(),
        places in vec(any::<Index>(), 0..40),
    ) {
        let whole = outcome(play_whole(policy.clone(), &script));
        prop_assert_eq!(&outcome(play_whole(policy.clone(), &cut(&script, &places))), &whole);
        prop_assert_eq!(&outcome(play_whole(policy, &letter_by_letter(&script))), &whole);
    }

    /// A policy without a time: a call that is being written is no silence, and a burst waits for it.
    #[test]
    fn streaming_arguments_changes_nothing(
        policy in policy(),
        script in script(),
        places in vec(any::<Index>(), 0..40),
    ) {
        let whole = play_whole(policy.clone(), &script);
        let mut streamed = play_whole(policy, &streamed(&script, &places));
        streamed.report.streamed_calls = 0;
        prop_assert_eq!(outcome(streamed), outcome(whole));
    }

    #[test]
    fn a_turn_that_fails_within_a_call_fails(
        policy in policy(),
        script in script(),
        places in vec(any::<Index>(), 1..40),
        until in any::<Index>(),
    ) {
        let script = streamed(&script, &places);
        let within: Vec<usize> = (1..script.len())
            .filter(|at| matches!(script[*at], Line::Event(TurnEvent::ToolCallArguments(_))))
            .collect();
        prop_assume!(!within.is_empty());
        let mut script = script[..*until.get(&within)].to_vec();
        script.push(fail(FailureKind::StreamCut));
        let played = play_whole(policy, &script);
        let sent_calls = played.sent.iter().filter(|sent| matches!(sent, Sent::Call { .. })).count();
        // The recorder checks that the report has whole calls only.
        if sent_calls > played.report.call_count {
            prop_assert!(matches!(played.ended, Some(Ended::Failed(_))), "{:?}", played);
        }
    }

    #[test]
    fn an_answer_is_the_one_that_the_whole_turn_gives(policy in policy(), script in script()) {
        prop_assume!(
            policy.max_tokens.is_none()
                || reference::longest_text(&policy, &script) <= COUNTED_AT_ONCE
        );
        let expected = reference::answer(&policy, &script);
        let played = play_whole(policy, &script);
        let is_cut = !played.response_ended
            && !matches!(
                played.report.end,
                EndReason::UpstreamLength | EndReason::ContentFilter
            );
        let answer = Answer::from(played);
        let sent = without_reasoning(answer.sent);
        let expected = Answer { truncated: expected.truncated || is_cut, ..expected };
        prop_assert_eq!(Answer { sent, ..answer }, expected);
    }

    #[test]
    fn every_byte_is_sent_or_counted(
        policy in patient_policy(),
        script in whole_script(),
        places in vec(any::<Index>(), 0..40),
    ) {
        let said: String = script
            .iter()
            .filter_map(|line| match line {
                Line::Event(TurnEvent::Text(text)) => Some(text.as_str()),
                _ => None,
            })
            .collect();
        let policy =
            TurnPolicy { mode: OutputMode::ObsidianXml, delimiter: String::new(), ..policy };
        let played = play_whole(policy, &cut(&script, &places));
        let content: String = played
            .sent
            .iter()
            .filter_map(|sent| match sent {
                Sent::Text(text) => Some(text.as_str()),
                // Only blocks that are made for structured calls have lines.
                Sent::Block(xml) if !xml.starts_with("<use_tool>\n") => Some(xml.as_str()),
                Sent::Block(_) | Sent::Reasoning(_) | Sent::Refusal(_) | Sent::Call { .. } => None,
            })
            .collect();
        let content = content.replace(BREAK, "");
        prop_assert_eq!(content.len() + played.report.suppressed_bytes, said.len());
        prop_assert!(!played.report.said.contains(BREAK));
        prop_assert!(is_left_of(&content, &said), "{content:?} of {said:?}");
    }

    #[test]
    fn both_output_modes_have_the_same_calls_and_text(
        policy in timed_policy(),
        script in script(),
    ) {
        let script = without_fences(script);
        let in_mode = |mode| TurnPolicy { mode, delimiter: String::new(), ..policy.clone() };
        let (json, xml) = (in_mode(OutputMode::OpenAiJson), in_mode(OutputMode::ObsidianXml));
        // Only in XML mode such a block is no tail.
        prop_assume!(!policy.suppress_tail || !reference::has_unclosed_block(&xml, &script));
        let (json, xml) = (play_whole(json, &script), play_whole(xml, &script));
        prop_assert_eq!(texts(&json.sent), texts(&xml.sent));
        let calls = |sent: &[Sent]| -> Vec<Sent> {
            sent.iter().filter(|sent| matches!(sent, Sent::Call { .. })).cloned().collect()
        };
        prop_assert_eq!(calls(&json.sent), calls(&xml.sent));
        prop_assert_eq!(json.ended, xml.ended);
        let last_call_end = json.report.last_call_end;
        prop_assert_eq!(json.report.altered_values, 0);
        let xml = bridge::ChoiceReport { last_call_end, altered_values: 0, ..xml.report };
        prop_assert_eq!(json.report, xml);
    }

    #[test]
    fn a_turn_with_its_end_has_an_answer_with_an_end(
        policy in timed_policy(),
        script in script(),
    ) {
        let played = play_whole(policy, &script);
        let has_calls = played.report.call_count > 0;
        match played.ended {
            Some(Ended::Finished(reason)) => {
                prop_assert_eq!(has_calls, reason == openai_wire::FinishReason::ToolCalls);
            }
            Some(Ended::Failed(_)) => prop_assert!(!has_calls),
            None => prop_assert!(false, "no end"),
        }
    }
}
