//! The same for records of responses.

use openai_wire::Usage;
use openai_wire::responses::EncryptedContent;

use super::*;
use crate::response::ResponseHeader;

/// A response that repeats secrets, with what a live turn would have sent.
fn record(
    policy: &TurnPolicy,
    stream: bool,
    encrypted: EncryptedContent,
    inputs: Vec<What>,
) -> Record {
    let response = json!({
        "instructions": "be secretive", "max_output_tokens": null, "max_tool_calls": 3,
        "parallel_tool_calls": true, "previous_response_id": "resp_private",
        "prompt_cache_key": "private", "reasoning": {"effort": "low", "summary": "auto"},
        "safety_identifier": null, "store": true,
        "text": {"format": {"type": "json_schema", "name": "private", "schema": {
            "type": "object", "properties": {"Geheimnis": {"type": "number", "maximum": 12.5}},
            "x-private": ["private", 4711],
        }}},
        "tool_choice": "auto",
        "tools": [{"type": "function", "name": "get_weather", "description": "private \"words\""}],
        "truncation": "disabled", "user": "private", "metadata": {"private": "words", "b": "secretive"},
    });
    let response = ResponseHeader::of(response.to_string().as_bytes(), encrypted).unwrap();
    let header = Header {
        api: Api::Responses { response: Box::new(response) },
        id: "resp_1".to_owned(),
        request: json!({"input": "private words", "previous_response_id": "resp_private"}),
        ..header(policy, stream, 1)
    };
    record_of(header, inputs)
}

fn settle() -> What {
    let usage = Usage { prompt_tokens: 37, total_tokens: 37, ..Usage::default() };
    What::Settle { usage: Some(usage), at: 1_700_000_009 }
}

fn reasoned(summary: &[&str], encrypted: &str) -> What {
    event(TurnEvent::ReasoningItem(ReasoningItem {
        summary: summary.iter().map(|&part| part.to_owned()).collect(),
        encrypted_content: Some(encrypted.to_owned()),
    }))
}

fn thought(part: u32, text: &str) -> What {
    let text = text.to_owned();
    event(TurnEvent::Reasoning { kind: ReasoningKind::Summary, part, text })
}

/// The response object at the end.
fn object(record: &Record) -> Value {
    match record.received() {
        Received::Stream(frames) => {
            let last = frames.rsplit("\ndata: ").next().unwrap();
            let (data, _) = last.split_once("\n\n").unwrap();
            serde_json::from_str::<Value>(data).unwrap()["response"].take()
        }
        Received::Whole { body, .. } => serde_json::from_str(&body).unwrap(),
        Received::Nothing => Value::Null,
    }
}

#[test]
fn reasoning_is_masked_alike_in_pieces_and_as_a_whole() {
    let inputs = vec![
        thought(0, "secre"),
        thought(0, "tive thoughts"),
        reasoned(&["secretive thoughts"], "gAAAAAsecretive=="),
        thought(0, "Geheimnis"),
        reasoned(&["Geheimnis"], "gAAAAABB"),
        text("So."),
        end(),
        settle(),
        What::Stored(true),
    ];
    for stream in [true, false] {
        let record = record(&policy(), stream, EncryptedContent::Included, inputs.clone());
        let redacted = redacted(&record);
        assert_eq!(redacted.header.redaction, Redaction::Exact);
        check_no_secret(&redacted);
        let What::Event { event: TurnEvent::ReasoningItem(item), .. } = &redacted.entries[2].what
        else {
            panic!("{redacted:?}")
        };
        let pieces: String = redacted.entries[..2]
            .iter()
            .filter_map(|entry| match &entry.what {
                What::Event { event: TurnEvent::Reasoning { text, .. }, .. } => Some(text.as_str()),
                _ => None,
            })
            .collect();
        assert_eq!(item.summary, [pieces]);
        let output = &object(&redacted)["output"];
        assert_eq!(output[0]["summary"][0]["text"], json!(item.summary[0]));
        assert_eq!(output[0]["encrypted_content"], json!(item.encrypted_content));
    }
}

#[test]
fn the_end_is_told_as_it_was_recorded() {
    let inputs = |kept| vec![text("So."), end(), settle(), What::Stored(kept)];
    for stream in [true, false] {
        for kept in [true, false] {
            let record = record(&policy(), stream, EncryptedContent::LeftOut, inputs(kept));
            let object = object(&record);
            assert_eq!(object["store"], kept);
            assert_eq!(object["completed_at"], 1_700_000_009);
            assert_eq!(object["usage"]["input_tokens"], 37);
        }
    }
}

#[test]
fn a_response_that_was_cancelled_says_so_again() {
    for stream in [true, false] {
        let inputs = vec![text("So"), What::Cancel {}, settle(), What::Stored(false)];
        let mut record = record(&policy(), stream, EncryptedContent::LeftOut, inputs);
        assert_eq!(record.reports()[0].stop_reason, EndReason::Cancelled);
        record.entries.retain(|entry| !matches!(entry.what, What::Sent(_) | What::Answer { .. }));
        let replayed = record.replay(Instant::now());
        assert!(replayed.received.text().contains(r#""status":"cancelled""#), "{replayed:?}");
        assert_eq!(record.compare(&replayed), Verdict::OtherAnswer { at: 0 });
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn a_redacted_response_does_the_same(
        policy in any_policy(),
        script in script(1),
        stream in any::<bool>(),
        included in any::<bool>(),
        kept in any::<bool>(),
    ) {
        let encrypted =
            if included { EncryptedContent::Included } else { EncryptedContent::LeftOut };
        let inputs = [script, vec![settle(), What::Stored(kept)]].concat();
        let record = record(&policy, stream, encrypted, inputs);
        prop_assert_eq!(record.compare(&record.replay(Instant::now())), Verdict::Same);
        let redacted = redacted(&record);
        prop_assert_eq!(redacted.header.redaction, Redaction::Exact);
        prop_assert!(alike(redacted.received().text(), record.received().text()));
        check_no_secret(&redacted);
    }

    #[test]
    fn a_response_whose_words_mattered_is_masked_all_the_same(
        policy in any_policy(),
        script in script(1),
        stream in any::<bool>(),
    ) {
        let policy = TurnPolicy { stop_sequences: vec!["a".to_owned(), "ret".to_owned()], ..policy };
        let inputs = [script, vec![settle(), What::Stored(true)]].concat();
        let redacted = redacted(&record(&policy, stream, EncryptedContent::Included, inputs));
        check_no_secret(&redacted);
    }
}
