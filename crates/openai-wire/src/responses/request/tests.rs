//! What is read out of a request, and how what is wrong with it is told.

mod items;
mod laws;
mod refused;

use model_turn::ToolCallKind;
use serde_json::{Map, Value, json};

use super::*;
use crate::reading::{AllowedMode, ChosenTool, FieldTreatment, Tool, ToolKind};

fn parse(body: &Value) -> Result<ResponsesRequest, ApiError> {
    ResponsesRequest::parse(body.to_string().as_bytes())
}

/// A request with these members beside a model and a text.
fn with(members: &Value) -> Value {
    let mut body = json!({"model": "m", "input": "Hi"});
    let members = members.as_object().expect("members").clone();
    body.as_object_mut().expect("an object").extend(members);
    body
}

/// What [`with`] reads without any members.
fn plain() -> ResponsesRequest {
    ResponsesRequest {
        model: "m".to_owned(),
        input: vec![said(MessageRole::User, "Hi")],
        instructions: None,
        tools: Tools::default(),
        tool_choice: ToolChoice::Auto,
        parallel_tool_calls: None,
        format: ResponseFormat::Text,
        reasoning_effort: None,
        reasoning_summary: None,
        verbosity: None,
        service_tier: ServiceTier::Default,
        max_output_tokens: None,
        previous_response_id: None,
        store: None,
        include_encrypted_reasoning: false,
        stream: false,
        echo: Echo::default(),
        ignored: Vec::new(),
    }
}

