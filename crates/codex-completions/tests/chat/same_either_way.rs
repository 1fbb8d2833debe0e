//! Streamed or whole, an answer is the same.

use futures_util::future::join_all;
use scripted_model::scenario_list;
use serde_json::{Value, json};

use crate::asking::{ask, streamed, with, with_tools};
use crate::proxy::Proxy;
use crate::reply::{Call, Choice, Reply};

/// What a client acts on; ids differ from turn to turn.
#[derive(Debug, Default, PartialEq)]
struct Outcome {
    calls: Vec<(String, String)>,
    finish: Option<String>,
    text: Option<String>,
    refusal: Option<String>,
    reasoning: String,
    error: Option<Value>,
}

/// Every mark of the scripted model, with arguments that make it short. Those that hang are together.
pub(crate) fn marks() -> Vec<String> {
    let usages = scenario_list();
    let usages =
        usages.lines().map(|line| line.split("]]").next().unwrap().trim_start_matches("[["));
    let mark = |usage: &str| match usage.split_once(':') {
        Some((name, "MS" | "K")) => format!("[[{name}:60]]"),
        Some((name, "BYTES")) => format!("[[{name}:30000]]"),
        Some((name, "N")) => format!("[[{name}:4]]"),
        Some((name, _)) => format!("[[{name}]]"),
        None => format!("[[{usage}]]"),
    };
    let mut marks: Vec<_> = usages.map(mark).collect();
    assert!(marks.len() > 50, "{marks:?}");
    marks.sort_by_key(|mark| mark.contains("hang") || mark.contains("silent"));
    marks
}

fn outcome(reply: &Reply, mode: &str) -> Outcome {
    if let Some(error) = &reply.error {
        let error = Some(json!([error["type"], error["code"]]));
        return Outcome { error, ..Outcome::default() };
    }
    let Choice { content, refusal, reasoning, calls, finish } = reply.choice().clone();
    // A whole answer in JSON mode has either text or calls. A call of a kind that is no function has
    // its whole item as arguments, and with it ids.
    let of_codex = calls.iter().any(|call| call.name.ends_with("_call"));
    let has_text = calls.is_empty() || (mode == "obsidian-xml" && !of_codex);
    let arguments = |call: Call| if of_codex { String::new() } else { call.arguments };
    Outcome {
        calls: calls.into_iter().map(|call| (call.name.clone(), arguments(call))).collect(),
        finish,
        // A stream's content is empty where a whole answer has none.
        text: content.filter(|text| has_text && !(refusal.is_some() && text.is_empty())),
        refusal,
        reasoning,
        error: None,
    }
}

async fn check_every_scenario(mode: &str) {
    // What hangs fails soon.
    let settings = [("PROXY_IDLE_TIMEOUT_MS", "1500"), ("PROXY_CALL_PROBE_MS", "300")];
    let proxy = Proxy::start(&settings).await;
    proxy.until_early_arguments("on").await;
    let headers = [("x-proxy-output-mode", mode)];
    let ask_all = async |marks: &[String], way: fn(Value) -> Value| {
        let outcomes = marks.iter().map(async |mark| {
            let request = way(with_tools(ask(&format!("<use_tool> and more. {mark}"))));
            outcome(&Reply::of(&proxy.chat_with(&request, &headers).await), mode)
        });
        let outcomes = join_all(outcomes).await;
        // What fails only once does so again.
        proxy.model.reset();
        outcomes
    };
    // Some at a time: one by one it would take long, and all together outlast the time limits.
    for some in marks().chunks(8) {
        let stream = ask_all(some, streamed).await;
        let whole = ask_all(some, |request| request).await;
        for (mark, (stream, whole)) in some.iter().zip(stream.into_iter().zip(whole)) {
            assert_eq!(stream, whole, "{mark} in {mode}");
        }
    }
}

#[tokio::test]
async fn every_scenario_has_one_outcome_in_json_mode() {
    check_every_scenario("openai-json").await;
}

#[tokio::test]
async fn every_scenario_has_one_outcome_in_xml_mode() {
    check_every_scenario("obsidian-xml").await;
}

/// Stop sequences and limits cut both at the same byte, wherever chunks end.
#[tokio::test]
async fn cuts_are_at_one_place() {
    let proxy = Proxy::start(&[]).await;
    let text = "Eins, zwei, drei — straße und 🦀🦀, ende.";
    for mark in ["[[echo]]", "[[echo-chars]]", "[[echo-whole]]", "[[echo-bytes]]"] {
        let request = ask(&format!("{text}{mark}"));
        for (members, visible, finish) in [
            (json!({"stop": "🦀"}), "Eins, zwei, drei — straße und ", "stop"),
            (json!({"stop": ["🦀,", "nothing"]}), "Eins, zwei, drei — straße und 🦀", "stop"),
            (json!({"stop": ["e", "zwei"]}), "Eins, zw", "stop"),
            (json!({"max_completion_tokens": 4}), "Eins, zwei", "length"),
        ] {
            let request = with(request.clone(), members);
            for request in [streamed(request.clone()), request] {
                let reply = Reply::of(&proxy.chat(&request).await);
                let choice = reply.choice();
                assert_eq!(
                    (choice.text(), choice.finish.as_deref()),
                    (visible, Some(finish)),
                    "{request}"
                );
            }
        }
    }
}
