//! Records of requests, and what a replay makes of them.

use std::path::{Path, PathBuf};
use std::process::Command;

use capture::{Record, Redaction, What};
use serde_json::{Value, json};

use crate::asking::{ask, call, items, streamed, with, with_tools};
use crate::http::Answer;
use crate::proxy::Proxy;

/// In the server's folder.
const FOLDER: &str = "records";

pub(crate) const RECORDING: [(&str, &str); 1] = [("PROXY_CAPTURE_DIR", FOLDER)];

/// The records that are there, by time.
pub(crate) fn records(proxy: &Proxy) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(proxy.folder().join(FOLDER)).into_iter().flatten();
    let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

/// The record of a request; the server has stopped, so it is there.
pub(crate) fn record_of(proxy: &Proxy, request_id: &str) -> PathBuf {
    let ending = format!("-{request_id}.jsonl");
    let of_request = |file: &PathBuf| file.to_str().unwrap().ends_with(&ending);
    let mut files = records(proxy);
    files.retain(of_request);
    assert_eq!(files.len(), 1, "{request_id}");
    files.remove(0)
}

pub(crate) fn read(file: &Path) -> Record {
    Record::read(std::fs::read(file).unwrap().as_slice()).unwrap()
}

/// What `replay` says.
pub(crate) fn replay(file: &Path, options: &[&str]) -> (Option<i32>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_codex-completions"));
    let output = command.arg("replay").arg(file).args(options).output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8(text).unwrap())
}

pub(crate) fn finding(file: &Path) -> Value {
    let (code, text) = replay(file, &["--json"]);
    assert_eq!(code, Some(0), "{text}");
    serde_json::from_str::<Value>(&text).unwrap()
}

/// A block as a model writes it, between two texts.
pub(crate) const SPOKEN: &str = "I will look.\n<use_tool>\n<name>lookup</name>\n<city>S\u{e3}o Paulo &amp; \
                      \"Rio\"</city>\n</use_tool>\nThen \u{1f600} more.";

#[tokio::test]
async fn every_kind_of_turn_is_replayed_to_the_byte() {
    let mut proxy = Proxy::start(&RECORDING).await;
    let parallel = with_tools(ask("my private words [[parallel:2]]"));
    let blocks = with_tools(ask(&format!("{SPOKEN} [[echo-chars]]")));
    let text = ask("[[text:The end of it is nigh, they say.]]");
    let usage = json!({"stream_options": {"include_usage": true}});
    let requests = [
        ("parallel", streamed(parallel.clone())),
        ("parallel-whole", parallel.clone()),
        ("choices", with(streamed(parallel), json!({"n": 3}))),
        ("blocks", streamed(blocks.clone())),
        ("blocks-whole", blocks.clone()),
        ("usage", with(streamed(blocks), usage)),
        ("reasoning", streamed(ask("think [[echo-reasoning]]"))),
        ("stop", with(streamed(text.clone()), json!({"stop": ["nigh", "it is not"]}))),
        ("tokens", with(streamed(text.clone()), json!({"max_tokens": 5}))),
        ("tokens-whole", with(text, json!({"max_tokens": 5}))),
        (
            "functions",
            with(
                streamed(ask("[[parallel:2]]")),
                json!({"functions": [crate::asking::function("get_weather")]}),
            ),
        ),
        ("failure", streamed(ask("[[http:500]]"))),
        ("failure-whole", ask("[[failed:secretly]]")),
        ("cut", streamed(ask("some words that break off [[echo-cut]]"))),
    ];
    let mut answers: Vec<(String, Answer)> = Vec::new();
    for (name, request) in &requests {
        for mode in ["openai-json", "obsidian-xml"] {
            let id = format!("{}_{}", name.replace('-', "_"), &mode[..6]).replace('-', "_");
            let headers = [("x-request-id", id.as_str()), ("x-proxy-output-mode", mode)];
            let answer = proxy.chat_with(request, &headers).await;
            answers.push((id, answer));
        }
    }
    proxy.stop().await;
    for (id, answer) in answers {
        let file = record_of(&proxy, &id);
        let record = read(&file);
        assert_eq!(record.header.redaction, Redaction::Exact, "{id}");
        assert_eq!(finding(&file)["finding"], "same", "{id}");
        // The same as was sent, but for the words.
        assert_eq!(record.received().text().len(), answer.body.len(), "{id}");
        let text = std::fs::read_to_string(&file).unwrap();
        for word in ["private", "look.", "Paulo", "nigh", "secretly", "break off"] {
            assert!(!text.contains(word), "{word} in {text}");
        }
    }
}

#[tokio::test]
async fn the_clock_and_a_client_that_leaves_are_replayed_too() {
    let settings = [RECORDING[0], ("PROXY_STOP_AFTER_TOOLS_GRACE_MS", "150")];
    let mut proxy = Proxy::start(&settings).await;
    let request = streamed(with_tools(ask("[[parallel-slow:3000]]")));
    proxy.chat_with(&request, &[("x-request-id", "grace")]).await;
    let left = streamed(ask("two thirds of these words are said [[echo-hang]]"));
    let mut stream = proxy.open_with(&left, &[("x-request-id", "left")]).await;
    stream.until("content").await;
    drop(stream);
    proxy.turn_lines("left", 1).await;
    proxy.stop().await;

    let grace = record_of(&proxy, "grace");
    let clocks = |record: &Record| {
        record.entries.iter().filter(|entry| matches!(entry.what, What::Clock { .. })).count()
    };
    assert_eq!(clocks(&read(&grace)), 1);
    let replayed = finding(&grace);
    assert_eq!(replayed["finding"], "same");
    assert_eq!(replayed["reports"][0]["stop_reason"], "grace");

    let replayed = finding(&record_of(&proxy, "left"));
    assert_eq!(replayed["reports"][0]["stop_reason"], "client_gone");
    assert!(["same", "same_so_far"].contains(&replayed["finding"].as_str().unwrap()));
}

