use super::*;
use crate::responses::{
    Echo, IncompleteReason, ItemStatus, MessageRole, OutputContent, OutputMessage, Reasoning,
    ResponseError, ResponseHead,
};

fn responses() -> ResponseWriter {
    ResponseWriter::new(&ResponseHead {
        id: "resp_1",
        created_at: 7,
        model: "m",
        instructions: None,
        max_output_tokens: None,
        parallel_tool_calls: true,
        previous_response_id: None,
        store: false,
        echo: &Echo::default(),
    })
}

fn written(write: impl FnOnce(&mut EventWriter, &mut BytesMut)) -> String {
    let mut writer = EventWriter::new(EncryptedContent::LeftOut);
    let mut buffer = BytesMut::new();
    write(&mut writer, &mut buffer);
    String::from_utf8(buffer.to_vec()).unwrap()
}

fn state(status: &ResponseStatus) -> ResponseState<'_> {
    ResponseState { status, output: &[], usage: None }
}

/// The response object, which has tests of its own.
fn response(status: &ResponseStatus) -> String {
    let mut buffer = BytesMut::new();
    responses().write(&state(status), EncryptedContent::LeftOut, &mut buffer);
    String::from_utf8(buffer.to_vec()).unwrap()
}

/// Frames, each given by its type and its members after the number.
fn frames(events: &[(&str, &str)]) -> String {
    let frame = |(number, (event, members)): (usize, &(&str, &str))| {
        format!(
            "event: {event}\ndata: {{\"type\":\"{event}\",\"sequence_number\":{number},{members}}}\n\n"
        )
    };
    events.iter().enumerate().map(frame).collect()
}

