mod laws;
mod reader;

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::ParameterKind::{Array, Boolean, Integer, Number, Object, String as Text};
use super::{XmlEscaping, XmlOptions, canon, canonical_json_from_fields, tools};

fn to_obsidian_xml(name: &str, arguments: &str, options: &XmlOptions<'_>) -> String {
    super::to_obsidian_xml((name, arguments), options)
}

/// The canon once more, written as people do: `?` is optional, `|` another name.
const ROWS: &[(&str, &str)] = &[
    ("localSearch", "query:String salientTerms:Array timeRange?:Object"),
    ("webSearch", "query:String chatHistory:Array"),
    ("getCurrentTime", "timezoneOffset?:String"),
    ("convertTimeBetweenTimezones", "time:String fromOffset:String toOffset:String"),
    ("getTimeRangeMs", "timeExpression:String"),
    ("getTimeInfoByEpoch", "epoch:Number"),
    ("readNote", "notePath|path:String chunkIndex?:Integer"),
    ("getFileTree", ""),
    ("getTagList", "includeInline?:Boolean maxEntries?:Integer"),
    ("writeToFile", "path:String content:String confirmation?:Boolean"),
    ("replaceInFile", "path:String diff:String"),
    ("updateMemory", "statement:String"),
    ("youtubeTranscription", ""),
];

const ENTITIES: XmlOptions<'static> =
    XmlOptions { escaping: XmlEscaping::Entities, indent: 2, schema: None };
const VERBATIM: XmlOptions<'static> =
    XmlOptions { escaping: XmlEscaping::Verbatim, indent: 2, schema: None };

fn with_schema(schema: &Value) -> XmlOptions<'_> {
    XmlOptions { schema: Some(schema), ..ENTITIES }
}

/// A block with these lines inside.
fn block(lines: &[&str]) -> String {
    format!("<use_tool>\n  {}\n</use_tool>", lines.join("\n  "))
}

