//! How the answer will be given.

use std::num::NonZeroUsize;

use model_turn::TurnRequest;
use openai_wire::ApiError;
use openai_wire::chat::ChatRequest;
use serde_json::{Value, json};

use super::{developer, plain_turn, prepare, prepare_with, prepared, user, with};
use crate::policy::{OutputMode, OutputModeSetting, TextBlocks, TextTools, TurnSettings};
use crate::request::RequestOptions;

fn tools() -> Value {
    json!([{"type": "function", "function": {"name": "f"}}])
}

fn settings(change: impl FnOnce(&mut TurnSettings)) -> TurnSettings {
    let mut settings = TurnSettings::default();
    change(&mut settings);
    settings
}

fn mode(
    setting: OutputModeSetting,
    header: Option<&str>,
    members: &Value,
) -> Result<OutputMode, ApiError> {
    let settings = settings(|settings| settings.output_mode = setting);
    let request = ChatRequest::parse(with(members).to_string().as_bytes()).expect("a request");
    let options = RequestOptions { requested_mode: header, ..RequestOptions::new(&settings) };
    prepare(request, &options).map(|prepared| prepared.policy.mode)
}

#[test]
fn the_header_wins_over_the_setting_and_the_setting_over_the_request() {
    use OutputMode::{ObsidianXml, OpenAiJson};
    use OutputModeSetting::{Always, Auto};
    let (plain, declaring) = (json!({}), json!({"tools": tools()}));
    let forbidding = json!({"tools": tools(), "tool_choice": "none"});
    let legacy = json!({"functions": [{"name": "f"}]});
    let empty = json!({"tools": []});
    let cases = [
        (Auto, None, &plain, ObsidianXml),
        (Auto, None, &empty, ObsidianXml),
        (Auto, None, &declaring, OpenAiJson),
        (Auto, None, &forbidding, OpenAiJson),
        (Auto, None, &legacy, OpenAiJson),
        (Always(ObsidianXml), None, &declaring, ObsidianXml),
        (Always(OpenAiJson), None, &plain, OpenAiJson),
        (Auto, Some("obsidian-xml"), &declaring, ObsidianXml),
        (Always(ObsidianXml), Some("openai-json"), &plain, OpenAiJson),
    ];
    for (setting, header, members, expected) in cases {
        assert_eq!(
            mode(setting, header, members),
            Ok(expected),
            "{setting:?} {header:?} {members}"
        );
    }
    let message = "Invalid value: 'xml'. Supported values are: 'obsidian-xml', 'openai-json'.";
    let expected = ApiError::invalid("x-proxy-output-mode", message);
    assert_eq!(mode(Auto, Some("xml"), &plain), Err(expected));
}

#[test]
fn blocks_are_looked_for_where_they_are_meant() {
    let speaking = |role: &str| {
        json!({"messages": [
            {"role": "user", "content": "Hi"},
            {"role": role, "content": [{"type": "text", "text": "Write <use_tool> for a tool."}]},
        ]})
    };
    let declaring = json!({"tools": tools()});
    let mut both = speaking("system");
    both["tools"] = tools();
    let forbidding = json!({"tools": tools(), "tool_choice": "none"});
    let cases = [
        (TextTools::On, json!({}), TextBlocks::Any),
        (TextTools::On, declaring.clone(), TextBlocks::Any),
        (TextTools::Off, speaking("system"), TextBlocks::Ignored),
        (TextTools::Off, declaring.clone(), TextBlocks::Ignored),
        (TextTools::Auto, json!({}), TextBlocks::Ignored),
        (TextTools::Auto, speaking("system"), TextBlocks::Any),
        (TextTools::Auto, speaking("user"), TextBlocks::Any),
        (TextTools::Auto, speaking("assistant"), TextBlocks::Any),
        (TextTools::Auto, declaring, TextBlocks::Declared),
        (TextTools::Auto, both, TextBlocks::Declared),
        (TextTools::Auto, forbidding, TextBlocks::Ignored),
    ];
    for (text_tools, members, expected) in cases {
        let settings = settings(|settings| settings.text_tools = text_tools);
        let prepared = prepare_with(&settings, &with(&members)).expect("a request");
        assert_eq!(prepared.policy.text_blocks, expected, "{text_tools:?} {members}");
    }
    let settings = settings(|settings| settings.instructions = Some("Write <use_tool>".into()));
    let prepared = prepare_with(&settings, &with(&json!({}))).expect("a request");
    assert_eq!(prepared.policy.text_blocks, TextBlocks::Any);
    assert_eq!(prepared.turn.instructions, "Write <use_tool>");
}

