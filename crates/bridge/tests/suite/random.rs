//! Random policies and scripts, made of pieces that come near a block, a repetition or a stop sequence.

use std::num::NonZeroUsize;
use std::time::Duration;

use bridge::{OutputMode, Preamble, StopAfterTools, TextBlocks, TurnPolicy};
use model_turn::{FailureKind, TurnEnd, TurnEvent};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::{Index, select};

use crate::play::json;
use crate::script::{
    Line, arguments, call_as, end, fail, message, say, start, think, turn_end, wait,
};

/// Pieces of what a model says.
const PIECES: &[&str] = &[
    "one",
    " two",
    " ",
    "\n",
    "é",
    "<",
    "<use_to",
    "<use_tool>",
    "</use_tool>",
    "```",
    "\n```\n",
    "ST",
    "OP",
    "STOP",
    "<use_tool><name>a</name></use_tool>",
    "<use_tool><name>a</name><args>{\"q\": 1}</args></use_tool>",
    "<use_tool><name>b</name><args>{\"q\": 1}</args></use_tool>",
    "<use_tool>{\"name\":\"b\",\"arguments\":{}}</use_tool>",
    "<use_tool><name>b</name><q>STOP</q></use_tool>",
    "<use_tool><name>z</name></use_tool>",
    "<use_tool><args>{}</args></use_tool>",
    "<use_tool><name>b</name>",
    "<use_tool><name>b</name><args>{\"q\": \"</use_tool>",
];

const NAMES: &[&str] = &["a", "b", "z"];
const ARGUMENTS: &[&str] = &["", "{}", "{\"q\":1}", "{ \"q\": 1 }", "{\"q\":\"STOP\"}", "{\"q\":"];

/// How long a burst may pause, where it may.
const GRACE: u64 = 300;

/// Any policy that is not about time.
pub(crate) fn policy() -> impl Strategy<Value = TurnPolicy> {
    let stop = [StopAfterTools::Off, StopAfterTools::First, StopAfterTools::Burst { grace: None }];
    (
        select(vec![OutputMode::OpenAiJson, OutputMode::ObsidianXml]),
        select(stop.to_vec()),
        any::<bool>(),
        option::of((1_usize..4).prop_map(|most| NonZeroUsize::new(most).unwrap())),
        any::<bool>(),
        select(vec!["", "\n\n"]),
        select(vec![TextBlocks::Any, TextBlocks::Declared, TextBlocks::Ignored]),
        select(vec![8, 1024]),
        select(vec![vec![], vec!["STOP"], vec!["TOP", "é\n"]]),
        option::of(1_u32..9),
        prop_oneof![3 => Just(Preamble::Sent), 1 => Just(Preamble::Held)],
    )
        .prop_map(
            |(
                mode,
                stop_after_tools,
                suppress_tail,
                max_calls,
                dedup,
                delimiter,
                text_blocks,
                max_held_bytes,
                stop_sequences,
                max_tokens,
                preamble,
            )| TurnPolicy {
                mode,
                stop_after_tools,
                suppress_tail,
                max_calls,
                dedup,
                delimiter: delimiter.to_owned(),
                text_blocks,
                max_held_bytes,
                stop_sequences: stop_sequences.into_iter().map(str::to_owned).collect(),
                max_tokens,
                preamble,
                ..json()
            },
        )
}

/// A policy under which nothing is ever cut.
pub(crate) fn patient_policy() -> impl Strategy<Value = TurnPolicy> {
    policy().prop_map(|policy| TurnPolicy {
        stop_after_tools: StopAfterTools::Off,
        max_calls: None,
        max_held_bytes: usize::MAX,
        stop_sequences: Vec::new(),
        max_tokens: None,
        ..policy
    })
}

/// Any policy, also with a time for a burst.
pub(crate) fn timed_policy() -> impl Strategy<Value = TurnPolicy> {
    let grace = Some(Duration::from_millis(GRACE));
    (policy(), any::<bool>()).prop_map(move |(policy, timed)| {
        if timed {
            TurnPolicy { stop_after_tools: StopAfterTools::Burst { grace }, ..policy }
        } else {
            policy
        }
    })
}

