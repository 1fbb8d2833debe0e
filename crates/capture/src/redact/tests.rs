//! A record means the same with and without its words.

mod responses;

use bridge::{
    CallShape, DeclaredTools, EndReason, OtherTool, OutputMode, Preamble, StopAfterTools,
    TextBlocks, TurnPolicy,
};
use model_turn::{
    FailureKind, MessagePhase, ReasoningItem, ToolCall, ToolCallKind, ToolName, TurnEnd,
};
use proptest::prelude::*;
use serde_json::{Value, json};
use tool_call_aggregator::Limits;
use tool_call_aggregator::obsidian::XmlEscaping;

use super::*;
use crate::record::{Entry, FORMAT, Header};
use crate::replay::Verdict;

const KEY: MaskKey = *b"a key for tests.";

/// A policy that shows as much as possible.
fn policy() -> TurnPolicy {
    let schema = json!({"type": "object", "properties": {
        "city": {"type": "string", "description": "private words"},
        "days": {"type": "integer", "default": 4711},
        "files.list": {"type": "array"},
    }});
    let name = ToolName { namespace: Some("notes".to_owned()), name: "patch".to_owned() };
    let patch = OtherTool { name, is_custom: true };
    TurnPolicy {
        mode: OutputMode::ObsidianXml,
        shape: CallShape::ToolCalls,
        stop_after_tools: StopAfterTools::Off,
        suppress_tail: false,
        preamble: Preamble::Sent,
        max_calls: None,
        dedup: false,
        delimiter: "\n".to_owned(),
        text_blocks: TextBlocks::Any,
        xml_escaping: XmlEscaping::Verbatim,
        reasoning: true,
        limits: Limits::default(),
        max_held_bytes: 1_000,
        max_answer_bytes: 100_000,
        tools: DeclaredTools::new(
            [("get_weather".to_owned(), schema), ("notes.patch".to_owned(), json!({}))],
            [("notes.patch".to_owned(), patch)],
        ),
        stop_sequences: Vec::new(),
        max_tokens: None,
    }
}

/// A record of these events, with what a live turn would have sent.
fn record(policy: &TurnPolicy, stream: bool, choices: u32, inputs: Vec<What>) -> Record {
    record_of(header(policy, stream, choices), inputs)
}

fn header(policy: &TurnPolicy, stream: bool, choices: u32) -> Header {
    Header {
        capture: FORMAT,
        version: "1.2.3".to_owned(),
        codex: Some("0.1.0".to_owned()),
        time: "2025-01-01T00:00:00.000Z".to_owned(),
        api: Api::Chat,
        request_id: "req_1".to_owned(),
        redaction: Redaction::None,
        requested_mode: None,
        settings: String::new(),
        model: "gpt-5.5".to_owned(),
        backend_model: "gpt-5.5".to_owned(),
        stream,
        include_usage: false,
        choices,
        id: "chatcmpl-1".to_owned(),
        created: 1_700_000_000,
        policy: policy.clone(),
        request: json!({"messages": [{"role": "user", "content": "private words"}]}),
    }
}

fn record_of(header: Header, inputs: Vec<What>) -> Record {
    let entries = (0..).zip(inputs).map(|(at, what)| Entry { at: at * 1_000, what }).collect();
    let mut record = Record { header, entries };
    let replayed = record.replay(Instant::now());
    let mut put = |what| record.entries.push(Entry { at: 1_000_000, what });
    match &replayed.received {
        // In two parts, as it may leave.
        Received::Stream(frames) => {
            let (first, rest) = frames.split_at(frames.find("\n\n").map_or(0, |at| at + 2));
            put(What::Sent(first.to_owned()));
            put(What::Sent(rest.to_owned()));
        }
        Received::Whole { status, body } => {
            put(What::Answer { status: *status, body: body.clone() });
        }
        Received::Nothing => {}
    }
    put(What::End(replayed.reports));
    record
}

fn event(event: TurnEvent) -> What {
    What::Event { choice: 0, event }
}

fn text(text: &str) -> What {
    event(TurnEvent::Text(text.to_owned()))
}

fn call(id: &str, name: &str, arguments: &str) -> What {
    event(TurnEvent::ToolCall(ToolCall {
        call_id: id.to_owned(),
        item_id: Some(format!("fc_{id}")),
        name: name.into(),
        arguments: arguments.to_owned(),
        kind: ToolCallKind::Function,
        deviation: None,
    }))
}

fn end() -> What {
    event(TurnEvent::End(TurnEnd::Completed))
}

fn written(record: &Record) -> String {
    let mut written = Vec::new();
    record.write(&mut written).unwrap();
    String::from_utf8(written).unwrap()
}