#[test]
fn a_message_is_told_piece_by_piece() {
    let mut message = OutputMessage {
        id: "msg_1".to_owned(),
        status: ItemStatus::InProgress,
        content: vec![],
        role: MessageRole::Assistant,
        phase: None,
    };
    let text = OutputText { text: "a\"b\né".to_owned(), ..OutputText::default() };
    let told = written(|writer, buffer| {
        writer.item_added(2, &OutputItem::Message(message.clone()), buffer);
        writer.text_added(buffer);
        writer.text_delta("a\"b", buffer);
        writer.text_delta("\né", buffer);
        writer.text_done(&text, buffer);
        message.status = ItemStatus::Completed;
        message.content.push(OutputContent::Text(text));
        writer.item_done(&OutputItem::Message(message), buffer);
    });
    let part = |text: &str| {
        format!(r#"{{"type":"output_text","annotations":[],"logprobs":[],"text":{text}}}"#)
    };
    let item = |status: &str, content: &str| {
        format!(
            r#""output_index":2,"item":{{"type":"message","id":"msg_1","status":"{status}","content":[{content}],"role":"assistant"}}"#
        )
    };
    let place = r#""item_id":"msg_1","output_index":2,"content_index":0"#;
    let whole = part(r#""a\"b\né""#);
    assert_eq!(
        told,
        frames(&[
            ("response.output_item.added", &item("in_progress", "")),
            ("response.content_part.added", &format!(r#"{place},"part":{}"#, part(r#""""#))),
            ("response.output_text.delta", &format!(r#"{place},"delta":"a\"b","logprobs":[]"#)),
            ("response.output_text.delta", &format!(r#"{place},"delta":"\né","logprobs":[]"#)),
            ("response.output_text.done", &format!(r#"{place},"text":"a\"b\né","logprobs":[]"#)),
            ("response.content_part.done", &format!(r#"{place},"part":{whole}"#)),
            ("response.output_item.done", &item("completed", &whole)),
        ])
    );
}

#[test]
fn a_call_of_a_custom_tool_is_told_piece_by_piece() {
    let mut call = CustomToolCall {
        id: "ctc_1".to_owned(),
        status: ItemStatus::InProgress,
        call_id: "tool_0_0_a".to_owned(),
        input: String::new(),
        name: "p".to_owned(),
        namespace: Some("n".to_owned()),
    };
    let told = written(|writer, buffer| {
        writer.item_added(0, &OutputItem::CustomToolCall(call.clone()), buffer);
        writer.input_delta("a\n", buffer);
        call.input = "a\n".to_owned();
        call.status = ItemStatus::Completed;
        writer.input_done(&call, buffer);
        writer.item_done(&OutputItem::CustomToolCall(call), buffer);
    });
    let item = |status: &str, input: &str| {
        format!(
            r#""output_index":0,"item":{{"type":"custom_tool_call","id":"ctc_1","status":"{status}","call_id":"tool_0_0_a","input":"{input}","name":"p","namespace":"n"}}"#
        )
    };
    let place = r#""item_id":"ctc_1","output_index":0"#;
    assert_eq!(
        told,
        frames(&[
            ("response.output_item.added", &item("in_progress", "")),
            ("response.custom_tool_call_input.delta", &format!(r#"{place},"delta":"a\n""#)),
            ("response.custom_tool_call_input.done", &format!(r#"{place},"input":"a\n""#)),
            ("response.output_item.done", &item("completed", r"a\n")),
        ])
    );
}

#[test]
fn a_call_is_told_piece_by_piece() {
    let mut call = FunctionCall {
        id: "fc_1".to_owned(),
        status: ItemStatus::InProgress,
        arguments: String::new(),
        call_id: "tool_0_0_a".to_owned(),
        name: "f".to_owned(),
        namespace: None,
    };
    let told = written(|writer, buffer| {
        writer.item_added(0, &OutputItem::FunctionCall(call.clone()), buffer);
        writer.arguments_delta("{\"q\"", buffer);
        writer.arguments_delta(":1}", buffer);
        call.arguments = "{\"q\":1}".to_owned();
        call.status = ItemStatus::Completed;
        writer.arguments_done(&call, buffer);
        writer.item_done(&OutputItem::FunctionCall(call), buffer);
    });
    let item = |status: &str, arguments: &str| {
        format!(
            r#""output_index":0,"item":{{"type":"function_call","id":"fc_1","status":"{status}","arguments":"{arguments}","call_id":"tool_0_0_a","name":"f"}}"#
        )
    };
    let place = r#""item_id":"fc_1","output_index":0"#;
    let whole = r#"{\"q\":1}"#;
    assert_eq!(
        told,
        frames(&[
            ("response.output_item.added", &item("in_progress", "")),
            ("response.function_call_arguments.delta", &format!(r#"{place},"delta":"{{\"q\"""#)),
            ("response.function_call_arguments.delta", &format!(r#"{place},"delta":":1}}""#)),
            (
                "response.function_call_arguments.done",
                &format!(r#"{place},"name":"f","arguments":"{whole}""#)
            ),
            ("response.output_item.done", &item("completed", whole)),
        ])
    );
}

#[test]
fn reasoning_is_told_part_by_part() {
    let mut reasoning =
        Reasoning { id: "rs_1".to_owned(), summary: vec![], encrypted_content: None };
    let part = SummaryText { text: "why".to_owned() };
    let told = written(|writer, buffer| {
        writer.item_added(0, &OutputItem::Reasoning(reasoning.clone()), buffer);
        writer.summary_added(1, buffer);
        writer.summary_delta(1, "why", buffer);
        writer.summary_done(1, &part, buffer);
        reasoning.summary.push(part);
        reasoning.encrypted_content = Some("secret".to_owned());
        writer.item_done(&OutputItem::Reasoning(reasoning), buffer);
    });
    let item = |summary: &str| {
        format!(
            r#""output_index":0,"item":{{"type":"reasoning","id":"rs_1","summary":[{summary}]}}"#
        )
    };
    let place = r#""item_id":"rs_1","output_index":0,"summary_index":1"#;
    let part = |text: &str| format!(r#"{{"type":"summary_text","text":"{text}"}}"#);
    assert_eq!(
        told,
        frames(&[
            ("response.output_item.added", &item("")),
            ("response.reasoning_summary_part.added", &format!(r#"{place},"part":{}"#, part(""))),
            ("response.reasoning_summary_text.delta", &format!(r#"{place},"delta":"why""#)),
            ("response.reasoning_summary_text.done", &format!(r#"{place},"text":"why""#)),
            ("response.reasoning_summary_part.done", &format!(r#"{place},"part":{}"#, part("why"))),
            ("response.output_item.done", &item(&part("why"))),
        ])
    );
}

#[test]
fn a_stream_begins_with_two_events_and_ends_with_one() {
    let in_progress = format!(r#""response":{}"#, response(&ResponseStatus::InProgress));
    let error = ApiError::invalid("input", "no");
    let cases = [
        ("response.completed", ResponseStatus::Completed { at: 9 }),
        ("response.incomplete", ResponseStatus::Incomplete(IncompleteReason::ContentFilter)),
        ("response.incomplete", ResponseStatus::Cancelled),
        ("response.failed", ResponseStatus::Failed(ResponseError::from(&error))),
    ];
    for (event, status) in cases {
        let told = written(|writer, buffer| {
            writer.begun(&responses(), buffer);
            writer.ended(&responses(), &state(&status), buffer);
        });
        assert_eq!(
            told,
            frames(&[
                ("response.created", &in_progress),
                ("response.in_progress", &in_progress),
                (event, &format!(r#""response":{}"#, response(&status))),
            ])
        );
    }
}

#[test]
fn an_error_is_told_in_both_shapes() {
    let error = ApiError::invalid("input", "no");
    let told = written(|writer, buffer| writer.error(&error, buffer));
    assert_eq!(
        told,
        frames(&[(
            "error",
            r#""code":"invalid_value","message":"no","param":"input","error":{"message":"no","type":"invalid_request_error","param":"input","code":"invalid_value"}"#
        )])
    );
}
