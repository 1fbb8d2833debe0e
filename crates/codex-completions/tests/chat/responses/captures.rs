//! Records of responses, and what a replay makes of them.

use capture::{Redaction, What};
use serde_json::{Value, json};

use super::asking::{RESPONSES, ask, open_with, post, respond_with, with_tools};
use crate::asking::{streamed, with};
use crate::captures::{RECORDING, SPOKEN, finding, read, record_of, replay};
use crate::http::Answer;
use crate::proxy::Proxy;

/// Everything that a response repeats of its request.
fn with_secrets(request: Value) -> Value {
    let schema = json!({"type": "object", "properties": {"hidden": {"const": "very hidden"}}});
    with(
        request,
        json!({
            "instructions": "Be \"very\" hidden.",
            "metadata": {"hidden": "very hidden"},
            "user": "hidden-user",
            "safety_identifier": "hidden-identifier",
            "prompt_cache_key": "hidden-key",
            "text": {"format": {"type": "json_schema", "name": "hidden", "schema": schema}},
            "max_tool_calls": 4,
            "truncation": "auto",
        }),
    )
}

#[tokio::test]
async fn every_kind_of_response_is_replayed_to_the_byte() {
    let mut proxy = Proxy::start(&RECORDING).await;
    let parallel = with_tools(ask("my private words [[parallel:2]]"));
    let blocks = with_tools(ask(format!("{SPOKEN} [[echo-chars]]")));
    let encrypted = json!({
        "include": ["reasoning.encrypted_content"], "reasoning": {"summary": "auto"},
    });
    let reasoning = with(with_tools(ask("private [[mixed-reasoning]]")), encrypted);
    let text = ask("[[text:The end of it is nigh, they say.]]");
    let first = respond_with(&proxy, &text, &[("x-request-id", "first")]).await.json();
    let goes_on = with(
        ask(json!([
            {"role": "user", "content": [{"type": "input_text", "text": "private [[two-messages]]"}]},
            {"type": "item_reference", "id": first["output"][0]["id"]},
        ])),
        json!({"previous_response_id": first["id"]}),
    );
    let requests = [
        ("parallel", streamed(parallel.clone())),
        ("parallel_whole", parallel),
        ("blocks", streamed(blocks.clone())),
        ("blocks_whole", blocks),
        ("reasoning", streamed(reasoning.clone())),
        ("reasoning_whole", reasoning),
        (
            "summary_only",
            streamed(with(ask("[[reasoning]]"), json!({"reasoning": {"summary": "auto"}}))),
        ),
        ("goes_on", streamed(goes_on.clone())),
        ("goes_on_whole", goes_on),
        ("secrets", streamed(with_secrets(text.clone()))),
        ("secrets_whole", with_secrets(text.clone())),
        ("not_stored", streamed(with(text.clone(), json!({"store": false})))),
        ("tokens", streamed(with(text.clone(), json!({"max_output_tokens": 5})))),
        ("tokens_whole", with(text, json!({"max_output_tokens": 5}))),
        ("failure", streamed(ask("[[http:500]]"))),
        ("failure_whole", ask("[[failed:secretly]]")),
        ("cut", streamed(ask("some words that break off [[echo-cut]]"))),
    ];
    let mut answers: Vec<(String, Answer)> = Vec::new();
    for (name, request) in &requests {
        for mode in ["openai-json", "obsidian-xml"] {
            let id = format!("{name}_{}", &mode[..6]);
            let headers = [("x-request-id", id.as_str()), ("x-proxy-output-mode", mode)];
            let answer = respond_with(&proxy, request, &headers).await;
            answers.push((id, answer));
        }
    }
    proxy.stop().await;
    for (id, answer) in answers {
        let file = record_of(&proxy, &id);
        let record = read(&file);
        assert_eq!(record.header.api.path(), RESPONSES);
        assert_eq!(record.header.redaction, Redaction::Exact, "{id}");
        assert_eq!(finding(&file)["finding"], "same", "{id}");
        // The same as was sent, but for the words.
        assert_eq!(record.received().text().len(), answer.body.len(), "{id}");
        let text = std::fs::read_to_string(&file).unwrap();
        let blob = "ENCRYPTED_BLOB";
        for word in ["private", "look.", "Paulo", "nigh", "secretly", "break off", "hidden", blob] {
            assert!(!text.contains(word), "{word} in {text}");
        }
        assert!(!text.contains(first["id"].as_str().unwrap()), "{text}");
    }
}