/// What redaction makes of a record, and that it is what it says.
fn redacted(record: &Record) -> Record {
    let redacted = record.redacted(&KEY, Instant::now());
    let again = Record::read(written(&redacted).as_bytes()).unwrap();
    assert_eq!(written(&again), written(&redacted));
    if redacted.header.redaction == Redaction::Exact {
        assert_eq!(again.compare(&again.replay(Instant::now())), Verdict::Same);
    }
    redacted
}

#[test]
fn a_block_and_its_twin_are_still_one_call() {
    let policy = TurnPolicy { dedup: true, ..policy() };
    let block = "Well: <use_tool><name>get_weather</name><city>S\u{e3}o \"Paulo\"</city>\
                 <days>3</days></use_tool>";
    let twin = r#"{"city": "S\u00e3o \"Paulo\"", "days": 3}"#;
    let other = r#"{"city": "S\u00e3o \"Paulo\"", "days": 4}"#;
    let inputs = vec![
        text(&block[..40]),
        text(&block[40..]),
        call("call_1", "get_weather", twin),
        call("call_2", "get_weather", other),
        end(),
    ];
    let record = record(&policy, true, 1, inputs);
    assert_eq!(record.reports()[0].call_count, 2);
    let redacted = redacted(&record);
    assert_eq!(redacted.header.redaction, Redaction::Exact);
    assert_eq!(redacted.reports(), record.reports());
    let text = written(&redacted);
    for word in ["Well", "Paulo", "S\u{e3}o", "00e3", "private", "4711"] {
        assert!(!text.contains(word), "{word} in {text}");
    }
}

#[test]
fn what_an_upstream_says_is_masked_and_how_it_failed_is_not() {
    let failure = Failure {
        kind: FailureKind::BadRequest,
        message: "your private prompt".to_owned(),
        upstream_status: Some(400),
        upstream_body: Some(json!({"error": {"message": "private", "code": "model_not_found"}})),
    };
    let record = record(&policy(), true, 1, vec![event(TurnEvent::Failed(failure))]);
    let redacted = redacted(&record);
    assert_eq!(redacted.header.redaction, Redaction::Exact);
    let Received::Whole { status, body } = redacted.received() else { panic!("{redacted:?}") };
    assert_eq!(status, 400);
    let error: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(error["error"]["code"], "model_not_found");
    assert!(!written(&redacted).contains("private"));
}

#[test]
fn a_stop_sequence_still_stops_and_is_held_back_as_before() {
    let policy = TurnPolicy { stop_sequences: vec!["Observation: x".to_owned()], ..policy() };
    let inputs = vec![text("I Obse"), text("rve. Obs"), text("ervation:"), text(" xyz"), end()];
    let record = record(&policy, true, 1, inputs);
    assert_eq!(record.reports()[0].stop_reason, EndReason::StopSequence);
    let redacted = redacted(&record);
    assert_eq!(redacted.header.redaction, Redaction::Exact);
    assert_eq!(redacted.reports(), record.reports());
    assert!(!written(&redacted).contains("Observation"));
}

/// Two letters that stop in the middle of a word: no mask keeps that.
#[test]
fn where_words_matter_in_themselves_the_record_says_so() {
    let policy = TurnPolicy { stop_sequences: vec!["vat".to_owned()], ..policy() };
    let record = record(&policy, true, 1, vec![text("A private observation."), end()]);
    assert_eq!(record.reports()[0].stop_reason, EndReason::StopSequence);
    let redacted = redacted(&record);
    assert_eq!(redacted.header.redaction, Redaction::Inexact);
    assert!(!written(&redacted).contains("private"));
}

#[test]
fn a_request_keeps_its_structure() {
    let mut record = record(&policy(), false, 1, vec![text("x"), end()]);
    record.header.request = json!({
        "model": "gpt-5.5", "n": 2, "stop": ["STOP it"], "my_own": {"type": "private"},
        "messages": [
            {"role": "user", "name": "Ann", "content": [{"type": "text", "text": "call get_weather"}]},
            {"role": "tool", "tool_call_id": "call_1", "content": "{\"city\": \"Rome\"}"},
        ],
        "tools": [{"type": "function", "function": {
            "name": "get_weather", "description": "private",
            "parameters": {
                "type": "object", "required": ["city"],
                "properties": {"city": {"type": ["string", "null"], "enum": ["Rome"]}},
            },
        }}],
    });
    let redacted = redacted(&record);
    let request = &redacted.header.request;
    assert!(alike(&request.to_string(), &record.header.request.to_string()), "{request}");
    let word = |pointer: &str| request.pointer(pointer).unwrap().as_str().unwrap();
    assert!(word("/messages/0/content/0/text").ends_with(" get_weather"), "{request}");
    assert!(word("/messages/1/content").starts_with("{\"city\": \""), "{request}");
    assert_eq!(word("/tools/0/function/name"), "get_weather");
    assert_eq!(word("/tools/0/function/parameters/required/0"), "city");
    let text = request.to_string();
    for word in ["private", "Rome", "Ann", "STOP", "my_own", "call_1"] {
        assert!(!text.contains(word), "{word} in {text}");
    }
}

