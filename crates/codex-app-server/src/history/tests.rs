use serde_json::{Value, json};

use super::*;

fn wire(items: &[HistoryItem]) -> Vec<Value> {
    to_wire(items, &mut ToolNames::default(), |_, _| {})
        .unwrap()
        .iter()
        .map(|item| serde_json::from_str(item).unwrap())
        .collect()
}

#[test]
fn items_have_codex_shape() {
    let mut items = wire(&[
        HistoryItem::text(Role::Developer, "Be kind."),
        HistoryItem::Message {
            role: Role::User,
            content: vec![
                ContentPart::Text("Look".into()),
                ContentPart::Image { url: "data:image/png;base64,AA==".into() },
            ],
            phase: None,
        },
        HistoryItem::Reasoning {
            summary: vec!["Hm".into()],
            encrypted_content: "E".into(),
            expendable: false,
        },
        HistoryItem::text(Role::Assistant, "A cat."),
        HistoryItem::function_call("call_1", "a.b", "{ }"),
        HistoryItem::ToolOutput {
            call_id: "call_1".into(),
            output: ToolOutput::Text("done".into()),
        },
        HistoryItem::function_call("call_2", "b", ""),
        HistoryItem::ToolOutput {
            call_id: "call_2".into(),
            output: ToolOutput::Parts(vec![ContentPart::Text("done".into())]),
        },
        HistoryItem::ToolCall {
            call_id: "call_3".into(),
            name: ToolName { namespace: Some("github".into()), name: "exec_command".into() },
            input: CallInput::Arguments("{}".into()),
        },
        HistoryItem::ToolOutput {
            call_id: "call_3".into(),
            output: ToolOutput::Text("done".into()),
        },
        HistoryItem::ToolCall {
            call_id: "call_4".into(),
            name: ToolName { namespace: Some("functions".into()), name: "apply_patch".into() },
            input: CallInput::Text("*** Begin".into()),
        },
        HistoryItem::ToolOutput {
            call_id: "call_4".into(),
            output: ToolOutput::Text("done".into()),
        },
    ]);
    let alias = crate::tool_names::alias(&"a.b".into()).name;
    let prefixes = [
        "msg_", "msg_", "rs_", "msg_", "fc_", "fco_", "fc_", "fco_", "fc_", "fco_", "ctc_", "ctco_",
    ];
    for (item, prefix) in items.iter_mut().zip(prefixes) {
        let id = item.as_object_mut().unwrap().remove("id").unwrap();
        assert!(id.as_str().unwrap().starts_with(prefix), "{id}");
    }
    let expected = [
        json!({"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "Be kind."}]}),
        json!({"type": "message", "role": "user", "content": [
            {"type": "input_text", "text": "Look"},
            {"type": "input_image", "image_url": "data:image/png;base64,AA=="},
        ]}),
        json!({"type": "reasoning", "summary": [{"type": "summary_text", "text": "Hm"}], "encrypted_content": "E"}),
        json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "A cat."}]}),
        json!({"type": "function_call", "name": alias, "arguments": "{ }", "call_id": "call_1"}),
        json!({"type": "function_call_output", "call_id": "call_1", "output": "done"}),
        json!({"type": "function_call", "name": "b", "arguments": "", "call_id": "call_2"}),
        json!({"type": "function_call_output", "call_id": "call_2", "output": [{"type": "input_text", "text": "done"}]}),
        json!({"type": "function_call", "name": "exec_command", "namespace": "github", "arguments": "{}", "call_id": "call_3"}),
        json!({"type": "function_call_output", "call_id": "call_3", "output": "done"}),
        json!({"type": "custom_tool_call", "name": "apply_patch", "input": "*** Begin", "call_id": "call_4"}),
        json!({"type": "custom_tool_call_output", "call_id": "call_4", "output": "done"}),
    ];
    assert_eq!(items, expected);
}

#[test]
fn ids_repeat_for_equal_prefixes_and_never_inside_one_history() {
    let hello = HistoryItem::text(Role::User, "hello");
    let short = wire(&[hello.clone(), hello.clone()]);
    let long = wire(&[hello.clone(), hello.clone(), hello]);
    assert_eq!(short[..], long[..2]);
    let mut ids: Vec<&str> = long.iter().map(|item| item["id"].as_str().unwrap()).collect();
    ids.dedup();
    assert_eq!(ids.len(), 3);
}

#[test]
fn a_remote_image_is_refused_by_its_place() {
    let image = HistoryItem::Message {
        role: Role::User,
        content: vec![ContentPart::Image { url: "https://example.org/a.png".into() }],
        phase: None,
    };
    let refused =
        to_wire(&[HistoryItem::text(Role::User, "x"), image], &mut ToolNames::default(), |_, _| {});
    assert_eq!(
        refused.unwrap_err(),
        InvalidHistory { index: 1, problem: "an image must be a data: URL" }
    );
}

#[test]
fn calls_and_outputs_must_belong_together() {
    let call = |id: &str| HistoryItem::function_call(id, "f", "{}");
    let output = |id: &str| HistoryItem::ToolOutput {
        call_id: id.into(),
        output: ToolOutput::Text("x".into()),
    };
    let problem = |items: &[HistoryItem]| {
        to_wire(items, &mut ToolNames::default(), |_, _| {})
            .err()
            .map(|error| (error.index, error.problem))
    };
    assert_eq!(problem(&[call("a"), call("b"), output("b"), output("a")]), None);
    assert_eq!(problem(&[call("a"), output("a"), call("a"), output("a")]), None);
    assert_eq!(problem(&[output("a")]), Some((0, "there is no call before this output")));
    assert_eq!(problem(&[call("a"), call("b"), output("b")]), Some((0, "the call has no output")));
    let twice = [call("a"), call("a"), output("a"), output("a")];
    assert_eq!(problem(&twice), Some((1, "an earlier call of the same id has no output")));
}

#[test]
fn an_id_has_all_digits_of_its_hash() {
    for hash in [0, 1, 0xabc, u128::MAX, 0x0123_4567_89ab_cdef_0fed_cba9_8765_4321] {
        let mut object = r#"{"a":1}"#.to_owned();
        push_id(&mut object, "msg_", hash);
        assert_eq!(object, format!(r#"{{"a":1,"id":"msg_{hash:032x}"}}"#));
    }
}