/// What was recorded decides, and what does not fit it is found.
#[tokio::test]
async fn a_replay_tells_what_is_different() {
    let mut proxy = Proxy::start(&RECORDING).await;
    let request = streamed(with_tools(ask(&items(&[
        json!("Both."),
        call("get_weather", "Rome"),
        call("get_time", "Oslo"),
    ]))));
    // Each call is one frame, so that one frame is different.
    let headers = [("x-request-id", "two"), ("x-proxy-stream-arguments", "off")];
    proxy.chat_with(&request, &headers).await;
    proxy.stop().await;
    let file = record_of(&proxy, "two");
    let (code, text) = replay(&file, &[]);
    assert_eq!(code, Some(0), "{text}");
    for part in ["2 call(s)", "call tool_0_0_", " get_weather {\"city\": \"", "same: the answer"] {
        assert!(text.contains(part), "{part} in {text}");
    }
    let (code, text) = replay(&file, &["--set", "PROXY_TOOL_BLOCK_MAX=1"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("1 call(s), truncated"), "{text}");
    assert!(text.contains("not compared: played under another setting"), "{text}");
    for (setting, expected) in [
        ("PROXY_TOOL_BLOCK_MAX=many", "expected a whole number"),
        ("PROXY_TOOL_BLOCK_MAX=", "write NAME=VALUE"),
        ("PROXY_OUTPUT_MODE=auto", "a replay takes obsidian-xml or openai-json"),
        ("PROXY_PORT=1", "cannot be set for a replay; possible are PROXY_OUTPUT_MODE, "),
    ] {
        let (code, text) = replay(&file, &["--set", setting]);
        assert_eq!((code, text.contains(expected)), (Some(1), true), "{setting}: {text}");
    }

    let (_, frames) = replay(&file, &["--frames"]);
    assert!(frames.contains("data: [DONE]"), "{frames}");

    let other = file.with_extension("other");
    let mut record = read(&file);
    for entry in &mut record.entries {
        if let What::Sent(sent) = &mut entry.what {
            *sent = sent.replace("\"index\":1", "\"index\":2");
        }
    }
    record.write(std::fs::File::create(&other).unwrap()).unwrap();
    let (code, text) = replay(&other, &["--diff"]);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("DIFFERENT from byte"), "{text}");
    assert_eq!(text.lines().filter(|line| line.starts_with("- data: ")).count(), 1, "{text}");

    std::fs::write(&other, "{\"capture\": 1}\n").unwrap();
    let (code, text) = replay(&other, &[]);
    assert_eq!(code, Some(1));
    assert!(text.contains("is not a record: line 1: missing field"), "{text}");
    std::fs::write(&other, "{\"capture\": 3}\n").unwrap();
    assert!(replay(&other, &[]).1.contains("line 1: the format is 3"));
    assert!(replay(Path::new("no-such-record"), &[]).1.contains("no-such-record cannot be opened"));
}

#[tokio::test]
async fn row_9_a_record_can_be_read_only_if_content_is_logged() {
    let mut proxy = Proxy::start(&[RECORDING[0], ("PROXY_LOG_CONTENT", "true")]).await;
    proxy.chat_with(&ask("[[text:very private]]"), &[("x-request-id", "open")]).await;
    proxy.stop().await;
    let file = record_of(&proxy, "open");
    assert_eq!(read(&file).header.redaction, Redaction::None);
    let replayed = finding(&file);
    assert_eq!(replayed["finding"], "same");
    assert_eq!(replayed["choices"][0]["content"], "very private");
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(!text.contains("sk-of-these-tests"));
}

#[tokio::test]
async fn recording_is_switched_on_and_off_while_the_server_runs() {
    let mut proxy = Proxy::start(&[]).await;
    let config = proxy.folder().join("config.toml");
    let ask_as = async |id: &str| {
        let answer = proxy.chat_with(&ask("[[text]]"), &[("x-request-id", id)]).await;
        assert_eq!(answer.status, 200);
    };
    ask_as("before").await;
    std::fs::write(&config, format!("capture_dir = \"{FOLDER}\"\n")).unwrap();
    proxy.logged_times("settings have changed", 1).await;
    ask_as("during").await;
    std::fs::remove_file(&config).unwrap();
    proxy.logged_times("settings have changed", 2).await;
    ask_as("after").await;
    proxy.stop().await;
    assert_eq!(records(&proxy), [record_of(&proxy, "during")]);
}

#[tokio::test]
async fn a_folder_that_takes_no_records_is_told_once_and_stops_nothing() {
    let mut proxy = Proxy::start(&RECORDING).await;
    std::fs::write(proxy.folder().join(FOLDER), "in the way").unwrap();
    for _ in 0..3 {
        assert_eq!(proxy.chat(&ask("[[text]]")).await.status, 200);
    }
    proxy.stop().await;
    let log = proxy.log();
    let warned = |line: &&Value| line["message"].to_string().contains("a record was not kept");
    assert_eq!(log.as_array().unwrap().iter().filter(warned).count(), 1, "{log}");
    assert!(log.to_string().contains("PROXY_CAPTURE_DIR is set"), "{log}");
}
