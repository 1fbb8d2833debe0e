//! What is read out of a request, and how what is wrong with it is told.

mod refused;
mod tools;

use model_turn::ToolCallKind;
use serde_json::{Map, Value, json};

use super::*;
use crate::reading::{
    AllowedMode, ChosenTool, CustomCall, FieldTreatment, FunctionCall, Part, Tool, ToolKind,
};

fn parse(body: &Value) -> Result<ChatRequest, ApiError> {
    ChatRequest::parse(body.to_string().as_bytes())
}

/// A request with these members beside a model and a message.
fn with(members: &Value) -> Value {
    let mut body = json!({"model": "m", "messages": [{"role": "user", "content": "Hi"}]});
    let members = members.as_object().expect("members").clone();
    body.as_object_mut().expect("an object").extend(members);
    body
}

/// What [`with`] reads without any members.
fn plain() -> ChatRequest {
    ChatRequest {
        model: "m".to_owned(),
        messages: vec![Message::User { content: text("Hi") }],
        tools: Tools::default(),
        tool_dialect: ToolDialect::Tools,
        tool_choice: ToolChoice::Auto,
        parallel_tool_calls: None,
        response_format: ResponseFormat::Text,
        reasoning_effort: None,
        reasoning_summary: None,
        verbosity: None,
        service_tier: ServiceTier::Default,
        stop: Vec::new(),
        max_tokens: None,
        n: 1,
        stream: false,
        include_usage: false,
        ignored: Vec::new(),
    }
}

fn text(text: &str) -> Vec<Part> {
    vec![Part::Text(text.to_owned())]
}

fn schema(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(members) => members,
        other => panic!("{other} is no object"),
    }
}

/// The function `f`.
fn chosen() -> ChosenTool {
    ChosenTool { namespace: None, name: "f".to_owned(), kind: ToolCallKind::Function }
}

fn declared(declared: Vec<Tool>) -> Tools {
    Tools { declared, hosted: Vec::new() }
}

fn tool(name: &str, parameters: Value) -> Tool {
    Tool {
        namespace: None,
        name: name.to_owned(),
        description: String::new(),
        kind: ToolKind::Function { parameters: schema(parameters), strict: false },
    }
}

fn call(name: &str, arguments: &str) -> FunctionCall {
    FunctionCall { name: name.to_owned(), arguments: arguments.to_owned() }
}

#[test]
fn a_request_with_everything() {
    let body = with(&json!({
        "tools": [{"type": "function", "function": {
            "name": "f", "description": "d", "parameters": {"type": "object"}, "strict": true,
        }}],
        "tool_choice": "required",
        "parallel_tool_calls": false,
        "response_format": {"type": "json_schema", "json_schema": {
            "name": "x", "description": "For x", "schema": {"type": "object"}, "strict": true,
        }},
        "reasoning_effort": "high",
        "reasoning": {"effort": "low", "summary": "detailed"},
        "stop": ["a", "b"],
        "max_tokens": 5,
        "max_completion_tokens": 7,
        "n": 2,
        "stream": true,
        "stream_options": {"include_usage": true},
        "temperature": 0,
        "seed": 1,
        "verbosity": "high",
        "service_tier": "fast",
    }));
    let parameters = schema(json!({"type": "object"}));
    let tool = Tool {
        description: "d".to_owned(),
        kind: ToolKind::Function { parameters, strict: true },
        ..tool("f", json!({}))
    };
    let expected = ChatRequest {
        tools: declared(vec![tool]),
        tool_choice: ToolChoice::Required,
        parallel_tool_calls: Some(false),
        response_format: ResponseFormat::JsonSchema {
            description: Some("For x".to_owned()),
            schema: schema(json!({"type": "object"})),
            strict: true,
        },
        reasoning_effort: Some("high".to_owned()),
        reasoning_summary: Some(ReasoningSummary::Detailed),
        verbosity: Some(Verbosity::High),
        service_tier: ServiceTier::Priority,
        stop: vec!["a".to_owned(), "b".to_owned()],
        max_tokens: Some(7),
        n: 2,
        stream: true,
        include_usage: true,
        ignored: vec!["temperature", "seed"],
        ..plain()
    };
    assert_eq!(parse(&body), Ok(expected));
}

