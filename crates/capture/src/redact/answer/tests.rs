use std::sync::Arc;

use serde_json::json;

use super::*;
use crate::mask::{Keys, Names};

const KEY: [u8; 16] = *b"a key for tests.";

fn json_mask() -> JsonMask {
    JsonMask::new(Keys::new(&KEY), Arc::default())
}

#[test]
fn of_an_error_only_known_codes_and_types_stay() {
    let mut error = json!({"error": {
        "message": "secretive", "type": "invalid_request_error", "code": "context_length_exceeded",
        "param": "secretive", "secretive": {"code": "timeout"}, "detail": 4_711_471_147_u64,
    }, "code": "secretive", "type": {"secretive": 1}});
    json_mask().error(&mut error);
    let text = error.to_string();
    assert_eq!(error["error"]["type"], "invalid_request_error");
    assert_eq!(error["error"]["code"], "context_length_exceeded");
    for word in ["secretive", "4711471147", "timeout"] {
        assert!(!text.contains(word), "{word} in {text}");
    }
}

#[test]
fn frames_keep_what_is_ours() {
    let mut mask = Mask::new(&KEY, &Arc::<Names>::default());
    let frame = "data: {\"id\":\"chatcmpl-1\",\"created\":1700000000,\"choices\":[{\"index\":3,\
                 \"delta\":{\"role\":\"assistant\",\"content\":\"secretive\"},\"finish_reason\":\"stop\"}]}\n\n";
    let expected = frame.replace("secretive", &mask.text("secretive"));
    assert_eq!(json_mask().frame(frame, &mut mask), expected);
    for silent in [": keep-alive\n\n", "data: [DONE]\n\n"] {
        assert_eq!(json_mask().frame(silent, &mut mask), silent);
    }
    assert!(!json_mask().frame("data: secretive\n\n", &mut mask).contains("secretive"));
}