fn said(role: MessageRole, text: &str) -> InputItem {
    let content = vec![Part::Text(text.to_owned())];
    InputItem::Message { id: None, role, content, phase: None }
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

#[test]
fn a_request_with_everything() {
    let body = with(&json!({
        "instructions": "Be kind.",
        "tools": [{
            "type": "function", "name": "f", "description": "d", "parameters": {"type": "object"},
            "strict": true,
        }],
        "tool_choice": "required",
        "parallel_tool_calls": false,
        "text": {"verbosity": "low", "format": {
            "type": "json_schema", "name": "x", "description": "For x",
            "schema": {"type": "object"}, "strict": true,
        }},
        "reasoning": {"effort": "low", "summary": "detailed", "context": "auto"},
        "max_output_tokens": 7,
        "previous_response_id": "resp_1",
        "store": false,
        "include": ["reasoning.encrypted_content", "message.output_text.logprobs"],
        "stream": true,
        "stream_options": {"include_obfuscation": false},
        "metadata": {"a": "b"},
        "user": "u",
        "safety_identifier": "s",
        "prompt_cache_key": "k",
        "truncation": "auto",
        "max_tool_calls": 3,
        "background": false,
        "service_tier": "flex",
        "temperature": 0,
    }));
    let format = json!({
        "type": "json_schema", "name": "x", "description": "For x", "schema": {"type": "object"},
        "strict": true,
    });
    let expected = ResponsesRequest {
        instructions: Some("Be kind.".to_owned()),
        tools: declared(vec![Tool {
            description: "d".to_owned(),
            kind: ToolKind::Function {
                parameters: schema(json!({"type": "object"})),
                strict: true,
            },
            ..tool("f", json!({}))
        }]),
        tool_choice: ToolChoice::Required,
        parallel_tool_calls: Some(false),
        format: ResponseFormat::JsonSchema {
            description: Some("For x".to_owned()),
            schema: schema(json!({"type": "object"})),
            strict: true,
        },
        reasoning_effort: Some("low".to_owned()),
        reasoning_summary: Some(ReasoningSummary::Detailed),
        verbosity: Some(Verbosity::Low),
        service_tier: ServiceTier::Flex,
        max_output_tokens: Some(7),
        previous_response_id: Some("resp_1".to_owned()),
        store: Some(false),
        include_encrypted_reasoning: true,
        stream: true,
        echo: Echo {
            tools: JsonText::new(&json!([{
                "type": "function", "name": "f", "description": "d",
                "parameters": {"type": "object"}, "strict": true,
            }])),
            tool_choice: JsonText::new("required"),
            text: JsonText::new(&json!({"format": format, "verbosity": "low"})),
            reasoning: JsonText::new(&json!({"effort": "low", "summary": "detailed"})),
            metadata: JsonText::new(&json!({"a": "b"})),
            user: Some("u".to_owned()),
            safety_identifier: Some("s".to_owned()),
            prompt_cache_key: Some("k".to_owned()),
            truncation: Truncation::Auto,
            max_tool_calls: Some(3),
            service_tier: ServiceTier::Flex,
        },
        ignored: vec!["temperature", "truncation", "include"],
        ..plain()
    };
    assert_eq!(parse(&body), Ok(expected));
}

#[test]
fn what_a_response_repeats_is_whole_without_being_given() {
    let repeated = serde_json::to_value(&plain().echo).expect("JSON");
    let expected = json!({
        "tools": [],
        "tool_choice": "auto",
        "text": {"format": {"type": "text"}},
        "reasoning": {"effort": null, "summary": null},
        "metadata": {},
        "user": null,
        "safety_identifier": null,
        "prompt_cache_key": null,
        "truncation": "disabled",
        "max_tool_calls": null,
        "service_tier": "default",
    });
    assert_eq!(repeated, expected);
}

#[test]
fn null_is_the_same_as_absent() {
    let mut members: Map<_, _> = FIELDS
        .iter()
        .filter(|(name, _)| !["model", "input"].contains(name))
        .map(|(name, _)| ((*name).to_owned(), Value::Null))
        .collect();
    members.insert("of_our_own".to_owned(), Value::Null);
    assert_eq!(parse(&with(&members.into())), Ok(plain()));
}

#[test]
fn members_that_nobody_knows_are_passed_over() {
    let body = with(&json!({
        "of_our_own": {"a": 1},
        "reasoning": {"of_our_own": 1},
        "text": {"of_our_own": 1},
        "stream_options": {"include_usage": true},
    }));
    assert_eq!(parse(&body), Ok(plain()));
}

#[test]
fn no_new_items_if_there_is_something_else_to_go_by() {
    let instructed =
        ResponsesRequest { input: Vec::new(), instructions: Some("Go on.".to_owned()), ..plain() };
    let members = json!({"input": [], "instructions": "Go on."});
    assert_eq!(parse(&with(&members)), Ok(instructed));
    let continued = ResponsesRequest {
        input: Vec::new(),
        previous_response_id: Some("resp_1".to_owned()),
        ..plain()
    };
    let members = json!({"input": [], "previous_response_id": "resp_1"});
    assert_eq!(parse(&with(&members)), Ok(continued));
}

#[test]
fn tools_in_every_form() {
    let empty = json!({"type": "object", "properties": {}});
    let echo = |name: &str, parameters: &Value| {
        json!({
            "type": "function", "name": name, "description": null, "parameters": parameters,
            "strict": false,
        })
    };
    let body = with(&json!({"tools": [
        {"type": "function", "name": "a b", "description": null, "parameters": null, "strict": null},
        {"name": "c", "parameters": {"$schema": "x"}, "defer_loading": true},
        {"type": "function", "function": {"name": "d"}},
    ]}));
    let expected = ResponsesRequest {
        tools: declared(vec![
            tool("a b", empty.clone()),
            tool("c", json!({"$schema": "x"})),
            tool("d", empty.clone()),
        ]),
        echo: Echo {
            tools: JsonText::new(&[
                echo("a b", &empty),
                echo("c", &json!({"$schema": "x"})),
                echo("d", &empty),
            ]),
            ..Echo::default()
        },
        ..plain()
    };
    assert_eq!(parse(&body), Ok(expected));
    assert_eq!(parse(&with(&json!({"tools": []}))), Ok(plain()));
}

#[test]
fn tools_of_other_kinds_are_repeated_and_hosted_ones_are_not() {
    let tools = json!([
        {"type": "custom", "name": "p", "description": null, "format": {
            "type": "grammar", "syntax": "regex", "definition": "a+",
        }},
        {"type": "namespace", "name": "n", "description": "d", "tools": [
            {"type": "function", "name": "f", "description": null, "parameters": {}, "strict": false},
            {"type": "custom", "name": "q", "description": "x", "format": {"type": "text"}},
        ]},
    ]);
    let mut declared = tools.as_array().expect("tools").clone();
    declared.push(json!({"type": "image_generation"}));
    let request = parse(&with(&json!({"tools": declared}))).expect("a request");
    assert_eq!(request.tools.declared.len(), 3);
    assert_eq!(request.tools.hosted[0].ignored_name(), "tools.image_generation");
    assert_eq!(request.tools.hosted[0].refusal().param.as_deref(), Some("tools[2].type"));
    assert_eq!(request.echo.tools, JsonText::new(&tools));
}

#[test]
fn tools_of_the_input_can_be_chosen() {
    let item = json!({"type": "additional_tools", "role": "developer", "tools": [{
        "type": "namespace", "name": "n", "description": "", "tools": [{"name": "g"}],
    }]});
    let choice = json!({"type": "function", "name": "g"});
    let request = parse(&with(&json!({"input": [item], "tool_choice": choice})));
    let inside = ChosenTool { namespace: Some("n".to_owned()), name: "g".to_owned(), ..chosen() };
    assert_eq!(request.expect("a request").tool_choice, ToolChoice::Named(inside));
}

#[test]
fn a_tool_that_is_declared_twice_can_be_chosen() {
    let declared = json!({"type": "namespace", "name": "n", "tools": [{"name": "g"}]});
    let item = json!({"type": "additional_tools", "tools": [declared]});
    let chosen_of = |tools: Value, input: Value, choice: Value| {
        let members = json!({"tools": tools, "input": input, "tool_choice": choice});
        parse(&with(&members)).map(|request| request.tool_choice)
    };
    let choice = json!({"type": "function", "name": "g"});
    let inside = ChosenTool { namespace: Some("n".to_owned()), name: "g".to_owned(), ..chosen() };
    let twice = chosen_of(json!([declared]), json!([item, item]), choice);
    assert_eq!(twice, Ok(ToolChoice::Named(inside)));
    // A model sees a tool without a namespace in this one.
    let choice = json!({"type": "function", "name": "f", "namespace": "functions"});
    let outside = chosen_of(json!([{"name": "f"}]), json!("Hi"), choice);
    assert_eq!(outside, Ok(ToolChoice::Named(chosen())));
}

#[test]
fn tool_choices_in_every_form() {
    let named = ToolChoice::Named(chosen());
    let named_echo = json!({"type": "function", "name": "f"});
    let allowed = |mode| ToolChoice::Allowed { tools: vec![chosen()], mode };
    let allowed_echo =
        |mode: &str| json!({"type": "allowed_tools", "mode": mode, "tools": [named_echo]});
    let nested = json!({"type": "function", "function": {"name": "f"}});
    let cases = [
        (json!("none"), ToolChoice::None, json!("none")),
        (json!("auto"), ToolChoice::Auto, json!("auto")),
        (json!("required"), ToolChoice::Required, json!("required")),
        (named_echo.clone(), named.clone(), named_echo.clone()),
        (nested.clone(), named, named_echo.clone()),
        (allowed_echo("auto"), allowed(AllowedMode::Auto), allowed_echo("auto")),
        (
            json!({"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": [nested]}}),
            allowed(AllowedMode::Required),
            allowed_echo("required"),
        ),
    ];
    for (choice, expected, echo) in cases {
        let members = json!({"tools": [{"name": "e"}, {"name": "f"}], "tool_choice": choice});
        let request = parse(&with(&members)).expect("a request");
        assert_eq!(request.tool_choice, expected, "{members}");
        assert_eq!(request.echo.tool_choice, JsonText::new(&echo), "{members}");
    }
}