#[test]
fn null_is_the_same_as_absent() {
    let mut members: Map<_, _> = FIELDS
        .iter()
        .filter(|(name, _)| !["model", "messages"].contains(name))
        .map(|(name, _)| ((*name).to_owned(), Value::Null))
        .collect();
    members.insert("of_our_own".to_owned(), Value::Null);
    assert_eq!(parse(&with(&members.into())), Ok(plain()));

    let message = json!({
        "role": "assistant", "content": null, "refusal": null, "audio": null, "tool_calls": null,
        "function_call": null, "name": null,
    });
    let expected =
        Message::Assistant { content: Vec::new(), tool_calls: Vec::new(), function_call: None };
    let expected = ChatRequest { messages: vec![expected], ..plain() };
    assert_eq!(parse(&with(&json!({"messages": [message]}))), Ok(expected));
}

#[test]
fn members_that_nobody_knows_are_passed_over() {
    let body = with(&json!({
        "messages": [{
            "role": "user",
            "content": [{"type": "text", "text": "Hi", "cache_control": {"type": "ephemeral"}}],
            "name": "Ann",
            "id": 5,
        }],
        "stream_options": {"include_obfuscation": false},
        "include": [],
        "text": {},
        "options": {"num_ctx": 5},
    }));
    assert_eq!(parse(&body), Ok(plain()));
}

#[test]
fn content_in_every_form_and_role() {
    let image = |detail: Option<&str>| Part::Image {
        url: "data:image/png;base64,AA".to_owned(),
        detail: detail.map(str::to_owned),
    };
    let url = "data:image/png;base64,AA";
    let forms = [
        (json!({}), vec![]),
        (json!({"content": null}), vec![]),
        (json!({"content": ""}), text("")),
        (json!({"content": []}), vec![]),
        (json!({"content": "Hi"}), text("Hi")),
        (json!({"content": ["Hi"]}), text("Hi")),
        (json!({"content": [{"type": "text", "text": ""}]}), text("")),
        (json!({"content": [{"type": "text", "text": "Hi"}]}), text("Hi")),
        (json!({"content": [{"type": "input_text", "text": "Hi"}]}), text("Hi")),
        (json!({"content": [{"type": "output_text", "text": "Hi"}]}), text("Hi")),
        (json!({"content": [{"type": "refusal", "refusal": "No"}]}), text("No")),
        (json!({"content": [{"type": "image_url", "image_url": {"url": url}}]}), vec![image(None)]),
        (
            json!({"content": [{"type": "image_url", "image_url": {"url": url, "detail": "low"}}]}),
            vec![image(Some("low"))],
        ),
        (json!({"content": [{"type": "image_url", "image_url": url}]}), vec![image(None)]),
        (
            json!({"content": [{"type": "input_image", "image_url": url, "detail": "high"}]}),
            vec![image(Some("high"))],
        ),
    ];
    for (form, content) in forms {
        let (tool_call_id, name) = (String::from("c"), String::from("f"));
        let roles = [
            ("system", Message::System { content: content.clone() }),
            ("developer", Message::System { content: content.clone() }),
            ("user", Message::User { content: content.clone() }),
            (
                "assistant",
                Message::Assistant {
                    content: content.clone(),
                    tool_calls: Vec::new(),
                    function_call: None,
                },
            ),
            ("tool", Message::Tool { tool_call_id, content: content.clone() }),
            ("function", Message::Function { name, content }),
        ];
        for (role, message) in roles {
            let mut body = form.clone();
            body["role"] = role.into();
            body["tool_call_id"] = "c".into();
            body["name"] = "f".into();
            let expected = ChatRequest { messages: vec![message], ..plain() };
            assert_eq!(parse(&with(&json!({"messages": [body]}))), Ok(expected), "{role} {form}");
        }
    }
}

#[test]
fn a_refusal_is_what_was_said_if_nothing_else_was() {
    let cases = [
        (json!(null), "No"),
        (json!(""), "No"),
        (json!([{"type": "text", "text": ""}]), "No"),
        (json!("Well"), "Well"),
    ];
    for (content, said) in cases {
        let message = json!({"role": "assistant", "content": content, "refusal": "No"});
        let request = parse(&with(&json!({"messages": [message]}))).expect("a request");
        let content = request.messages[0].content().iter().filter(|part| !part.is_empty());
        assert_eq!(content.cloned().collect::<Vec<_>>(), text(said));
    }
}

