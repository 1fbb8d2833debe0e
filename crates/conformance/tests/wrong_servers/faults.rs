//! For every rule, what a server does that breaks it.

use serde_json::{Value, json};

use crate::filter::{Answer, Fault};

use Fault::{Altered, Stays};

/// The rule, and a server that breaks it.
#[rustfmt::skip]
pub(crate) const ALL: [(&str, Fault); 107] = [
    ("key-refused", Altered(|answer| if answer.body.contains("wrong key") { answer.status = 500 })),
    ("unknown-path", Altered(|answer| if answer.status == 404 { answer.body = "<h1>Not found</h1>".to_owned() })),
    ("models-list", Altered(|answer| answer.body = answer.body.replace("\"data\"", "\"models\""))),
    ("chat-answers", Altered(|answer| answer.refuse(500, "no"))),
    ("chat-tolerant", Altered(|answer| if answer.asks("\"temperature\":null") { answer.refuse(400, "null") })),
    ("chat-tolerant", Altered(|answer| if answer.asks("\"developer\"") { answer.refuse(400, "role") })),
    ("chat-lenient", Altered(|answer| if answer.asks("x_unknown_field") { answer.refuse(400, "unknown") })),
    ("chat-lenient", Altered(|answer| if answer.asks("\"tools\":null") { answer.refuse(400, "null") })),
    ("chat-tool-results", Altered(|answer| answer.body = answer.body.replace("sunny", "rainy"))),
    ("chat-content-type", Altered(|answer| answer.content_type = "text/plain".to_owned())),
    ("chat-sse-frames", Altered(|answer| if answer.is_stream() { answer.body = answer.body.replacen("\n\n", "\n\ndata:\n\n", 1) })),
    ("chat-sse-frames", Altered(|answer| if answer.is_stream() { answer.body = answer.body.replacen("\n\n", "\n\nevent: ping\ndata: {}\n\n", 1) })),
    ("chat-sse-frames", Altered(|answer| { answer.body.truncate(answer.body.trim_end().len()) })),
    ("chat-role-first", Altered(|answer| chunk(answer, |delta, _| { delta.remove("role"); }))),
    ("chat-envelope", Altered(|answer| { let mut number = 0; answer.alter_frames(|frame| { number += 1; frame["id"] = number.to_string().into(); Some(()) }) })),
    ("chat-envelope", Altered(|answer| answer.alter_frames(|frame| { frame.as_object_mut()?.remove("created"); Some(()) }))),
    ("chat-text-exact", Altered(|answer| answer.body = answer.body.replace('🗼', "?"))),
    ("chat-text-exact", Altered(|answer| if answer.asks("echo-chars") { answer.body = answer.body.replacen("\"content\":\"u\"", "\"content\":\"uu\"", 1).replacen("\"content\":\"a\"", "\"content\":\"aa\"", 1) })),
    ("chat-nothing-after-finish", Altered(|answer| answer.body = answer.body.replace("data: [DONE]", "data: {\"id\":\"1\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"x\"},\"finish_reason\":null}]}\n\ndata: [DONE]"))),
    ("chat-done-once", Altered(|answer| answer.body = answer.body.replace("data: [DONE]\n\n", ""))),
    ("chat-done-once", Altered(|answer| answer.body = answer.body.replace("data: [DONE]\n\n", "data: [DONE]\n\ndata: [DONE]\n\n"))),
    ("chat-done-once", Altered(|answer| answer.body = answer.body.replace("data: [DONE]\n\n", "data: [DONE]\n\ndata: {}\n\n"))),
    ("chat-done-after-error", Altered(|answer| if answer.body.contains("\"error\"") { answer.body = answer.body.replace("data: [DONE]\n\n", "") })),
    ("chat-in-time", Altered(|_| {})),
    ("chat-silence", Altered(|answer| answer.body = answer.body.replacen("\n\n", "\n\ndata: \n\n", 1))),
    ("chat-silence", Altered(|answer| before_second_word(answer, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"\"}}]}\n\n"))),
    ("chat-silence", Altered(|answer| if let Some(end) = answer.body.find("\"stop\"") { answer.body.truncate(end) })),
    ("chat-text-apart", Altered(|answer| chunk(answer, |delta, _| if delta.contains_key("tool_calls") { delta.insert("content".to_owned(), "x".into()); }))),
    ("chat-one-call-a-frame", Altered(|answer| chunk(answer, |delta, _| if let Some(calls) = delta.get_mut("tool_calls") { let call = calls[0].clone(); *calls = json!([call, call]); }))),
    ("chat-call-begins-once", Altered(|answer| call(answer, |call| call["id"] = Value::Null))),
    ("chat-call-begins-once", Altered(|answer| call(answer, |call| call["function"]["name"] = "get_weather".into()))),
    ("chat-call-begins-once", Altered(|answer| call(answer, |call| { call.as_object_mut().unwrap().remove("type"); }))),
    ("chat-call-order", Altered(|answer| call(answer, |call| call["index"] = (call["index"].as_u64().unwrap() + 1).into()))),
    ("chat-call-order", Altered(|answer| call(answer, |call| if call["index"] == 2 && call.get("id").is_none() { call["index"] = 0.into() }))),
    ("chat-calls-complete", Altered(|answer| chunk(answer, |delta, _| if delta.get("tool_calls").is_some_and(|calls| calls[0]["index"] == 2) { delta.remove("tool_calls"); }))),
    ("chat-calls-complete", Altered(|answer| answer.body = answer.body.replace("get_weather", "get_whether"))),
    ("chat-call-ids", Altered(|answer| call(answer, |call| if call.get("id").is_some() { call["id"] = "same".into() }))),
    ("chat-arguments-exact", Altered(|answer| call(answer, |call| if let Some(arguments) = call["function"].get_mut("arguments") { *arguments = arguments.as_str().unwrap().replace('x', "y").into() }))),
    ("chat-arguments-exact", Altered(|answer| call(answer, |call| if let Some(arguments) = call["function"].get_mut("arguments") { *arguments = format!("{}{}", arguments.as_str().unwrap(), arguments.as_str().unwrap()).into() }))),
    ("chat-no-arguments", Altered(|answer| call(answer, |call| if let Some(arguments) = call["function"].get_mut("arguments") { *arguments = "".into() }))),
    ("chat-declared-calls", Altered(|answer| answer.body = answer.body.replace("get_weather", "exec_command"))),
    ("chat-declared-calls", Altered(|answer| if answer.asks("web_search") { answer.body = answer.body.replace("get_weather", "web_search") })),
    ("chat-finish-frame", Altered(|answer| chunk(answer, |delta, finish| if finish.is_string() { delta.insert("content".to_owned(), "x".into()); }))),
    ("chat-finish-frame", Altered(|answer| chunk(answer, |_, finish| *finish = Value::Null))),
    ("chat-finish-stop", Altered(|answer| answer.body = answer.body.replace("\"stop\"", "\"eos\""))),
    ("chat-finish-tool-calls", Altered(|answer| answer.body = answer.body.replace("\"finish_reason\":\"tool_calls\"", "\"finish_reason\":\"stop\""))),
    ("chat-finish-length", Altered(|answer| answer.body = answer.body.replace("\"length\"", "\"stop\""))),
    ("chat-usage-asked", Altered(|answer| answer.alter_frames(|frame| (frame["choices"] != json!([])).then_some(())))),
    ("chat-usage-asked", Altered(|answer| answer.alter_frames(|frame| { if frame["usage"].is_object() { frame["usage"]["total_tokens"] = 1.into(); } Some(()) }))),
    ("chat-usage-unasked", Altered(|answer| answer.alter_frames(|frame| { frame["usage"] = json!({"total_tokens": 1}); Some(()) }))),
    ("chat-error-status", Altered(|answer| if answer.status == 429 { answer.status = 500 })),
    ("chat-error-status", Altered(|answer| if answer.status >= 400 { answer.status = 200 })),
    ("chat-error-status", Altered(|answer| if answer.status >= 400 { answer.body = "Bad gateway".to_owned() })),
    ("chat-bad-request", Altered(|answer| answer.alter_json(|body| body["error"]["param"] = Value::Null))),
    ("chat-bad-request", Altered(|answer| if answer.status == 400 { answer.status = 500 })),
    ("chat-error-frame", Altered(|answer| answer.alter_frames(|frame| frame.get("error").is_none().then_some(())))),
    ("chat-error-frame", Altered(|answer| answer.alter_frames(|frame| { if frame.get("error").is_some() { frame["error"] = "it broke".into(); } Some(()) }))),
    ("chat-failure-is-no-success", Altered(|answer| answer.alter_frames(|frame| { if frame.get("error").is_some() { *frame = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}); } Some(()) }))),
    ("chat-failure-is-no-success", Altered(|answer| answer.body = answer.body.replace("data: {\"error\"", "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: {\"error\""))),
    ("chat-failure-is-no-success", Altered(|answer| if answer.body.contains("\"error\"") { answer.body = answer.body.replace("data: [DONE]", "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]") })),
    ("chat-failure-is-no-success", Altered(|answer| answer.alter_frames(|frame| { if frame.get("error").is_some() { frame["choices"] = json!([{"index": 0, "delta": {}, "finish_reason": "stop"}]); } Some(()) }))),
    ("chat-disconnect", Stays),
    ("chat-whole-shape", Altered(|answer| whole(answer, |body| body["choices"][0]["message"]["tool_calls"] = json!([])))),
    ("chat-whole-shape", Altered(|answer| whole(answer, |body| body["choices"][0]["message"]["role"] = Value::Null))),
    ("chat-whole-shape", Altered(|answer| if !answer.is_stream() { answer.content_type = "text/plain".to_owned() })),
    ("chat-whole-exact", Altered(|answer| whole(answer, |body| body["choices"][0]["message"]["content"] = "x".into()))),
    ("chat-whole-exact", Altered(|answer| whole(answer, |body| body["choices"][0]["finish_reason"] = "eos".into()))),
    ("chat-whole-usage", Altered(|answer| whole(answer, |body| body["usage"] = Value::Null))),
    ("chat-same-either-way", Altered(|answer| whole(answer, |body| body["choices"][0]["finish_reason"] = "eos".into()))),
    ("responses-answers", Altered(|answer| if answer.path.ends_with("/responses") { answer.refuse(404, "no responses here") })),
    ("responses-tool-results", Altered(|answer| answer.body = answer.body.replace("sunny", "rainy"))),
    ("responses-content-type", Altered(|answer| answer.content_type = "text/plain".to_owned())),
    ("responses-event-names", Altered(|answer| answer.body = answer.body.replace("event: response.output_text.delta", "event: delta"))),
    ("responses-event-names", Altered(|answer| answer.body = answer.body.replace("response.in_progress", "response.heartbeat"))),
    ("responses-event-names", Altered(|answer| answer.body = answer.body.replace("event: response.created", "event: keepalive\ndata: {\"type\": \"ping\"}\n\nevent: response.created"))),
    ("responses-sequence", Altered(|answer| answer.alter_frames(|frame| { frame["sequence_number"] = 0.into(); Some(()) }))),
    ("responses-begin-and-end", Altered(|answer| answer.alter_frames(|frame| (frame["type"] != "response.in_progress").then_some(())))),
    ("responses-begin-and-end", Altered(|answer| answer.alter_frames(|frame| (frame["type"] != "response.completed").then_some(())))),
    ("responses-begin-and-end", Altered(|answer| answer.body = answer.body.replace("event: response.completed", "event: error\ndata: {\"type\":\"error\",\"message\":\"x\"}\n\nevent: response.completed"))),
    ("responses-begin-and-end", Altered(|answer| answer.alter_frames(|frame| { if frame["type"] == "response.completed" { frame["response"]["status"] = "failed".into(); } Some(()) }))),
    ("responses-one-open-item", Altered(|answer| answer.alter_frames(|frame| { if frame.get("output_index").is_some() { frame["output_index"] = 7.into(); } Some(()) }))),
    ("responses-message-events", Altered(|answer| answer.alter_frames(|frame| (frame["type"] != "response.content_part.added").then_some(())))),
    ("responses-text-exact", Altered(|answer| answer.body = answer.body.replace('🗼', "?"))),
    ("responses-call-events", Altered(|answer| answer.alter_frames(|frame| (frame["type"] != "response.function_call_arguments.delta").then_some(())))),
    ("responses-calls-complete", Altered(|answer| answer.body = answer.body.replace("get_weather", "get_whether"))),
    ("responses-arguments-exact", Altered(|answer| answer.body = answer.body.replace("Paris", "Baris"))),
    ("responses-no-arguments", Altered(|answer| answer.body = answer.body.replace("\"{}\"", "\"\""))),
    ("responses-declared-calls", Altered(|answer| answer.body = answer.body.replace("get_weather", "exec_command"))),
    ("responses-repeats-items", Altered(|answer| answer.alter_frames(|frame| { if frame["type"] == "response.completed" { frame["response"]["output"] = json!([]); } Some(()) }))),
    ("responses-usage", Altered(|answer| answer.alter_frames(|frame| { frame.get_mut("response")?.as_object_mut()?.remove("usage"); Some(()) }))),
    ("responses-length", Altered(|answer| answer.body = answer.body.replace("\"incomplete\"", "\"completed\""))),
    ("responses-silence", Altered(|answer| answer.body = answer.body.replacen("\n\n", "\n\nevent: ping\ndata: {}\n\n", 1))),
    ("responses-silence", Altered(|answer| before_second_word(answer, "data: {\"type\":\"response.in_progress\"}\n\n"))),
    ("responses-in-time", Altered(|_| {})),
    ("responses-error-status", Altered(|answer| if answer.status >= 400 { answer.status = 200 })),
    ("responses-bad-request", Altered(|answer| answer.alter_json(|body| body["error"]["param"] = Value::Null))),
    ("responses-error-event", Altered(|answer| answer.alter_frames(|frame| (frame["type"] != "error" && frame["type"] != "response.failed").then_some(())))),
    ("responses-error-event", Altered(|answer| answer.alter_frames(|frame| { if frame["type"] == "response.failed" { frame["response"]["error"] = Value::Null; } (frame["type"] != "error").then_some(()) }))),
    ("responses-error-every-form", Altered(|answer| answer.alter_frames(|frame| (frame["type"] != "error").then_some(())))),
    ("responses-error-every-form", Altered(|answer| answer.alter_frames(|frame| (frame["type"] != "response.failed").then_some(())))),
    ("responses-disconnect", Stays),
    ("responses-whole-shape", Altered(|answer| whole(answer, |body| { body.as_object_mut().unwrap().remove("created_at"); }))),
    ("responses-whole-shape", Altered(|answer| if !answer.is_stream() { answer.content_type = "text/plain".to_owned() })),
    ("responses-whole-exact", Altered(|answer| whole(answer, |body| body["output"] = json!([])))),
    ("responses-same-either-way", Altered(|answer| whole(answer, |body| body["output"] = json!([])))),
    ("responses-failure-is-no-success", Altered(|answer| answer.body = answer.body.replace("event: error", "event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{\"status\":\"completed\"}}\n\nevent: error"))),
    ("responses-failure-is-no-success", Altered(|answer| answer.alter_frames(|frame| { if frame["type"] == "response.failed" { frame["type"] = "response.completed".into(); frame["response"]["status"] = "completed".into(); } Some(()) }))),
];

