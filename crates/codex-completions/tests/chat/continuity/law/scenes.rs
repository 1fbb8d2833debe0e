//! What the user says, and with it what the model does.

use serde_json::json;

use crate::asking::{call, items};

/// Something with this word in it, whose answer has it too. Every call can be read and is of a tool
/// that is there: Codex answers others itself, and may ask the model again before it is stopped.
pub(super) fn draw(word: &str, dice: &mut fastrand::Rng) -> String {
    let said = json!(format!(" {word} is said: \"ü\" \\ \u{a0}\n\n\t "));
    let thought = json!({"reasoning": format!("{word} is thought.")});
    let (one, two) = (call("lookup", &format!("{word}a")), call("get_time", &format!("{word}b")));
    let odd = json!({"name": "lookup", "arguments": format!("{{ \"city\":\"{word} \\u00e9\" ,\"n\":1.0}}\n")});
    let mark = match dice.u8(..26) {
        0..4 => format!("[[text:{word} is said.]]"),
        4 => items(&[said]),
        5 => "[[echo-reasoning]]".to_owned(),
        6 => items(&[thought, said]),
        7..9 => items(&[one]),
        9 => items(&[thought, one, two]),
        10 => items(&[said, one, two]),
        11 => items(&[thought, said, odd]),
        12 => items(&[one, thought, two]),
        13..15 => "[[think-loop:1]]".to_owned(),
        15 => "[[think-loop:3]]".to_owned(),
        16 => "[[round-trip:3]]".to_owned(),
        17..19 => "[[parallel:5]]".to_owned(),
        // What a thread cannot, or hardly can, be continued after.
        19 => items(&[one, said]),
        20 => items(&[one.clone(), one]),
        21 => "[[two-messages]]".to_owned(),
        22 => "[[use-tool]]".to_owned(),
        23 => "[[refusal]]".to_owned(),
        24 => "[[raw-reasoning]]".to_owned(),
        _ => {
            let failures = ["[[http:500]]", "[[message-cut]]", "[[incomplete:max_output_tokens]]"];
            dice.choice(failures).expect("a failure").to_owned()
        }
    };
    format!("{word} {mark}")
}
