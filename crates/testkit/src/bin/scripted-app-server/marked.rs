//! An answer in which every piece says whose it is.

use std::collections::VecDeque;

use scripted_model::{MarkedAnswer, MarkedCall};

use crate::server::{Server, turn_member};

// === impl Server ===

impl Server {
    /// Says it slowly. Calls at its end wait for their answers or for `turn/interrupt`.
    pub(crate) fn play_marked(&mut self, thread: &str, turn: &str, answer: &MarkedAnswer) {
        let of = format!(r#""threadId":"{thread}","turnId":"{turn}""#);
        let from = self.out.len();
        let mut lines = VecDeque::new();
        if answer.reasoning > 0 {
            self.begin_reasoning(&of);
            for delta in answer.reasoning() {
                self.reason(&of, &delta);
                lines.push_back(self.out.split_off(from));
            }
            self.finish_reasoning(&of, &answer.reasoning().collect::<String>());
        }
        let deltas = answer.text();
        if !deltas.is_empty() {
            let mut text = self.begin_text(thread, turn);
            for delta in deltas {
                self.say(&mut text, &delta);
                lines.push_back(self.out.split_off(from));
            }
            self.complete_text(&text);
        }
        let mut requests = Vec::new();
        for (index, MarkedCall { name, city }) in answer.calls().enumerate() {
            self.call(&of, index, name, &city);
            requests.push(self.ask_for_call(&of, index, name, &city));
        }
        self.response_completed(&of);
        if !requests.is_empty() {
            self.hold(thread, turn, requests);
        }
        if answer.calls == 0 {
            self.notify(
                "turn/completed",
                &format!(r#""threadId":"{thread}",{}"#, turn_member(turn, "completed", "")),
            );
        }
        lines.push_back(self.out.split_off(from));
        self.write_paced(thread, answer.pause(), answer.pause(), lines);
    }
}
