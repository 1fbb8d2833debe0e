use super::*;

/// A case with two calls.
fn case(delivery: Delivery, mode: Mode) -> Case {
    let fits = |case: &Case| case.delivery == delivery && case.mode == mode;
    Case::all().filter(fits).find(|case| case.calls().len() == 2).unwrap()
}

fn completion(pieces: &[&str]) -> Completion {
    let content = pieces.iter().map(|piece| (*piece).to_owned()).collect();
    Completion { content: Some(content), ..Completion::default() }
}

fn words(outcome: Result<(), Mismatch>) -> String {
    outcome.map_or_else(|mismatch| mismatch.to_string(), |()| "right".to_owned())
}

#[test]
fn every_block_is_a_frame_of_its_own() {
    let case = case(Delivery::Streamed, Mode::Xml);
    let [first, second] = [0, 1].map(|at| case.calls()[at].block);
    let checked = |pieces: &[&str]| words(check_blocks(case, &completion(pieces)));
    assert_eq!(checked(&["Hm.", first, "\n", second]), "right");
    let (half, rest) = first.split_at(9);
    assert!(checked(&[half, rest, second]).starts_with("frames with blocks: expected"));
    assert!(checked(&[&format!("Hm.{first}"), second]).starts_with("frames with blocks: expected"));
    for wrong in [&[first][..], &[second, first], &[half, second], &[]] {
        assert!(checked(wrong).starts_with("content: expected"), "{wrong:?}");
    }
    let doubled = checked(&[first, second, second]);
    assert_eq!(doubled, "blocks in the content: expected 2, but got 3");
}

#[test]
fn a_whole_answer_has_its_blocks_in_one_text() {
    let case = case(Delivery::Whole, Mode::Xml);
    let text: String = case.calls().iter().map(|call| call.block).collect();
    assert_eq!(words(check_blocks(case, &completion(&[&text]))), "right");
    assert_ne!(words(check_blocks(case, &completion(&[&text.replace('\n', " ")]))), "right");
}

#[test]
fn no_markup_is_beside_calls_in_json_mode() {
    let checked = |delivery, completion| words(check_no_markup(delivery, &completion));
    assert_eq!(checked(Delivery::Streamed, completion(&["Let me ", "see."])), "right");
    let halves = completion(&["<use_", "tool>"]);
    let problem = "content: expected no markup, but got <use_tool>";
    assert_eq!(checked(Delivery::Streamed, halves), problem);
    assert_eq!(checked(Delivery::Whole, Completion::default()), "right");
    let problem = "content: expected null beside calls, but got Hm.";
    assert_eq!(checked(Delivery::Whole, completion(&["Hm."])), problem);
}

#[test]
fn calls_are_compared_by_name_value_and_id() {
    let expected = case(Delivery::Whole, Mode::Json).calls();
    let right = || -> Vec<Call> {
        let call = |(at, call): (usize, &ExpectedCall)| Call {
            id: format!("tool_0_{at}"),
            name: call.name.to_owned(),
            arguments: call.arguments.replace(':', " : "),
            ..Call::default()
        };
        expected.iter().enumerate().map(call).collect()
    };
    let checked = |change: fn(&mut Vec<Call>)| {
        let mut calls = right();
        change(&mut calls);
        words(check_calls(expected, &calls))
    };
    assert_eq!(checked(|_| {}), "right");
    for (change, expected) in [
        ((|calls| calls.reverse()) as fn(&mut Vec<Call>), "calls: expected"),
        (|calls| calls.truncate(1), "calls: expected"),
        (|calls| calls[1].arguments.truncate(5), "arguments of get_time: expected"),
        (|calls| calls[1].arguments.clear(), "arguments of get_time: expected"),
        (|calls| calls[1].id = "tool_0_0".to_owned(), "ids of the calls: expected"),
        (|calls| calls[1].kind = CallKind::Legacy, "kind of get_time: expected Function"),
    ] {
        assert!(checked(change).starts_with(expected), "{}", checked(change));
    }
}