/// What stands in the tag `v` of the unknown tool `t`.
fn rendered(value: &str, options: &XmlOptions<'_>) -> String {
    let xml = to_obsidian_xml("t", &format!(r#"{{"v":{value}}}"#), options);
    let inside = xml.strip_prefix("<use_tool>\n  <name>t</name>\n  <v>");
    inside.and_then(|xml| xml.strip_suffix("</v>\n</use_tool>")).expect(&xml).to_owned()
}

fn object(members: &[(&str, &str)]) -> String {
    let members: Vec<String> = members.iter().map(|(k, v)| format!(r#""{k}":{v}"#)).collect();
    format!("{{{}}}", members.join(","))
}

#[test]
fn every_tool_has_its_parameters() {
    let written: Vec<(&str, String)> = tools()
        .map(|(tool, parameters)| {
            let mut row = String::new();
            for parameter in parameters {
                let names = [&[parameter.name], parameter.also].concat().join("|");
                let optional = if parameter.optional { "?" } else { "" };
                write!(row, " {names}{optional}:{:?}", parameter.kind).unwrap();
            }
            (tool, row.trim_start().to_owned())
        })
        .collect();
    let rows: Vec<_> = ROWS.iter().map(|&(tool, row)| (tool, row.to_owned())).collect();
    assert_eq!(written, rows);
    for (tool, parameters) in tools() {
        assert_eq!(canon(tool), Some(parameters));
    }
    assert_eq!([canon("get_user"), canon("readnote"), canon("")], [None; 3]);
}

#[test]
fn every_tool_is_put_in_order_both_ways() {
    for (tool, parameters) in tools() {
        let values: Vec<(&str, &str, &str)> = parameters
            .iter()
            .map(|parameter| match parameter.kind {
                Text => (parameter.name, r#""7""#, "7"),
                Number => (parameter.name, "1.50", "1.50"),
                Integer => (parameter.name, "7", "7"),
                Boolean => (parameter.name, "true", "true"),
                Array => (parameter.name, r#"["a", 1]"#, r#"["a", 1]"#),
                Object => (parameter.name, r#"{"a": 1}"#, r#"{"a": 1}"#),
            })
            .collect();
        let json: Vec<(&str, &str)> = values.iter().map(|&(name, json, _)| (name, json)).collect();
        let backwards: Vec<_> = json.iter().rev().copied().chain([("zzz", "1")]).collect();
        let mut lines = vec![format!("<name>{tool}</name>")];
        lines.extend(values.iter().map(|(name, _, text)| format!("<{name}>{text}</{name}>")));
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        assert_eq!(to_obsidian_xml(tool, &object(&backwards), &ENTITIES), block(&lines));

        let mut fields: Vec<_> = values.iter().rev().map(|&(name, _, text)| (name, text)).collect();
        fields.insert(0, ("zzz", "1"));
        let in_order: Vec<_> = json.iter().copied().chain([("zzz", r#""1""#)]).collect();
        assert_eq!(canonical_json_from_fields(tool, &fields, None), object(&in_order));
    }
}

#[test]
fn the_layout_is_exact() {
    let xml = to_obsidian_xml("get_user", r#"{"id":"42"}"#, &XmlOptions::default());
    assert_eq!(xml, "<use_tool>\n  <name>get_user</name>\n  <id>42</id>\n</use_tool>");
    let wide = XmlOptions { indent: 4, ..XmlOptions::default() };
    let xml = to_obsidian_xml("get_user", r#"{"id":"4\n2"}"#, &wide);
    assert_eq!(xml, "<use_tool>\n    <name>get_user</name>\n    <id>4\n2</id>\n</use_tool>");
    let flat = XmlOptions { indent: 0, ..XmlOptions::default() };
    assert_eq!(to_obsidian_xml("x", "{}", &flat), "<use_tool>\n<name>x</name>\n</use_tool>");
    assert_eq!(XmlOptions::default(), ENTITIES);
}

#[test]
fn an_unknown_tool_keeps_all_in_order_and_the_last_of_equal_keys() {
    let arguments = r#"{"z":1,"a":null,"_m.n:o-1":"é😀","z":2}"#;
    let lines = ["<name>t</name>", "<z>2</z>", "<a>null</a>", "<_m.n:o-1>é😀</_m.n:o-1>"];
    assert_eq!(to_obsidian_xml("t", arguments, &ENTITIES), block(&lines));
}

#[test]
fn a_known_tool_keeps_what_the_schema_declares() {
    let arguments = r#"{"b":1,"drop":2,"a":"x","query":"q","query":"r"}"#;
    let lines = ["<name>webSearch</name>", "<query>r</query>", "<b>1</b>", "<a>x</a>"];
    let schema = json!({"type": "object", "properties": {"a": {}, "b": {}, "query": {}}});
    assert_eq!(to_obsidian_xml("webSearch", arguments, &with_schema(&schema)), block(&lines));
    let silent = json!({"type": "object"});
    assert_eq!(to_obsidian_xml("webSearch", arguments, &with_schema(&silent)), block(&lines[..2]));
}

#[test]
fn read_note_takes_path_for_note_path() {
    let xml = |arguments: &str| to_obsidian_xml("readNote", arguments, &ENTITIES);
    let note = ["<name>readNote</name>", "<notePath>a.md</notePath>", "<path>b.md</path>"];
    assert_eq!(xml(r#"{"path":"a.md"}"#), block(&note[..2]));
    let both = r#"{"path":"b.md","notePath":"a.md"}"#;
    assert_eq!(xml(both), block(&note[..2]));
    let schema = json!({"properties": {"path": {"type": "string"}}});
    assert_eq!(to_obsidian_xml("readNote", both, &with_schema(&schema)), block(&note));

    let fields = [("chunkIndex", "0"), ("path", "7"), ("notePath", "8")];
    let json =
        |fields, schema| canonical_json_from_fields::<&str, &str>("readNote", fields, schema);
    assert_eq!(json(&fields[..2], None), r#"{"notePath":"7","chunkIndex":0}"#);
    assert_eq!(json(&fields, None), r#"{"notePath":"8","chunkIndex":0,"path":"7"}"#);
    let schema = json!({"properties": {"path": {"type": "integer"}}});
    assert_eq!(json(&fields[..2], Some(&schema)), r#"{"path":7,"chunkIndex":0}"#);
    let xml = to_obsidian_xml("readNote", r#"{"path":"a.md"}"#, &with_schema(&schema));
    assert_eq!(xml, block(&[note[0], "<path>a.md</path>"]));
    let schema = json!({"properties": {"path": {}, "notePath": {"type": "integer"}}});
    assert_eq!(json(&fields[..2], Some(&schema)), r#"{"notePath":7,"chunkIndex":0}"#);
}

#[test]
fn null_leaves_out_optional_parameters_only() {
    let arguments = r#"{"notePath":null,"chunkIndex":null,"extra":null}"#;
    let schema = json!({"properties": {"extra": {}, "chunkIndex": {}}});
    let xml = to_obsidian_xml("readNote", arguments, &with_schema(&schema));
    let lines = ["<name>readNote</name>", "<notePath>null</notePath>", "<extra>null</extra>"];
    assert_eq!(xml, block(&lines));
    let xml = to_obsidian_xml("readNote", r#"{"notePath":"a","chunkIndex":"null"}"#, &ENTITIES);
    let lines = [lines[0], "<notePath>a</notePath>", "<chunkIndex>null</chunkIndex>"];
    assert_eq!(xml, block(&lines));
}

#[test]
fn values_other_than_strings_stand_as_they_are() {
    for options in [ENTITIES, VERBATIM] {
        for value in [
            "1e5",
            "12345678901234567890",
            "-0.10",
            "true",
            "false",
            "null",
            r#"[ "\u00e9", "\"" ]"#,
        ] {
            assert_eq!(rendered(value, &options), value);
        }
        let nested = r#"{"</v>": ["<use_tool>", "a & b"]}"#;
        let escaped = r#"{"\u003c/v\u003e": ["\u003cuse_tool\u003e", "a \u0026 b"]}"#;
        assert_eq!(rendered(nested, &options), escaped);
    }
}

#[test]
fn strings_are_decoded_and_escaped() {
    for (value, entities, verbatim) in [
        (r#""a\n\t\"\\\/\u00e9\ud83d\ude00""#, "a\n\t\"\\/é😀", "a\n\t\"\\/é😀"),
        (r#""[1]""#, "[1]", "[1]"),
        (r#""\ud83d""#, "\u{FFFD}", "\u{FFFD}"),
        (
            r#""1 < 2 && <b>x</b> &lt;""#,
            "1 &lt; 2 &amp;&amp; &lt;b&gt;x&lt;/b&gt; &amp;lt;",
            "1 < 2 && &lt;b>x</b> &lt;",
        ),
        (r#""a</v>b""#, "a&lt;/v&gt;b", "a&lt;/v>b"),
        (
            r#""</v ></v</vv></v-w><v>""#,
            "&lt;/v &gt;&lt;/v&lt;/vv&gt;&lt;/v-w&gt;&lt;v&gt;",
            "&lt;/v >&lt;/v</vv></v-w><v>",
        ),
        (
            r#""<<use_tool><use_tool name='x'></use_tool\n>""#,
            "&lt;&lt;use_tool&gt;&lt;use_tool name='x'&gt;&lt;/use_tool\n&gt;",
            "<&lt;use_tool>&lt;use_tool name='x'>&lt;/use_tool\n>",
        ),
        (
            r#""<use_tools></use_tools></V></name>""#,
            "&lt;use_tools&gt;&lt;/use_tools&gt;&lt;/V&gt;&lt;/name&gt;",
            "&lt;use_tools></use_tools></V></name>",
        ),
        (r#""é<use_tool""#, "é&lt;use_tool", "é&lt;use_tool"),
    ] {
        assert_eq!(rendered(value, &ENTITIES), entities, "{value}");
        assert_eq!(rendered(value, &VERBATIM), verbatim, "{value}");
    }
}

#[test]
fn the_name_is_text_like_others() {
    let name = "a&</name><use_tool>";
    let lines = ["<name>a&amp;&lt;/name&gt;&lt;use_tool&gt;</name>"];
    assert_eq!(to_obsidian_xml(name, "{}", &ENTITIES), block(&lines));
    let lines = ["<name>a&&lt;/name>&lt;use_tool></name>"];
    assert_eq!(to_obsidian_xml(name, "{}", &VERBATIM), block(&lines));
}

#[test]
fn what_cannot_be_tags_is_in_args() {
    for (key, written) in [
        ("name", "name"),
        ("args", "args"),
        ("use_tool", "use_tool"),
        ("", ""),
        ("1a", "1a"),
        ("-a", "-a"),
        ("a b", "a b"),
        ("é", "é"),
        ("aé", "aé"),
        (r#"\"\\"#, r#"\"\\"#),
        ("a>", r"a\u003e"),
        ("</args>", r"\u003c/args\u003e"),
        ("\\u0041 &", r"A \u0026"),
    ] {
        let arguments = format!(r#"{{"b": 1e5 ,"{key}":"x<\u00e9","c":[ 1 ]}}"#);
        let args = format!(r#"<args>{{"b":1e5,"{written}":"x\u003c\u00e9","c":[ 1 ]}}</args>"#);
        for options in [ENTITIES, VERBATIM] {
            assert_eq!(
                to_obsidian_xml("t", &arguments, &options),
                block(&["<name>t</name>", &args])
            );
        }
    }
    let arguments = r#"{"name":"n","a b":1,"chunkIndex":null,"path":"p"}"#;
    let lines = ["<name>readNote</name>", "<notePath>p</notePath>"];
    assert_eq!(to_obsidian_xml("readNote", arguments, &ENTITIES), block(&lines));
    let schema = json!({"properties": {"name": {}}});
    let lines = [lines[0], r#"<args>{"notePath":"p","name":"n"}</args>"#];
    assert_eq!(to_obsidian_xml("readNote", arguments, &with_schema(&schema)), block(&lines));
}

#[test]
fn arguments_that_are_no_object_are_in_args() {
    for nothing in ["", " \n\t", "\u{a0}\u{2003}", "{}", " { } "] {
        assert_eq!(to_obsidian_xml("t", nothing, &ENTITIES), block(&["<name>t</name>"]));
    }
    for (arguments, entities, verbatim) in [
        (" [1, \"<\"] ", r#"[1, "\u003c"]"#, r#"[1, "\u003c"]"#),
        ("null", "null", "null"),
        ("\"a & </args>\"", r#""a \u0026 \u003c/args\u003e""#, r#""a \u0026 \u003c/args\u003e""#),
        ("{\"a\":\"<b", "{\"a\":\"&lt;b", "{\"a\":\"<b"),
        (" x</args><use_tool>", " x&lt;/args&gt;&lt;use_tool&gt;", " x&lt;/args>&lt;use_tool>"),
    ] {
        for (options, args) in [(ENTITIES, entities), (VERBATIM, verbatim)] {
            let lines = ["<name>localSearch</name>", &format!("<args>{args}</args>")];
            assert_eq!(to_obsidian_xml("localSearch", arguments, &options), block(&lines));
        }
    }
}

/// The texts of which a field's reading shows: which of them stay JSON under `property`.
fn taken_as_json(property: &Value) -> Vec<&'static str> {
    let schema = json!({"properties": {"v": property}});
    let texts = ["3", "true", "null", r#""s""#, "[ 1]", r#"{"a": 1}"#, "[1", "x", ""];
    let json = |text: &str| canonical_json_from_fields("t", &[("v", text)], Some(&schema));
    let quoted = |text: &str| format!(r#"{{"v":{}}}"#, Value::from(text));
    let (taken, strings): (Vec<_>, Vec<_>) =
        texts.into_iter().partition(|text| json(text) == format!(r#"{{"v":{text}}}"#));
    assert!(strings.iter().all(|text| json(text) == quoted(text)), "{property}");
    taken
}

#[test]
fn the_schema_says_which_fields_are_json() {
    let all = ["3", "true", "null", r#""s""#, "[ 1]", r#"{"a": 1}"#];
    let (none, compound) = (&all[..0], &all[4..]);
    for (property, expected) in [
        (json!({"type": "string"}), none),
        (json!({"type": ["string"]}), none),
        (json!({"type": ["null", "string"]}), none),
        (json!({"type": "string", "anyOf": [{"type": "integer"}], "enum": [1]}), none),
        (json!({"anyOf": [{"type": "string"}, {"type": "null"}]}), none),
        (json!({"oneOf": [{"enum": ["a"]}, {"const": null}]}), none),
        (json!({"enum": ["a", "b", null]}), none),
        (json!({"const": "a"}), none),
        (json!({"type": ["string", "integer"]}), compound),
        (json!({"anyOf": [{"type": "array"}, {"anyOf": [{"type": "string"}]}]}), compound),
        (json!({"oneOf": [{"type": "number"}, {"$ref": "#/x"}]}), compound),
        (json!({"enum": [1, "a"]}), compound),
        (json!({"type": "any"}), compound),
        (json!({"type": ["string", "any"]}), compound),
        (json!({"type": []}), compound),
        (json!({"type": 1}), compound),
        (json!({"enum": []}), compound),
        (json!({"anyOf": {}}), compound),
        (json!({}), compound),
        (json!(true), compound),
        (json!({"type": "integer"}), &all),
        (json!({"type": "number"}), &all),
        (json!({"type": "boolean"}), &all),
        (json!({"type": "array"}), &all),
        (json!({"type": ["object", "null"]}), &all),
        (json!({"type": "null"}), &all),
        (json!({"anyOf": [{"type": "integer"}, {"type": "null"}]}), &all),
        (json!({"enum": [1, true]}), &all),
        (json!({"const": 1}), &all),
    ] {
        assert_eq!(taken_as_json(&property), expected, "{property}");
    }
}

#[test]
fn the_schema_comes_before_the_canon_and_nothing_known_keeps_compounds() {
    let fields =
        [("chunkIndex", "3"), ("notePath", "[1]"), ("x", "3"), ("y", "[ 3 ]"), ("z", "[3")];
    let json = |schema| canonical_json_from_fields("readNote", &fields, schema);
    let rest = r#""x":"3","y":[ 3 ],"z":"[3"}"#;
    assert_eq!(json(None), format!(r#"{{"notePath":"[1]","chunkIndex":3,{rest}"#));
    let schema = json!({"properties": {"chunkIndex": {"type": "string"}, "notePath": {}}});
    assert_eq!(json(Some(&schema)), format!(r#"{{"notePath":[1],"chunkIndex":"3",{rest}"#));
}

#[test]
fn fields_are_trimmed_verbatim_and_the_last_of_equals_counts() {
    let fields = [
        ("b".to_owned(), "1"),
        ("a\"".to_owned(), "\u{a0}\n x &amp; \"y\"\\ \u{2003}"),
        ("b".to_owned(), " [1e5, 12345678901234567890,\n\"<é>\"]\t"),
        (String::new(), " "),
    ];
    assert_eq!(
        canonical_json_from_fields("t", &fields, None),
        "{\"b\":[1e5, 12345678901234567890,\n\"<é>\"],\"a\\\"\":\"x &amp; \\\"y\\\"\\\\\",\"\":\"\"}"
    );
    assert_eq!(canonical_json_from_fields::<&str, &str>("localSearch", &[], None), "{}");
}

#[test]
#[allow(clippy::disallowed_methods, reason = "it measures time")]
fn very_many_fields_take_linear_time() {
    let started = Instant::now();
    let mut equal = vec![("query", "a"); 1_000_000];
    equal.push(("query", "b"));
    assert_eq!(canonical_json_from_fields("localSearch", &equal, None), r#"{"query":"b"}"#);
    let names: Vec<String> = (0..300_000).map(|number| format!("k{number}")).collect();
    let fields: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "1")).collect();
    let json = canonical_json_from_fields("localSearch", &fields, None);
    let members: Vec<String> = names.iter().map(|name| format!(r#""{name}":"1""#)).collect();
    assert!(json == format!("{{{}}}", members.join(",")));
    let mut lines = vec!["<name>t</name>".to_owned()];
    lines.extend(names.iter().map(|name| format!("<{name}>1</{name}>")));
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    assert!(to_obsidian_xml("t", &json, &ENTITIES) == block(&lines));
    let took = started.elapsed();
    println!("{took:?}");
    assert!(took < Duration::from_secs(20), "{took:?}");
}
