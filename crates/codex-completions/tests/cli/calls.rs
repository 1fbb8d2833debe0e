//! `calls`.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

use crate::user::{err, out};

/// It needs no Codex and no settings: here are none that could be used.
fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_codex-completions"));
    command
        .arg("calls")
        .args(arguments)
        .env("CODEX_BIN", "no-such-codex")
        .env("PROXY_TIMEOUT_MS", "soon")
        .env("PROXY_LOG", "loud=")
        .env("PORT", "none")
        .env_remove("HOME")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

fn calls(arguments: &[&str], input: impl AsRef<[u8]>) -> Output {
    let mut process = command(arguments).spawn().unwrap();
    let mut stdin = process.stdin.take().unwrap();
    let input = input.as_ref();
    std::thread::scope(|scope| {
        // A process that refuses its arguments reads nothing.
        scope.spawn(move || drop(stdin.write_all(input)));
        process.wait_with_output().unwrap()
    })
}

/// What comes out where nothing is wrong.
fn good(arguments: &[&str], input: impl AsRef<[u8]>) -> String {
    let output = calls(arguments, input);
    assert_eq!((err(&output).as_str(), output.status.code()), ("", Some(0)));
    out(&output)
}

/// The last line of what comes out.
fn snapshot(arguments: &[&str], input: impl AsRef<[u8]>) -> Value {
    serde_json::from_str(good(arguments, input).lines().last().unwrap()).unwrap()
}

/// Lines of input that hold these events.
fn lines(events: &[Value]) -> String {
    events.iter().flat_map(|event| [event.to_string(), "\n".to_owned()]).collect()
}

fn fragment(arguments: &str) -> Value {
    json!({"tool_calls": [{"index": 0, "function": {"arguments": arguments}}]})
}

fn header(name: &str) -> Value {
    json!({"tool_calls": [{"index": 0, "id": "call_1", "function": {"name": name}}]})
}

#[test]
fn events_show_what_each_changes_and_the_calls_at_the_end() {
    let input = r#"{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_1","function":{"name":"add","arguments":""}}]}}]}
{"choices":[{"index":0,"delta":{"content":"nothing about calls"}}]}

{"choices":[{"index":1,"delta":{"tool_calls":[{"index":0,"function":{"name":"now","arguments":"{"}}]}}]}
{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"a\":1}"}}]}}]}
{"type":"function_call","call_id":"call_1","name":"add","arguments":"{\"a\":2}"}
{"parallel_tool_calls":false}
"#;
    let expected = r#"{"updated":true,"deltas":[{"choice":0,"index":0,"id":"tool_0_0","name":"add","arguments":"","appended":"","replaced":false,"complete":false}]}
{"updated":false,"deltas":[]}
{"updated":true,"deltas":[{"choice":1,"index":0,"id":"tool_1_0","name":"now","arguments":"{","appended":"{","replaced":false,"complete":false}]}
{"updated":true,"deltas":[{"choice":0,"index":0,"id":"tool_0_0","name":"add","arguments":"{\"a\":1}","appended":"{\"a\":1}","replaced":false,"complete":false}]}
{"updated":true,"deltas":[{"choice":0,"index":0,"id":"tool_0_0","name":"add","arguments":"{\"a\":2}","appended":"{\"a\":2}","replaced":true,"complete":true}]}
{"updated":false,"deltas":[]}
{"snapshot":{"0":[{"id":"tool_0_0","backend_id":"call_1","name":"add","arguments":"{\"a\":2}"}],"1":[{"id":"tool_1_0","backend_id":null,"name":"now","arguments":"{"}]},"parallel":false}
"#;
    assert_eq!(good(&["--events"], input), expected);
    assert_eq!(good(&["--events", "-"], input), expected);
    // A mark and line ends from another system, and no end of the last line.
    let foreign = format!("\u{feff}{}", input.trim_end().replace('\n', "\r\n"));
    assert_eq!(good(&["--events"], foreign), expected);

    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("events.jsonl");
    std::fs::write(&file, input).unwrap();
    assert_eq!(good(&["--events", file.to_str().unwrap()], ""), expected);
    assert_eq!(good(&["--events"], ""), "{\"snapshot\":{},\"parallel\":true}\n");
}

