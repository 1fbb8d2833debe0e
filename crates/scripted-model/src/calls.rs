//! Scenarios whose answer calls tools.

use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

use crate::answer::{Answer, Call, Delivery, Script};
use crate::chunking::Chunking;
use crate::failures::ErrorReply;
use crate::scenario::Scene;

const WEATHER: &str = "get_weather";
const TIME: &str = "get_time";
pub(crate) const PARIS: &str = r#"{"city": "Paris"}"#;
const TOUCHED: &str = "scripted-model-was-here";

/// An item of an `items` mark.
#[derive(Deserialize)]
#[serde(untagged)]
enum Item {
    Text(String),
    /// In milliseconds.
    Pause(u32),
    Call {
        name: String,
        arguments: String,
    },
    /// Its summary.
    Reasoning {
        reasoning: String,
    },
    /// The connection closes.
    Cut(()),
}

pub(crate) fn weather_in_paris() -> Call {
    Call::new(WEATHER, PARIS)
}

pub(crate) fn time_in_paris() -> Call {
    Call::new(TIME, PARIS)
}

pub(crate) fn tool(scene: &Scene<'_>) -> Script {
    let argument = scene.argument().unwrap_or_default();
    let (name, arguments) = match argument.split_once(',') {
        Some((name, arguments)) => (name, Some(arguments)),
        None => (argument, None),
    };
    let declared = scene.request.tools();
    let chosen = match name.trim() {
        "" => declared.first(),
        name => declared.iter().find(|tool| tool.name == name),
    };
    let name = match (name.trim(), chosen) {
        ("", Some(tool)) => tool.name,
        ("", None) => WEATHER,
        (name, _) => name,
    };
    let namespace = chosen.and_then(|tool| tool.namespace).map(str::to_owned);
    let arguments = arguments.unwrap_or(r#"{"city": "Paris", "unit": "c"}"#);
    scene.begin().call(&Call::new(name, arguments).within(namespace)).completed()
}

pub(crate) fn weather(scene: &Scene<'_>) -> Script {
    scene.begin().call(&weather_in_paris()).completed()
}

pub(crate) fn parallel(scene: &Scene<'_>) -> Script {
    marked_calls(scene, scene.count()).completed()
}

/// The names in the answer come from the ids of the results, so that a mix-up shows.
pub(crate) fn round_trip(scene: &Scene<'_>) -> Script {
    if !scene.request.ends_with_tool_output() {
        return parallel(scene);
    }
    let results = scene.request.tool_results();
    let lines: Vec<String> =
        results.iter().map(|result| format!("{}: {}", result.name, result.output)).collect();
    scene.begin().message(&lines.join("\n")).completed()
}

/// Every step has thoughts of its own.
pub(crate) fn think_loop(scene: &Scene<'_>) -> Script {
    let step = scene.request.tool_results().len() / scene.count().max(1);
    let calls = (0..scene.count()).map(|index| {
        let arguments = format!(r#"{{"city": "C{step}.{index}"}}"#);
        Call::new(WEATHER, arguments)
    });
    let thought = format!("Thought {step}");
    let answer = scene.begin().reasoning(&[&thought], None);
    calls.fold(answer, |answer, call| answer.call(&call)).completed()
}

pub(crate) fn items(scene: &Scene<'_>) -> Result<Script, ErrorReply> {
    let items = serde_json::from_str::<Vec<Item>>(scene.argument().unwrap_or("[]"));
    let items = items.map_err(|error| {
        ErrorReply::invalid_mark(&format!("`[[items:…]]` takes a list of items: {error}"))
    })?;
    let mut answer = scene.begin();
    for item in items {
        answer = match item {
            Item::Text(text) => answer.message(&text),
            Item::Pause(pause) => answer.pause(Duration::from_millis(pause.into())),
            Item::Call { name, arguments } => answer.call(&Call::new(name, arguments)),
            Item::Reasoning { reasoning } => answer.reasoning(&[&reasoning], None),
            Item::Cut(()) => return Ok(answer.cut()),
        };
    }
    Ok(answer.completed())
}

pub(crate) fn echo_bytes(scene: &Scene<'_>) -> Script {
    let text = scene.mark.rest();
    let arguments = format!(r#"{{"city": {}}}"#, Value::from(text.as_str()));
    scene.begin().trickling().message(&text).call(&Call::new(WEATHER, arguments)).completed()
}

pub(crate) fn call_hang(scene: &Scene<'_>) -> Script {
    marked_calls(scene, 1).silence()
}

/// So many calls of the declared tools in turn, each with the user's text as an argument.
fn marked_calls<'a>(scene: &Scene<'a>, count: usize) -> Answer<'a> {
    let mark = Value::from(scene.mark.rest().trim());
    tools_in_turn(scene)
        .take(count)
        .enumerate()
        .map(|(index, (name, namespace))| {
            let arguments = format!(r#"{{"city": "C{index}", "mark": {mark}}}"#);
            Call::new(name, arguments).within(namespace.map(str::to_owned))
        })
        .fold(scene.begin(), |answer, call| answer.call(&call))
}

/// Names and namespaces of the declared tools (or of three usual ones), again and again.
pub(crate) fn tools_in_turn<'a>(
    scene: &Scene<'a>,
) -> impl Iterator<Item = (&'a str, Option<&'a str>)> + use<'a> {
    let declared = scene.request.tools();
    let tools: Vec<(&str, Option<&str>)> = if declared.is_empty() {
        [WEATHER, TIME, "lookup"].map(|name| (name, None)).to_vec()
    } else {
        declared.iter().map(|tool| (tool.name, tool.namespace)).collect()
    };
    tools.into_iter().cycle()
}

