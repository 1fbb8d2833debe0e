//! What an operator can choose about calls, and what a request can.

use scripted_model::Counters;
use serde_json::{Value, json};

use crate::asking::{ask, call, items, streamed, with, with_tools};
use crate::proxy::Proxy;
use crate::reply::Reply;
use crate::telemetry::{Told, both_ways};

const PARIS: &str = r#"{"city": "Paris"}"#;
const TIME: &str = "<use_tool>\n<name>get_time</name>\n<city>Rome</city>\n</use_tool>";
const LOOKUP: &str = "<use_tool><name>lookup</name><city>a<b & c</city></use_tool>";

fn told(calls: usize, truncated: bool, mode: &'static str, stop_reason: &'static str) -> Told {
    Told { calls, truncated, mode, stop_reason }
}

/// Tools are declared, so that only calls are shown and not blocks.
fn calls(more: &[Value]) -> Value {
    with_tools(ask(&items(more)))
}

/// No tools are declared, and the request speaks of blocks: these are shown as they are.
fn blocks(text: &str) -> Value {
    ask(&format!("{text}[[echo]]"))
}

/// Asks both ways, and checks the names of the calls.
async fn check(proxy: &Proxy, request: Value, expected: Told, names: &[&str]) -> (Reply, Reply) {
    assert_eq!(expected.calls, names.len());
    let replies = both_ways(proxy, &request, &expected).await;
    for reply in [&replies.0, &replies.1] {
        let called: Vec<_> = reply.choice().calls.iter().map(|call| call.name.as_str()).collect();
        assert_eq!(called, names, "{request}");
        let finish = if names.is_empty() { "stop" } else { "tool_calls" };
        assert_eq!(reply.choice().finish.as_deref(), Some(finish));
    }
    replies
}

#[tokio::test]
async fn a_burst_ends_with_the_response() {
    let proxy = Proxy::start(&[]).await;
    let three = with_tools(ask("[[parallel:3]]"));
    let names = ["get_weather", "get_time", "lookup"];
    check(&proxy, three, told(3, false, "burst", "tool_calls"), &names).await;
    check(&proxy, ask("[[text]]"), told(0, false, "burst", "completed"), &[]).await;

    // Text blocks wait for the same end; what follows the last of them is dropped.
    let request = blocks(&format!("Before {TIME} between {LOOKUP} after."));
    let expected = told(2, false, "burst", "tool_calls");
    let (stream, whole) = check(&proxy, request, expected, &["get_time", "lookup"]).await;
    for reply in [stream, whole] {
        assert_eq!(reply.choice().text(), format!("Before {TIME} between {LOOKUP}"));
    }
}

#[tokio::test]
async fn the_first_call_can_be_the_last() {
    let first = ("PROXY_STOP_AFTER_TOOLS_MODE", "first");
    // With a cap of one as well it is what it was before there were bursts.
    for settings in [&[first][..], &[first, ("PROXY_TOOL_BLOCK_MAX", "1")]] {
        let proxy = Proxy::start(settings).await;
        let expected = told(1, true, "first", "first_call");
        let request = calls(&[json!("Now."), call("get_time", "Rome"), call("lookup", "Oslo")]);
        let (stream, whole) = check(&proxy, request, expected.clone(), &["get_time"]).await;
        assert_eq!((stream.choice().text(), &whole.choice().content), ("Now.", &None));
        let request = blocks(&format!("Before {TIME} between {LOOKUP} after."));
        let (stream, whole) = check(&proxy, request, expected.clone(), &["get_time"]).await;
        for reply in [stream, whole] {
            assert_eq!(reply.choice().text(), format!("Before {TIME}"));
        }

        // Nobody waits for the rest, neither the client nor the upstream.
        let request = calls(&[call("get_time", "Rome"), json!(600_000), call("lookup", "Oslo")]);
        check(&proxy, request, expected, &["get_time"]).await;
        proxy.model.until(|counters| counters.disconnects == 2 && counters.in_flight == 0).await;
    }
}

