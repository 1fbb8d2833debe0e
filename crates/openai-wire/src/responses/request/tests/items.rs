//! Items in every form that clients send, and as they are written.

use model_turn::MessagePhase;
use serde_json::{Value, json};

use super::{parse, plain, said, with};
use crate::reading::Part;
use crate::responses::{InputItem, MessageRole, ResponsesRequest};

const URL: &str = "data:image/png;base64,AA";

#[track_caller]
fn reads(item: &Value, expected: InputItem) {
    let expected = ResponsesRequest { input: vec![expected], ..plain() };
    assert_eq!(parse(&with(&json!({"input": [item]}))), Ok(expected), "{item}");
}

fn message(role: MessageRole, content: Vec<Part>) -> InputItem {
    InputItem::Message { id: None, role, content, phase: None }
}

fn text(text: &str) -> Vec<Part> {
    vec![Part::Text(text.to_owned())]
}

fn image(detail: Option<&str>) -> Vec<Part> {
    vec![Part::Image { url: URL.to_owned(), detail: detail.map(str::to_owned) }]
}

/// An item with these members besides.
pub(super) fn and(item: &Value, members: &Value) -> Value {
    let mut item = item.clone();
    let members = members.as_object().expect("members").clone();
    item.as_object_mut().expect("an item").extend(members);
    item
}

#[test]
fn messages_in_every_form_and_role() {
    let forms = [
        (json!({}), vec![]),
        (json!({"content": null}), vec![]),
        (json!({"content": ""}), text("")),
        (json!({"content": []}), vec![]),
        (json!({"content": "Hi"}), text("Hi")),
        (json!({"content": ["Hi"]}), text("Hi")),
        (json!({"content": [{"type": "text", "text": "Hi"}]}), text("Hi")),
        (
            json!({"content": [{"type": "input_text", "text": "Hi", "prompt_cache_breakpoint": {}}]}),
            text("Hi"),
        ),
        (
            json!({"content": [
                {"type": "output_text", "text": "Hi", "annotations": [{}], "logprobs": []},
            ]}),
            text("Hi"),
        ),
        (json!({"content": [{"type": "summary_text", "text": "Hi"}]}), text("Hi")),
        (json!({"content": [{"type": "refusal", "refusal": "No"}]}), text("No")),
        (
            json!({"content": [{"type": "input_image", "image_url": URL, "detail": "high"}]}),
            image(Some("high")),
        ),
        (
            json!({"content": [{"type": "input_image", "image_url": URL, "file_id": null}]}),
            image(None),
        ),
        (
            json!({"content": [{"type": "input_image", "image_url": {"url": URL, "detail": "low"}}]}),
            image(Some("low")),
        ),
        (json!({"content": [{"type": "image_url", "image_url": {"url": URL}}]}), image(None)),
    ];
    let roles = [
        ("system", MessageRole::System),
        ("developer", MessageRole::Developer),
        ("user", MessageRole::User),
        ("assistant", MessageRole::Assistant),
    ];
    for (form, content) in forms {
        for (name, role) in roles {
            let item = and(&form, &json!({"role": name}));
            reads(&item, message(role, content.clone()));
            reads(&and(&item, &json!({"type": "message"})), message(role, content.clone()));
        }
    }
}

#[test]
fn what_else_a_message_may_have() {
    let item = json!({
        "type": "message", "id": "msg_1", "role": "assistant", "status": "incomplete",
        "content": "Hi", "name": "Ann", "tool_calls": [], "function_call": null,
    });
    let with_phase = |phase| InputItem::Message {
        id: Some("msg_1".to_owned()),
        role: MessageRole::Assistant,
        content: text("Hi"),
        phase,
    };
    reads(&item, with_phase(None));
    let phases = [
        (json!("commentary"), Some(MessagePhase::Commentary)),
        (json!("final_answer"), Some(MessagePhase::FinalAnswer)),
        (json!("a new one"), None),
        (json!(5), None),
        (json!(null), None),
    ];
    for (given, phase) in phases {
        reads(&and(&item, &json!({"phase": given})), with_phase(phase));
    }
    reads(&json!({"role": "user", "content": "Hi", "id": ""}), said(MessageRole::User, "Hi"));
}

