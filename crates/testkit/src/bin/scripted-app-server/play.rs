//! What the model says in a turn, as Codex passes it on.

use std::iter;

use crate::server::{Server, turn_member};

/// The tools that a scripted answer calls, in turn.
const TOOLS: [&str; 3] = ["get_weather", "get_time", "lookup"];

/// An item of reasoning, of which nobody reads more than that it is there.
const REASONING: &str = r#"{"type":"reasoning","id":"rs_000001","summary":[],"content":[]}"#;

/// The method that says a part of a text.
pub(crate) const DELTA: &str = "item/agentMessage/delta";

/// A text that is being said.
pub(crate) struct Text<'a> {
    pub(crate) thread: &'a str,
    pub(crate) turn: &'a str,
    /// The two ids as members of a notification's parameters.
    pub(crate) of: String,
    so_far: String,
}

// === impl Text ===

impl<'a> Text<'a> {
    fn new(thread: &'a str, turn: &'a str) -> Self {
        let of = format!(r#""threadId":"{thread}","turnId":"{turn}""#);
        Self { thread, turn, of, so_far: String::new() }
    }

    /// The delta as members of a notification's parameters.
    fn delta(&self, delta: &str) -> String {
        format!(r#"{},"itemId":"msg_000001","delta":"{delta}""#, self.of)
    }

    /// The delta as a line, with its line feed.
    pub(crate) fn delta_line(&self, delta: &str) -> String {
        let members = self.delta(delta);
        format!("{{\"method\":\"{DELTA}\",\"params\":{{{members}}}}}\n")
    }
}

// === impl Server ===

impl Server {
    pub(crate) fn play_text(
        &mut self,
        thread: &str,
        turn: &str,
        deltas: impl Iterator<Item = String>,
    ) {
        let mut text = self.begin_text(thread, turn);
        for delta in deltas {
            self.say(&mut text, &delta);
        }
        self.finish_text(&text);
    }

    /// Begins a text and says its first word.
    pub(crate) fn open_text<'a>(&mut self, thread: &'a str, turn: &'a str) -> Text<'a> {
        let mut text = self.begin_text(thread, turn);
        self.say(&mut text, "word0 ");
        text
    }

    /// Says the last word of a text that [`Self::open_text`] has begun.
    pub(crate) fn close_text(&mut self, thread: &str, turn: &str) {
        let mut text = Text::new(thread, turn);
        text.so_far.push_str("word0 ");
        self.say(&mut text, "word1 ");
        self.finish_text(&text);
    }

    pub(crate) fn begin_text<'a>(&mut self, thread: &'a str, turn: &'a str) -> Text<'a> {
        let text = Text::new(thread, turn);
        self.notify("item/started", &format!(r#""item":{},{}"#, message(""), text.of));
        text
    }

    pub(crate) fn say(&mut self, text: &mut Text<'_>, delta: &str) {
        self.notify(DELTA, &text.delta(delta));
        text.so_far += delta;
    }

    pub(crate) fn finish_text(&mut self, text: &Text<'_>) {
        let Text { thread, turn, of, so_far } = text;
        self.complete_text(text);
        self.response_completed(of);
        let whole = message(so_far);
        self.notify(
            "turn/completed",
            &format!(r#""threadId":"{thread}",{}"#, turn_member(turn, "completed", &whole)),
        );
    }

    /// Ends the text, and not the turn.
    pub(crate) fn complete_text(&mut self, text: &Text<'_>) {
        let Text { of, so_far, .. } = text;
        let whole = message(so_far);
        self.notify("item/completed", &format!(r#""item":{whole},{of}"#));
        self.raw_item(
            of,
            &format!(
                r#"{{"type":"message","status":"completed","id":"msg_000001","role":"assistant","content":[{{"type":"output_text","text":"{so_far}","annotations":[]}}]}}"#
            ),
        );
    }

    pub(crate) fn begin_reasoning(&mut self, of: &str) {
        self.notify("item/started", &format!(r#""item":{REASONING},{of}"#));
    }

    pub(crate) fn reason(&mut self, of: &str, delta: &str) {
        self.notify(
            "item/reasoning/summaryTextDelta",
            &format!(r#"{of},"itemId":"rs_000001","delta":"{delta}","summaryIndex":0"#),
        );
    }

    pub(crate) fn finish_reasoning(&mut self, of: &str, summary: &str) {
        self.notify("item/completed", &format!(r#""item":{REASONING},{of}"#));
        self.raw_item(
            of,
            &format!(
                r#"{{"type":"reasoning","id":"rs_000001","summary":[{{"type":"summary_text","text":"{summary}"}}],"encrypted_content":null}}"#
            ),
        );
    }

    /// Makes so many calls, of which the client is asked to make the first ones.
    pub(crate) fn play_calls(&mut self, thread: &str, turn: &str, count: usize, asked: usize) {
        let of = format!(r#""threadId":"{thread}","turnId":"{turn}""#);
        let mut requests = Vec::with_capacity(asked);
        for (index, tool) in TOOLS.into_iter().cycle().take(count).enumerate() {
            let city = format!("C{index}");
            self.call(&of, index, tool, &city);
            if index < asked {
                requests.push(self.ask_for_call(&of, index, tool, &city));
            }
        }
        self.response_completed(&of);
        self.hold(thread, turn, requests);
    }

    /// Makes one call.
    pub(crate) fn call(&mut self, of: &str, index: usize, tool: &str, city: &str) {
        self.raw_item(
            of,
            &format!(
                r#"{{"type":"function_call","status":"completed","id":"fc_{index}","name":"{tool}","arguments":"{{\"city\": \"{city}\"}}","call_id":"call_{index}"}}"#
            ),
        );
    }

    /// Asks the client to make a call, and gives the id of the request.
    pub(crate) fn ask_for_call(&mut self, of: &str, index: usize, tool: &str, city: &str) -> u64 {
        let item = tool_call_item(index, tool, "inProgress");
        self.notify("item/started", &format!(r#""item":{item},{of}"#));
        let request = self.next_request();
        self.line(&format!(
            r#"{{"method":"item/tool/call","id":{request},"params":{{{of},"callId":"call_{index}","namespace":null,"tool":"{tool}","arguments":{{"city":"{city}"}}}}}}"#
        ));
        request
    }

    /// Ends the calls that wait, as Codex does: failed items, and made-up outputs.
    pub(crate) fn fail_calls(&mut self, of: &str, count: usize) {
        let calls = || TOOLS.into_iter().cycle().take(count).enumerate();
        for (index, tool) in calls() {
            let item = tool_call_item(index, tool, "failed");
            self.notify("item/completed", &format!(r#""item":{item},{of}"#));
        }
        for (index, _) in calls() {
            let words = "dynamic tool call was cancelled before receiving a response";
            self.output(of, index, words);
        }
    }

    /// The output of a call, as the model will see it; `text` is the inside of a JSON string.
    pub(crate) fn output(&mut self, of: &str, index: usize, text: &str) {
        self.raw_item(
            of,
            &format!(
                r#"{{"type":"function_call_output","id":"fco_{index}","call_id":"call_{index}","output":"{text}"}}"#
            ),
        );
    }

    fn raw_item(&mut self, of: &str, item: &str) {
        self.notify("rawResponseItem/completed", &format!(r#"{of},"item":{item}"#));
    }

    pub(crate) fn response_completed(&mut self, of: &str) {
        self.notify(
            "rawResponse/completed",
            &format!(
                r#"{of},"responseId":"resp_000001","usage":{{"totalTokens":168,"inputTokens":123,"cachedInputTokens":100,"cacheWriteInputTokens":0,"outputTokens":45,"reasoningOutputTokens":7}},"usageMetadata":{{"amount":null,"metadata":{{"input_tokens":123,"input_tokens_details":{{"cached_tokens":100}},"output_tokens":45,"output_tokens_details":{{"reasoning_tokens":7}},"total_tokens":168}}}}"#
            ),
        );
    }
}

/// The deltas of a plain text.
pub(crate) fn words(count: usize) -> impl Iterator<Item = String> {
    (0..count).map(|index| format!("word{index} "))
}

/// The deltas of a text that is one call: `count` of them, of 20 bytes each, are its argument.
pub(crate) fn block(count: usize) -> impl Iterator<Item = String> {
    let [tool, ..] = TOOLS;
    let argument = (0..count).map(|index| format!("fragment{index:012}"));
    iter::once(format!("<use_tool><name>{tool}</name><city>"))
        .chain(argument)
        .chain(iter::once("</city></use_tool>".to_owned()))
}

fn message(text: &str) -> String {
    format!(
        r#"{{"type":"agentMessage","id":"msg_000001","text":"{text}","phase":null,"memoryCitation":null,"delivery":null,"questions":null,"startedAtMs":1794771460850,"completedAtMs":null}}"#
    )
}

fn tool_call_item(index: usize, tool: &str, status: &str) -> String {
    format!(
        r#"{{"type":"dynamicToolCall","id":"call_{index}","namespace":null,"tool":"{tool}","arguments":{{"city":"C{index}"}},"status":"{status}","contentItems":null,"success":null,"durationMs":null,"startedAtMs":1794771460815,"completedAtMs":null}}"#
    )
}