#[tokio::test]
async fn without_a_stop_the_model_ends_its_turn() {
    let settings =
        [("PROXY_STOP_AFTER_TOOLS", "false"), ("PROXY_SUPPRESS_TAIL_AFTER_TOOLS", "false")];
    let proxy = Proxy::start(&settings).await;
    let request =
        calls(&[call("get_time", "Rome"), json!("Then."), call("lookup", "Oslo"), json!("Last.")]);
    let expected = told(2, false, "off", "tool_calls");
    let (stream, whole) = check(&proxy, request, expected.clone(), &["get_time", "lookup"]).await;
    assert_eq!((stream.choice().text(), &whole.choice().content), ("Then.\n\nLast.", &None));
    let request = blocks(&format!("Before {TIME} between {LOOKUP} after."));
    let (stream, whole) = check(&proxy, request, expected, &["get_time", "lookup"]).await;
    for reply in [stream, whole] {
        assert_eq!(reply.choice().text(), format!("Before {TIME} between {LOOKUP} after."));
    }
}

#[tokio::test]
async fn a_cap_is_exact() {
    for (stop, mode) in [("true", "burst"), ("false", "off")] {
        let settings = [("PROXY_TOOL_BLOCK_MAX", "2"), ("PROXY_STOP_AFTER_TOOLS", stop)];
        let proxy = Proxy::start(&settings).await;
        let (two, three) = (with_tools(ask("[[parallel:2]]")), with_tools(ask("[[parallel:3]]")));
        let names = ["get_weather", "get_time"];
        check(&proxy, two, told(2, false, mode, "tool_calls"), &names).await;
        check(&proxy, three, told(2, true, mode, "call_cap"), &names).await;
        let names = ["get_time", "lookup"];
        let two = blocks(&format!("{TIME}{LOOKUP} after"));
        check(&proxy, two, told(2, false, mode, "tool_calls"), &names).await;
        let three = blocks(&format!("{TIME}{LOOKUP} between {TIME}"));
        let (stream, whole) = check(&proxy, three, told(2, true, mode, "call_cap"), &names).await;
        for reply in [stream, whole] {
            assert_eq!(reply.choice().text(), format!("{TIME}{LOOKUP}"));
        }
        // The lower of two caps counts.
        let one = with(with_tools(ask("[[parallel:2]]")), json!({"parallel_tool_calls": false}));
        check(&proxy, one, told(1, true, mode, "call_cap"), &["get_weather"]).await;
    }
}

#[tokio::test]
async fn one_call_at_a_time_can_be_asked_for_and_be_set() {
    let one = told(1, true, "burst", "call_cap");
    let proxy = Proxy::start(&[]).await;
    let request = with(with_tools(ask("[[parallel:3]]")), json!({"parallel_tool_calls": false}));
    check(&proxy, request, one.clone(), &["get_weather"]).await;
    let request = with(with_tools(ask("[[tool]]")), json!({"parallel_tool_calls": false}));
    check(&proxy, request, told(1, false, "burst", "tool_calls"), &["get_weather"]).await;

    let proxy = Proxy::start(&[("PROXY_ENABLE_PARALLEL_TOOL_CALLS", "false")]).await;
    check(&proxy, with_tools(ask("[[parallel:3]]")), one, &["get_weather"]).await;
}

