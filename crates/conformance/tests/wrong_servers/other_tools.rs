//! For every rule about tools of other kinds, what a server does that breaks it, and no other of them.

use serde_json::Value;

use crate::faults::{call, chunk, whole};
use crate::filter::{Answer, Fault};

use Fault::Altered;

/// The rule, and a server that breaks it alone.
#[rustfmt::skip]
pub(crate) const ALL: [(&str, Fault); 35] = [
    ("chat-custom-frames", Altered(|answer| custom(answer, |call| { call.as_object_mut().unwrap().remove("type"); }))),
    ("chat-custom-frames", Altered(|answer| custom(answer, |call| call["custom"]["name"] = "apply_patch".into()))),
    ("chat-custom-frames", Altered(|answer| custom(answer, |call| call["id"] = call.get("id").cloned().unwrap_or_default()))),
    ("chat-custom-frames", Altered(|answer| custom(answer, as_function))),
    ("chat-custom-exact", Altered(|answer| if answer.is_chat() && answer.asks("[[freeform") && answer.asks("\"stream\":true") { answer.refuse(400, "only functions") })),
    ("chat-custom-exact", Altered(|answer| if answer.is_stream() && answer.is_chat() { answer.body = answer.body.replace('🗼', "?") })),
    ("chat-custom-exact", Altered(|answer| custom(answer, |call| if call["custom"]["input"] == "\t" { call["custom"]["input"] = " ".into() }))),
    ("chat-custom-exact", Altered(|answer| custom(answer, |call| if call["custom"]["input"] == "\n" { call["custom"]["input"] = "\r\n".into() }))),
    ("chat-custom-exact", Altered(|answer| if answer.is_chat() && answer.asks("[[freeform") { chunk(answer, |delta, _| { delta.remove("tool_calls"); }) })),
    ("chat-custom-exact", Altered(|answer| if answer.asks("[[freeform") { chunk(answer, |_, finish| if finish.is_string() { *finish = "stop".into() }) })),
    ("chat-custom-whole", Altered(|answer| custom_in_whole(answer, as_function))),
    ("chat-custom-whole", Altered(|answer| custom_in_whole(answer, |call| { call["custom"].as_object_mut().unwrap().remove("input"); }))),
    ("chat-custom-whole", Altered(|answer| custom_in_whole(answer, |call| call["custom"]["input"] = "{}".into()))),
    ("chat-custom-whole", Altered(|answer| if answer.asks("[[freeform") { whole(answer, |body| if body.get("choices").is_some() { body["choices"][0]["finish_reason"] = "stop".into() }) })),
    ("chat-custom-results", Altered(|answer| if answer.is_chat() && answer.asks("Done!") { answer.refuse(400, "tool_calls[0].type") })),
    ("chat-custom-results", Altered(|answer| if answer.is_chat() { answer.body = answer.body.replace("Done!", "sunny") })),
    ("chat-hosted-tools", Altered(|answer| if answer.is_chat() && answer.asks("web_search") { answer.refuse(400, "only functions") })),
    ("chat-hosted-tools", Altered(|answer| if answer.is_chat() && answer.asks("x_unknown_tool") { answer.body = answer.body.replace("Paris", "Rome").replace("Par", "Rom") })),
    ("responses-repeated-output", Altered(|answer| if answer.asks("[[round-trip:1]]") { answer.refuse(400, "Duplicate function_call_output") })),
    ("responses-custom-events", Altered(|answer| of_type(answer, "response.custom_tool_call_input.done", |_| None))),
    ("responses-custom-events", Altered(|answer| of_type(answer, "response.custom_tool_call_input.done", |event| { event["input"] = "".into(); Some(()) }))),
    ("responses-custom-events", Altered(|answer| of_type(answer, "response.custom_tool_call_input.delta", |_| None))),
    ("responses-custom-events", Altered(|answer| of_type(answer, "response.output_item.added", |event| { if event["item"].get("input").is_some() { event["item"]["input"] = "*** Begin".into(); } Some(()) }))),
    ("responses-custom-events", Altered(|answer| of_type(answer, "response.output_item.added", |event| { event["item"].as_object_mut()?.remove("call_id"); Some(()) }))),
    ("responses-custom-exact", Altered(|answer| if !answer.is_chat() && answer.asks("[[freeform") && answer.asks("\"stream\":true") { answer.refuse(400, "only functions") })),
    ("responses-custom-exact", Altered(|answer| if answer.is_stream() && !answer.is_chat() { answer.body = answer.body.replace('🗼', "?") })),
    ("responses-custom-whole", Altered(|answer| item_in_whole(answer, |item| item["type"] = "function_call".into()))),
    ("responses-custom-whole", Altered(|answer| item_in_whole(answer, |item| { item.as_object_mut().unwrap().remove("call_id"); }))),
    ("responses-custom-whole", Altered(|answer| item_in_whole(answer, |item| item["input"] = "{}".into()))),
    ("responses-custom-results", Altered(|answer| if !answer.is_chat() && answer.asks("Done!") { answer.refuse(400, "custom_tool_call") })),
    ("responses-custom-results", Altered(|answer| if !answer.is_chat() { answer.body = answer.body.replace("Done!", "sunny") })),
    ("responses-hosted-tools", Altered(|answer| if !answer.is_chat() && answer.asks("web_search") { answer.refuse(400, "only functions") })),
    ("responses-hosted-tools", Altered(|answer| if !answer.is_chat() && answer.asks("web_search") { answer.body = answer.body.replace("Paris", "Rome") })),
    ("responses-unknown-tools", Altered(|answer| if !answer.is_chat() && answer.asks("local_shell") { answer.refuse(400, "only functions") })),
    ("responses-unknown-tools", Altered(|answer| if !answer.is_chat() && answer.asks("x_unknown_tool") { answer.body = answer.body.replace("Paris", "Rome") })),
];

/// Changes every entry of `tool_calls` in a stream that has a call of a custom tool.
fn custom(answer: &mut Answer, mut alter: impl FnMut(&mut Value)) {
    if answer.asks("[[freeform") {
        call(answer, |call| {
            if call.get("custom").is_some() {
                alter(call);
            }
        });
    }
}

/// A custom tool as a function whose arguments are its input.
fn as_function(call: &mut Value) {
    let custom = call["custom"].take();
    call.as_object_mut().unwrap().remove("custom");
    if call.get("type").is_some() {
        call["type"] = "function".into();
        call["function"]["name"] = custom["name"].clone();
    }
    call["function"]["arguments"] = custom["input"].clone();
}

/// Changes the call of a whole chat completion with a custom tool.
fn custom_in_whole(answer: &mut Answer, alter: fn(&mut Value)) {
    if answer.is_chat() && answer.asks("[[freeform") {
        whole(answer, |body| alter(&mut body["choices"][0]["message"]["tool_calls"][0]));
    }
}

/// The same for a whole response.
fn item_in_whole(answer: &mut Answer, alter: fn(&mut Value)) {
    if !answer.is_chat() && answer.asks("[[freeform") {
        whole(answer, |body| alter(&mut body["output"][0]));
    }
}

/// Changes the events of this type in a response with a custom tool; `None` takes one out.
fn of_type(answer: &mut Answer, kind: &str, alter: fn(&mut Value) -> Option<()>) {
    if answer.asks("[[freeform") {
        answer.alter_frames(|event| if event["type"] == kind { alter(event) } else { Some(()) });
    }
}
