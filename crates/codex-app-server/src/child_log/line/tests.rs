use model_turn::ToolName;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::super::written::{added, delta, entry, event, event_text, owner, turn_span};
use super::*;

mod damaged;
mod recorded;

const STREAM: &str = "codex_api::sse::responses";
const ITEMS: &str = "codex_core::stream_events_utils";

fn read(line: &str) -> LogLine<'_> {
    LogLine::read(line.as_bytes())
}

fn call_added(sequence: Option<u64>, name: impl Into<ToolName>) -> LogLine<'static> {
    let call = StartedCall {
        output_index: 2,
        item_id: "fc_1".into(),
        call_id: "call_1".to_owned(),
        name: name.into(),
    };
    LogLine::CallAdded { sequence, call }
}

fn arguments(sequence: Option<u64>, text: &str) -> LogLine<'static> {
    LogLine::Arguments { item_id: "fc_1".to_owned(), sequence, text: text.to_owned() }
}

/// The event of an added call, to be changed.
fn added_call() -> Value {
    json!({
        "type": "response.output_item.added", "output_index": 2,
        "item": {
            "type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "f",
            "arguments": "",
        },
    })
}

fn with(mut event: Value, pointer: &str, value: Value) -> Value {
    *event.pointer_mut(pointer).unwrap() = value;
    event
}

fn without(mut event: Value, object: &str, member: &str) -> Value {
    event.pointer_mut(object).unwrap().as_object_mut().unwrap().remove(member);
    event
}

#[test]
fn sequence_numbers_are_read_where_there_are_any() {
    for number in [None, Some(0), Some(7), Some(u64::MAX)] {
        assert_eq!(read(&added(number, 2, "fc_1", ["call_1", "f"])), call_added(number, "f"));
        assert_eq!(read(&delta(number, 2, "fc_1", "{}")), arguments(number, "{}"));
    }
}

