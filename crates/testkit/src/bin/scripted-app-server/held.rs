//! Calls that wait for their answers, and what goes wrong meanwhile.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::server::{Server, turn_member};

/// What goes wrong with calls that wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CallFault {
    /// The client is never asked for the last one.
    Unasked,
    /// The turn ends by itself.
    Ended,
    /// The model is asked once more, although nobody has answered.
    AskedAgain,
}

/// A turn whose calls wait for their answers.
pub(crate) struct HeldTurn {
    turn: String,
    calls: Vec<HeldCall>,
}

struct HeldCall {
    /// The id of the request to the client.
    request: u64,
    /// The answer's text as JSON, once it is there.
    output: Option<String>,
}

/// The client's answer to a call.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CallResult<'a> {
    #[serde(borrow)]
    content_items: Vec<ContentItem<'a>>,
}

#[derive(Deserialize)]
struct ContentItem<'a> {
    #[serde(borrow)]
    text: &'a RawValue,
}

// === impl CallFault ===

impl CallFault {
    pub(crate) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "unasked-calls" => Self::Unasked,
            "ended-calls" => Self::Ended,
            "doubled-calls" => Self::AskedAgain,
            _ => return None,
        })
    }
}

// === impl Server ===

impl Server {
    /// Lets a turn wait for the answers to these requests, in the order of its calls.
    pub(crate) fn hold(&mut self, thread: &str, turn: &str, requests: Vec<u64>) {
        let calls = requests.into_iter().map(|request| HeldCall { request, output: None });
        let held = HeldTurn { turn: turn.to_owned(), calls: calls.collect() };
        self.held.insert(thread.to_owned(), held);
    }

    /// Plays calls that go wrong once the response has ended.
    pub(crate) fn play_faulty_calls(
        &mut self,
        thread: &str,
        turn: &str,
        count: usize,
        fault: CallFault,
    ) {
        let asked = if fault == CallFault::Unasked { count - 1 } else { count };
        self.play_calls(thread, turn, count, asked);
        match fault {
            CallFault::Unasked => {}
            CallFault::Ended => self.notify(
                "turn/completed",
                &format!(r#""threadId":"{thread}",{}"#, turn_member(turn, "completed", "")),
            ),
            CallFault::AskedAgain => {
                self.open_text(thread, turn);
            }
        }
    }

    /// Takes the answer to a call. The last one lets its turn go on: with a text that is the outputs, in
    /// the order of the calls.
    pub(crate) fn take_answer(&mut self, request: u64, result: &str) {
        let Ok(CallResult { content_items }) = serde_json::from_str(result) else { return };
        let text: String =
            content_items.iter().map(|item| item.text.get().trim_matches('"')).collect();
        let answered = self.held.iter_mut().find_map(|(thread, held)| {
            let call = held.calls.iter_mut().find(|call| call.request == request)?;
            call.output = Some(text.clone());
            held.calls.iter().all(|call| call.output.is_some()).then(|| thread.clone())
        });
        let Some((thread, held)) = answered.and_then(|thread| self.held.remove_entry(&thread))
        else {
            return;
        };
        let turn = &held.turn;
        let of = format!(r#""threadId":"{thread}","turnId":"{turn}""#);
        let outputs: Vec<_> = held.calls.into_iter().filter_map(|call| call.output).collect();
        for (index, output) in outputs.iter().enumerate() {
            self.output(&of, index, output);
        }
        self.play_text(&thread, turn, outputs.into_iter());
    }
}
