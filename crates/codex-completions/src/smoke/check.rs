//! One check: ask, read, compare.

use std::collections::HashSet;

use conformance::reading::{Call, CallKind, Mismatch, expect};
use serde_json::Value;

use super::case::{Case, Delivery, ExpectedCall, Mode};
use super::completion::Completion;
use super::http::{Answer, Asked, ask};
use crate::target::Target;

/// What no text in JSON mode may hold.
const MARKUP: &str = "use_tool";

/// The server answers, and takes the key.
pub(super) async fn access(target: &Target) -> Result<(), Mismatch> {
    ask(target, Asked::Path("/models")).await?.check_status()
}

/// The calls of a case come as they must.
pub(super) async fn case(case: Case, target: &Target, model: &str) -> Result<(), Mismatch> {
    let output_mode = case.mode.name();
    let asked = Asked::Chat { output_mode, body: case.request(model) };
    let answer = ask(target, asked).await?;
    answer.check_status()?;
    let completion = match case.delivery {
        Delivery::Streamed => Completion::of_stream(&answer, model)?,
        Delivery::Whole => Completion::of_body(&answer, model)?,
    };
    check_headers(case, &answer, &completion)?;
    check_calls(case.calls(), &completion.calls)?;
    expect("finish_reason", "tool_calls", completion.finish_reason.as_str())?;
    let telemetry = &completion.telemetry;
    expect("tool_call_count", &case.calls().len(), &telemetry.tool_call_count)?;
    expect("tool_call_truncated", &false, &telemetry.tool_call_truncated)?;
    match case.mode {
        Mode::Json => check_no_markup(case.delivery, &completion),
        Mode::Xml => check_blocks(case, &completion),
    }
}

fn check_headers(case: Case, answer: &Answer, completion: &Completion) -> Result<(), Mismatch> {
    let content_type = match case.delivery {
        Delivery::Streamed => "text/event-stream",
        Delivery::Whole => "application/json",
    };
    expect("content-type", content_type, answer.header("content-type"))?;
    expect("x-proxy-output-mode", case.mode.name(), answer.header("x-proxy-output-mode"))?;
    let stop_mode = answer.header("x-codex-stop-after-tools-mode");
    if !["first", "burst", "off"].contains(&stop_mode) {
        let name = "x-codex-stop-after-tools-mode";
        return Err(Mismatch::new(name, "first, burst or off", &format!("{stop_mode:?}")));
    }
    let told = completion.telemetry.stop_after_tools_mode.as_str();
    expect("stop_after_tools_mode", stop_mode, told)?;
    if answer.header("x-request-id").is_empty() {
        return Err(Mismatch::new("x-request-id", "the request's name", "none"));
    }
    Ok(())
}

fn check_calls(expected: &[ExpectedCall], calls: &[Call]) -> Result<(), Mismatch> {
    let names: Vec<_> = expected.iter().map(|call| call.name).collect();
    expect("calls", &names, &calls.iter().map(|call| call.name.as_str()).collect())?;
    for (expected, call) in expected.iter().zip(calls) {
        expect(&format!("kind of {}", call.name), &CallKind::Function, &call.kind)?;
        let parse = |text: &str| serde_json::from_str::<Value>(text).ok();
        if parse(&call.arguments).is_none_or(|found| Some(found) != parse(expected.arguments)) {
            let what = format!("arguments of {}", call.name);
            return Err(Mismatch::new(what, expected.arguments, &call.arguments));
        }
    }
    let ids: HashSet<_> = calls.iter().map(|call| call.id.as_str()).collect();
    if ids.len() < calls.len() {
        return Err(Mismatch::new("ids of the calls", "different ones", &format!("{ids:?}")));
    }
    Ok(())
}

fn check_no_markup(delivery: Delivery, completion: &Completion) -> Result<(), Mismatch> {
    let (expected, is_right) = match delivery {
        Delivery::Whole => ("null beside calls", completion.content.is_none()),
        Delivery::Streamed => ("no markup", !completion.text().contains(MARKUP)),
    };
    if is_right { Ok(()) } else { Err(Mismatch::new("content", expected, &completion.text())) }
}

/// Every block is there byte for byte, in its place, and there are no others. In a stream each of
/// them is a frame of its own.
fn check_blocks(case: Case, completion: &Completion) -> Result<(), Mismatch> {
    let text = completion.text();
    let blocks: Vec<_> = case.calls().iter().map(|call| call.block).collect();
    let mut rest = text.as_str();
    for block in &blocks {
        let found = rest.split_once(block);
        rest = found.ok_or_else(|| Mismatch::new("content", format!("{block:?}"), &text))?.1;
    }
    expect("blocks in the content", &blocks.len(), &text.matches("<use_tool").count())?;
    let pieces = completion.content.as_deref().unwrap_or_default();
    let frames = pieces.iter().map(String::as_str).filter(|piece| piece.contains(MARKUP));
    match case.delivery {
        Delivery::Whole => Ok(()),
        Delivery::Streamed => expect("frames with blocks", &blocks, &frames.collect()),
    }
}

#[cfg(test)]
mod tests;