#[test]
fn calls_in_every_form() {
    let message = json!({
        "role": "assistant",
        "tool_calls": [
            {"id": "1", "type": "function", "function": {"name": "f", "arguments": "{ \"a\":1}"}},
            {"id": "2", "function": {"name": "f", "arguments": {"b": [1, {}], "a": "é"}}},
            {"id": "", "index": 0, "function": {"name": "f"}},
            {"id": "3", "type": "custom", "custom": {"name": "p", "input": "***\n"}},
            {"id": "4", "type": "custom", "name": "p", "input": "***\n", "namespace": "n"},
        ],
        "function_call": {"name": "g", "arguments": "not JSON"},
    });
    let tool_call = |id: &str, arguments| ToolCall {
        id: id.to_owned(),
        namespace: None,
        tool: CalledTool::Function(call("f", arguments)),
    };
    let patch = |id: &str, namespace: Option<&str>| ToolCall {
        id: id.to_owned(),
        namespace: namespace.map(str::to_owned),
        tool: CalledTool::Custom(CustomCall { name: "p".to_owned(), input: "***\n".to_owned() }),
    };
    let expected = Message::Assistant {
        content: Vec::new(),
        tool_calls: vec![
            tool_call("1", "{ \"a\":1}"),
            tool_call("2", r#"{"b":[1,{}],"a":"é"}"#),
            tool_call("", ""),
            patch("3", None),
            patch("4", Some("n")),
        ],
        function_call: Some(call("g", "not JSON")),
    };
    let expected = ChatRequest { messages: vec![expected], ..plain() };
    assert_eq!(parse(&with(&json!({"messages": [message]}))), Ok(expected));
}

#[test]
fn arguments_beside_the_function_are_read() {
    for (inner, outer, expected) in [
        (json!(null), json!("{ \"a\":1}"), "{ \"a\":1}"),
        (json!(""), json!("{}"), "{}"),
        (json!(""), json!({"a": 1}), r#"{"a":1}"#),
        (json!("[1]"), json!("[2]"), "[1]"),
        (json!({}), json!("[2]"), "{}"),
        (json!(""), json!(null), ""),
    ] {
        let function = json!({"name": "f", "arguments": inner});
        let calls = json!([{"id": "1", "function": function, "arguments": outer}]);
        let message = json!({"role": "assistant", "tool_calls": calls});
        let request = parse(&with(&json!({"messages": [message]}))).expect("a request");
        let expected = ToolCall {
            id: "1".to_owned(),
            namespace: None,
            tool: CalledTool::Function(call("f", expected)),
        };
        let [Message::Assistant { tool_calls, .. }] = &request.messages[..] else {
            panic!("{request:?}");
        };
        assert_eq!(tool_calls, &[expected]);
    }
}

#[test]
fn simple_fields_in_every_form() {
    let cases = [
        (json!({"stop": "a"}), ChatRequest { stop: vec!["a".to_owned()], ..plain() }),
        (json!({"stop": []}), plain()),
        (json!({"max_tokens": 30}), ChatRequest { max_tokens: Some(30), ..plain() }),
        (json!({"max_tokens": 1_u64 << 40}), ChatRequest { max_tokens: Some(u32::MAX), ..plain() }),
        (json!({"stream_options": {}}), plain()),
        (json!({"response_format": {"type": "text"}}), plain()),
        (
            json!({"response_format": {"type": "json_object"}}),
            ChatRequest { response_format: ResponseFormat::JsonObject, ..plain() },
        ),
        (
            json!({"reasoning": {"effort": "low"}}),
            ChatRequest { reasoning_effort: Some("low".to_owned()), ..plain() },
        ),
        (json!({"modalities": ["text"]}), plain()),
        (json!({"modalities": []}), plain()),
    ];
    for (members, expected) in cases {
        assert_eq!(parse(&with(&members)), Ok(expected), "{members}");
    }
}

#[test]
fn the_table_of_fields_tells_what_is_named_as_ignored() {
    for (name, treatment) in FIELDS {
        let expected = match treatment {
            FieldTreatment::Ignored => vec![*name],
            FieldTreatment::Accepted if *name != "modalities" => vec![],
            _ => continue,
        };
        let request = parse(&with(&json!({*name: {"any": "value"}}))).expect("a request");
        assert_eq!(request.ignored, expected, "{name}");
    }
    let mut names: Vec<_> = FIELDS.iter().map(|(name, _)| name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), FIELDS.len(), "a field is in the table twice");
}

#[test]
fn a_wish_for_what_happens_anyway_is_not_named() {
    let members = json!({"logprobs": false, "service_tier": "auto"});
    assert_eq!(parse(&with(&members)), Ok(plain()));
    assert_eq!(parse(&with(&json!({"service_tier": "default"}))), Ok(plain()));
    let expected = ChatRequest { ignored: vec!["service_tier"], ..plain() };
    assert_eq!(parse(&with(&json!({"service_tier": "scale"}))), Ok(expected));
}
