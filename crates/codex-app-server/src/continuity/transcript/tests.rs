use std::sync::Arc;

use model_turn::{CallInput, ContentPart, MessagePhase, Role, Tool, ToolInput, ToolOutput};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

const KEY: FingerprintKey = FingerprintKey(1, 2);

fn begun() -> Transcript {
    Transcript::begin(KEY, b"setting")
}

/// Custom tools, of which Codex knows nothing.
fn custom_tool(inside: bool) -> ToolName {
    ToolName { namespace: inside.then(|| "github".to_owned()), name: "apply_patch".to_owned() }
}

fn names() -> ToolNames {
    let mut names = ToolNames::default();
    for inside in [false, true] {
        names.declare(&Tool {
            name: custom_tool(inside),
            namespace_description: Arc::default(),
            description: String::new(),
            input: ToolInput::Text,
        });
    }
    names
}

fn added(items: &[HistoryItem]) -> Transcript {
    let (mut transcript, mut custom) = (begun(), CustomCalls::default());
    for item in items {
        let name = match item {
            HistoryItem::ToolCall { name, .. } => name.clone(),
            _ => ToolName::default(),
        };
        custom.note(item);
        transcript.add(item, &to_json(item, &name, &custom).unwrap());
    }
    transcript
}

fn noted(raw: &[Value]) -> Result<Transcript, Unsayable> {
    let mut transcript = begun();
    for item in raw {
        transcript.note(&item.to_string(), &names())?;
    }
    Ok(transcript)
}

/// An item as Codex tells it when the model has said it, or when a call was answered.
fn as_codex_tells_it(item: &HistoryItem) -> Value {
    let passthrough = json!({"turn_id": "turn", "create_time": 1.5});
    let mut raw = match item {
        HistoryItem::Message { content, phase, .. } => {
            let text = |part: &ContentPart| match part {
                ContentPart::Text(text) => json!({
                    "type": "output_text", "text": text, "annotations": [], "logprobs": [],
                }),
                ContentPart::Image { .. } => unreachable!("the model says no images"),
            };
            let content: Vec<_> = content.iter().map(text).collect();
            let mut raw = json!({
                "type": "message", "status": "completed", "role": "assistant", "content": content,
            });
            if let Some(phase) = phase {
                raw["phase"] = json!(phase);
            }
            raw
        }
        HistoryItem::ToolCall { call_id, name, input } => {
            let arguments = match input {
                CallInput::Arguments(arguments) => arguments.clone(),
                // Not as we would write it.
                CallInput::Text(text) => format!(" {}", json!({"input": text})),
            };
            let mut call = json!({
                "type": "function_call", "status": "completed", "name": name.name,
                "arguments": arguments, "call_id": call_id,
            });
            if let Some(namespace) = &name.namespace {
                call["namespace"] = json!(namespace);
            }
            call
        }
        HistoryItem::ToolOutput { call_id, output: ToolOutput::Text(text) } => json!({
            "type": "function_call_output", "call_id": call_id, "output": text,
        }),
        HistoryItem::ToolOutput { call_id, output: ToolOutput::Parts(parts) } => json!({
            "type": "function_call_output", "call_id": call_id,
            "output": parts.iter().map(|part| match part {
                ContentPart::Text(text) => json!({"type": "input_text", "text": text}),
                ContentPart::Image { .. } => unreachable!("not as an answer"),
            }).collect::<Vec<_>>(),
        }),
        HistoryItem::Reasoning { summary, encrypted_content, .. } => json!({
            "type": "reasoning", "content": null, "encrypted_content": encrypted_content,
            "summary": summary.iter()
                .map(|text| json!({"type": "summary_text", "text": text}))
                .collect::<Vec<_>>(),
        }),
    };
    raw["id"] = json!("id_of_the_upstream");
    raw["internal_chat_message_metadata_passthrough"] = passthrough;
    raw
}