#[tokio::test]
async fn repetitions_can_be_dropped() {
    let proxy = Proxy::start(&[("PROXY_TOOL_BLOCK_DEDUP", "true")]).await;
    let again = json!({"name": "get_time", "arguments": r#"{ "city":"Rome" }"#});
    let request =
        calls(&[call("get_time", "Rome"), again, call("get_time", "Oslo"), call("lookup", "Rome")]);
    let expected = told(3, true, "burst", "tool_calls");
    check(&proxy, request, expected, &["get_time", "get_time", "lookup"]).await;
    let request = blocks(&format!("{TIME}, {TIME} and {LOOKUP}"));
    let expected = told(2, true, "burst", "tool_calls");
    let (stream, whole) = check(&proxy, request, expected, &["get_time", "lookup"]).await;
    for reply in [stream, whole] {
        assert_eq!(reply.choice().text(), format!("{TIME},  and {LOOKUP}"));
    }
    let different = with_tools(ask("[[parallel:3]]"));
    let names = ["get_weather", "get_time", "lookup"];
    check(&proxy, different, told(3, false, "burst", "tool_calls"), &names).await;
}

/// Without dedup a call and its block are one call all the same.
#[tokio::test]
async fn a_block_and_its_call_are_one() {
    let proxy = Proxy::start(&[("PROXY_OUTPUT_MODE", "obsidian-xml")]).await;
    let rendered = "<use_tool>\n  <name>get_time</name>\n  <city>Rome</city>\n</use_tool>";
    let expected = told(1, false, "burst", "tool_calls");
    for (items, text) in [
        ([json!(format!("Now: {TIME}")), call("get_time", "Rome")], format!("Now: {TIME}")),
        ([call("get_time", "Rome"), json!(format!("Now: {TIME}"))], rendered.to_owned()),
    ] {
        let (stream, whole) = check(&proxy, calls(&items), expected.clone(), &["get_time"]).await;
        for reply in [stream, whole] {
            assert_eq!(reply.choice().text(), text);
        }
    }
}

#[tokio::test]
async fn adjacent_blocks_can_be_set_apart() {
    for (setting, between) in [("true", "\n\n"), (r"\n", "\n"), ("--", "--")] {
        let proxy = Proxy::start(&[
            ("PROXY_TOOL_BLOCK_DELIMITER", setting),
            ("PROXY_OUTPUT_MODE", "obsidian-xml"),
        ])
        .await;
        let written = blocks(&format!("{TIME}{LOOKUP} and {TIME}"));
        let rendered = calls(&[
            call("get_time", "Rome"),
            call("get_time", "Rome"),
            json!(" and "),
            call("get_time", "Rome"),
        ]);
        let block = "<use_tool>\n  <name>get_time</name>\n  <city>Rome</city>\n</use_tool>";
        for (request, text) in [
            (written, format!("{TIME}{between}{LOOKUP} and {TIME}")),
            (rendered, format!("{block}{between}{block} and {block}")),
        ] {
            for request in [streamed(request.clone()), request] {
                let reply = Reply::of(&proxy.chat(&request).await);
                assert_eq!(reply.choice().text(), text);
                assert_eq!(reply.choice().calls.len(), 3);
            }
        }
    }
}

/// A time limit ends a burst that the response does not end. It never runs while a block is open.
#[tokio::test]
async fn a_burst_can_end_by_time() {
    let proxy = Proxy::start(&[("PROXY_STOP_AFTER_TOOLS_GRACE_MS", "600")]).await;
    let both = with_tools(ask("[[parallel:2]]"));
    let names = ["get_weather", "get_time"];
    let short = calls(&[call("get_weather", "Rome"), json!(200), call("get_time", "Rome")]);
    let long = calls(&[call("get_weather", "Rome"), json!(600_000), call("get_time", "Rome")]);
    let slow_block = "<use_tool><name>lookup</name><city>a b c d e f g h i j k</city></use_tool>";
    let open = with_tools(ask(&format!("{LOOKUP} {slow_block}[[echo-slow:1500]]")));
    let streaming = streamed(open.clone());
    let (stream, whole) = tokio::join!(proxy.chat(&streaming), proxy.chat(&open));
    for answer in [stream, whole] {
        let reply = Reply::of(&answer);
        assert_eq!(
            reply.choice().called(),
            [
                ("lookup", r#"{"city":"a<b & c"}"#),
                ("lookup", r#"{"city":"a b c d e f g h i j k"}"#),
            ]
        );
    }
    for (request, names, expected) in [
        (both, &names[..], told(2, false, "burst", "tool_calls")),
        (short, &names[..], told(2, false, "burst", "tool_calls")),
        (long, &names[..1], told(1, true, "burst", "grace")),
    ] {
        check(&proxy, request, expected, names).await;
    }
    proxy.model.until(|counters| counters.disconnects == 2 && counters.in_flight == 0).await;
}

/// No answer is without a limit, and none that is cut looks whole.
#[tokio::test]
async fn limits_cut_an_answer() {
    let settings = [
        ("PROXY_MAX_TOOL_CALLS", "2"),
        ("PROXY_MAX_HELD_BYTES", "1024"),
        ("PROXY_MAX_ARGUMENT_BYTES", "1024"),
    ];
    let proxy = Proxy::start(&settings).await;
    let three = with_tools(ask("[[parallel:3]]"));
    let expected = told(2, true, "burst", "call_cap");
    check(&proxy, three, expected, &["get_weather", "get_time"]).await;
    let chatty =
        calls(&[call("get_time", "Rome"), json!("x".repeat(2_000)), call("lookup", "Oslo")]);
    check(&proxy, chatty, told(1, true, "burst", "held_text"), &["get_time"]).await;
    let large = with_tools(ask("[[many-fragments:100]]"));
    for request in [streamed(large.clone()), large] {
        let headers = [("x-proxy-stream-arguments", "off")];
        let answer = proxy.chat_with(&request, &headers).await;
        assert_eq!(answer.error(), (502, Value::Null, json!("output_too_large")));
    }
}

/// Nobody pays for what nobody reads.
#[tokio::test]
async fn a_cut_ends_the_turn_upstream() {
    let proxy = Proxy::start(&[]).await;
    let endless = |first: &[Value]| {
        let mut said = first.to_vec();
        said.extend([json!(600_000), json!("never")]);
        calls(&said)
    };
    let text = endless(&[json!("one two STOP three four")]);
    let two = endless(&[call("get_time", "Rome"), call("lookup", "Oslo")]);
    let mut left = 0;
    for (request, stop_reason, names) in [
        (with(text.clone(), json!({"stop": "STOP"})), "stop_sequence", &[][..]),
        (with(two, json!({"parallel_tool_calls": false})), "call_cap", &["get_time"]),
    ] {
        let expected = told(names.len(), true, "burst", stop_reason);
        check(&proxy, request, expected, names).await;
        left += 2;
        let gone = |counters: &Counters| counters.disconnects == left && counters.in_flight == 0;
        proxy.model.until(gone).await;
    }
    let limited = with(text, json!({"max_tokens": 2}));
    for request in [streamed(limited.clone()), limited] {
        let reply = Reply::of(&proxy.chat(&request).await);
        assert_eq!(
            (reply.choice().text(), reply.choice().finish.as_deref()),
            ("one two", Some("length"))
        );
    }
    proxy.model.until(|counters| counters.disconnects == left + 2 && counters.in_flight == 0).await;
}

/// The header wins over the setting, and that over what the request suggests.
#[tokio::test]
async fn the_output_mode_is_chosen_by_header_setting_and_request() {
    let with_call = with_tools(ask("[[tool]]"));
    let with_block = blocks(TIME);
    let (xml, json) = ("obsidian-xml", "openai-json");
    for (setting, of_call, of_block) in [("auto", json, xml), (xml, xml, xml), (json, json, json)] {
        let proxy = Proxy::start(&[("PROXY_OUTPUT_MODE", setting)]).await;
        for (header, of_call, of_block) in
            [(None, of_call, of_block), (Some(xml), xml, xml), (Some(json), json, json)]
        {
            let headers: Vec<_> =
                header.map(|mode| ("x-proxy-output-mode", mode)).into_iter().collect();
            for (request, mode) in [(&with_call, of_call), (&with_block, of_block)] {
                for request in [request.clone(), streamed(request.clone())] {
                    let answer = proxy.chat_with(&request, &headers).await;
                    assert_eq!(answer.header("x-proxy-output-mode"), Some(mode));
                    let reply = Reply::of(&answer);
                    assert_eq!(reply.choice().calls.len(), 1);
                    assert_eq!(reply.choice().text().contains("<use_tool>"), mode == xml);
                }
            }
        }
        let refused = proxy.chat_with(&with_call, &[("x-proxy-output-mode", "xml")]).await;
        assert_eq!(refused.error(), (400, json!("x-proxy-output-mode"), json!("invalid_value")));
        assert!(refused.body.contains("'obsidian-xml', 'openai-json'"), "{}", refused.body);
    }
}

#[tokio::test]
async fn blocks_are_calls_where_they_are_meant() {
    let silent = ask("[[use-tool]]");
    let speaking = ask("Answer with <use_tool> blocks. [[use-tool]]");
    let declared = with_tools(blocks(&format!("{TIME} <use_tool><name>other</name></use_tool>")));
    for (setting, of_silent, of_speaking, of_declared) in
        [("auto", 0, 1, 1), ("on", 1, 1, 2), ("off", 0, 0, 0)]
    {
        let proxy = Proxy::start(&[("PROXY_TEXT_TOOLS", setting)]).await;
        for (request, calls) in
            [(&silent, of_silent), (&speaking, of_speaking), (&declared, of_declared)]
        {
            for request in [request.clone(), streamed(request.clone())] {
                let reply = Reply::of(&proxy.chat(&request).await);
                assert_eq!(reply.choice().calls.len(), calls, "{setting} {request}");
                if calls == 0 {
                    assert!(reply.choice().text().contains("</use_tool>"));
                }
            }
        }
    }
}

#[tokio::test]
async fn blocks_can_be_escaped_and_thoughts_be_left_out() {
    let settings = [
        ("PROXY_XML_ESCAPE", "entities"),
        ("PROXY_REASONING", "off"),
        ("PROXY_OUTPUT_MODE", "obsidian-xml"),
    ];
    let proxy = Proxy::start(&settings).await;
    let request = calls(&[json!(LOOKUP), call("get_time", "<R&D>")]);
    for request in [streamed(request.clone()), request] {
        let reply = Reply::of(&proxy.chat(&request).await);
        // A block that the model wrote goes through byte for byte.
        let rendered =
            "<use_tool>\n  <name>get_time</name>\n  <city>&lt;R&amp;D&gt;</city>\n</use_tool>";
        assert_eq!(reply.choice().text(), format!("{LOOKUP}{rendered}"));
    }
    for request in [streamed(ask("[[reasoning]]")), ask("[[reasoning]]")] {
        let reply = Reply::of(&proxy.chat(&request).await);
        assert_eq!(
            (reply.choice().reasoning.as_str(), reply.choice().text()),
            ("", "Answer after reasoning.")
        );
        let seen = proxy.model.last_request().unwrap().body;
        assert_eq!(seen["reasoning"].get("summary"), None, "{}", seen["reasoning"]);
    }

    let proxy = Proxy::start(&[("PROXY_OUTPUT_MODE", "obsidian-xml")]).await;
    let reply = Reply::of(&proxy.chat(&calls(&[call("get_time", "<R&D>")])).await);
    let rendered = "<use_tool>\n  <name>get_time</name>\n  <city><R&D></city>\n</use_tool>";
    assert_eq!(reply.choice().text(), rendered);
    assert_eq!(reply.choice().called(), [("get_time", r#"{"city": "<R&D>"}"#)]);
    let reply = Reply::of(&proxy.chat(&with_tools(ask("[[mixed]]"))).await);
    assert_eq!(reply.choice().called(), [("get_weather", PARIS)]);
}
