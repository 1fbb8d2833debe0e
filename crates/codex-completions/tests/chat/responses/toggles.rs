//! What an operator can choose about calls, and what a request can.

use serde_json::{Value, json};

use super::asking::{ask, respond, respond_with, with_tools};
use super::reply::Reply;
use crate::asking::{call, items, streamed, with};
use crate::proxy::Proxy;
use crate::telemetry::{Told, counters};

const TIME: &str = "<use_tool>\n<name>get_time</name>\n<city>Rome</city>\n</use_tool>";
const RENDERED: &str = "<use_tool>\n  <name>get_time</name>\n  <city>Rome</city>\n</use_tool>";

fn told(calls: usize, truncated: bool, mode: &'static str, stop_reason: &'static str) -> Told {
    Told { calls, truncated, mode, stop_reason }
}

fn calls(said: &[Value]) -> Value {
    with_tools(ask(items(said)))
}

/// Asks both ways, and checks what every place tells, the names of the calls and the text.
async fn check(proxy: &Proxy, request: Value, told: Told, names: &[&str], text: &str) {
    let before = counters(proxy).await;
    let stream = respond(proxy, &streamed(request.clone())).await;
    let reply = Reply::of(&stream);
    told.check_stream(proxy, &stream, reply.telemetry.as_ref(), &reply.calls()).await;
    let whole = respond(proxy, &request).await;
    let collected = Reply::of(&whole);
    told.check_whole(proxy, &whole, &collected.calls()).await;
    told.check_counters(proxy, before).await;
    for reply in [reply, collected] {
        let calls = reply.calls();
        let called: Vec<_> = calls.iter().map(|call| call.name.as_str()).collect();
        assert_eq!((called.as_slice(), reply.text().as_str()), (names, text), "{request}");
        assert_eq!(reply.status(), "completed");
    }
}

#[tokio::test]
async fn a_burst_ends_with_the_response() {
    let proxy = Proxy::start(&[]).await;
    let three = with_tools(ask("[[parallel:3]]"));
    let names = ["get_weather", "get_time", "lookup"];
    check(&proxy, three.clone(), told(3, false, "burst", "tool_calls"), &names, "").await;
    check(&proxy, ask("[[text:Hi]]"), told(0, false, "burst", "completed"), &[], "Hi").await;
    // What follows the last call is an item of its own.
    let said = [json!("Before."), call("get_time", "Rome"), json!("After.")];
    let expected = told(1, false, "burst", "tool_calls");
    check(&proxy, calls(&said), expected, &["get_time"], "Before.After.").await;
    let one = with(three, json!({"parallel_tool_calls": false}));
    check(&proxy, one, told(1, true, "burst", "call_cap"), &["get_weather"], "").await;
}

#[tokio::test]
async fn the_first_call_can_be_the_last() {
    let proxy = Proxy::start(&[("PROXY_STOP_AFTER_TOOLS_MODE", "first")]).await;
    let expected = told(1, true, "first", "first_call");
    // Nobody waits for the rest, neither the client nor the upstream.
    let said = [json!("Now."), call("get_time", "Rome"), json!(600_000), call("lookup", "Oslo")];
    check(&proxy, calls(&said), expected.clone(), &["get_time"], "Now.").await;
    proxy.model.until(|counters| counters.disconnects == 2 && counters.in_flight == 0).await;
    let blocks = ask(format!("Before {TIME} between {TIME} after.[[echo]]"));
    check(&proxy, blocks, expected, &["get_time"], "Before ").await;
}

#[tokio::test]
async fn without_a_stop_the_model_ends_its_turn() {
    let settings =
        [("PROXY_STOP_AFTER_TOOLS", "false"), ("PROXY_SUPPRESS_TAIL_AFTER_TOOLS", "false")];
    let proxy = Proxy::start(&settings).await;
    let said = [call("get_time", "Rome"), json!("Then."), call("lookup", "Oslo"), json!("Last.")];
    let expected = told(2, false, "off", "tool_calls");
    check(&proxy, calls(&said), expected, &["get_time", "lookup"], "Then.Last.").await;
}

#[tokio::test]
async fn caps_and_repetitions_are_as_in_a_chat() {
    let settings = [("PROXY_TOOL_BLOCK_MAX", "2"), ("PROXY_TOOL_BLOCK_DEDUP", "true")];
    let proxy = Proxy::start(&settings).await;
    let names = ["get_weather", "get_time"];
    let three = with_tools(ask("[[parallel:3]]"));
    check(&proxy, three, told(2, true, "burst", "call_cap"), &names, "").await;
    let two = with_tools(ask("[[parallel:2]]"));
    check(&proxy, two, told(2, false, "burst", "tool_calls"), &names, "").await;
    let again = json!({"name": "get_time", "arguments": r#"{ "city":"Rome" }"#});
    let repeated = calls(&[call("get_time", "Rome"), again]);
    check(&proxy, repeated, told(1, true, "burst", "tool_calls"), &["get_time"], "").await;
}

/// The header wins over the setting, which is `openai-json` unless it is set.
#[tokio::test]
async fn the_output_mode_is_chosen_by_header_and_setting() {
    let (xml, json) = ("obsidian-xml", "openai-json");
    let with_call = calls(&[call("get_time", "Rome")]);
    let with_block = ask(format!("{TIME}[[echo]]"));
    for (settings, of_call, of_block) in [
        // The setting of chats has no say.
        (&[("PROXY_OUTPUT_MODE", xml)][..], json, json),
        (&[("PROXY_RESPONSES_OUTPUT_MODE", xml)], xml, xml),
        (&[("PROXY_RESPONSES_OUTPUT_MODE", "auto")], json, xml),
    ] {
        let proxy = Proxy::start(settings).await;
        for (header, of_call, of_block) in
            [(None, of_call, of_block), (Some(xml), xml, xml), (Some(json), json, json)]
        {
            let headers: Vec<_> =
                header.map(|mode| ("x-proxy-output-mode", mode)).into_iter().collect();
            for (request, mode, block) in
                [(&with_call, of_call, RENDERED), (&with_block, of_block, TIME)]
            {
                for request in [request.clone(), streamed(request.clone())] {
                    let answer = respond_with(&proxy, &request, &headers).await;
                    assert_eq!(answer.header("x-proxy-output-mode"), Some(mode));
                    let reply = Reply::of(&answer);
                    assert_eq!(reply.calls().len(), 1);
                    assert_eq!(reply.text(), if mode == xml { block } else { "" }, "{request}");
                }
            }
        }
        let refused = respond_with(&proxy, &with_call, &[("x-proxy-output-mode", "xml")]).await;
        assert_eq!(refused.error(), (400, json!("x-proxy-output-mode"), json!("invalid_value")));
    }
}