#[test]
fn a_choice_in_the_wrapper_wins_over_an_index_in_the_payload() {
    let chunk = |choice: u32| {
        let delta =
            json!({"tool_calls": [{"index": 0, "function": {"name": "f", "arguments": "{}"}}]});
        json!({"choices": [{"index": choice, "delta": delta}]})
    };
    let text = json!({"choices": [{"index": 4, "message": {"content": "<use_tool><name>g</name></use_tool>"}}]});
    let events = [
        chunk(2),
        json!({"event": chunk(3)}),
        json!({"choice": 0, "event": chunk(2)}),
        json!({"choice": 1, "event": chunk(2)}),
        json!({"choice": 5, "message": text, "emit_if_missing": true}),
    ];
    let found = snapshot(&["--events"], lines(&events));
    let choices: Vec<_> = found["snapshot"].as_object().unwrap().keys().cloned().collect();
    assert_eq!(choices, ["0", "1", "2", "3", "5"]);
    let calls = found["snapshot"].as_object().unwrap().values();
    assert!(calls.clone().all(|calls| calls.as_array().unwrap().len() == 1), "{found}");
}

#[test]
fn arguments_may_stand_beside_the_function() {
    let call = json!({"id": "tool_1", "type": "function", "function": {"name": "f"}, "arguments": "{\"a\":1}"});
    let found = snapshot(&["--events"], lines(&[json!({ "tool_calls": [call] })]));
    assert_eq!(found["snapshot"]["0"][0]["arguments"], "{\"a\":1}");
}

#[test]
fn wrappers_name_a_choice_and_whole_messages() {
    let text = "<use_tool><name>now</name></use_tool>";
    let of_text = |emit: bool| json!({"message": {"content": text}, "emit_if_missing": emit});
    let call = json!({"id": "a", "function": {"name": "now", "arguments": "{}"}});
    let with_calls = json!({"tool_calls": [call]});
    let in_text = json!([{"id": "tool_0_0", "backend_id": null, "name": "now", "arguments": "{}"}]);
    let structured =
        |id: &str| json!([{"id": id, "backend_id": "a", "name": "now", "arguments": "{}"}]);
    for (record, calls) in [
        (of_text(false), json!({})),
        (of_text(true), json!({"0": in_text})),
        (json!({"message": {"content": text}}), json!({})),
        // Text alone, and a list of items, are messages too.
        (json!({"message": text, "emit_if_missing": true}), json!({"0": in_text})),
        (json!({"message": [{"content": text}], "emit_if_missing": true}), json!({"0": in_text})),
        (json!({"message": with_calls}), json!({"0": structured("tool_0_0")})),
        (json!({"choice": 7, "message": with_calls}), json!({"7": structured("tool_7_0")})),
        (
            json!({"choice": 4_294_967_295_u32, "message": with_calls, "emit_if_missing": false}),
            json!({"4294967295": structured("tool_4294967295_0")}),
        ),
        (json!({"choice": 2, "event": call}), json!({"2": structured("tool_2_0")})),
        (json!({"event": call}), json!({"0": structured("tool_0_0")})),
        // With any other key it is the backend's own event, whatever it is called.
        (
            json!({"message": with_calls, "finish_reason": "stop"}),
            json!({"0": structured("tool_0_0")}),
        ),
        (json!({"message": {"content": text}, "emit_if_missing": true, "x": 1}), json!({})),
        (json!({"event": call, "id": 1}), json!({})),
        (json!({"event": "text"}), json!({})),
        (json!([call]), json!({"0": structured("tool_0_0")})),
        (json!(7), json!({})),
    ] {
        let last = snapshot(&["--events"], lines(std::slice::from_ref(&record)));
        assert_eq!(last, json!({"snapshot": calls, "parallel": true}), "{record}");
    }
}

