//! The options of an `args` mark.

use std::time::Duration;

use crate::failures::ErrorReply;
use crate::scenario::{A_DAY, A_GIBIBYTE};

const MOST_CALLS: u64 = 10_000;

const ALLOWED: &str = "`bytes=N`, `piece=N`, `ms=N`, `calls=N`, `numbered`, `text`, `interleaved`, \
    `one-call-id`, `idless` or `same-ids`, and one of `cut`, `hang`, `failed` and `incomplete`";

/// What the calls are like, and how the response ends.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the mark")]
pub(super) struct Options {
    /// Bytes of the arguments of each call.
    pub(super) bytes: usize,
    /// Bytes of each delta.
    pub(super) piece: usize,
    /// After each delta.
    pub(super) pause: Option<Duration>,
    pub(super) calls: usize,
    /// Whether every event has a sequence number.
    pub(super) numbered: bool,
    /// Whether a message comes first.
    pub(super) text: bool,
    /// Whether the deltas of the calls alternate.
    pub(super) interleaved: bool,
    /// Whether all calls have the same call id.
    pub(super) one_call_id: bool,
    pub(super) ids: ItemIds,
    pub(super) end: End,
}

/// The ids of the items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ItemIds {
    Unique,
    /// Those of the calls are equal in every response.
    Same,
    Absent,
}

/// How the response ends; all but the first end amid the arguments of the last call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Completed,
    Cut,
    Hang,
    Failed,
    Incomplete,
}

// === impl Options ===

impl Options {
    /// Reads the options of a mark, none of them larger than `most`.
    pub(super) fn parse(argument: &str, most: u64) -> Result<Self, ErrorReply> {
        let mut options = Self::default();
        for option in argument.split(',').map(str::trim).filter(|option| !option.is_empty()) {
            options.set(option, most)?;
        }
        let most = usize::try_from(most.min(A_GIBIBYTE)).unwrap_or(usize::MAX);
        if options.bytes.saturating_mul(options.calls) > most {
            return Err(invalid(&format!("at most {most} bytes in all calls together")));
        }
        Ok(options)
    }

    fn set(&mut self, option: &str, most: u64) -> Result<(), ErrorReply> {
        let bytes = A_GIBIBYTE.min(most);
        match option.split_once('=').map_or((option, None), |(name, text)| (name, Some(text))) {
            ("bytes", Some(text)) => self.bytes = size("bytes", text, 0, bytes)?,
            ("piece", Some(text)) => self.piece = size("piece", text, 1, bytes)?,
            ("calls", Some(text)) => self.calls = size("calls", text, 1, MOST_CALLS.min(most))?,
            ("ms", Some(text)) => {
                let pause = Duration::from_millis(number("ms", text, 0, A_DAY.min(most))?);
                self.pause = Some(pause).filter(|pause| !pause.is_zero());
            }
            ("numbered", None) => self.numbered = true,
            ("text", None) => self.text = true,
            ("interleaved", None) => self.interleaved = true,
            ("one-call-id", None) => self.one_call_id = true,
            ("idless", None) => self.set_ids(ItemIds::Absent)?,
            ("same-ids", None) => self.set_ids(ItemIds::Same)?,
            ("cut", None) => self.set_end(End::Cut)?,
            ("hang", None) => self.set_end(End::Hang)?,
            ("failed", None) => self.set_end(End::Failed)?,
            ("incomplete", None) => self.set_end(End::Incomplete)?,
            _ => return Err(invalid(&format!("{ALLOWED}, not `{option}`"))),
        }
        Ok(())
    }

    fn set_ids(&mut self, ids: ItemIds) -> Result<(), ErrorReply> {
        if self.ids != ItemIds::Unique && self.ids != ids {
            return Err(invalid("`idless` or `same-ids`, not both"));
        }
        self.ids = ids;
        Ok(())
    }

    fn set_end(&mut self, end: End) -> Result<(), ErrorReply> {
        if self.end != End::Completed && self.end != end {
            return Err(invalid("one of `cut`, `hang`, `failed` and `incomplete`, not two"));
        }
        self.end = end;
        Ok(())
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            bytes: 200,
            piece: 20,
            pause: None,
            calls: 1,
            numbered: false,
            text: false,
            interleaved: false,
            one_call_id: false,
            ids: ItemIds::Unique,
            end: End::Completed,
        }
    }
}

fn size(name: &str, text: &str, least: u64, most: u64) -> Result<usize, ErrorReply> {
    number(name, text, least, most).map(|number| usize::try_from(number).unwrap_or(usize::MAX))
}

fn number(name: &str, text: &str, least: u64, most: u64) -> Result<u64, ErrorReply> {
    let number = text.parse().ok().filter(|number| (least..=most).contains(number));
    number.ok_or_else(|| invalid(&format!("`{name}=N` from {least} to {most}, not `{text}`")))
}

fn invalid(allowed: &str) -> ErrorReply {
    ErrorReply::invalid_mark(&format!("`[[args:OPTION,…]]` takes {allowed}"))
}