/// Puts a frame into the silence between the two words of the slow model.
fn before_second_word(answer: &mut Answer, frame: &str) {
    let word = answer.body.find("said.").unwrap_or(0);
    if let Some(end) = answer.body[..word].rfind("\n\n") {
        answer.body.insert_str(end + 2, frame);
    }
}

/// Changes the delta and the finish reason of every chunk.
pub(crate) fn chunk(
    answer: &mut Answer,
    mut alter: impl FnMut(&mut serde_json::Map<String, Value>, &mut Value),
) {
    answer.alter_frames(|frame| {
        let choice = frame.get_mut("choices").and_then(|choices| choices.get_mut(0));
        if let Some(choice) = choice {
            let mut delta = choice["delta"].as_object().cloned().unwrap_or_default();
            alter(&mut delta, &mut choice["finish_reason"]);
            choice["delta"] = delta.into();
        }
        Some(())
    });
}

/// Changes every entry of `tool_calls` in a stream.
pub(crate) fn call(answer: &mut Answer, mut alter: impl FnMut(&mut Value)) {
    chunk(answer, |delta, _| {
        if let Some(entry) = delta.get_mut("tool_calls").and_then(|calls| calls.get_mut(0)) {
            alter(entry);
        }
    });
}

/// Changes an answer that is not streamed.
pub(crate) fn whole(answer: &mut Answer, alter: impl FnOnce(&mut Value)) {
    if answer.status == 200 && !answer.is_stream() && !answer.asked.is_empty() {
        answer.alter_json(alter);
    }
}