#[test]
fn a_bad_line_is_reported_with_its_number_and_the_rest_is_read() {
    let mut input = lines(&[header("f")]).into_bytes();
    input.extend(b"{\"tool_calls\": [\n\nnothing\n\xff\xfe\n");
    input.extend(br#"{"choice":-1,"event":{}}"#);
    input.extend(b"\n{\"choice\":4294967296,\"message\":{}}\n{\"choice\":\"0\",\"event\":{}}\n");
    input.extend(b"{\"message\":{},\"emit_if_missing\":\"yes\"}\n{\"emit_if_missing\":true}\n");
    input.extend(lines(&[fragment("{}")]).into_bytes());
    let output = calls(&["--events"], input);
    let choice = "choice: expected a whole number from 0 to 4294967295";
    let expected = format!(
        "line 2: not JSON: EOF while parsing a list at column 16\n\
         line 4: not JSON: expected ident at column 2\n\
         line 5: not UTF-8 from byte 1 on\n\
         line 6: {choice}\nline 7: {choice}\nline 8: {choice}\n\
         line 9: emit_if_missing: expected true or false\n\
         line 10: message: expected an object, a list or a string\n"
    );
    assert_eq!(err(&output), expected);
    assert_eq!(output.status.code(), Some(1));
    let out = out(&output);
    let kept: Vec<_> = out.lines().collect();
    assert_eq!(kept.len(), 3, "{out}");
    assert!(kept[1].contains(r#""appended":"{}""#), "{out}");
    assert!(kept[2].starts_with(r#"{"snapshot":{"0":[{"#), "{out}");
}

#[test]
fn repeats_and_fragments_are_read_as_told() {
    let arguments = |options: &[&str], fragments: &[&str]| {
        let mut events = vec![header("f")];
        events.extend(fragments.iter().map(|text| fragment(text)));
        let options = [&["--events"], options].concat();
        snapshot(&options, lines(&events))["snapshot"]["0"][0]["arguments"].clone()
    };
    let twice = [r#"{"a":{"#, "}", "}"];
    assert_eq!(arguments(&[], &twice), r#"{"a":{}}"#);
    assert_eq!(arguments(&["--repeat-policy", "by-identity"], &twice), r#"{"a":{}}"#);
    for drop in ["drop", "drop-immediate-repeats"] {
        assert_eq!(arguments(&["--repeat-policy", drop], &twice), r#"{"a":{}"#);
    }
    let growing = ["{", r#"{"a":"#, r#"{"a":1}"#];
    assert_eq!(arguments(&["--fragments", "cumulative"], &growing), r#"{"a":1}"#);
    assert_eq!(arguments(&["--fragments", "increments"], &growing), r#"{{"a":{"a":1}"#);
}

#[test]
fn a_cap_is_told() {
    let long = "n".repeat(513);
    let many: Vec<_> = (0..1025)
        .map(|id| json!({"call_id": format!("c{id}"), "name": "f", "arguments": "{}"}))
        .collect();
    let out = good(&["--events"], lines(&[header(&long), json!(many)]));
    let said: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(said[0], json!({"updated": false, "deltas": [], "limit": "name_bytes"}));
    assert_eq!(said[1]["limit"], "calls");
    // The call without a name counts too.
    assert_eq!(said[1]["deltas"].as_array().unwrap().len(), 1023);
}

#[test]
fn chunks_show_text_and_blocks_in_order() {
    let input = r#""Hi <use_"
"tool><name>now</name></use_tool><use_tool><name>say</name><args>{\"a\": \"ü\"}</args></use_tool> a <b> <use_toolx"

"é <tool_call>{\"name\": \"add\", \"arguments\": {\"a\": 1}}</tool_call>"
""
"<use_tool><name>never "
"closed"
"#;
    let expected = r#"{"text":"Hi "}
{"block":{"start":3,"end":40,"name":"now","args_text":"{}"}}
{"block":{"start":40,"end":101,"name":"say","args_text":"{\"a\": \"ü\"}"}}
{"text":" a <b> <use_toolx"}
{"text":"é <tool_call>{\"name\": \"add\", \"arguments\": {\"a\": 1}}</tool_call>"}
{"text":"<use_tool><name>never closed"}
"#;
    assert_eq!(good(&["--chunks"], input), expected);
    let with_block = expected.replace(
        r#"{"text":"é <tool_call>{\"name\": \"add\", \"arguments\": {\"a\": 1}}</tool_call>"}"#,
        "{\"text\":\"é \"}\n\
         {\"block\":{\"start\":121,\"end\":182,\"name\":\"add\",\"args_text\":\"{\\\"a\\\": 1}\"}}",
    );
    for pattern in ["tool-call", "tool_call"] {
        assert_eq!(good(&["--chunks", "--pattern", pattern], input), with_block);
    }

    let output = calls(&["--chunks"], "\"a\"\n{}\n\"\\ud83d\"\n\"b\"\n");
    assert_eq!(out(&output), "{\"text\":\"a\"}\n{\"text\":\"b\"}\n");
    let faults = err(&output);
    assert!(faults.starts_with("line 2: expected a JSON string"), "{faults}");
    assert!(faults.contains("\nline 3: not JSON: "), "{faults}");
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn sse_of_the_chat_endpoint_is_read_like_events() {
    let capture = r#": a comment
data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_1","function":{"name":"add","arguments":"{"}}]}}]}

id: 7
retry: 10
data:{"choices":[
data:  {"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"}"}}]}}]}

data

data: [DONE]

data: {"message":{"tool_calls":[{"id":"call_1","function":{"name":"add","arguments":"{\"a\":1}"}}]}}"#;
    let expected = r#"{"updated":true,"deltas":[{"choice":0,"index":0,"id":"tool_0_0","name":"add","arguments":"{","appended":"{","replaced":false,"complete":false}]}
{"updated":true,"deltas":[{"choice":0,"index":0,"id":"tool_0_0","name":"add","arguments":"{}","appended":"}","replaced":false,"complete":false}]}
{"updated":true,"deltas":[{"choice":0,"index":0,"id":"tool_0_0","name":"add","arguments":"{\"a\":1}","appended":"{\"a\":1}","replaced":true,"complete":true}]}
{"snapshot":{"0":[{"id":"tool_0_0","backend_id":"call_1","name":"add","arguments":"{\"a\":1}"}]},"parallel":true}
"#;
    assert_eq!(good(&["--sse"], capture), expected);
    assert_eq!(good(&["--sse"], format!("{capture}\n")), expected);
    assert_eq!(good(&["--sse"], format!("{capture}\n\n")), expected);
    let foreign = format!("\u{feff}{}", capture.replace('\n', "\r\n"));
    assert_eq!(good(&["--sse"], foreign), expected);
}

#[test]
fn sse_of_the_responses_endpoint_is_read_like_events() {
    let capture = r#"event: response.output_item.added
data: {"type":"response.output_item.added","sequence_number":1,"output_index":0,"item":{"id":"fc_1","type":"function_call","call_id":"call_1","name":"now","arguments":""}}

event: response.function_call_arguments.delta
data: {"type":"response.function_call_arguments.delta","sequence_number":2,"item_id":"fc_1","output_index":0,"delta":"{}"}

event: response.function_call_arguments.delta
data: {"type":"response.function_call_arguments.delta","sequence_number":2,"item_id":"fc_1","output_index":0,"delta":"{}"}

"#;
    let expected = r#"{"updated":true,"deltas":[{"choice":0,"index":0,"id":"tool_0_0","name":"now","arguments":"","appended":"","replaced":false,"complete":false}]}
{"updated":true,"deltas":[{"choice":0,"index":0,"id":"tool_0_0","name":"now","arguments":"{}","appended":"{}","replaced":false,"complete":false}]}
{"updated":false,"deltas":[]}
{"snapshot":{"0":[{"id":"tool_0_0","backend_id":"call_1","name":"now","arguments":"{}"}]},"parallel":true}
"#;
    assert_eq!(good(&["--sse"], capture), expected);

    let whole_twice = [header("f"), fragment("{"), fragment("{}"), fragment("{}")];
    let capture = whole_twice.map(|event| format!("data: {event}")).join("\n\n");
    let arguments = |options: &[&str]| {
        let options = [&["--sse"], options].concat();
        snapshot(&options, &capture)["snapshot"]["0"][0]["arguments"].clone()
    };
    assert_eq!(arguments(&["--fragments", "cumulative"]), "{}");
    assert_eq!(arguments(&["--repeat-policy", "drop"]), "{{}");
}

#[test]
fn sse_data_that_is_not_json_is_reported_where_it_begins() {
    let mut capture = b"event: x\ndata: {\ndata: \"a\" 1}\n\ndata: oh\n\n: \xff\n".to_vec();
    capture.extend(format!("data: {}\n\ndata: {{\"choice\":1.5,\n", header("f")).into_bytes());
    capture.extend(b"data: \"event\":{}}");
    let output = calls(&["--sse"], capture);
    let expected = "line 2: not JSON: expected `:` at column 5 of line 2 of the data\n\
         line 5: not JSON: expected value at column 1\n\
         line 7: not UTF-8 from byte 3 on\n\
         line 10: choice: expected a whole number from 0 to 4294967295\n";
    assert_eq!(err(&output), expected);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(out(&output).lines().count(), 2, "{}", out(&output));
}

#[test]
fn xml_writes_a_block_for_each_call() {
    let input = r#"{"name":"updateMemory","arguments":"{\"statement\":\"1 < 2 & 3\"}"}
{"id":"tool_0_0","backend_id":null,"name":"greet","arguments":{ "to": ["Ann", 1], "loud": true }}
{"name":"now","arguments":""}
"#;
    let entities = r#"{"xml":"<use_tool>\n  <name>updateMemory</name>\n  <statement>1 &lt; 2 &amp; 3</statement>\n</use_tool>"}
{"xml":"<use_tool>\n  <name>greet</name>\n  <to>[\"Ann\",1]</to>\n  <loud>true</loud>\n</use_tool>"}
{"xml":"<use_tool>\n  <name>now</name>\n</use_tool>"}
"#;
    assert_eq!(good(&["--xml"], input), entities);
    assert_eq!(good(&["--xml", "--escape", "entities"], input), entities);
    let verbatim = entities.replace("1 &lt; 2 &amp; 3", "1 < 2 & 3");
    assert_eq!(good(&["--xml", "--escape", "verbatim"], input), verbatim);

    let input = r#"[]
{"arguments":"{}"}
{"name":"now","arguments":null}
{"name":"now"}
"#;
    let output = calls(&["--xml"], input);
    let expected = "line 1: expected an object with name and arguments\n\
         line 2: name: expected a string\n\
         line 3: arguments: expected a string or an object\n\
         line 4: arguments: expected a string or an object\n";
    assert_eq!((err(&output).as_str(), output.status.code()), (expected, Some(1)));
    assert_eq!(out(&output), "");
}

#[test]
fn what_is_known_comes_before_the_input_ends() {
    let event = header("f");
    for (mode, input, expected) in [
        ("--events", format!("{event}\n"), "{\"updated\":"),
        ("--sse", format!("data: {event}\n\n"), "{\"updated\":"),
        ("--chunks", "\"Hi <use_\"\n".to_owned(), "{\"text\":"),
        ("--xml", "{\"name\":\"f\",\"arguments\":\"{}\"}\n".to_owned(), "{\"xml\":"),
    ] {
        let mut process = command(&[mode]).spawn().unwrap();
        let mut stdin = process.stdin.take().unwrap();
        let mut stdout = BufReader::new(process.stdout.take().unwrap());
        for _ in 0..2 {
            stdin.write_all(input.as_bytes()).unwrap();
            let mut line = String::new();
            stdout.read_line(&mut line).unwrap();
            assert!(line.starts_with(expected) && line.ends_with('\n'), "{mode}: {line}");
        }
        drop(stdin);
        assert!(process.wait().unwrap().success());
    }
}

#[test]
fn long_lines_and_readers_that_leave_are_fine() {
    let long = "x".repeat(10_000_000);
    let text = good(&["--chunks"], format!("\"{long}\"\n\"{long}\"\n"));
    assert!(text == format!("{{\"text\":\"{long}\"}}\n").repeat(2));

    let mut process = command(&["--chunks"]).spawn().unwrap();
    drop(process.stdout.take());
    let mut stdin = process.stdin.take().unwrap();
    while stdin.write_all(b"\"a\"\n").is_ok() {}
    assert_eq!(err(&process.wait_with_output().unwrap()), "");
}

#[test]
fn a_file_that_cannot_be_read_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    let output = calls(&["--events", "no-such-file"], "");
    assert_eq!((out(&output).as_str(), output.status.code()), ("", Some(1)));
    let words = err(&output);
    assert!(words.starts_with("error: no-such-file cannot be opened: "), "{words}");
    let output = calls(&["--events", path], "");
    assert_eq!((out(&output).as_str(), output.status.code()), ("", Some(1)));
    assert!(err(&output).starts_with(&format!("error: {path} cannot be read: ")));
}

#[test]
fn exactly_one_mode_is_asked_for_with_its_own_options() {
    for (arguments, words) in [
        (&[][..], "<--events|--sse|--chunks|--xml>"),
        (&["--events", "--sse"], "'--events' cannot be used with '--sse'"),
        (&["--chunks", "--xml"], "'--chunks' cannot be used with '--xml'"),
        (&["--chunks", "--repeat-policy", "drop"], "not provided:\n  <--events|--sse>\n"),
        (&["--xml", "--fragments", "increments"], "not provided:\n  <--events|--sse>\n"),
        (&["--events", "--pattern", "tool-call"], "not provided:\n  <--chunks>\n"),
        (&["--xml", "--pattern", "tool-call"], "not provided:\n  <--chunks>\n"),
        (&["--sse", "--escape", "verbatim"], "not provided:\n  <--xml>\n"),
        (&["--events", "--repeat-policy", "x"], "by-identity, drop-immediate-repeats"),
        (&["--chunks", "--pattern", "use-tool"], "possible values: tool-call"),
    ] {
        let output = calls(arguments, "");
        assert_eq!((out(&output).as_str(), output.status.code()), ("", Some(2)), "{arguments:?}");
        assert!(err(&output).contains(words), "{arguments:?}: {}", err(&output));
    }
}

#[test]
fn the_example_of_the_help_is_true() {
    let help = good(&["--help"], "");
    let (_, example) = help.split_once("$ echo '").unwrap();
    let (chunk, rest) = example.split_once("' | codex-completions calls --chunks\n").unwrap();
    let (expected, _) = rest.split_once("\n\n").unwrap();
    let expected: Vec<_> = expected.lines().map(str::trim_start).collect();
    assert_eq!(good(&["--chunks"], chunk).lines().collect::<Vec<_>>(), expected);
}