pub(crate) fn parallel_slow(scene: &Scene<'_>) -> Script {
    scene
        .begin()
        .call(&Call::new(WEATHER, r#"{"city": "C0"}"#))
        .pause(scene.duration())
        .call(&Call::new(TIME, r#"{"city": "C1"}"#))
        .completed()
}

pub(crate) fn mixed(scene: &Scene<'_>) -> Script {
    scene.begin().message("Let me check the weather.").call(&weather_in_paris()).completed()
}

pub(crate) fn mixed_reasoning(scene: &Scene<'_>) -> Script {
    scene
        .begin()
        .reasoning(&["Need the weather tool"], None)
        .message("Let me check the weather.")
        .call(&weather_in_paris())
        .call(&time_in_paris())
        .completed()
}

pub(crate) fn text_after_call(scene: &Scene<'_>) -> Script {
    scene.begin().call(&weather_in_paris()).message("Text after call.").completed()
}

pub(crate) fn bad_args(scene: &Scene<'_>) -> Script {
    scene.begin().call(&Call::new(WEATHER, r#"{"city": "Par"#)).completed()
}

pub(crate) fn empty_args(scene: &Scene<'_>) -> Script {
    scene.begin().call(&Call::new(WEATHER, "")).completed()
}

pub(crate) fn unknown_tool(scene: &Scene<'_>) -> Script {
    scene.begin().call(&Call::new("no_such_tool", r#"{"a": 1}"#)).completed()
}

pub(crate) fn shell(scene: &Scene<'_>) -> Script {
    let command = Value::from(format!("touch {}", scene.argument().unwrap_or(TOUCHED)));
    let arguments = format!(r#"{{"cmd": {command}}}"#);
    scene.begin().call(&Call::new("exec_command", arguments)).completed()
}

pub(crate) fn local_shell(scene: &Scene<'_>) -> Script {
    scene.begin().local_shell(&["touch", scene.argument().unwrap_or(TOUCHED)]).completed()
}

pub(crate) fn custom(scene: &Scene<'_>) -> Script {
    let file = scene.argument().unwrap_or(TOUCHED);
    let patch = format!("*** Begin Patch\n*** Add File: {file}\n+x\n*** End Patch");
    let delivery = Delivery::at_once(Chunking::pieces(&patch, 2));
    scene.begin().custom_call("apply_patch", &patch, delivery).completed()
}

pub(crate) fn tool_search(scene: &Scene<'_>) -> Script {
    scene.begin().tool_search().completed()
}

pub(crate) fn namespace(scene: &Scene<'_>) -> Script {
    let namespace = scene.argument().map(str::to_owned);
    scene.begin().call(&weather_in_paris().within(namespace)).completed()
}

pub(crate) fn slow_args(scene: &Scene<'_>) -> Script {
    let call = long_call(WEATHER, 200);
    let delivery = Delivery::spread(&call.arguments, 20, scene.duration());
    scene.begin().call_delivered(&call, delivery).completed()
}

pub(crate) fn many_fragments(scene: &Scene<'_>) -> Script {
    let call = long_call(WEATHER, scene.count().max(1) * 20);
    scene.begin().call_delivered(&call, Delivery::at_once(Chunking::Chars(20))).completed()
}

pub(crate) fn slow_end(scene: &Scene<'_>) -> Script {
    scene.begin().call(&weather_in_paris()).pause(scene.duration()).completed()
}

pub(crate) fn slow_second_call(scene: &Scene<'_>) -> Script {
    let second = long_call(TIME, 200);
    let delivery = Delivery::spread(&second.arguments, 20, scene.duration());
    scene.begin().call(&weather_in_paris()).call_delivered(&second, delivery).completed()
}

/// A call whose arguments have exactly `length` bytes (at least the 12 around the city).
fn long_call(name: &str, length: usize) -> Call {
    let city = "x".repeat(length.saturating_sub(r#"{"city": ""}"#.len()));
    Call::new(name, format!(r#"{{"city": "{city}"}}"#))
}