#[test]
fn text_in_every_form() {
    let format = |strict| ResponseFormat::JsonSchema {
        description: None,
        schema: schema(json!({"type": "object"})),
        strict,
    };
    let flat = json!({"type": "json_schema", "schema": {"type": "object"}});
    let nested = json!({"type": "json_schema", "json_schema": {
        "name": "x", "schema": {"type": "object"}, "strict": true,
    }});
    let cases = [
        (json!({}), ResponseFormat::Text, json!({"type": "text"})),
        (json!({"format": null}), ResponseFormat::Text, json!({"type": "text"})),
        (json!({"format": {"type": "text"}}), ResponseFormat::Text, json!({"type": "text"})),
        (
            json!({"format": {"type": "json_object"}}),
            ResponseFormat::JsonObject,
            json!({"type": "json_object"}),
        ),
        (
            json!({"format": flat}),
            format(false),
            json!({
                "type": "json_schema", "description": null, "schema": {"type": "object"},
                "strict": false,
            }),
        ),
        (
            json!({"format": nested}),
            format(true),
            json!({
                "type": "json_schema", "name": "x", "description": null,
                "schema": {"type": "object"}, "strict": true,
            }),
        ),
    ];
    for (text, format, echo) in cases {
        let text_echo = JsonText::new(&json!({"format": echo}));
        let echo = Echo { text: text_echo, ..Echo::default() };
        let expected = ResponsesRequest { format, echo, ..plain() };
        assert_eq!(parse(&with(&json!({"text": text}))), Ok(expected), "{text}");
    }
}

