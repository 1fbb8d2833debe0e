//! The options of `calls`.

use std::path::PathBuf;

use clap::{ArgGroup, Args, ValueEnum};
use tool_call_aggregator::obsidian::XmlEscaping;
use tool_call_aggregator::{FragmentMode, RepeatPolicy};

/// Exactly one mode. The groups of one or two modes are for the options that belong to them: an option
/// that requires a mode itself, and not a group, is let through beside another mode, because clap does
/// not ask for what would be a conflict.
#[derive(Debug, Args)]
#[group(skip)]
#[command(
    group = ArgGroup::new("mode").args(["events", "sse", "chunks", "xml"]).required(true),
    group = ArgGroup::new("calls").args(["events", "sse"]),
    group = ArgGroup::new("text").args(["chunks"]),
    group = ArgGroup::new("blocks").args(["xml"]),
    after_long_help = EXAMPLES,
)]
#[expect(clippy::struct_excessive_bools, reason = "they are the flags that one can type")]
pub(crate) struct CallsOptions {
    /// File to read; `-`, or none, is standard input
    #[arg(value_name = "FILE")]
    pub(super) file: Option<PathBuf>,

    /// Read an event a line, and show what each changes and the calls at the end
    ///
    /// A line is a Codex app-server message, a Responses event, a chat chunk or a part of one. Two
    /// wrappers say more: `{"choice":1,"event":{…}}` is an event of choice 1, whatever index it has
    /// itself, and `{"message":{…},"emit_if_missing":true}` a whole message, whose text is searched for
    /// calls if there are no others; it may have a `choice` too. Without one the index in the payload
    /// counts, or else choice 0.
    ///
    /// For each line: `{"updated":…,"deltas":[…]}`, with a `limit` if a cap was reached. At the end:
    /// `{"snapshot":{"0":[…]},"parallel":…}`.
    #[arg(long, verbatim_doc_comment)]
    events: bool,

    /// The same for a capture of server-sent events, of the chat or the Responses endpoint
    #[arg(long)]
    sse: bool,

    /// Read a JSON string a line, each a chunk of one text, and show its text and blocks
    ///
    /// Out come `{"text":…}` and `{"block":{"start":…,"end":…,"name":…,"args_text":…}}`, as soon as
    /// they are known. Places are bytes of the whole text.
    #[arg(long, verbatim_doc_comment)]
    chunks: bool,

    /// Read a call a line, and write it as a `<use_tool>` block
    ///
    /// A line is `{"name":…,"arguments":…}`, with arguments as a string or an object. Out comes
    /// `{"xml":…}`.
    #[arg(long, verbatim_doc_comment)]
    xml: bool,

    /// With --events or --sse: how repeated events are told from new ones
    #[arg(long, value_enum, default_value_t, value_name = "POLICY", requires = "calls")]
    pub(super) repeat_policy: Repeats,

    /// With --events or --sse: what the fragments of arguments are
    #[arg(long, value_enum, default_value_t, value_name = "KIND", requires = "calls")]
    pub(super) fragments: Fragments,

    /// With --chunks: look for blocks of this format too, beside `<use_tool>`
    #[arg(long, value_enum, value_name = "NAME", requires = "text")]
    pub(super) pattern: Option<Pattern>,

    /// With --xml: what becomes of `<`, `>` and `&` in strings
    #[arg(long, value_enum, default_value_t, value_name = "HOW", requires = "blocks")]
    pub(super) escape: Escape,
}

const EXAMPLES: &str = r#"Examples:
  A live stream, as a client gets it:
    curl -sN … | codex-completions calls --sse
  Events as they are appended to a log:
    tail -f events.jsonl | codex-completions calls --events
  One chunk, by hand:
    $ echo '"Hi <use_tool><name>now</name></use_tool>"' | codex-completions calls --chunks
    {"text":"Hi "}
    {"block":{"start":3,"end":40,"name":"now","args_text":"{}"}}

A line that cannot be read is reported on standard error with its number. The others are read all
the same, and the exit code is 1."#;

/// What is read, and what comes out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    Events,
    Sse,
    Chunks,
    Xml,
}

#[derive(Debug, Clone, Copy, Default, ValueEnum)]
pub(super) enum Repeats {
    /// By sequence numbers and identities alone: nothing is dropped for looking like what came before
    #[default]
    ByIdentity,
    /// Besides, a payload equal to the one just before for the same call is dropped; also "drop"
    #[value(alias = "drop")]
    DropImmediateRepeats,
}

#[derive(Debug, Clone, Copy, Default, ValueEnum)]
pub(super) enum Fragments {
    /// Each continues the one before, as OpenAI's do
    #[default]
    Increments,
    /// Each is everything so far
    Cumulative,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(super) enum Pattern {
    /// `<tool_call>{"name":…,"arguments":{…}}</tool_call>`, as Hermes and Qwen models write it
    #[value(alias = "tool_call")]
    ToolCall,
}

#[derive(Debug, Clone, Copy, Default, ValueEnum)]
pub(super) enum Escape {
    /// They become `&lt;`, `&gt;` and `&amp;`
    #[default]
    Entities,
    /// They stay, but for what would end a parameter or the block early
    Verbatim,
}

// === impl CallsOptions ===

impl CallsOptions {
    pub(super) fn mode(&self) -> Mode {
        match (self.events, self.sse, self.chunks) {
            (true, ..) => Mode::Events,
            (_, true, _) => Mode::Sse,
            (.., true) => Mode::Chunks,
            _ => Mode::Xml,
        }
    }
}

// === impl Repeats ===

impl From<Repeats> for RepeatPolicy {
    fn from(repeats: Repeats) -> Self {
        match repeats {
            Repeats::ByIdentity => Self::ByIdentity,
            Repeats::DropImmediateRepeats => Self::DropImmediateRepeats,
        }
    }
}

// === impl Fragments ===

impl From<Fragments> for FragmentMode {
    fn from(fragments: Fragments) -> Self {
        match fragments {
            Fragments::Increments => Self::Increments,
            Fragments::Cumulative => Self::Cumulative,
        }
    }
}

// === impl Escape ===

impl From<Escape> for XmlEscaping {
    fn from(escape: Escape) -> Self {
        match escape {
            Escape::Entities => Self::Entities,
            Escape::Verbatim => Self::Verbatim,
        }
    }
}
