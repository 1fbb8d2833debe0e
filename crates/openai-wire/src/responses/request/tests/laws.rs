//! What holds for every item and every body.

use model_turn::MessagePhase;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value};

use crate::FieldTreatment;
use crate::reading::Part;
use crate::responses::{FIELDS, InputItem, MessageRole, ResponsesRequest};

fn id() -> impl Strategy<Value = Option<String>> {
    option::of(".{1,20}")
}

fn part() -> impl Strategy<Value = Part> {
    prop_oneof![
        any::<String>().prop_map(Part::Text),
        (any::<String>(), option::of(any::<String>()))
            .prop_map(|(url, detail)| Part::Image { url, detail }),
    ]
}

fn item() -> impl Strategy<Value = InputItem> {
    let roles = vec![
        MessageRole::System,
        MessageRole::Developer,
        MessageRole::User,
        MessageRole::Assistant,
    ];
    let phases = vec![MessagePhase::Commentary, MessagePhase::FinalAnswer];
    prop_oneof![
        (id(), select(roles), vec(part(), 0..4), option::of(select(phases)))
            .prop_map(|(id, role, content, phase)| InputItem::Message { id, role, content, phase }),
        (id(), any::<String>(), id(), ".{1,20}", any::<String>()).prop_map(
            |(id, call_id, namespace, name, arguments)| InputItem::FunctionCall {
                id,
                call_id,
                namespace,
                name,
                arguments
            }
        ),
        (id(), any::<String>(), id(), ".{1,20}", any::<String>()).prop_map(
            |(id, call_id, namespace, name, input)| InputItem::CustomToolCall {
                id,
                call_id,
                namespace,
                name,
                input
            }
        ),
        (id(), any::<String>(), vec(part(), 0..4)).prop_map(|(id, call_id, output)| {
            InputItem::CustomToolCallOutput { id, call_id, output }
        }),
        (id(), any::<String>(), vec(part(), 0..4)).prop_map(|(id, call_id, output)| {
            InputItem::FunctionCallOutput { id, call_id, output }
        }),
        (id(), vec(any::<String>(), 0..4), option::of(any::<String>())).prop_map(
            |(id, summary, encrypted_content)| InputItem::Reasoning {
                id,
                summary,
                encrypted_content
            }
        ),
        any::<String>().prop_map(|id| InputItem::Reference { id }),
    ]
}

const MEMBERS: &str = "type id role content call_id name arguments output summary \
    encrypted_content phase text refusal image_url url file_id detail function parameters strict \
    description format input namespace syntax definition json_schema schema effort mode tools allowed_tools tool_calls";

const WORDS: &str = "auto none required function allowed_tools message function_call \
    function_call_output custom_tool_call custom_tool_call_output additional_tools custom \
    namespace grammar reasoning item_reference user assistant tool input_text output_text \
    summary_text input_image refusal json_schema json_object reasoning.encrypted_content é";

/// JSON made of the words that the reader knows, so that it gets far.
fn json() -> impl Strategy<Value = Value> {
    let fields = FIELDS.iter().map(|(name, _)| *name);
    let names: Vec<_> = MEMBERS.split_whitespace().chain(fields).collect();
    let words: Vec<_> = WORDS.split_whitespace().collect();
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        select(words).prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 64, 8, move |value| {
        let members = vec((select(names.clone()), value.clone()), 0..8);
        prop_oneof![
            vec(value, 0..4).prop_map(Value::from),
            members.prop_map(|members| {
                let members = members.into_iter().map(|(name, value)| (name.to_owned(), value));
                Value::Object(members.collect())
            }),
        ]
    })
}

/// An item of which up to two members are something else.
fn altered_item() -> impl Strategy<Value = Value> {
    let members: Vec<_> = MEMBERS.split_whitespace().collect();
    (item(), vec((select(members), json()), 0..3)).prop_map(|(item, members)| {
        let mut item: Value = serde_json::from_str(&item.to_json()).expect("JSON");
        for (name, value) in members {
            item[name] = value;
        }
        item
    })
}

/// All that a request may have.
fn fields() -> Vec<&'static str> {
    let allowed = FIELDS.iter().filter(|(_, treatment)| *treatment != FieldTreatment::Refused);
    allowed.map(|(name, _)| *name).collect()
}

proptest! {
    #[test]
    fn an_item_that_was_written_is_read_as_it_was(item in item()) {
        prop_assert_eq!(InputItem::parse(&item.to_json()), Ok(item));
    }

    /// A refusal is a 400 that names the place; what is read is written and read again.
    #[test]
    fn any_body_is_read_or_refused(
        fields in vec((select(fields()), json()), 0..3),
        input in vec(altered_item(), 0..3),
    ) {
        let mut body = Map::from_iter([("model".to_owned(), "m".into())]);
        body.insert("input".to_owned(), input.into());
        body.extend(fields.into_iter().map(|(name, value)| (name.to_owned(), value)));
        match ResponsesRequest::parse(Value::Object(body).to_string().as_bytes()) {
            Ok(request) => for item in request.input {
                prop_assert_eq!(InputItem::parse(&item.to_json()), Ok(item));
            },
            Err(error) => prop_assert!(error.status == 400 && error.param.is_some()),
        }
    }

    #[test]
    fn any_bytes_are_read_or_refused(body in vec(any::<u8>(), 0..64)) {
        prop_assert_eq!(ResponsesRequest::parse(&body).map_err(|error| error.status), Err(400));
    }
}