#[test]
fn the_smallest_cap_on_calls_counts() {
    let cases = [
        (None, None, json!({}), None),
        (None, Some(true), json!({"parallel_tool_calls": true}), None),
        (Some(3), None, json!({}), Some(3)),
        (Some(3), None, json!({"parallel_tool_calls": false}), Some(1)),
        (None, Some(false), json!({}), Some(1)),
        (None, Some(false), json!({"parallel_tool_calls": true}), Some(1)),
        (Some(3), None, json!({"functions": [{"name": "f"}]}), Some(1)),
    ];
    for (max_calls, parallel_calls, members, expected) in cases {
        let settings = settings(|settings| {
            settings.max_calls = max_calls.and_then(NonZeroUsize::new);
            settings.parallel_calls = parallel_calls;
        });
        let prepared = prepare_with(&settings, &with(&members)).expect("a request");
        assert_eq!(prepared.policy.max_calls.map(usize::from), expected, "{members}");
    }
}

#[test]
fn the_form_of_the_answer() {
    let format = |format: Value| prepared(&with(&json!({"response_format": format}))).turn;
    let schema = |members: Value| format(json!({"type": "json_schema", "json_schema": members}));
    let told =
        |words: &str| TurnRequest { history: vec![user("Hi"), developer(words)], ..plain_turn() };
    let held = |schema: Value| TurnRequest { output_schema: Some(schema), ..plain_turn() };

    assert_eq!(format(json!({"type": "text"})), plain_turn());
    let words = "Answer with one JSON object, without any other text and without a code fence.";
    assert_eq!(format(json!({"type": "json_object"})), told(words));

    let open = json!({"type": "object", "properties": {"a": {"type": "string"}}});
    let closed = json!({
        "type": "object",
        "properties": {"a": {"type": "string"}},
        "required": ["a"],
        "additionalProperties": false,
    });
    assert_eq!(schema(json!({"name": "x", "schema": open, "strict": true})), held(open.clone()));
    assert_eq!(schema(json!({"name": "x", "schema": closed})), held(closed.clone()));
    let mut described = closed.clone();
    described["description"] = "For x".into();
    let request = json!({"name": "x", "schema": closed, "description": "For x"});
    assert_eq!(schema(request), held(described));
    let words = format!(
        "Answer with JSON that follows this schema, without any other text and without a code fence:\n{open}\nFor x"
    );
    let request = json!({"name": "x", "schema": open, "description": "For x", "strict": false});
    assert_eq!(schema(request), told(&words));
}

#[test]
fn wishes_about_the_form_come_before_those_about_tools() {
    let request = json!({
        "tools": tools(),
        "tool_choice": "required",
        "response_format": {"type": "json_object"},
    });
    let history = prepared(&with(&request)).turn.history;
    let words = ["one JSON object", "at least one of your tools"];
    assert_eq!(history.len(), 3);
    for (item, words) in history[1..].iter().zip(words) {
        assert!(format!("{item:?}").contains(words), "{item:?} does not say {words:?}");
    }
}

#[test]
fn summaries_come_only_where_they_are_shown() {
    let cases = [
        (true, json!({}), "auto"),
        (true, json!({"reasoning": {"summary": "concise"}}), "concise"),
        (true, json!({"reasoning": {"summary": "detailed"}}), "detailed"),
        (true, json!({"reasoning": {"summary": "none"}}), "none"),
        (false, json!({}), "none"),
        (false, json!({"reasoning": {"summary": "detailed"}}), "none"),
    ];
    for (reasoning, members, expected) in cases {
        let settings = settings(|settings| settings.reasoning = reasoning);
        let prepared = prepare_with(&settings, &with(&members)).expect("a request");
        assert_eq!(prepared.turn.summary.as_deref(), Some(expected), "{members}");
        assert_eq!(prepared.policy.reasoning, reasoning);
    }
}

#[test]
fn simple_wishes_are_handed_on() {
    let body = with(&json!({
        "reasoning_effort": "high",
        "stop": "END",
        "max_tokens": 30,
        "n": 3,
        "stream": true,
        "stream_options": {"include_usage": true},
        "seed": 1,
        "temperature": 0.5,
    }));
    let prepared = prepared(&body);
    let effort = Some("high".to_owned());
    assert_eq!(prepared.turn, TurnRequest { effort, ..plain_turn() });
    assert_eq!(prepared.policy.stop_sequences, ["END"]);
    assert_eq!(prepared.policy.max_tokens, Some(30));
    assert_eq!((prepared.choices, prepared.stream, prepared.include_usage), (3, true, true));
    assert_eq!(prepared.ignored, ["temperature", "seed"]);
    assert_eq!(prepared.model, "m");
}

#[test]
fn every_text_of_the_prompt_is_counted() {
    let settings = settings(|settings| settings.instructions = Some("Be kind.".into()));
    let body = with(&json!({
        "messages": [
            {"role": "user", "content": ["one", "two"]},
            super::calls(&["1"]),
            super::result("1", "three"),
        ],
        "tools": tools(),
        "response_format": {"type": "json_schema", "json_schema": {"schema": {}, "strict": true}},
    }));
    let prepared = prepare_with(&settings, &body).expect("a request");
    let texts: Vec<_> = prepared.prompt_texts().collect();
    let schema = r#"{"type":"object","properties":{}}"#;
    assert_eq!(texts, ["Be kind.", "f", schema, "one", "two", "f", "1", "three", "{}"]);
}
