//! Lines that are cut, damaged or too long.

use super::*;

const KIND: &[u8] = b"response.function_call_arguments.delta";

#[test]
fn a_cut_event_is_never_read_as_a_shorter_one() {
    let line = delta(Some(3), 2, "fc_1", "{\"city\": \"Zürich\"}");
    let kind_ends = find(line.as_bytes(), KIND).unwrap() + KIND.len();
    for cut in 0..line.len() {
        let found = LogLine::read(&line.as_bytes()[..cut]);
        // While its kind is missing, it looks like any other line.
        let is_known = cut >= kind_ends;
        let is_left_out = matches!(found, LogLine::Unused | LogLine::Other);
        assert!(found == LogLine::Damaged || !is_known && is_left_out, "{cut}: {found:?}");
    }
    let line = owner("function_call", "fc_1", "thread-1", "turn-1");
    for cut in 0..line.len() {
        let found = LogLine::read(&line.as_bytes()[..cut]);
        assert!(matches!(found, LogLine::Unused | LogLine::Other), "{cut}: {found:?}");
    }
}

#[test]
fn an_event_that_cannot_be_read_is_damaged() {
    let good = delta(Some(3), 2, "fc_1", "{}");
    let kind = r#""type":"response.function_call_arguments.delta""#;
    for damaged in [
        good.replace("\"target\"", "target"),
        good.clone() + &good,
        good.clone() + "x",
        event_text(&format!(r#"{{{kind},"item_id":"fc_1"}}"#)),
        event_text(&format!(r#"{{{kind},"item_id":"fc_1","delta":null}}"#)),
        event_text(&format!(r#"{{{kind},"item_id":"fc_1","delta":{{}}}}"#)),
        event_text(&format!(r#"{{{kind},"item_id":1,"delta":""}}"#)),
        event_text(&format!(r#"{{{kind},"item_id":"fc_1","delta":"","sequence_number":-1}}"#)),
        event_text(&format!(r#"{{{kind},"item_id":"fc_1","delta":"\ud83d"}}"#)),
        event_text(&format!(r#"{{{kind},"item_id":"fc_1","delta":""}}}}"#)),
        event(&json!({"type": "response.output_item.added", "output_index": 0})),
        event(&json!({"type": "response.output_item.added", "output_index": -1, "item": {}})),
        event(&json!({"type": "response.refusal.done", "item_id": "msg_1"})),
    ] {
        assert_eq!(read(&damaged), LogLine::Damaged, "{damaged}");
    }
    let mut bytes = good.into_bytes();
    let brace = find(&bytes, b"{}").unwrap();
    bytes[brace] = 0xff;
    assert_eq!(LogLine::read(&bytes), LogLine::Damaged);
}

#[test]
fn the_head_of_an_oversize_line_says_whether_something_was_lost() {
    let long = "x".repeat(70_000);
    let head = |line: &str| LogLine::read_head(&line.as_bytes()[..1024]);
    assert_eq!(head(&delta(Some(1), 0, "fc_1", &long)), LogLine::Damaged);
    let text = json!({"type": "response.output_text.delta", "item_id": "m", "delta": long});
    assert_eq!(head(&event(&text)), LogLine::Unused);
    let later = json!({"item_id": "fc_1", "type": "response.refusal.done", "refusal": long});
    assert_eq!(head(&event(&later)), LogLine::Damaged);
    let last = json!({"delta": long, "item_id": "fc_1", "type": "response.output_text.delta"});
    assert_eq!(head(&event(&last)), LogLine::Damaged, "its kind is not in the head");
    let error = entry("ERROR", &json!({"message": long}), "codex_core::client", None);
    assert_eq!(head(&error), LogLine::Other);
    for line in ["", "{", "not JSON at all"] {
        assert_eq!(LogLine::read_head(line.as_bytes()), LogLine::Other);
    }
}

/// Bytes that are more often than not close to a line of the log.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let changes = prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4);
    let cut = any::<prop::sample::Index>();
    let line = prop_oneof![
        any::<String>().prop_map(|text| delta(Some(1), 0, "fc_1", &text)),
        any::<String>().prop_map(|id| added(None, 0, &id, ["call_1", "f"])),
        any::<String>().prop_map(|id| owner("function_call", &id, "thread-1", "turn-1")),
        any::<String>().prop_map(|text| event_text(&text)),
    ];
    let damaged = (line, changes, cut).prop_map(|(line, changes, cut)| {
        let mut line = line.into_bytes();
        for (at, byte) in changes {
            let at = at.index(line.len());
            line[at] = byte;
        }
        let length = cut.index(line.len() * 2);
        line.truncate(length);
        line
    });
    prop_oneof![1 => prop::collection::vec(any::<u8>(), 0..200), 4 => damaged]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn no_bytes_make_it_panic(bytes in bytes()) {
        let _ = LogLine::read(&bytes);
        let _ = LogLine::read_head(&bytes);
    }

    #[test]
    fn every_text_and_every_id_comes_back_exactly(
        text in any::<String>(),
        id in any::<String>(),
        number in any::<Option<u64>>(),
    ) {
        let line = delta(number, 0, &id, &text);
        prop_assert_eq!(
            read(&line),
            LogLine::Arguments { item_id: id.clone(), sequence: number, text }
        );
        let line = owner("function_call", &id, "thread-1", "turn-1");
        if id.is_empty() {
            prop_assert_eq!(read(&line), LogLine::Unused);
        } else {
            let LogLine::Owner { item_id, .. } = read(&line) else { panic!("an owner") };
            prop_assert_eq!(&*item_id, id.as_str());
        }
    }
}