#[test]
fn reasoning_in_every_form() {
    let cases = [
        (json!({}), None, None, json!(null), json!(null)),
        (json!({"effort": "", "summary": null}), None, None, json!(null), json!(null)),
        (json!({"effort": "xhigh"}), Some("xhigh"), None, json!("xhigh"), json!(null)),
        (
            json!({"summary": "none", "generate_summary": "auto"}),
            None,
            Some(ReasoningSummary::None),
            json!(null),
            json!(null),
        ),
        (
            json!({"generate_summary": "concise"}),
            None,
            Some(ReasoningSummary::Concise),
            json!(null),
            json!("concise"),
        ),
        (
            json!({"summary": "auto"}),
            None,
            Some(ReasoningSummary::Auto),
            json!(null),
            json!("auto"),
        ),
    ];
    for (reasoning, effort, reasoning_summary, effort_echo, summary_echo) in cases {
        let echo = json!({"effort": effort_echo, "summary": summary_echo});
        let expected = ResponsesRequest {
            reasoning_effort: effort.map(str::to_owned),
            reasoning_summary,
            echo: Echo { reasoning: JsonText::new(&echo), ..Echo::default() },
            ..plain()
        };
        assert_eq!(parse(&with(&json!({"reasoning": reasoning}))), Ok(expected), "{reasoning}");
    }
}

#[test]
fn simple_fields_in_every_form() {
    let cases = [
        (json!({"include": []}), plain()),
        (
            json!({"include": [
                "file_search_call.results", "web_search_call.results",
                "web_search_call.action.sources", "message.input_image.image_url",
                "computer_call_output.output.image_url", "code_interpreter_call.outputs",
            ]}),
            plain(),
        ),
        (json!({"truncation": "disabled"}), plain()),
        (
            json!({"max_output_tokens": 1}),
            ResponsesRequest { max_output_tokens: Some(1), ..plain() },
        ),
        (json!({"store": true}), ResponsesRequest { store: Some(true), ..plain() }),
        (json!({"modalities": ["text"]}), plain()),
        (json!({"background": false}), plain()),
    ];
    for (members, expected) in cases {
        assert_eq!(parse(&with(&members)), Ok(expected), "{members}");
    }
}

#[test]
fn metadata_up_to_its_limits() {
    let notes = (0..16).map(|number| (format!("{number:é>64}"), Value::from("é".repeat(512))));
    let notes = Value::Object(notes.collect());
    let request = parse(&with(&json!({"metadata": notes}))).expect("a request");
    assert_eq!(request.echo.metadata, JsonText::new(&notes));
}

#[test]
fn the_table_of_fields_tells_what_becomes_of_each() {
    let read_closely = [
        "truncation",
        "user",
        "safety_identifier",
        "prompt_cache_key",
        "max_tool_calls",
        "modalities",
    ];
    for (name, treatment) in FIELDS {
        let expected = match treatment {
            FieldTreatment::Ignored if !read_closely.contains(name) => Ok(vec![*name]),
            FieldTreatment::Accepted if !read_closely.contains(name) => Ok(vec![]),
            FieldTreatment::Refused => Err(Some((*name).to_owned())),
            _ => continue,
        };
        let request = parse(&with(&json!({*name: {"any": "value"}})));
        let ignored = request.map(|request| request.ignored).map_err(|error| error.param);
        assert_eq!(ignored, expected, "{name}");
    }
    let mut names: Vec<_> = FIELDS.iter().map(|(name, _)| name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), FIELDS.len(), "a field is in the table twice");
}

#[test]
fn a_wish_for_what_happens_anyway_is_not_named() {
    let members = json!({"n": 1, "stop": [], "service_tier": "default", "logprobs": false});
    assert_eq!(parse(&with(&members)), Ok(plain()));
    let members = json!({"n": 2, "stop": ["a"]});
    let expected = ResponsesRequest { ignored: vec!["stop", "n"], ..plain() };
    assert_eq!(parse(&with(&members)), Ok(expected));
}
