//! The table of scenarios, and the choice of what answers a request.

use std::time::Duration;

use crate::agent;
use crate::answer::{Answer, Script};
use crate::args;
use crate::calls;
use crate::demo;
use crate::failures::{self, ErrorReply};
use crate::freeform;
use crate::ids::Ids;
use crate::mark::Mark;
use crate::marked;
use crate::request::Request;
use crate::texts;

pub(crate) const A_DAY: u64 = 24 * 3600 * 1000;
pub(crate) const A_GIBIBYTE: u64 = 1 << 30;

/// Everything that a scenario may look at.
pub(crate) struct Scene<'a> {
    pub(crate) request: Request<'a>,
    pub(crate) mark: Mark<'a>,
    pub(crate) ids: &'a Ids,
    /// The mark's argument where the scenario takes a number, or its default.
    pub(crate) number: u64,
    /// The largest number that any scenario may be given.
    pub(crate) most: u64,
    /// 1 for the first request with exactly this text since the server's start.
    pub(crate) attempt: u64,
    /// Seconds since 1970.
    pub(crate) now: u64,
}

impl<'a> Scene<'a> {
    pub(crate) fn begin(&self) -> Answer<'a> {
        Answer::begin(self.ids)
    }

    pub(crate) fn argument(&self) -> Option<&'a str> {
        self.mark.argument.filter(|argument| !argument.is_empty())
    }

    pub(crate) fn count(&self) -> usize {
        usize::try_from(self.number).unwrap_or(usize::MAX)
    }

    pub(crate) fn duration(&self) -> Duration {
        Duration::from_millis(self.number)
    }
}

