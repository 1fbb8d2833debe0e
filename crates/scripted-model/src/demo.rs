//! The demo model: what a newcomer talks to before signing in.

mod arguments;
mod words;

use std::time::Duration;

pub(crate) use arguments::kind;

use crate::answer::{Answer, Call, Delivery, Script};
use crate::chunking::Chunking;
use crate::ids::Ids;
use crate::request::{Request, Tool};
use words::{keywords, shortened, words};

const MOST_CALLS: usize = 3;
const PAUSE_PER_WORD: Duration = Duration::from_millis(15);
const LONGEST_ANSWER: Duration = Duration::from_millis(1_500);
/// After each of at most eight pieces: short, as clients wait for all calls of an answer.
const PAUSE_PER_PIECE: Duration = Duration::from_millis(18);
const LONGEST_QUOTE: usize = 300;
const TEXT_PROTOCOL: &str = "<use_tool>";
const WEB_TOOL: &str = "webSearch";

/// Words of a question that the user's notes alone do not answer.
const WEB_WORDS: [&str; 3] = ["web", "internet", "online"];

/// Answers a request without a mark.
pub(crate) fn answer(request: Request<'_>, ids: &Ids) -> Script {
    let asked = request.last_user_text();
    let tools = request.tools();
    if request.ends_with_tool_output() {
        return spoken(ids, &report(request)).completed();
    }
    if !tools.is_empty() && !request.ends_with_assistant() {
        return calls(ids, &asked, &tools);
    }
    let prompt = request.developer_text();
    if prompt.contains(TEXT_PROTOCOL) {
        // What follows a block of ours is its result: a second block would go on for ever.
        let answered =
            request.last_assistant_text().is_some_and(|text| text.contains(TEXT_PROTOCOL));
        let text = if answered { read_aloud(&asked) } else { written_calls(&asked, &prompt) };
        return spoken(ids, &text).completed();
    }
    spoken(ids, &greeting(&asked)).completed()
}

fn spoken<'a>(ids: &'a Ids, text: &str) -> Answer<'a> {
    say(Answer::begin(ids), text)
}

/// Word by word, so that one sees it stream.
fn say<'a>(answer: Answer<'a>, text: &str) -> Answer<'a> {
    let words = u32::try_from(text.split_whitespace().count()).unwrap_or(u32::MAX).max(1);
    let pause = PAUSE_PER_WORD.min(LONGEST_ANSWER / words);
    let delivery = Delivery { chunking: Chunking::Words, pause: Some(pause) };
    answer.message_delivered(text, None, delivery)
}

fn calls(ids: &Ids, asked: &str, tools: &[Tool<'_>]) -> Script {
    let chosen = choose(asked, tools);
    let names: Vec<String> = chosen.iter().map(|tool| format!("`{}`", tool.name)).collect();
    let sentence = format!("Let me use {}.", enumerated(&names));
    chosen
        .iter()
        .map(|tool| {
            let arguments = arguments::invented(tool.parameters, asked).to_string();
            Call::new(tool.name, arguments).within(tool.namespace.map(str::to_owned))
        })
        .fold(spoken(ids, &sentence), |answer, call| {
            // In pieces, so that one sees the arguments grow.
            let chunking = Chunking::few(&call.arguments);
            answer.call_delivered(&call, Delivery { chunking, pause: Some(PAUSE_PER_PIECE) })
        })
        .completed()
}

/// The tools that share a word with the question, or the first one.
fn choose<'a>(asked: &str, tools: &[Tool<'a>]) -> Vec<Tool<'a>> {
    let wanted = keywords(asked);
    let fits = |tool: &Tool<'_>| {
        let offered = keywords(&format!("{} {}", tool.name, tool.description));
        offered.iter().any(|word| wanted.contains(word))
    };
    let fitting: Vec<Tool<'a>> = tools.iter().copied().filter(fits).take(MOST_CALLS).collect();
    if fitting.is_empty() { tools.iter().copied().take(1).collect() } else { fitting }
}

fn report(request: Request<'_>) -> String {
    let results = request.tool_results();
    let quotes: Vec<String> = results
        .iter()
        .map(|result| {
            let output = shortened(result.output.trim(), LONGEST_QUOTE);
            match output.as_str() {
                "" => format!("- `{}` returned nothing.", result.name),
                output => format!("- `{}` says: {output}", result.name),
            }
        })
        .collect();
    let opening = if quotes.len() == 1 { "Here is the result:" } else { "Here are the results:" };
    format!(
        "{opening}\n\n{}\n\nThat is all the demo model makes of it; a real model would now answer \
         in its own words.",
        quotes.join("\n")
    )
}

fn greeting(asked: &str) -> String {
    let asked = shortened(&one_line(asked), 120);
    let repeated = match asked.as_str() {
        "" => "You have not asked anything yet.".to_owned(),
        asked => format!("You asked: “{asked}”"),
    };
    format!(
        "Hello! I am the built-in demo: no account, no network, and no thinking either. \
         {repeated}\n\n\
         Next, declare a tool in your request and I will call it. Real models need a Codex login: \
         `codex-completions login` signs you in."
    )
}

/// A search in the notes, and one in the web if that is asked for and the prompt has the tool.
fn written_calls(asked: &str, prompt: &str) -> String {
    // An angle bracket of the user's could end the block early.
    let query = one_line(&asked.replace(['<', '>'], " "));
    let terms = serde_json::Value::from(keywords(&query));
    let mut calls = vec![("localSearch", format!("<salientTerms>{terms}</salientTerms>"))];
    let asks_the_web = words(&query).iter().any(|word| WEB_WORDS.contains(&word.as_str()));
    if asks_the_web && prompt.contains(WEB_TOOL) {
        calls.push((WEB_TOOL, "<chatHistory>[]</chatHistory>".to_owned()));
    }
    let names: Vec<String> = calls.iter().map(|(name, _)| format!("`{name}`")).collect();
    let block = |(name, parameter): &(&str, String)| {
        format!(
            "\n\n<use_tool>\n<name>{name}</name>\n<query>{query}</query>\n{parameter}\n</use_tool>"
        )
    };
    let blocks: String = calls.iter().map(block).collect();
    format!("Let me use {}.{blocks}", enumerated(&names))
}

fn read_aloud(result: &str) -> String {
    format!(
        "Here is what came back:\n\n{}\n\nThat is all the demo model makes of it; a real model \
         would now answer in its own words.",
        shortened(result.trim(), LONGEST_QUOTE)
    )
}

fn enumerated(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests;