#[tokio::test]
async fn responses_that_somebody_ends_are_replayed_too() {
    let settings = [RECORDING[0], ("PROXY_STOP_AFTER_TOOLS_GRACE_MS", "150")];
    let mut proxy = Proxy::start(&settings).await;
    let request = streamed(with_tools(ask("[[parallel-slow:3000]]")));
    respond_with(&proxy, &request, &[("x-request-id", "grace")]).await;

    let hangs = streamed(ask("two thirds of these words are said [[echo-hang]]"));
    let mut stream = open_with(&proxy, &hangs, &[("x-request-id", "left")]).await;
    stream.until("output_text.delta").await;
    drop(stream);
    proxy.turn_lines("left", 1).await;

    let mut stream = open_with(&proxy, &hangs, &[("x-request-id", "cancelled")]).await;
    let told = stream.until("output_text.delta").await;
    let (_, id) = told.split_once(r#""id":""#).unwrap();
    let path = format!("{RESPONSES}/{}/cancel", id.split_once('"').unwrap().0);
    let cancelled = post(&proxy, &path, "", &[]).await.whole().await;
    assert_eq!((cancelled.status, &cancelled.json()["status"]), (200, &json!("cancelled")));
    let told = stream.whole().await.body;
    proxy.stop().await;

    let replayed = finding(&record_of(&proxy, "grace"));
    assert_eq!(replayed["finding"], "same");
    assert_eq!(replayed["reports"][0]["stop_reason"], "grace");

    let replayed = finding(&record_of(&proxy, "left"));
    assert_eq!(replayed["reports"][0]["stop_reason"], "client_gone");
    assert!(["same", "same_so_far"].contains(&replayed["finding"].as_str().unwrap()));

    let file = record_of(&proxy, "cancelled");
    let replayed = finding(&file);
    assert_eq!(replayed["finding"], "same");
    assert_eq!(replayed["reports"][0]["stop_reason"], "cancelled");
    let (_, frames) = replay(&file, &["--frames"]);
    assert!(frames.contains(r#""status":"cancelled""#), "{frames}");
    assert_eq!(read(&file).received().text().len(), told.len());
}

#[tokio::test]
async fn a_record_of_a_response_can_be_read_only_if_content_is_logged() {
    let mut proxy = Proxy::start(&[RECORDING[0], ("PROXY_LOG_CONTENT", "true")]).await;
    let request = with_tools(with_secrets(ask("[[parallel:2]] very private")));
    let whole = respond_with(&proxy, &request, &[("x-request-id", "whole")]).await;
    respond_with(&proxy, &streamed(request), &[("x-request-id", "stream")]).await;
    proxy.stop().await;
    let file = record_of(&proxy, "whole");
    let record = read(&file);
    assert_eq!(record.header.redaction, Redaction::None);
    assert_eq!(record.received().text(), whole.body);
    assert!(record.header.request.to_string().contains("very private"));
    assert!(record.entries.iter().any(|entry| entry.what == What::Stored(true)), "{record:?}");
    let (code, text) = replay(&file, &[]);
    assert_eq!(code, Some(0), "{text}");
    let parts = [" /v1/responses whole: ", "2 call(s)", "  call ", "same: the answer"];
    for part in parts {
        assert!(text.contains(part), "{part} in {text}");
    }

    let file = record_of(&proxy, "stream");
    assert_eq!(finding(&file)["finding"], "same");
    let (code, text) = replay(&file, &["--set", "PROXY_TOOL_BLOCK_MAX=1"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("1 call(s), truncated"), "{text}");
}