#[derive(Clone, Copy)]
enum Argument {
    Nothing,
    Text(&'static str),
    Number { label: &'static str, default: u64, most: u64 },
}

#[derive(Clone, Copy)]
enum Play {
    Stream(fn(&Scene<'_>) -> Script),
    StreamOrError(fn(&Scene<'_>) -> Result<Script, ErrorReply>),
}

/// A row of the table.
struct Scenario {
    name: &'static str,
    argument: Argument,
    explanation: &'static str,
    play: Play,
    /// Whether the scenario goes on when the answer to its call has come.
    sticky: bool,
}

const fn row(
    name: &'static str,
    argument: Argument,
    explanation: &'static str,
    play: fn(&Scene<'_>) -> Script,
) -> Scenario {
    Scenario { name, argument, explanation, play: Play::Stream(play), sticky: false }
}

const fn row_or_error(
    name: &'static str,
    argument: Argument,
    explanation: &'static str,
    play: fn(&Scene<'_>) -> Result<Script, ErrorReply>,
) -> Scenario {
    Scenario { name, argument, explanation, play: Play::StreamOrError(play), sticky: false }
}

impl Scenario {
    const fn sticky(self) -> Self {
        Self { sticky: true, ..self }
    }
}

const fn number(label: &'static str, default: u64, most: u64) -> Argument {
    Argument::Number { label, default, most }
}

const fn milliseconds(default: u64) -> Argument {
    number("MS", default, A_DAY)
}

const fn bytes(default: u64) -> Argument {
    number("BYTES", default, A_GIBIBYTE)
}

use Argument::{Nothing, Text};

/// One row a line, as a table is read.
#[rustfmt::skip]
static SCENARIOS: &[Scenario] = &[
    row("text", Text("TEXT"), "a short text, or the one given", texts::text),
    row("echo", Nothing, "the user's text, in deltas of 1 to 17 characters", texts::echo),
    row("echo-chars", Nothing, "the user's text, a character a delta", texts::echo_chars),
    row("echo-whole", Nothing, "the user's text in one delta", texts::echo_whole),
    row("echo-bytes", Nothing, ECHO_BYTES, calls::echo_bytes),
    row("echo-slow", milliseconds(2_000), "the user's text over that time", texts::echo_slow),
    row("echo-reasoning", Nothing, "the user's text as reasoning and text", texts::echo_reasoning),
    row("echo-hang", Nothing, "two thirds of the user's text, then silence", texts::echo_hang),
    row("echo-cut", Nothing, "two thirds of the user's text, then a cut", failures::echo_cut),
    row("reasoning", Nothing, "two summary parts of reasoning, then text", texts::reasoning),
    row("raw-reasoning", Nothing, "raw reasoning, then text", texts::raw_reasoning),
    row("two-messages", Nothing, "a commentary and a final answer", texts::two_messages),
    row("json", Nothing, "a JSON object as text", texts::json),
    row("schema", Nothing, "`{\"wanted\": …}` with the schema that was asked for", texts::schema),
    row("recall", Nothing, "what was said, called and returned, a line each", texts::recall),
    row("no-usage", Nothing, "text without a report of tokens", texts::no_usage),
    row("usage", number("N", 300_000, 1 << 50), "text that cost N input tokens", texts::usage),
    row("no-deltas", Nothing, "text that comes with the item's end only", texts::no_deltas),
    row("use-tool", number("K", 0, A_GIBIBYTE), USE_TOOL, texts::use_tool),
    row("use-tool-two", Nothing, "two <use_tool> blocks with text between", texts::use_tool_two),
    row("big", bytes(1_000_000), "that many bytes of text, 1 kB a delta", texts::big),
    row("big-delta", bytes(10_000_000), "that many bytes of text in one delta", texts::big_delta),
    row("empty", Nothing, "response.created, then response.completed", texts::empty),
    row("slow", milliseconds(2_000), "twenty words over that time", texts::slow),
    row("hang", Nothing, "some text, then silence until the client goes", texts::hang),
    row("silent", Nothing, "response.created, then silence", texts::silent),
    row("tool", Text("NAME,{ARGUMENTS}"), "a call of a declared tool", calls::tool),
    row("tool-loop", Text("NAME,{ARGUMENTS}"), "a call, again after each result", calls::tool)
        .sticky(),
    row("think-loop", number("N", 1, 10_000), THINK_LOOP, calls::think_loop).sticky(),
    row("parallel", number("N", 3, 10_000), "N calls in one response", calls::parallel),
    row("round-trip", number("N", 1, 10_000), ROUND_TRIP, calls::round_trip).sticky(),
    row("agent", Text("FOLDER,NAME,{ARGUMENTS}"), AGENT, agent::agent).sticky(),
    row(THEN, Text("MARK"), "a call, then what the mark plays after its result", calls::weather),
    row_or_error("marked", Text("ID:…"), MARKED, marked::marked),
    row_or_error("args", Text("OPTION,…"), ARGS, args::args),
    row_or_error("items", Text("[ITEM,…]"), ITEMS, calls::items),
    row("call-hang", Nothing, "a call with the user's text, then silence", calls::call_hang),
    row("parallel-slow", milliseconds(1_000), "two calls, that far apart", calls::parallel_slow),
    row("mixed", Nothing, "text, then a call", calls::mixed),
    row("mixed-reasoning", Nothing, "reasoning, text and two calls", calls::mixed_reasoning),
    row("text-after-call", Nothing, "a call, then text", calls::text_after_call),
    row("bad-args", Nothing, "a call whose arguments are half a JSON object", calls::bad_args),
    row("empty-args", Nothing, "a call whose arguments are an empty string", calls::empty_args),
    row("unknown-tool", Nothing, "a call of a tool that nobody declared", calls::unknown_tool),
    row("shell", Text("FILE"), "exec_command that touches FILE", calls::shell),
    row("local-shell", Text("FILE"), "a local_shell_call that touches FILE", calls::local_shell),
    row("custom", Text("FILE"), "a custom_tool_call of apply_patch that adds FILE", calls::custom),
    row("freeform", Text("NAME,FUNCTION"), FREEFORM, freeform::freeform),
    row("tool-search", Nothing, "a tool_search_call", calls::tool_search),
    row("namespace", Text("NS"), "a function call inside the namespace NS", calls::namespace),
    row("slow-args", milliseconds(2_000), "a call, its arguments over that time", calls::slow_args),
    row("many-fragments", number("N", 1_000, 1_000_000), FRAGMENTS, calls::many_fragments),
    row("slow-end", milliseconds(2_000), "a call, then silence before the end", calls::slow_end),
    row("slow-second-call", milliseconds(2_000), SLOW_SECOND, calls::slow_second_call),
    row_or_error("http", Text("CODE[,ctx][,usage][,xN]"), HTTP, failures::http),
    row_or_error("unread-reasoning", Nothing, UNREAD, failures::unread_reasoning).sticky(),
    row("failed", Text("CODE"), "response.failed with that code", failures::failed),
    row("incomplete", Text("REASON"), "text, then response.incomplete", failures::incomplete),
    row("cut", Nothing, "part of a text, then the connection closes", failures::cut),
    row("slow-cut", milliseconds(2_000), "the same with silence before", failures::slow_cut),
    row("cut-once", Nothing, "cut the first time, whole afterwards", failures::cut_once),
    row("cut-early", Nothing, "the connection closes after response.created", failures::cut_early),
    row("refusal", Nothing, "the model declines", failures::refusal),
    row("refusal-after-text", Nothing, REFUSAL_AFTER_TEXT, failures::refusal_after_text),
    row("call-cut", Nothing, "a whole call, then the connection closes", failures::call_cut),
    row("half-call", Nothing, "two thirds of a call's arguments, then a cut", failures::half_call),
    row("call-failed", Text("CODE"), "a whole call, then response.failed", failures::call_failed),
    row("call-incomplete", Text("REASON"), CALL_INCOMPLETE, failures::call_incomplete),
    row("two-calls-cut", Nothing, "two whole calls, then a cut", failures::two_calls_cut),
    row("message-cut", Nothing, "a whole message, then a cut", failures::message_cut),
];

/// The scenario that goes on with another one.
const THEN: &str = "then";
const USE_TOOL: &str = "a <use_tool> block in text, a character a delta or cut after byte K";
const ROUND_TRIP: &str = "N calls, then a text that quotes their results";
const AGENT: &str = "a file written with the declared tools, two calls, a report of their results";
const UNREAD: &str = "reasoning and a call, then text; 400 if the reasoning comes back";
const THINK_LOOP: &str = "reasoning and N calls, again after their results";
const ECHO_BYTES: &str = "the user's text as text and as an argument, a byte a piece of the body";
const MARKED: &str =
    "ID:REASONING:WORDS:BLOCKS:CALLS:FILLER:PAUSE: so many, every piece with the ID and a number";
const ARGS: &str = "calls with long arguments: bytes=N (of each), piece=N (bytes a delta), ms=N (after each), calls=N, numbered, text, interleaved, one-call-id, idless or same-ids, and cut, hang, failed or incomplete";
const ITEMS: &str = "texts, calls ({\"name\", \"arguments\"}), reasoning ({\"reasoning\"}), pauses (MS) and a cut (null), in order";
const FREEFORM: &str = "a call of a free-form tool with the user's text, in the form of its declaration, then of a function";
const FRAGMENTS: &str = "a call whose arguments come in N deltas of 20 bytes";
const SLOW_SECOND: &str = "a call, then a second whose arguments take that time";
const HTTP: &str = "an HTTP error (about the context, about the usage limit, only N times)";
const REFUSAL_AFTER_TEXT: &str = "a whole message, then one in which the model declines";
const CALL_INCOMPLETE: &str = "a whole call, then response.incomplete";

/// What answers a request: the marked scenario, the thanks after it, or the demo model.
///
/// `attempt` is asked, with the marked text, only for a scenario that is about to be played. No
/// answer is larger than `most`, in whatever its scenario counts.
pub(crate) fn answer(
    request: Request<'_>,
    most: u64,
    ids: &Ids,
    now: u64,
    attempt: impl FnOnce(&str) -> u64,
) -> Result<Script, ErrorReply> {
    let asked = request.last_user_text();
    let has_result = request.ends_with_tool_output();
    let outer = Mark::last_in(&asked);
    let later = outer.as_ref().filter(|mark| has_result && mark.name == THEN).and_then(Mark::inner);
    let goes_on = later.is_some();
    // A note's `[[wiki link]]` is no mark, so an unknown name leads to the demo model too.
    let marked = later.or(outer).and_then(|mark| {
        let scenario = SCENARIOS.iter().find(|scenario| scenario.name == mark.name)?;
        Some((mark, scenario))
    });
    let Some((mark, scenario)) = marked else {
        return Ok(demo::answer(request, ids));
    };
    if has_result && !scenario.sticky && !goes_on {
        return Ok(texts::thanks(ids));
    }
    let number = scenario.number(mark.argument, most)?;
    // The call before was none at this.
    let attempt = attempt(mark.text()).saturating_sub(u64::from(goes_on));
    let scene = Scene { request, mark, ids, number, most, attempt, now };
    match scenario.play {
        Play::Stream(play) => Ok(play(&scene)),
        Play::StreamOrError(play) => play(&scene),
    }
}

impl Scenario {
    fn number(&self, argument: Option<&str>, most_of_all: u64) -> Result<u64, ErrorReply> {
        match (self.argument, argument.map(str::trim).filter(|text| !text.is_empty())) {
            (Argument::Number { label, most, .. }, Some(text)) => {
                let most = most.min(most_of_all);
                text.parse().ok().filter(|number| *number <= most).ok_or_else(|| {
                    ErrorReply::invalid_mark(&format!(
                        "`[[{}:{label}]]` takes a number up to {most}, not `{text}`",
                        self.name
                    ))
                })
            }
            (Argument::Number { default, .. }, None) => Ok(default.min(most_of_all)),
            _ => Ok(0),
        }
    }

    fn usage(&self) -> String {
        match self.argument {
            Nothing => format!("[[{}]]", self.name),
            Text(label) | Argument::Number { label, .. } => {
                format!("[[{}:{label}]]", self.name)
            }
        }
    }
}

/// The scenarios, a line each: how the mark is written, and what it does.
pub fn scenario_list() -> String {
    let width = SCENARIOS.iter().map(|scenario| scenario.usage().len()).max().unwrap_or(0);
    let lines: Vec<String> = SCENARIOS
        .iter()
        .map(|scenario| format!("{:width$}  {}", scenario.usage(), scenario.explanation))
        .collect();
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests;
