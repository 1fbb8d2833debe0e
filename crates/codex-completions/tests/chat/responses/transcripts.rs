//! Whole transcripts, streamed and not, and in both modes where these differ.

use serde_json::{Value, json};

use super::asking::{ask, respond_with, with_tools};
use crate::asking::{call, items, streamed, with};
use crate::golden;
use crate::proxy::Proxy;

const BLOCK: &str = "<use_tool>\n<name>get_time</name>\n<city>Rome & Oslo</city>\n</use_tool>";

/// The same request streamed and not.
async fn check(proxy: &Proxy, name: &str, request: &Value, headers: &[(&str, &str)]) {
    let mut transcript = String::new();
    for request in [streamed(request.clone()), request.clone()] {
        // How arguments are cut into events differs from run to run.
        let headers = [headers, &[("x-proxy-stream-arguments", "off")]].concat();
        let answer = respond_with(proxy, &request, &headers).await;
        transcript.push_str(&golden::transcript(&request, &answer));
        transcript.push('\n');
    }
    golden::check(&format!("responses/golden/{name}"), transcript.trim_end_matches('\n'));
}

on_one_server! {
    responses_are_as_they_always_were,
    responses_with_calls_are_as_they_always_were,
}

async fn responses_are_as_they_always_were(proxy: &Proxy) {
    proxy.until_early_arguments("on").await;
    let encrypted = json!({"include": ["reasoning.encrypted_content"]});
    let summary = json!({"reasoning": {"summary": "auto"}});
    let counted = |limit: u32| {
        with(ask("One, two, three and four.[[echo]]"), json!({"max_output_tokens": limit}))
    };
    let person = json!({"type": "json_schema", "name": "answer", "strict": true, "schema": {
        "type": "object", "properties": {"answer": {"type": "integer"}},
        "required": ["answer"], "additionalProperties": false,
    }});
    for (name, request) in [
        ("text", ask("[[text]]")),
        ("not-stored", with(ask("[[text]]"), json!({"store": false}))),
        ("reasoning", with(ask("[[reasoning]]"), summary.clone())),
        ("reasoning-without-summary", ask("[[reasoning]]")),
        ("reasoning-encrypted", with(with(ask("[[reasoning]]"), summary), encrypted)),
        ("two-messages", ask("[[two-messages]]")),
        ("structured", with(ask("[[json]]"), json!({"text": {"format": person}}))),
        ("max-output-tokens", counted(5)),
        ("nothing-said", ask("[[items:[]]]")),
        ("estimated-usage", ask("[[no-usage]]")),
        ("upstream-length", ask("[[incomplete]]")),
        ("upstream-filter", ask("[[incomplete:content_filter]]")),
        ("refusal", ask("[[refusal]]")),
        ("error-before-the-first-byte", ask("[[http:429]]")),
        (
            "error-after-the-first-byte",
            ask(items(&[json!("Some words."), json!(1_000), Value::Null])),
        ),
        (
            "repeated",
            with(
                with_tools(ask("[[text]]")),
                json!({
                    "instructions": "Be brief.", "metadata": {"a": "b"}, "user": "me",
                    "tool_choice": {"type": "function", "name": "lookup"},
                    "parallel_tool_calls": false, "reasoning": {"effort": "low"},
                    "text": {"verbosity": "low"}, "truncation": "auto", "temperature": 0.5,
                    "safety_identifier": "s", "prompt_cache_key": "k", "max_tool_calls": 3,
                }),
            ),
        ),
    ] {
        check(proxy, name, &request, &[]).await;
    }
}

async fn responses_with_calls_are_as_they_always_were(proxy: &Proxy) {
    let blocks = json!({"instructions": "Call tools with <use_tool> blocks."});
    let around = items(&[
        json!("Before."),
        call("get_weather", "Paris"),
        json!("Between."),
        call("get_time", "Paris"),
        json!("After."),
    ]);
    let mixed = items(&[
        json!(format!("First the time.\n\n{BLOCK}\n\nThen the weather.")),
        call("get_weather", "Paris"),
        json!(format!("And again.{BLOCK}{BLOCK}\nThat is all.")),
    ]);
    for (name, request) in [
        ("one-call", with_tools(ask("[[tool]]"))),
        ("three-calls", with_tools(ask("[[parallel:3]]"))),
        ("reasoning-and-calls", with_tools(ask("[[mixed-reasoning]]"))),
        ("text-around-calls", with_tools(ask(around))),
        ("text-blocks", with(ask("[[use-tool-two]]"), blocks)),
        ("blocks-and-calls", with_tools(ask(mixed))),
    ] {
        for mode in ["openai-json", "obsidian-xml"] {
            let headers = [("x-proxy-output-mode", mode)];
            check(proxy, &format!("{name}.{mode}"), &request, &headers).await;
        }
    }
}