#[test]
fn calls_in_every_form() {
    let call = |id: Option<&str>, arguments: &str| InputItem::FunctionCall {
        id: id.map(str::to_owned),
        call_id: "c".to_owned(),
        namespace: None,
        name: "f".to_owned(),
        arguments: arguments.to_owned(),
    };
    let item = json!({"call_id": "c", "name": "f", "arguments": "{ \"a\":1}"});
    reads(&item, call(None, "{ \"a\":1}"));
    let typed = and(
        &item,
        &json!({
            "type": "function_call", "id": "fc_1", "status": "completed", "namespace": "",
        }),
    );
    reads(&typed, call(Some("fc_1"), "{ \"a\":1}"));
    reads(
        &and(&item, &json!({"arguments": {"b": [1, {}], "a": "é"}})),
        call(None, r#"{"b":[1,{}],"a":"é"}"#),
    );
    reads(&and(&item, &json!({"arguments": "not JSON"})), call(None, "not JSON"));
    reads(&and(&item, &json!({"arguments": null})), call(None, ""));
}

#[test]
fn outputs_in_every_form() {
    let output = |id: Option<&str>, output: Vec<Part>| InputItem::FunctionCallOutput {
        id: id.map(str::to_owned),
        call_id: "c".to_owned(),
        output,
    };
    let item = json!({"type": "function_call_output", "call_id": "c"});
    reads(&item, output(None, text("")));
    reads(&and(&item, &json!({"output": null})), output(None, text("")));
    reads(&and(&item, &json!({"output": ""})), output(None, text("")));
    reads(&and(&item, &json!({"output": []})), output(None, vec![]));
    reads(&and(&item, &json!({"output": "4", "id": "fco_1"})), output(Some("fco_1"), text("4")));
    let parts = json!([
        {"type": "input_text", "text": "4"},
        {"type": "input_image", "image_url": URL, "detail": "auto"},
    ]);
    let expected = [text("4"), image(Some("auto"))].concat();
    reads(&and(&item, &json!({"output": parts, "status": "completed"})), output(None, expected));
    reads(&json!({"call_id": "c", "output": "4", "name": "f"}), output(None, text("4")));
}

#[test]
fn reasoning_in_every_form() {
    let reasoning = |id: Option<&str>, summary: &[&str], content: Option<&str>| {
        let summary = summary.iter().map(|&text| text.to_owned()).collect();
        InputItem::Reasoning {
            id: id.map(str::to_owned),
            summary,
            encrypted_content: content.map(str::to_owned),
        }
    };
    reads(&json!({"type": "reasoning"}), reasoning(None, &[], None));
    let item = json!({
        "type": "reasoning",
        "id": "rs_1",
        "summary": [{"type": "summary_text", "text": "a"}, "b", {"text": "c"}],
        "content": [{"type": "reasoning_text", "text": "not for us"}],
        "encrypted_content": "gAAA",
        "status": null,
    });
    reads(&item, reasoning(Some("rs_1"), &["a", "b", "c"], Some("gAAA")));
    let item = and(&item, &json!({"summary": [], "encrypted_content": null}));
    reads(&item, reasoning(Some("rs_1"), &[], None));
}

#[test]
fn references_in_every_form() {
    let reference = || InputItem::Reference { id: "msg_1".to_owned() };
    reads(&json!({"type": "item_reference", "id": "msg_1"}), reference());
    reads(&json!({"id": "msg_1"}), reference());
    reads(&json!({"type": null, "id": "msg_1", "content": null}), reference());
}

#[test]
fn items_as_they_are_written() {
    let id = |id: &str| Some(id.to_owned());
    let message =
        |role, content, phase| InputItem::Message { id: id("msg_1"), role, content, phase };
    let output =
        |output| InputItem::FunctionCallOutput { id: id("fco_1"), call_id: "c".to_owned(), output };
    let cases = [
        (
            message(
                MessageRole::User,
                [text("Hi"), image(None), image(Some("low"))].concat(),
                None,
            ),
            r#"{"type":"message","id":"msg_1","role":"user","status":"completed","content":[{"type":"input_text","text":"Hi"},{"type":"input_image","image_url":"data:image/png;base64,AA","detail":null},{"type":"input_image","image_url":"data:image/png;base64,AA","detail":"low"}]}"#,
        ),
        (
            message(MessageRole::Assistant, text("Hi"), Some(MessagePhase::FinalAnswer)),
            r#"{"type":"message","id":"msg_1","role":"assistant","status":"completed","content":[{"type":"output_text","text":"Hi","annotations":[],"logprobs":[]}],"phase":"final_answer"}"#,
        ),
        (
            InputItem::FunctionCall {
                id: id("fc_1"),
                call_id: "c".to_owned(),
                namespace: None,
                name: "f".to_owned(),
                arguments: "{}".to_owned(),
            },
            r#"{"type":"function_call","id":"fc_1","call_id":"c","name":"f","arguments":"{}","status":"completed"}"#,
        ),
        (
            InputItem::CustomToolCall {
                id: id("ctc_1"),
                call_id: "c".to_owned(),
                namespace: Some("n".to_owned()),
                name: "p".to_owned(),
                input: "a\nb".to_owned(),
            },
            r#"{"type":"custom_tool_call","id":"ctc_1","call_id":"c","namespace":"n","name":"p","input":"a\nb","status":"completed"}"#,
        ),
        (
            InputItem::CustomToolCallOutput {
                id: id("ctco_1"),
                call_id: "c".to_owned(),
                output: text("4"),
            },
            r#"{"type":"custom_tool_call_output","id":"ctco_1","call_id":"c","output":"4","status":"completed"}"#,
        ),
        (
            InputItem::AdditionalTools {
                id: id("at_1"),
                tools: vec![json!({"type": "custom", "name": "p"})],
            },
            r#"{"type":"additional_tools","id":"at_1","role":"developer","tools":[{"type":"custom","name":"p"}]}"#,
        ),
        (
            output(text("4")),
            r#"{"type":"function_call_output","id":"fco_1","call_id":"c","output":"4","status":"completed"}"#,
        ),
        (
            output([text("4"), text("5")].concat()),
            r#"{"type":"function_call_output","id":"fco_1","call_id":"c","output":[{"type":"input_text","text":"4"},{"type":"input_text","text":"5"}],"status":"completed"}"#,
        ),
        (
            InputItem::Reasoning {
                id: id("rs_1"),
                summary: vec!["a".to_owned()],
                encrypted_content: Some("gAAA".to_owned()),
            },
            r#"{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"a"}],"encrypted_content":"gAAA"}"#,
        ),
        (
            InputItem::Reference { id: "msg_1".to_owned() },
            r#"{"type":"item_reference","id":"msg_1"}"#,
        ),
    ];
    for (item, json) in cases {
        assert_eq!(item.to_json(), json);
    }
    let nameless = said(MessageRole::Developer, "Hi").to_json();
    assert!(!nameless.contains("\"id\""), "{nameless}");
}

#[test]
fn items_can_be_given_ids() {
    let cases = [
        (json!({"role": "user"}), "msg_"),
        (json!({"call_id": "c", "name": "f"}), "fc_"),
        (json!({"call_id": "c", "output": "4"}), "fco_"),
        (json!({"type": "reasoning"}), "rs_"),
    ];
    for (item, prefix) in cases {
        let mut item = InputItem::parse(&item.to_string()).expect("an item");
        assert_eq!((item.id(), item.id_prefix()), (None, prefix));
        item.set_id("x_1".to_owned());
        assert_eq!(item.id(), Some("x_1"));
    }
    let mut reference = InputItem::Reference { id: "msg_1".to_owned() };
    assert_eq!((reference.id(), reference.id_prefix()), (Some("msg_1"), ""));
    reference.set_id("msg_2".to_owned());
    assert_eq!(reference, InputItem::Reference { id: "msg_2".to_owned() });
}
