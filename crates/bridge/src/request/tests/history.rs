//! Messages, calls and results as the items of a turn.

use model_turn::{CallInput, ContentPart, HistoryItem, Role, ToolName, ToolOutput};
use serde_json::json;

use super::{
    PIXEL, assistant, call, calls, developer, history, image, output, prepare_with, prepared,
    result, user, with,
};
use crate::policy::TurnSettings;

#[test]
fn every_role_in_its_place() {
    let messages = json!([
        {"role": "system", "content": "one"},
        {"role": "user", "content": "two"},
        {"role": "developer", "content": "three"},
        {"role": "assistant", "content": "four"},
        {"role": "system", "content": "five"},
        {"role": "user", "content": "six"},
    ]);
    let expected = [
        developer("one"),
        user("two"),
        developer("three"),
        assistant("four"),
        developer("five"),
        user("six"),
    ];
    assert_eq!(history(&messages), expected);
}

#[test]
fn parts_stay_parts() {
    let messages = json!([
        {"role": "system", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
        {"role": "user", "content": [
            {"type": "text", "text": "What is this?"},
            {"type": "image_url", "image_url": {"url": PIXEL}},
            {"type": "input_image", "image_url": PIXEL},
        ]},
    ]);
    let text = |text: &str| ContentPart::Text(text.to_owned());
    let message = |role, content| HistoryItem::Message { role, content, phase: None };
    let expected = [
        message(Role::Developer, vec![text("a"), text("b")]),
        message(Role::User, vec![text("What is this?"), image(), image()]),
    ];
    assert_eq!(history(&messages), expected);
}

#[test]
fn what_says_nothing_is_left_out_but_for_the_user() {
    let messages = json!([
        {"role": "system", "content": ""},
        {"role": "user", "content": null},
        {"role": "assistant", "content": ""},
        {"role": "assistant", "content": [{"type": "text", "text": ""}]},
        {"role": "assistant"},
        {"role": "user", "content": ["", "Hi"]},
        {"role": "user", "content": ""},
    ]);
    assert_eq!(history(&messages), [user(""), user("Hi"), user("")]);
}

#[test]
fn a_leading_assistant_message_is_a_prompt() {
    let messages = json!([
        {"role": "assistant", "content": "You are Copilot."},
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": "Hello"},
        {"role": "user", "content": "Bye"},
    ]);
    let expected = [developer("You are Copilot."), user("Hi"), assistant("Hello"), user("Bye")];
    assert_eq!(history(&messages), expected);

    let mut answer = calls(&["1"]);
    answer["content"] = "Let me see.".into();
    let messages = json!([answer, result("1", "done")]);
    assert_eq!(
        history(&messages),
        [assistant("Let me see."), call("1", "f", "1"), output("1", "done")]
    );
}

#[test]
fn text_comes_before_the_calls_of_its_message() {
    let mut answer = calls(&["a", "b"]);
    answer["content"] = "Let me see.".into();
    let messages = json!([
        {"role": "user", "content": "Hi"},
        answer,
        result("b", "second"),
        {"role": "user", "content": "Hurry"},
        result("a", "first"),
    ]);
    let expected = [
        user("Hi"),
        assistant("Let me see."),
        call("a", "f", "a"),
        call("b", "f", "b"),
        output("b", "second"),
        user("Hurry"),
        output("a", "first"),
    ];
    assert_eq!(history(&messages), expected);
}

#[test]
fn arguments_beside_the_function_reach_codex() {
    let answer = json!({"role": "assistant", "tool_calls": [
        {"id": "tool_1", "type": "function", "function": {"name": "f"}, "arguments": "{ \"a\":1}"},
        {"id": "tool_2", "type": "function", "function": {"name": "f", "arguments": ""}, "arguments": "[2]"},
        {"id": "tool_3", "type": "function", "function": {"name": "f", "arguments": "[3]"}, "arguments": "[4]"},
    ]});
    let messages =
        json!([answer, result("tool_1", ""), result("tool_2", ""), result("tool_3", "")]);
    assert_eq!(
        history(&messages)[..3],
        [call("tool_1", "f", "{ \"a\":1}"), call("tool_2", "f", "[2]"), call("tool_3", "f", "[3]")]
    );
}

#[test]
fn results_in_every_form() {
    let parts = json!([{"type": "text", "text": "see"}, {"type": "image_url", "image_url": PIXEL}]);
    let messages = json!([
        calls(&["1", "2", "3", "4"]),
        result("1", "text"),
        result("2", json!([{"type": "text", "text": "one part"}])),
        result("3", parts),
        {"role": "tool", "tool_call_id": "4"},
    ]);
    let parts = vec![ContentPart::Text("see".to_owned()), image()];
    let expected = [
        output("1", "text"),
        output("2", "one part"),
        HistoryItem::ToolOutput { call_id: "3".to_owned(), output: ToolOutput::Parts(parts) },
        output("4", ""),
    ];
    assert_eq!(history(&messages)[4..], expected);
}

#[test]
fn the_ids_of_the_backend_are_restored() {
    let id = "tool_0_1_a1B2c3";
    let messages = json!([
        calls(&[id, "tool_0_1", "toolu_1"]),
        result("toolu_1", "c"),
        result(id, "a"),
        result("tool_0_1", "b")
    ]);
    let expected = [
        call("call_a1B2c3", "f", id),
        call("tool_0_1", "f", "tool_0_1"),
        call("toolu_1", "f", "toolu_1"),
        output("toolu_1", "c"),
        output("call_a1B2c3", "a"),
        output("tool_0_1", "b"),
    ];
    assert_eq!(history(&messages), expected);
}

#[test]
fn repeated_ids_are_renamed_in_pairs() {
    let messages = json!([
        calls(&["1", "1", "2"]),
        result("1", "first"),
        result("2", "other"),
        result("1", "second"),
        calls(&["1"]),
        result("1", "third"),
        // Taken by then.
        calls(&["1_2"]),
        result("1_2", "fourth"),
    ]);
    let expected = [
        call("1", "f", "1"),
        call("1_2", "f", "1"),
        call("2", "f", "2"),
        output("1", "first"),
        output("2", "other"),
        output("1_2", "second"),
        call("1_3", "f", "1"),
        output("1_3", "third"),
        call("1_2_2", "f", "1_2"),
        output("1_2_2", "fourth"),
    ];
    assert_eq!(history(&messages), expected);
}

#[test]
fn long_and_empty_ids_become_short_ones() {
    let (long, longer) = ("é".repeat(40), format!("{}x", "é".repeat(40)));
    let messages = json!([
        calls(&[&long, &longer, "", ""]),
        result(&longer, "b"),
        result(&long, "a"),
        result("", "c"),
        result("", "d"),
    ]);
    let (first, second) = ("é".repeat(32), format!("{}_2", "é".repeat(31)));
    let expected = [
        call(&first, "f", &long),
        call(&second, "f", &longer),
        call("call", "f", ""),
        call("call_2", "f", ""),
        output(&second, "b"),
        output(&first, "a"),
        output("call", "c"),
        output("call_2", "d"),
    ];
    assert_eq!(history(&messages), expected);
}

#[test]
fn a_history_that_has_grown_keeps_its_ids() {
    let mut messages = Vec::new();
    let mut before = Vec::new();
    for _ in 0..5 {
        let round = [calls(&["1", "x", "1"]), result("1", ""), result("1", ""), result("x", "")];
        messages.extend(round);
        let now = history(&json!(messages));
        assert_eq!(now[..before.len()], before);
        before = now;
    }
}

/// Trying every number again for each call would take minutes, in which nobody else is served.
#[test]
fn an_id_can_repeat_many_times() {
    let rounds = 20_000;
    let round = [calls(&["c"]), result("c", "r")];
    let legacy = [
        json!({"role": "assistant", "function_call": {"name": "f", "arguments": "{}"}}),
        json!({"role": "function", "name": "f", "content": "r"}),
    ];
    for (round, id) in [(round, "c_20000"), (legacy, "call_20000")] {
        let messages: Vec<_> = std::iter::repeat_n(round, rounds).flatten().collect();
        let history = history(&messages.into());
        assert_eq!(history.len(), 2 * rounds);
        assert_eq!(history.last(), Some(&output(id, "r")));
    }
}

#[test]
fn legacy_calls_are_answered_by_name() {
    let call_of = |name: &str| json!({"role": "assistant", "function_call": {"name": name, "arguments": name}});
    let answer =
        |name: &str, text: &str| json!({"role": "function", "name": name, "content": text});
    let messages = json!([
        call_of("f"),
        answer("f", "one"),
        call_of("f"),
        call_of("g"),
        call_of("f"),
        answer("f", "latest"),
        answer("g", "other"),
        answer("f", "earlier"),
    ]);
    let expected = [
        call("call", "f", "f"),
        output("call", "one"),
        call("call_2", "f", "f"),
        call("call_3", "g", "g"),
        call("call_4", "f", "f"),
        output("call_4", "latest"),
        output("call_3", "other"),
        output("call_2", "earlier"),
    ];
    assert_eq!(history(&messages), expected);
}

#[test]
fn a_detail_that_cannot_be_had_is_named_once() {
    let image =
        |detail: &str| json!({"type": "image_url", "image_url": {"url": PIXEL, "detail": detail}});
    let body = |detail: &str| {
        with(&json!({
            "temperature": 1,
            "messages": [{"role": "user", "content": [image(detail), image(detail)]}],
        }))
    };
    assert_eq!(prepared(&body("low")).ignored, ["temperature", "image_url.detail"]);
    assert_eq!(prepared(&body("auto")).ignored, ["temperature"]);
}

#[test]
fn a_result_may_be_sent_again_but_not_changed() {
    let messages = |second: &str| {
        json!([
            calls(&["1", "2"]),
            result("1", "one"),
            result("1", second),
            result("2", "two"),
            {"role": "user", "content": "Hi"},
            result("1", "one"),
        ])
    };
    let expected = [
        call("1", "f", "1"),
        call("2", "f", "2"),
        output("1", "one"),
        output("2", "two"),
        user("Hi"),
    ];
    assert_eq!(history(&messages("one")), expected);
    let changed = with(&json!({"messages": messages("other")}));
    let error = prepare_with(&TurnSettings::default(), &changed).expect_err("an error");
    assert_eq!(error.param.as_deref(), Some("messages[2].tool_call_id"));
    assert!(error.message.contains("'1' has another result already"), "{}", error.message);
}

#[test]
fn a_repeated_id_is_another_call_where_one_waits() {
    let messages = json!([calls(&["1"]), result("1", "one"), calls(&["1"]), result("1", "two")]);
    let expected =
        [call("1", "f", "1"), output("1", "one"), call("1_2", "f", "1"), output("1_2", "two")];
    assert_eq!(history(&messages), expected);
}

#[test]
fn calls_of_other_kinds() {
    let custom = json!({"name": "p", "input": "***\n"});
    let messages = json!([
        {"role": "assistant", "tool_calls": [
            {"id": "1", "type": "custom", "custom": custom},
            {"id": "2", "function": {"name": "g", "arguments": "{}"}},
            {"id": "3", "function": {"name": "f", "arguments": "{}"}},
            {"id": "4", "function": {"name": "f", "arguments": "{}"}, "namespace": "b"},
        ]},
        result("1", ""), result("2", ""), result("3", ""), result("4", ""),
    ]);
    let tool = |name: &str| json!({"name": name});
    let tools = json!([
        {"type": "namespace", "name": "a", "tools": [tool("f"), tool("g")]},
        {"type": "namespace", "name": "b", "tools": [tool("f")]},
    ]);
    let history = prepared(&with(&json!({"messages": messages, "tools": tools}))).turn.history;
    let item = |id: &str, namespace: Option<&str>, name: &str, input| HistoryItem::ToolCall {
        call_id: id.to_owned(),
        name: ToolName { namespace: namespace.map(str::to_owned), name: name.to_owned() },
        input,
    };
    let arguments = || CallInput::Arguments("{}".to_owned());
    let expected = [
        item("1", None, "p", CallInput::Text("***\n".to_owned())),
        item("2", Some("a"), "g", arguments()),
        // There are two of them.
        item("3", None, "f", arguments()),
        item("4", Some("b"), "f", arguments()),
    ];
    assert_eq!(history[..4], expected);
}