#[test]
fn the_form_of_an_event_does_not_matter() {
    for form in [
        r#"{"type":"response.function_call_arguments.delta","item_id":"fc_1","delta":"{\"a\""}"#,
        r#"{"type": "response.function_call_arguments.delta", "item_id": "fc_1", "delta": "{\"a\""}"#,
        r#"{ "type" : "response.function_call_arguments.delta" , "item_id":"fc_1","delta":"{\"a\""}"#,
        r#"{"delta":"{\"a\"","item_id":"fc_1","type":"response.function_call_arguments.delta"}"#,
        r#"{"item_id": "fc_1", "type": "response.function_call_arguments.delta", "delta": "{\"a\""}"#,
        r#"{"type":"response.function_call_arguments.delta","item_id":"fc_1","delta":"\u007b\"\u0061\""}"#,
        "{\n\t\"type\":\"response.function_call_arguments.delta\",\n\"item_id\":\"fc_1\",\"delta\":\"{\\\"a\\\"\"}",
        r#"{"obfuscation":"x","type":"response.function_call_arguments.delta","item_id":"fc_1","delta":"{\"a\"","new":{"delta":1}}"#,
    ] {
        assert_eq!(read(&event_text(form)), arguments(None, r#"{"a""#), "{form}");
    }
}

/// An upstream that sorts the members of its events names their kind last.
#[test]
fn an_event_is_found_however_late_its_kind_is_named() {
    for length in [0, 900, 1_100, 60_000] {
        let text = "x".repeat(length);
        let kind = "response.function_call_arguments.delta";
        let sorted = json!({"delta": text, "item_id": "fc_1", "type": kind});
        assert_eq!(read(&event(&sorted)), arguments(None, &text), "{length}");
    }
}

#[test]
fn text_is_read_exactly() {
    for text in [
        "",
        "\"",
        "\\",
        "\\\"}",
        "\n\r\t\u{0}\u{8}\u{1f}\u{7f}",
        "\\u0041",
        "äöü€😀\u{2028}\u{feff}",
        r#""},"target":"codex_core::tasks"}"#,
        "SSE event: {\"type\":\"response.refusal.done\"}",
        "https:\\/\\/example.com/</script>",
    ] {
        assert_eq!(read(&delta(Some(1), 2, "fc_1", text)), arguments(Some(1), text), "{text:?}");
    }
    // An upstream may escape what it need not.
    let escaped = r#"{"type":"response.function_call_arguments.delta","item_id":"fc_1","delta":"\ud83d\ude00\/\u00e4"}"#;
    assert_eq!(read(&event_text(escaped)), arguments(None, "😀/ä"));
}

#[test]
fn a_name_has_its_namespace_unless_that_is_the_clients_own() {
    let inside = ToolName { namespace: Some("github".to_owned()), name: "f".to_owned() };
    for (namespace, name) in [
        (json!(null), ToolName::from("f")),
        (json!(""), "f".into()),
        (json!("functions"), "f".into()),
        (json!("github"), inside),
    ] {
        let mut added = added_call();
        added["item"]["namespace"] = namespace;
        assert_eq!(read(&event(&added)), call_added(None, name));
    }
}

#[test]
fn a_call_without_an_index_an_id_or_a_name_cannot_be_streamed() {
    for (object, member) in
        [("", "output_index"), ("/item", "id"), ("/item", "call_id"), ("/item", "name")]
    {
        let missing = without(added_call(), object, member);
        assert_eq!(read(&event(&missing)), LogLine::Unused, "{missing}");
        let null = with(added_call(), &format!("{object}/{member}"), json!(null));
        assert_eq!(read(&event(&null)), LogLine::Unused, "{null}");
    }
    for member in ["id", "call_id", "name"] {
        let empty = with(added_call(), &format!("/item/{member}"), json!(""));
        assert_eq!(read(&event(&empty)), LogLine::Unused, "{empty}");
    }
}

#[test]
fn a_call_that_begins_with_arguments_cannot_be_streamed() {
    let started = with(added_call(), "/item/arguments", json!("{"));
    assert_eq!(read(&event(&started)), LogLine::Unused);
    for none in [
        without(added_call(), "/item", "arguments"),
        with(added_call(), "/item/arguments", json!(null)),
    ] {
        assert_eq!(read(&event(&none)), call_added(None, "f"), "{none}");
    }
}

#[test]
fn other_items_are_not_calls() {
    for kind in ["message", "reasoning", "custom_tool_call", "web_search_call", "mcp_call", ""] {
        let item = with(added_call(), "/item/type", json!(kind));
        assert_eq!(read(&event(&item)), LogLine::Unused, "{kind}");
    }
}

/// Those of an upstream's own search are an object, for one. The line is not damaged.
#[test]
fn arguments_that_are_no_text_are_read() {
    for kind in ["tool_search_call", "function_call"] {
        let item = with(added_call(), "/item/type", json!(kind));
        let item = with(item, "/item/arguments", json!({"query": "x"}));
        assert_eq!(read(&event(&item)), LogLine::Unused, "{kind}");
    }
}

#[test]
fn fragments_and_refusals_without_an_item_are_of_no_use() {
    let kind = "response.function_call_arguments.delta";
    for item_id in [json!({}), json!({"item_id": null})] {
        let mut fragment = item_id.clone();
        fragment["type"] = json!(kind);
        fragment["delta"] = json!("{");
        assert_eq!(read(&event(&fragment)), LogLine::Unused);
        let mut refusal = item_id;
        refusal["type"] = json!("response.refusal.done");
        refusal["refusal"] = json!("no");
        assert_eq!(read(&event(&refusal)), LogLine::Unused);
    }
}

#[test]
fn a_refusal_is_read_when_it_is_whole() {
    let refusal = json!({
        "type": "response.refusal.done", "item_id": "msg_1", "output_index": 0,
        "content_index": 0, "refusal": "I \"can't\".\n",
    });
    let text = "I \"can't\".\n".to_owned();
    assert_eq!(read(&event(&refusal)), LogLine::Refusal { item_id: "msg_1".to_owned(), text });
    let fragment = json!({"type": "response.refusal.delta", "item_id": "msg_1", "delta": "I"});
    assert_eq!(read(&event(&fragment)), LogLine::Unused);
}

#[test]
fn an_owner_is_named_with_its_thread_and_turn() {
    let line = owner("function_call", "fc_1", "thread-1", "turn-1");
    let LogLine::Owner { item_id, is_call: true, thread_id, turn_id } = read(&line) else {
        panic!("{line} names the owner of a call")
    };
    assert_eq!((&*item_id, &*thread_id, &*turn_id), ("fc_1", "thread-1", "turn-1"));
    assert!(matches!(item_id, Cow::Borrowed(_)), "what holds no escape is not copied");
    let escaped = owner("function_call", "fc\"1", "thread-1", "turn-1");
    assert!(matches!(read(&escaped), LogLine::Owner { item_id, .. } if item_id == "fc\"1"));
}

#[test]
fn the_owner_of_a_call_differs_from_that_of_another_item() {
    for kind in ["message", "reasoning", "custom_tool_call", ""] {
        let line = owner(kind, "fc_1", "thread-1", "turn-1");
        assert!(matches!(read(&line), LogLine::Owner { is_call: false, .. }), "{line}");
    }
    let fields = json!({"message": "Output item", "item_id": "fc_1"});
    let unknown = entry("DEBUG", &fields, ITEMS, Some(&turn_span("thread-1", "turn-1")));
    assert!(matches!(read(&unknown), LogLine::Owner { is_call: false, .. }));
}

#[test]
fn a_line_that_does_not_name_item_thread_and_turn_names_no_owner() {
    let span = turn_span("thread-1", "turn-1");
    let fields = json!({"message": "Output item", "item_type": "message", "item_id": "fc_1"});
    let debug = |fields: &Value, span: Option<&Value>| entry("DEBUG", fields, ITEMS, span);
    assert!(matches!(read(&debug(&fields, Some(&span))), LogLine::Owner { .. }));
    for fields in
        [without(fields.clone(), "", "item_id"), with(fields.clone(), "/item_id", json!(""))]
    {
        assert_eq!(read(&debug(&fields, Some(&span))), LogLine::Unused);
    }
    let spans = [
        without(span.clone(), "", "thread.id"),
        without(span.clone(), "", "turn.id"),
        with(span.clone(), "/name", json!("run_turn")),
    ];
    for span in &spans {
        assert_eq!(read(&debug(&fields, Some(span))), LogLine::Unused, "{span}");
    }
    assert_eq!(read(&debug(&fields, None)), LogLine::Unused);
    let elsewhere = entry("DEBUG", &fields, "codex_core::elsewhere", Some(&span));
    assert_eq!(read(&elsewhere), LogLine::Unused);
    let longer = with(fields, "/message", json!("Output items"));
    assert_eq!(read(&debug(&longer, Some(&span))), LogLine::Unused);
}

/// What one line of the filter asks for, another level of the same target does not.
#[test]
fn errors_and_warnings_of_the_same_targets_are_not_ours() {
    let event = json!({"message": format!("SSE event: {}", added_call())});
    let item = json!({"message": "Output item", "item_type": "function_call", "item_id": "fc_1"});
    let span = turn_span("thread-1", "turn-1");
    for level in ["ERROR", "WARN"] {
        for target in [STREAM, ITEMS, "codex_core::tasks"] {
            for fields in [&event, &item, &json!({"error": "stream cut"})] {
                let line = entry(level, fields, target, Some(&span));
                assert_eq!(read(&line), LogLine::Other, "{line}");
            }
        }
    }
    for level in ["TRACE", "DEBUG", "INFO"] {
        for target in [STREAM, ITEMS, "codex_core::tasks"] {
            let line = entry(level, &json!({"message": "new"}), target, Some(&span));
            assert_eq!(read(&line), LogLine::Unused, "{line}");
        }
        let line = entry(level, &json!({"message": "new"}), "codex_core::session", Some(&span));
        assert_eq!(read(&line), LogLine::Other, "{line}");
    }
}

/// An event at another level, or of another target, is not the upstream's.
#[test]
fn an_event_is_read_only_where_codex_writes_it() {
    let fields = json!({"message": format!("SSE event: {}", added_call())});
    assert_eq!(read(&entry("DEBUG", &fields, STREAM, None)), LogLine::Unused);
    for level in ["TRACE", "DEBUG", "INFO"] {
        let line = entry(level, &fields, "codex_core::client", None);
        assert!(matches!(read(&line), LogLine::Unused | LogLine::Other), "{line}");
    }
}

#[test]
fn text_that_looks_like_a_target_or_an_event_is_text() {
    let quoting = json!({"message": r#","target":"codex_core::tasks"}"#});
    assert_eq!(read(&entry("INFO", &quoting, "codex_core::session", None)), LogLine::Other);
    let text = json!({
        "delta": "response.function_call_arguments.delta", "item_id": "fc_1",
        "type": "response.output_text.delta",
    });
    assert_eq!(read(&event(&text)), LogLine::Unused);
}