/// A turn, to its end.
pub(crate) fn script() -> impl Strategy<Value = Vec<Line>> {
    let last = prop_oneof![
        4 => Just(vec![end(), turn_end(TurnEnd::Completed)]),
        1 => select(vec![
            FailureKind::StreamCut,
            FailureKind::MaxOutput,
            FailureKind::ContentFilter,
        ])
        .prop_map(|kind| vec![fail(kind)]),
    ];
    (lines(), last).prop_map(|(lines, last)| [lines, last].concat())
}

/// A turn whose response ends by itself.
pub(crate) fn whole_script() -> impl Strategy<Value = Vec<Line>> {
    lines().prop_map(|lines| [lines, vec![end(), turn_end(TurnEnd::Completed)]].concat())
}

/// The same script with its texts cut at these places.
pub(crate) fn cut(script: &[Line], places: &[Index]) -> Vec<Line> {
    let mut lines = Vec::new();
    for (number, line) in script.iter().enumerate() {
        let Line::Event(TurnEvent::Text(text)) = line else {
            lines.push(line.clone());
            continue;
        };
        let borders: Vec<_> = text.char_indices().map(|(at, _)| at).collect();
        let mut places: Vec<_> = places
            .iter()
            .enumerate()
            // Each place is for one of the texts.
            .filter(|(place, _)| place % script.len() == number)
            .map(|(_, place)| *place.get(&borders))
            .collect();
        places.extend([0, text.len()]);
        places.sort_unstable();
        lines.extend(places.windows(2).map(|range| say(&text[range[0]..range[1]])));
    }
    lines
}

/// The same script with each call streamed: started, some of its arguments in pieces, then whole.
pub(crate) fn streamed(script: &[Line], places: &[Index]) -> Vec<Line> {
    let mut lines = Vec::new();
    for (number, line) in script.iter().enumerate() {
        if let Line::Event(TurnEvent::ToolCall(call)) = line {
            lines.push(start(&call.call_id, &call.name.name));
            let borders: Vec<_> = call.arguments.char_indices().map(|(at, _)| at).collect();
            let places = places.iter().skip(number).step_by(script.len());
            let mut places: Vec<_> =
                places.filter(|_| !borders.is_empty()).map(|place| *place.get(&borders)).collect();
            places.push(0);
            places.sort_unstable();
            places.dedup();
            let pieces = places.windows(2).map(|range| &call.arguments[range[0]..range[1]]);
            lines.extend(pieces.map(arguments));
        }
        lines.push(line.clone());
    }
    lines
}

/// The same script with each character of a text on its own.
pub(crate) fn letter_by_letter(script: &[Line]) -> Vec<Line> {
    let letters = |line: &Line| match line {
        Line::Event(TurnEvent::Text(text)) => {
            text.chars().map(|letter| say(letter.encode_utf8(&mut [0; 4]))).collect()
        }
        other => vec![other.clone()],
    };
    script.iter().flat_map(letters).collect()
}

fn lines() -> impl Strategy<Value = Vec<Line>> {
    let text = vec(select(PIECES), 1..5).prop_map(|pieces| say(&pieces.concat()));
    let call = (select(NAMES), select(ARGUMENTS))
        .prop_map(|(name, arguments)| call_as("", name, arguments));
    let line = prop_oneof![
        6 => text,
        4 => call,
        2 => Just(message()),
        1 => select(vec![think(0, "why"), think(1, "how")]),
        1 => select(vec![wait(GRACE / 2), wait(GRACE)]),
    ];
    // Some upstreams give several items the same call id.
    (vec(line, 0..9), select(vec![1, 2, 9])).prop_map(|(mut lines, call_ids)| {
        for (number, line) in lines.iter_mut().enumerate() {
            if let Line::Event(TurnEvent::ToolCall(call)) = line {
                call.call_id = format!("call_{}", number % call_ids);
                call.item_id = Some(format!("fc_{number}"));
            }
        }
        lines
    })
}
