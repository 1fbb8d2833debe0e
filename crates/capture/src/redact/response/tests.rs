use std::sync::Arc;

use openai_wire::responses::EncryptedContent;
use serde_json::json;

use super::*;
use crate::mask::Keys;

const KEY: [u8; 16] = *b"a key for tests.";

fn json_mask() -> JsonMask {
    let names = ["get_weather", "city"].map(str::to_owned).into_iter().collect();
    JsonMask::new(Keys::new(&KEY), Arc::new(names))
}

/// A response object with secrets wherever a client can write.
fn object() -> Value {
    json!({
        "id": "resp_1", "object": "response", "created_at": 1_700_000_000, "status": "completed",
        "background": false, "completed_at": 1_700_000_001, "error": null, "incomplete_details": null,
        "instructions": "be secretive", "max_output_tokens": 4711, "max_tool_calls": 12,
        "model": "gpt-5.5",
        "output": [
            {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "secretive"}],
             "encrypted_content": "secretive"},
            {"type": "message", "id": "msg_1", "status": "completed", "role": "assistant",
             "content": [{"type": "output_text", "annotations": [], "logprobs": [], "text": "secretive"}]},
            {"type": "function_call", "id": "fc_1", "status": "completed", "call_id": "secretive",
             "name": "get_weather", "arguments": "{\"city\":\"secretive\"}"},
        ],
        "parallel_tool_calls": true, "previous_response_id": "resp_secretive",
        "prompt_cache_key": "secretive", "reasoning": {"effort": "secretive", "summary": null},
        "safety_identifier": "secretive", "service_tier": "default", "store": true, "temperature": null,
        "text": {"format": {"type": "json_schema", "name": "secretive", "description": null, "strict": true,
            "schema": {"type": "object", "properties": {"secretive": {"const": "secretive"}}}}},
        "tool_choice": {"type": "function", "name": "get_weather"},
        "tools": [{"type": "function", "name": "get_weather", "description": "secretive",
            "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}, "strict": true}],
        "top_logprobs": null, "top_p": null, "truncation": "disabled",
        "usage": {"input_tokens": 37, "output_tokens": 11, "total_tokens": 48},
        "user": "secretive", "metadata": {"secretive": "secretive"},
    })
}

#[test]
fn what_a_response_repeats_is_masked_like_its_request() {
    let mut header =
        ResponseHeader::of(object().to_string().as_bytes(), EncryptedContent::Included).unwrap();
    let before = header.clone();
    let mut mask = json_mask();
    mask.response(&mut header);
    let [written, masked] = [&before, &header].map(|header| serde_json::to_string(header).unwrap());
    assert!(!masked.contains("secretive"), "{masked}");
    assert_eq!(written.len(), masked.len(), "{masked}");

    let mut request = json!({"previous_response_id": "resp_secretive"});
    mask.request(&mut request, "gpt-5.5");
    assert_eq!(request["previous_response_id"], json!(header.previous_response_id));
    let kept = |header: ResponseHeader| ResponseHeader {
        instructions: None,
        previous_response_id: None,
        prompt_cache_key: None,
        reasoning: Value::Null,
        safety_identifier: None,
        text: Value::Null,
        tools: header.tools[0]["parameters"].clone(),
        user: None,
        metadata: Value::Null,
        ..header
    };
    assert_eq!(kept(header), kept(before));
}

#[test]
fn events_and_whole_responses_keep_what_is_ours() {
    let names = ["get_weather", "city"].map(str::to_owned).into_iter().collect();
    let mut mask = Mask::new(&KEY, &Arc::new(names));
    let whole: Value =
        serde_json::from_str(&json_mask().response_body(&object().to_string(), &mut mask)).unwrap();
    assert!(!whole.to_string().contains("secretive"), "{whole}");
    let said = mask.text("secretive");
    for (pointer, expected) in [
        ("/id", json!("resp_1")),
        ("/completed_at", json!(1_700_000_001)),
        ("/output/0/type", json!("reasoning")),
        ("/output/0/summary/0/text", json!(said)),
        ("/output/1/id", json!("msg_1")),
        ("/output/1/content/0/text", json!(said)),
        ("/output/2/name", json!("get_weather")),
        ("/output/2/call_id", json!(said)),
        ("/output/2/arguments", json!(format!("{{\"city\":\"{said}\"}}"))),
        ("/usage/input_tokens", json!(37)),
    ] {
        assert_eq!(whole.pointer(pointer), Some(&expected), "{pointer}");
    }

    let frame = "event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\
                 \"sequence_number\":4,\"item_id\":\"msg_1\",\"output_index\":0,\"delta\":\"secretive\"}\n\n";
    let expected = frame.replace("secretive", &said);
    assert_eq!(json_mask().response_frame(frame, &mut mask), expected);
    let comment = ": keep-alive\n\n";
    assert_eq!(json_mask().response_frame(comment, &mut mask), comment);
    for other in ["data: secretive\n\n", "event: a\ndata: secretive\n\n", "secretive\ndata: {}\n\n"]
    {
        assert!(!json_mask().response_frame(other, &mut mask).contains("secretive"));
    }
}
