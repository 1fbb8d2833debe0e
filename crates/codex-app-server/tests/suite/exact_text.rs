//! Text is the same to the byte, in both directions.

use model_turn::TurnEnd;
use testkit::TestCodex;

fn sent_text(codex: &TestCodex) -> String {
    let body = codex.model.last_request().expect("a request").body;
    let input = body["input"].as_array().expect("input").clone();
    input.last().expect("an item")["content"][0]["text"].as_str().expect("text").to_owned()
}

#[tokio::test]
async fn difficult_text_survives_the_way_there_and_back() {
    let codex = TestCodex::start().await;
    let control: String = (0..0x20).chain([0x7f, 0x80, 0x9f]).filter_map(char::from_u32).collect();
    let samples = [
        "plain".to_owned(),
        "ha ha ha }} }} 11 11 \"\" \\\\ \\n \\u0000".to_owned(),
        "emoji 👩‍👩‍👧‍👦 🇩🇪 ✊🏽 e\u{301} \u{200b}\u{feff}\u{2028}\u{2029} 𝒳".to_owned(),
        format!("control [{control}]"),
        "  leading and trailing \r\n\t ".to_owned(),
        "<use_tool><name>x</name></use_tool> </think> <|im_end|>".to_owned(),
    ];
    for sample in samples {
        for mark in ["[[echo]]", "[[echo-chars]]", "[[echo-whole]]"] {
            let outcome = codex.run(codex.ask(&format!("{mark}{sample}"))).await;
            assert_eq!(outcome.end, Ok(TurnEnd::Completed));
            assert_eq!(outcome.text, sample, "{mark}");
            assert_eq!(sent_text(&codex), format!("{mark}{sample}"));
        }
    }
    codex.client.shutdown().await;
}

#[tokio::test]
async fn a_megabyte_survives_the_way_there_and_back() {
    let codex = TestCodex::start().await;
    let unit = "0123456789abcdef äöü 🙂 }}}\n";
    let sample: String = unit.chars().cycle().take(1_100_000).collect();
    assert!(sample.len() > 1 << 20);
    let tenth = &sample[..sample.floor_char_boundary(sample.len() / 10)];
    // In one delta, and a tenth of it in thousands of them.
    for (mark, text) in [("[[echo-whole]]", &*sample), ("[[echo]]", tenth)] {
        let outcome = codex.run(codex.ask(&format!("{mark}{text}"))).await;
        assert_eq!(outcome.end, Ok(TurnEnd::Completed));
        assert!(outcome.text == text, "{} of {} bytes", outcome.text.len(), text.len());
        assert!(sent_text(&codex) == format!("{mark}{text}"));
    }
    codex.client.shutdown().await;
}
