//! Text and arguments arrive byte for byte, wherever the upstream's bytes are cut.

use crate::asking::{ask, streamed, with_tools};
use crate::proxy::Proxy;
use crate::reply::Reply;

const TEXTS: [&str; 4] = [
    "Grüße — 日本語, العربية, 👩‍👩‍👧‍👦 and e\u{301}; \u{10FFFD}.",
    "\"quoted\" \\ back\\slash, tab\t, line\r\nbreaks\u{2028}and\u{0}nothing ",
    "}}{{ ]] ha ha ha 11 <us <use_ <use_tools>no<use_tools/>",
    " \n ",
];

on_one_server! {
    every_character_survives_a_cut_at_every_byte,
    a_block_is_whole_wherever_it_is_cut,
}

async fn every_character_survives_a_cut_at_every_byte(proxy: &Proxy) {
    for text in TEXTS {
        let request = with_tools(ask(&format!("{text}[[echo-bytes]]")));
        for mode in ["openai-json", "obsidian-xml"] {
            for request in [streamed(request.clone()), request.clone()] {
                let headers = [("x-proxy-output-mode", mode)];
                let reply = Reply::of(&proxy.chat_with(&request, &headers).await);
                let choice = reply.choice();
                let arguments = format!(r#"{{"city": {}}}"#, serde_json::Value::from(text));
                assert_eq!(choice.called(), [("get_weather", arguments.as_str())]);
                let block = format!(
                    "<use_tool>\n  <name>get_weather</name>\n  <city>{text}</city>\n</use_tool>"
                );
                let shown = match (mode, &choice.content) {
                    ("obsidian-xml", _) => format!("{text}{block}"),
                    (_, Some(_)) => text.to_owned(),
                    (_, None) => String::new(),
                };
                assert_eq!(choice.text(), shown);
            }
        }
    }
}

async fn a_block_is_whole_wherever_it_is_cut(proxy: &Proxy) {
    let whole = Reply::of(&proxy.chat(&ask("<use_tool> [[use-tool]]")).await);
    let whole = whole.choice();
    assert_eq!(whole.calls.len(), 1);
    assert!(whole.text().ends_with("</use_tool>"));
    for cut in (1..whole.text().len()).step_by(9) {
        let request = streamed(ask(&format!("<use_tool> [[use-tool:{cut}]]")));
        let answer = proxy.chat(&request).await;
        // The block is one frame, whatever the model's chunks are.
        assert_eq!(answer.body.matches("<use_tool>").count(), 1);
        let block = answer.body.lines().find(|line| line.contains("<use_tool>")).unwrap();
        assert!(block.contains(r#""content":"<use_tool>"#) && block.contains(r#"</use_tool>"}"#));
        let reply = Reply::of(&answer);
        let choice = reply.choice();
        assert_eq!((choice.text(), choice.called()), (whole.text(), whole.called()));
    }
}
