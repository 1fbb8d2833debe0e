//! What a turn plays, chosen by a mark.

use scripted_model::MarkedAnswer;

use crate::fault::TurnFault;
use crate::held::CallFault;

/// What a turn plays.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Scenario {
    /// A text in so many deltas.
    Text { deltas: usize },
    /// A text in so many deltas, each after a pause.
    Paced { deltas: usize },
    /// A text that is one call, whose argument comes in so many deltas.
    Block { deltas: usize },
    /// So many tool calls, which wait for their answers or for `turn/interrupt`.
    Calls { count: usize },
    /// The same with something wrong.
    FaultyCalls { count: usize, fault: CallFault },
    /// A text after which the thread takes no more items.
    LastWords,
    /// A slow answer in which every piece says whose it is.
    Marked(MarkedAnswer),
    /// The first delta of a text, whose rest comes with `Finish`: the neighbour of a fault.
    Open,
    /// The rest of everything that waits for it, and a text of its own.
    Finish,
    /// A text of a thread whose history is taken with `Finish` only, as if that took long.
    Slow,
    /// A text that something goes wrong with.
    Faulty(TurnFault),
}

// === impl Scenario ===

impl Scenario {
    /// The scenario of the last mark in `text`, which is `[[name]]`, `[[name:number]]` or
    /// `[[marked:answer]]`.
    pub(crate) fn marked(text: &str) -> Self {
        let mark = text.rsplit_once("[[").and_then(|(_, mark)| mark.split_once("]]"));
        let mark = mark.map(|(mark, _)| mark);
        let answer = mark.and_then(|mark| mark.strip_prefix("marked:")?.parse().ok());
        if let Some(answer) = answer {
            return Self::Marked(answer);
        }
        let mark = || {
            let mark = mark?;
            match mark.split_once(':') {
                Some((name, number)) => Some((name, number.parse().ok()?)),
                None => Some((mark, 0)),
            }
        };
        match mark() {
            Some(("deltas", deltas)) => Self::Text { deltas },
            Some(("paced", deltas)) => Self::Paced { deltas },
            Some(("block", deltas)) => Self::Block { deltas },
            Some(("calls", count)) => Self::Calls { count },
            Some(("last-words", _)) => Self::LastWords,
            Some(("open", _)) => Self::Open,
            Some(("finish", _)) => Self::Finish,
            Some(("slow", _)) => Self::Slow,
            Some((name, number)) => {
                let calls =
                    CallFault::named(name).map(|fault| Self::FaultyCalls { count: number, fault });
                calls
                    .or_else(|| TurnFault::named(name, number).map(Self::Faulty))
                    .unwrap_or(Self::Text { deltas: 1 })
            }
            None => Self::Text { deltas: 1 },
        }
    }
}