/// Whoever knows the prompt has no dictionary for the answer.
#[test]
fn what_is_asked_and_what_is_answered_have_different_masks() {
    let words = "the quick brown fox jumps over the lazy dog";
    let mut record = record(&policy(), false, 1, vec![text(words), end()]);
    record.header.request = json!({"messages": [{"role": "system", "content": words}]});
    let redacted = redacted(&record);
    assert_eq!(redacted.header.redaction, Redaction::Exact);
    let What::Event { event: TurnEvent::Text(said), .. } = &redacted.entries[0].what else {
        panic!("{redacted:?}")
    };
    let asked = redacted.header.request["messages"][0]["content"].as_str().unwrap();
    assert!(asked.split(' ').zip(said.split(' ')).all(|(one, other)| one != other), "{redacted:?}");
}

/// Pieces of what models say, with secrets in all of them.
fn speech() -> impl Strategy<Value = String> {
    let word = "(secretive|Geheimnis|сек\u{440}ет|字秘密|12|3e4|0\\.50|true|a|b|_x)";
    let value = "[\\[\\]{}\",: \\\\n<>&/a-c0-2é]{0,12}";
    let matching = |weight: u32, pattern: String| {
        let strategy = proptest::string::string_regex(&pattern).unwrap();
        (weight, strategy.boxed())
    };
    let opened = "<use_tool><name>(get_weather|readNote|mystery|files\\.list)</name>";
    prop::strategy::Union::new_weighted(vec![
        matching(5, format!("{word}([ .,\n]{word}){{0,4}} ")),
        matching(2, format!("{opened}<(city|days|path|other)>{value}")),
        matching(2, "</(city|days|path|other)>\n?</use_tool>".to_owned()),
        matching(
            1,
            format!("<use_tool name=\"get_weather\">\\{{\"city\": \"{word}\"\\}}</use_tool>"),
        ),
        matching(1, format!("{opened}<args>\\{{\"{word}\":{value}\\}}</args></use_tool>")),
        matching(1, "<use_t(ool)?".to_owned()),
        matching(1, value.to_owned()),
    ])
}

/// What the turns of so many choices say, and what happens besides.
fn script(choices: u32) -> impl Strategy<Value = Vec<What>> {
    let arguments = prop_oneof![
        r#"\{"city": "(secretive|Rome|S\\u00e3o|a\\n<b>)", "days": (1|2|3e4|"x")\}"#,
        r#"[{}\[\]",: a-b0-2]{0,10}"#,
    ];
    let spoken = prop_oneof![
        6 => (speech(), prop::collection::vec(0_usize..12, 0..4)).prop_map(|(text, cuts)| {
            let mut rest = text.as_str();
            let mut parts = Vec::new();
            for cut in cuts {
                let cut = (0..=cut.min(rest.len())).rev().find(|at| rest.is_char_boundary(*at));
                let (part, later) = rest.split_at(cut.unwrap_or(0));
                parts.push(TurnEvent::Text(part.to_owned()));
                rest = later;
            }
            parts.push(TurnEvent::Text(rest.to_owned()));
            parts
        }),
        1 => (speech(), 0_u32..2).prop_map(|(text, part)| {
            vec![TurnEvent::Reasoning { kind: ReasoningKind::Summary, part, text }]
        }),
        1 => prop_oneof![
            Just(None),
            Just(Some(MessagePhase::Commentary)),
            Just(Some(MessagePhase::FinalAnswer)),
        ].prop_map(|phase| vec![TurnEvent::MessageStart { phase }]),
        1 => (prop::collection::vec(speech(), 0..3), prop::option::of("gAAAAA[a-zA-Z0-9_=-]{0,9}"))
            .prop_map(|(summary, encrypted_content)| {
                vec![TurnEvent::ReasoningItem(ReasoningItem { summary, encrypted_content })]
            }),
        2 => ("call_[a-c]", prop::option::of("fc_[a-c]"), "(get_weather|mystery|readNote)", arguments).prop_map(
            |(call_id, item_id, name, arguments)| {
                let kind = ToolCallKind::Function;
                vec![TurnEvent::ToolCall(ToolCall {
                    call_id,
                    item_id,
                    name: name.as_str().into(),
                    arguments,
                    kind,
                    deviation: None,
                })]
            }
        ),
        1 => ("call_[a-c]", "(notes|mystery)", speech()).prop_map(|(call_id, namespace, input)| {
            vec![TurnEvent::ToolCall(ToolCall {
                call_id,
                item_id: None,
                name: ToolName { namespace: Some(namespace), name: "patch".to_owned() },
                arguments: input,
                kind: ToolCallKind::Custom,
                deviation: None,
            })]
        }),
    ];
    let said = (0..choices, spoken).prop_map(|(choice, events)| -> Vec<What> {
        events.into_iter().map(|event| What::Event { choice, event }).collect()
    });
    let other = prop_oneof![
        Just(What::Head {}),
        Just(What::KeepAlive {}),
        (0..choices).prop_map(|choice| What::Clock { choice }),
        "[a-z]{4}".prop_map(What::Suffix),
        (0_usize..4).prop_map(What::Tokens),
    ];
    let one = prop_oneof![8 => said, 2 => other.prop_map(|what| vec![what])];
    let failure = Failure {
        kind: FailureKind::StreamCut,
        message: "secretive words".to_owned(),
        upstream_status: None,
        upstream_body: None,
    };
    let last = prop_oneof![
        Just(vec![TurnEvent::End(TurnEnd::Completed)]),
        Just(vec![TurnEvent::Failed(failure)]),
        Just(vec![]),
    ];
    (prop::collection::vec(one, 0..14), last).prop_map(move |(parts, last)| {
        let mut script = parts.concat();
        for choice in 0..choices {
            let last = last.iter().cloned();
            script.extend(last.map(|event| What::Event { choice, event }));
        }
        script
    })
}