fn text() -> impl Strategy<Value = String> {
    // Few and short ones, so that equal items are not rare.
    prop_oneof!["[ab]{0,2}", r#"["\\\n<é]{0,3}"#]
}

fn texts() -> impl Strategy<Value = Vec<ContentPart>> {
    prop::collection::vec(text().prop_map(ContentPart::Text), 0..3)
}

fn item() -> impl Strategy<Value = HistoryItem> {
    let phase = prop::option::of(prop_oneof![
        Just(MessagePhase::Commentary),
        Just(MessagePhase::FinalAnswer)
    ]);
    prop_oneof![
        (texts(), phase).prop_map(|(content, phase)| HistoryItem::Message {
            role: Role::Assistant,
            content,
            phase
        }),
        (text(), text(), text()).prop_map(|(call_id, name, arguments)| {
            HistoryItem::function_call(&call_id, &name, &arguments)
        }),
        (text(), any::<bool>(), text()).prop_map(|(call_id, inside, text)| HistoryItem::ToolCall {
            call_id,
            name: custom_tool(inside),
            input: CallInput::Text(text),
        }),
        (text(), text()).prop_map(|(call_id, text)| HistoryItem::ToolOutput {
            call_id,
            output: ToolOutput::Text(text)
        }),
        (text(), texts()).prop_map(|(call_id, parts)| HistoryItem::ToolOutput {
            call_id,
            output: ToolOutput::Parts(parts)
        }),
        text().prop_map(|encrypted_content| HistoryItem::Reasoning {
            summary: vec![],
            encrypted_content,
            expendable: false
        }),
    ]
}

fn without_reasoning(items: &[HistoryItem]) -> Vec<HistoryItem> {
    let spoken = |item: &&HistoryItem| !matches!(item, HistoryItem::Reasoning { .. });
    items.iter().filter(spoken).cloned().collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn what_codex_tells_is_what_a_client_sends_back(items in prop::collection::vec(item(), 0..6)) {
        let raw: Vec<_> = items.iter().map(as_codex_tells_it).collect();
        let (noted, added) = (noted(&raw).unwrap(), added(&items));
        prop_assert_eq!(noted.fingerprint, added.fingerprint);
        prop_assert_eq!(noted.reasoning, added.reasoning);
        prop_assert_eq!(noted.bytes, added.bytes);
    }

    #[test]
    fn two_conversations_look_the_same_only_if_they_are(
        one in prop::collection::vec(item(), 0..4),
        other in prop::collection::vec(item(), 0..4),
    ) {
        let same = without_reasoning(&one) == without_reasoning(&other);
        prop_assert_eq!(added(&one).fingerprint == added(&other).fingerprint, same);
    }
}

#[test]
fn everything_else_that_the_model_sees_is_a_part_of_it() {
    let one = Transcript::begin(KEY, b"setting").fingerprint;
    assert_ne!(one, Transcript::begin(KEY, b"another").fingerprint);
    assert_ne!(one, Transcript::begin(FingerprintKey(1, 3), b"setting").fingerprint);
}

#[test]
fn what_a_history_cannot_say_is_not_gone_on_from() {
    let message =
        |content: Value| json!({"type": "message", "role": "assistant", "content": content});
    let text = |extra: Value| {
        let mut part = json!({"type": "output_text", "text": "a"});
        part.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        message(json!([part]))
    };
    let call = json!({"type": "function_call", "name": "f", "arguments": "{}", "call_id": "c"});
    let mut grouped = call.clone();
    grouped["namespace"] = json!("functions");
    for raw in [
        grouped,
        text(json!({"logprobs": [{"token": "a"}]})),
        text(json!({"something": "new"})),
        message(json!([{"type": "refusal", "refusal": "no"}])),
        message(json!("a")),
        json!({"type": "message", "role": "user", "content": []}),
        json!({"type": "message", "role": "assistant", "content": [], "phase": "unheard of"}),
        json!({"type": "custom_tool_call", "name": "f", "input": "", "call_id": "c"}),
        json!({"type": "web_search_call"}),
        json!({"type": "function_call_output", "call_id": "c", "output": [{"type": "input_image", "image_url": "data:"}]}),
        json!(["not an item"]),
    ] {
        assert_eq!(noted(std::slice::from_ref(&raw)).err(), Some(Unsayable), "{raw}");
    }
    assert!(noted(&[call]).is_ok());
    assert_eq!(begun().note("{", &names()), Err(Unsayable));
    let large = text(json!({"annotations": "x".repeat(LARGEST_ITEM)}));
    assert_eq!(noted(&[large]).err(), Some(Unsayable));
}

#[test]
fn how_hard_to_think_is_said_anew_by_every_turn() {
    let raw = [json!({"type": "configuration_update", "reasoning": {"effort": "low"}})];
    assert_eq!(noted(&raw).unwrap().fingerprint, begun().fingerprint);
}

#[test]
fn what_was_thought_belongs_to_its_place() {
    let thought = |content: &str| HistoryItem::Reasoning {
        summary: vec![],
        encrypted_content: content.to_owned(),
        expendable: true,
    };
    let said = |text: &str| HistoryItem::text(Role::Assistant, text);
    let before = added(&[thought("x"), said("a")]);
    let after = added(&[said("a"), thought("x")]);
    assert_eq!(before.fingerprint, after.fingerprint);
    assert_ne!(before.reasoning, after.reasoning);
    let client = added(&[said("a"), thought("x"), said("b"), thought("y")]);
    let thread = added(&[thought("w"), said("a"), thought("x")]);
    let both = client.clone().with_thoughts_of(&thread);
    assert_eq!(both.fingerprint, client.fingerprint);
    assert_eq!(both.reasoning, &client.reasoning | &thread.reasoning);
    assert_eq!(both.reasoning.len(), 3);
}
