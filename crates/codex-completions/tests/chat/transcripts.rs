//! Whole transcripts, in both modes, streamed and not.

use serde_json::{Value, json};

use crate::asking::{ask, call, function, items, streamed, with, with_tools};
use crate::golden;
use crate::http::Answer;
use crate::proxy::Proxy;

const MODES: [&str; 2] = ["openai-json", "obsidian-xml"];

const BLOCK: &str = "<use_tool>\n<name>get_time</name>\n<city>Rome & Oslo</city>\n</use_tool>";

/// The same request streamed and not, in both modes.
async fn check(proxy: &Proxy, name: &str, request: Value) {
    for mode in MODES {
        let mut transcript = String::new();
        for request in [streamed(request.clone()), request.clone()] {
            // How arguments are cut into frames differs from run to run.
            let headers = [("x-proxy-output-mode", mode), ("x-proxy-stream-arguments", "off")];
            let mut answer = proxy.chat_with(&request, &headers).await;
            if request.get("n").is_some() {
                sort_by_choice(&mut answer);
            }
            transcript.push_str(&golden::transcript(&request, &answer));
            transcript.push('\n');
        }
        golden::check(&format!("golden/{name}.{mode}"), transcript.trim_end_matches('\n'));
    }
}

/// Frames of several choices come in any order among each other.
fn sort_by_choice(answer: &mut Answer) {
    let of_choice = |frame: &&str| {
        let position =
            (0..2).position(|choice| frame.contains(&format!(r#""choices":[{{"index":{choice}"#)));
        position.unwrap_or(usize::MAX)
    };
    let mut frames: Vec<_> = answer.body.split_inclusive("\n\n").collect();
    frames.sort_by_key(of_choice);
    answer.body = frames.concat();
}

#[tokio::test]
async fn answers_are_as_they_always_were() {
    let proxy = Proxy::start(&[]).await;
    proxy.until_early_arguments("on").await;
    let blocks = |text: &str| {
        let prompt = json!({"role": "system", "content": "Call tools with <use_tool> blocks."});
        with(ask(text), json!({"messages": [prompt, {"role": "user", "content": text}]}))
    };
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
    let unclosed = items(&[
        call("get_weather", "Paris"),
        json!("And the time. <use_tool>\n<name>get_time</name>\n<city>Rome</city>\n"),
    ]);
    let broken = r#"<use_tool><name>get_time</name><args>{"city":"5" tall"}</args></use_tool>"#;
    let broken = items(&[json!(format!("{broken} and {BLOCK}"))]);
    let example = items(&[json!(format!("Like this:\n```xml\n{BLOCK}\n```\nThat is all."))]);
    for (name, request) in [
        ("text", ask("[[text]]")),
        ("reasoning", ask("[[reasoning]]")),
        ("one-call", with_tools(ask("[[tool]]"))),
        ("three-calls", with_tools(ask("[[parallel:3]]"))),
        ("text-around-calls", with_tools(ask(&around))),
        ("two-messages", ask(&items(&[json!("Let me look."), json!("Here it is.")]))),
        ("text-blocks", blocks("[[use-tool-two]]")),
        ("block-without-an-end", with_tools(ask(&unclosed))),
        ("blocks-and-calls", with_tools(ask(&mixed))),
        ("block-with-broken-json", with_tools(ask(&broken))),
        ("block-in-a-fence", with_tools(ask(&example))),
        (
            "legacy-functions",
            with(
                ask("[[parallel:2]]"),
                json!({"functions": [function("get_weather"), function("get_time")]}),
            ),
        ),
        ("two-choices", with_tools(with(ask("[[parallel:2]]"), json!({"n": 2})))),
        (
            "stop",
            with(ask("One, two, three and four.[[echo]]"), json!({"stop": ["never", "three"]})),
        ),
        ("max-tokens", with(ask("One, two, three and four.[[echo]]"), json!({"max_tokens": 5}))),
        ("usage", with(ask("[[text]]"), json!({"stream_options": {"include_usage": true}}))),
        (
            "usage-of-a-cut-answer",
            with(
                ask("One, two, three and four.[[echo]]"),
                json!({"max_tokens": 3, "stream_options": {"include_usage": true}}),
            ),
        ),
        ("upstream-length", ask("[[incomplete]]")),
        ("upstream-filter", ask("[[incomplete:content_filter]]")),
        ("refusal", ask("[[refusal]]")),
        ("error-before-the-first-byte", ask("[[http:429]]")),
        (
            "error-after-the-first-byte",
            ask(&items(&[json!("Some words."), json!(1_000), Value::Null])),
        ),
    ] {
        check(&proxy, name, request).await;
    }
}