fn any_policy() -> impl Strategy<Value = TurnPolicy> {
    let modes = prop_oneof![Just(OutputMode::ObsidianXml), Just(OutputMode::OpenAiJson)];
    let blocks =
        prop_oneof![Just(TextBlocks::Any), Just(TextBlocks::Declared), Just(TextBlocks::Ignored)];
    let stops = prop_oneof![
        Just(StopAfterTools::Off),
        Just(StopAfterTools::First),
        Just(StopAfterTools::Burst { grace: Some(std::time::Duration::from_millis(2)) }),
    ];
    let escaping = prop_oneof![Just(XmlEscaping::Verbatim), Just(XmlEscaping::Entities)];
    let limits =
        (prop_oneof![Just(20_usize), Just(1_000)], prop_oneof![Just(60_usize), Just(9_000)]);
    let most = (
        prop_oneof![Just(None), Just(std::num::NonZeroUsize::new(1))],
        prop_oneof![3 => Just(None), 1 => Just(Some(5_u32))],
    );
    (modes, blocks, stops, escaping, limits, most, any::<[bool; 3]>()).prop_map(
        |(mode, text_blocks, stop_after_tools, xml_escaping, limits, most, flags)| TurnPolicy {
            mode,
            text_blocks,
            stop_after_tools,
            xml_escaping,
            max_held_bytes: limits.0,
            max_answer_bytes: limits.1,
            max_calls: most.0,
            max_tokens: most.1,
            dedup: flags[0],
            suppress_tail: flags[1],
            shape: if flags[2] { CallShape::ToolCalls } else { CallShape::FunctionCall },
            ..policy()
        },
    )
}

fn check_no_secret(record: &Record) {
    let text = written(record);
    for word in ["secretive", "Geheimnis", "сек\u{440}ет", "字秘密", "private"] {
        assert!(!text.contains(word), "{word} in {text}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn a_redacted_record_does_the_same(
        policy in any_policy(),
        script in script(2),
        stream in any::<bool>(),
    ) {
        let record = record(&policy, stream, 2, script);
        prop_assert_eq!(record.compare(&record.replay(Instant::now())), Verdict::Same);
        let redacted = redacted(&record);
        prop_assert_eq!(redacted.header.redaction, Redaction::Exact);
        prop_assert!(alike(redacted.received().text(), record.received().text()));
        check_no_secret(&redacted);
    }

    /// With stop sequences it may not, and then says so.
    #[test]
    fn a_redacted_record_does_the_same_or_says_that_it_does_not(
        policy in any_policy(),
        script in script(2),
        stops in prop::collection::vec("(secret|Geheimnis a|\n|[.] |<use|a|[a-c]{2})", 1..3),
    ) {
        let policy = TurnPolicy { stop_sequences: stops, ..policy };
        let redacted = redacted(&record(&policy, true, 2, script));
        check_no_secret(&redacted);
    }
}
