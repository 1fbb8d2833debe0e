//! A conversation as Obsidian Copilot has it in its XML era: no tools in the request, calls as blocks in
//! the text, results in the next user message.

use serde_json::{Value, json};

use crate::asking::{streamed, with};
use crate::proxy::Proxy;
use crate::reply::Reply;
use crate::to_the_model::seen;

const PROMPT: &str =
    "Call tools like this:\n<use_tool>\n<name>localSearch</name>\n<query>…</query>\n</use_tool>";

const PREAMBLE: &str = "Let me look that up in your notes.\n\n";
const BLOCK: &str = "<use_tool>\n<name>localSearch</name>\n<query>piano lessons</query>\n\
    <salientTerms>[\"piano\", \"lessons\"]</salientTerms>\n</use_tool>";

#[tokio::test]
async fn a_session_of_two_turns_is_exact_to_the_byte() {
    let proxy = Proxy::start(&[]).await;
    // Some versions send their prompt as the assistant's first message.
    for role in ["system", "assistant"] {
        let mut messages = vec![
            json!({"role": role, "content": PROMPT}),
            json!({"role": "user", "content": "When are my lessons? [[use-tool]]"}),
        ];
        let ask = |messages: &[Value]| {
            streamed(with(
                json!({"model": "chat", "temperature": 0.1}),
                json!({"messages": messages}),
            ))
        };
        let first = proxy.chat(&ask(&messages)).await;
        assert_eq!(first.header("x-proxy-output-mode"), Some("obsidian-xml"));
        let reply = Reply::of(&first);
        let said = reply.choice();
        assert_eq!(said.text(), format!("{PREAMBLE}{BLOCK}"));
        let arguments = r#"{"query":"piano lessons","salientTerms":["piano", "lessons"]}"#;
        assert_eq!(said.called(), [("localSearch", arguments)]);
        assert_eq!(said.finish.as_deref(), Some("tool_calls"));

        let result = "Tool 'localSearch' result: Tuesdays at <b>5</b> & 6. [[text:On Tuesdays.]]";
        messages.push(json!({"role": "assistant", "content": said.text()}));
        messages.push(json!({"role": "user", "content": result}));
        let second = Reply::of(&proxy.chat(&ask(&messages)).await);
        assert_eq!(second.choice().text(), "On Tuesdays.");
        assert_eq!(second.choice().finish.as_deref(), Some("stop"));
        assert_eq!(
            seen(&proxy),
            [
                format!("developer: {PROMPT}"),
                "user: When are my lessons? [[use-tool]]".to_owned(),
                format!("assistant: {PREAMBLE}{BLOCK}"),
                format!("user: {result}"),
            ]
        );
    }
}
