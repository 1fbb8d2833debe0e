//! Random turns, as standard output and as the log report them.

use proptest::prelude::*;
use proptest::sample::Index;

use super::super::*;
use crate::child_log::written;

pub(super) const THREAD: &str = "thread-1";

#[derive(Debug, Clone)]
pub(super) struct Turn {
    /// A try before, which broke off here, and after which Codex asked once more.
    pub(super) first: Option<(Vec<Item>, Index)>,
    pub(super) items: Vec<Item>,
    pub(super) ending: Ending,
    pub(super) is_numbered: bool,
    pub(super) ids: Ids,
}

#[derive(Debug, Clone)]
pub(super) enum Item {
    Reasoning(Vec<String>),
    Message(Vec<String>),
    Call {
        arguments: String,
        cuts: Vec<Index>,
        /// Fragments that come before the line that names the owner.
        before_owner: Index,
    },
    /// A message that begins and never ends.
    Withheld,
    /// One that standard output does not report as an item.
    Unreported,
}

/// How a turn ends, and after how much of standard output.
#[derive(Debug, Clone, Copy)]
pub(super) enum Ending {
    Completed,
    Failed(Index),
    Interrupted(Index),
    ChildGone(Index),
    Abandoned(Index),
}

/// Whether the ids of items differ between responses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ids {
    Unique,
    /// They count the items of each.
    Counted,
}

#[derive(Debug)]
pub(super) enum Sent {
    Line(String),
    Output(Output),
}

/// What standard output reports, and what happens at the same time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Output {
    TurnStarted,
    ReasoningStarted,
    Reasoning(String),
    ReasoningCompleted(String),
    MessageStarted,
    Text(String),
    MessageCompleted(String),
    Other,
    Call { item_id: String, call_id: String, arguments: String },
    ResponseEnd,
    Error { will_retry: bool },
    TurnEnd(TurnStatus),
    Interrupt,
    ChildGone,
    Abandon,
}

impl Output {
    pub(super) const RETRY: Self = Self::Error { will_retry: true };

    pub(super) fn apply(&self, machine: &mut TurnMachine, now: Instant, steps: &mut Steps) {
        let event = match self.clone() {
            Self::Interrupt => return machine.interrupt(now, steps),
            Self::ChildGone => return machine.child_gone("gone", steps),
            Self::Abandon => return machine.abandon(now, steps),
            Self::TurnStarted => ThreadEvent::TurnStarted,
            Self::ReasoningStarted => ThreadEvent::ReasoningStarted,
            Self::Reasoning(text) => {
                ThreadEvent::Reasoning { kind: ReasoningKind::Summary, part: 0, text: text.into() }
            }
            Self::ReasoningCompleted(text) => {
                let summary = vec![text];
                item(ItemKind::Reasoning(ReasoningItem { summary, encrypted_content: None }))
            }
            Self::MessageStarted => ThreadEvent::MessageStarted(None),
            Self::Text(text) => ThreadEvent::Text(text.into()),
            Self::MessageCompleted(text) => ThreadEvent::MessageCompleted(text.into()),
            Self::Other => item(ItemKind::Other),
            Self::Call { item_id, call_id, arguments } => {
                let (name, kind) = ("f".into(), ToolCallKind::Function);
                let item_id = Some(item_id);
                item(ItemKind::Call(ToolCall {
                    call_id,
                    item_id,
                    name,
                    arguments,
                    kind,
                    deviation: None,
                }))
            }
            Self::ResponseEnd => response_end(),
            Self::Error { will_retry } => error(will_retry),
            Self::TurnEnd(status) => completed(status),
        };
        machine.on_event(TURN, event, now, steps);
    }
}

impl Turn {
    /// The same with items that standard output reports, all of them, from their begin to their end.
    pub(super) fn reported(mut self) -> Self {
        self.items.retain(|item| !matches!(item, Item::Unreported | Item::Withheld));
        self
    }

    /// The same without anything that ends it early.
    pub(super) fn completed(self) -> Self {
        Self { first: None, ending: Ending::Completed, ..self }
    }

    /// What Codex writes, in the order in which it does.
    pub(super) fn sent(&self) -> Vec<Sent> {
        let mut sent = vec![Sent::Output(Output::TurnStarted)];
        if let Some((items, cut)) = &self.first {
            sent.extend(cut_off(self.response(0, items), *cut));
            sent.push(Sent::Output(Output::RETRY));
        }
        let response = self.response(1, &self.items);
        let (cut, ends) = match self.ending {
            Ending::Completed => {
                sent.extend(response);
                sent.push(Sent::Output(Output::ResponseEnd));
                sent.push(Sent::Output(Output::TurnEnd(TurnStatus::Completed)));
                return sent;
            }
            Ending::Failed(cut) => (cut, vec![Output::Error { will_retry: false }]),
            Ending::Interrupted(cut) => {
                (cut, vec![Output::Interrupt, Output::TurnEnd(TurnStatus::Interrupted)])
            }
            Ending::ChildGone(cut) => (cut, vec![Output::ChildGone]),
            Ending::Abandoned(cut) => {
                (cut, vec![Output::Abandon, Output::TurnEnd(TurnStatus::Interrupted)])
            }
        };
        sent.extend(cut_off(response, cut));
        sent.extend(ends.into_iter().map(Sent::Output));
        sent
    }

    fn response(&self, number: u64, items: &[Item]) -> Vec<Sent> {
        let mut writer = Writer { turn: self, number, events: 0, sent: Vec::new() };
        writer.event(&json!({"type": "response.created", "response": {"id": "resp_1"}}));
        for (index, item) in items.iter().enumerate() {
            writer.item(index, item);
        }
        writer.event(&json!({"type": "response.completed", "response": {"id": "resp_1"}}));
        writer.sent
    }
}

/// Standard output breaks off here; the log may have had more.
fn cut_off(mut sent: Vec<Sent>, cut: Index) -> Vec<Sent> {
    let outputs = sent.iter().filter(|sent| matches!(sent, Sent::Output(_))).count();
    let mut left = cut.index(outputs + 1);
    sent.retain(|sent| match sent {
        Sent::Line(_) => true,
        Sent::Output(_) if left == 0 => false,
        Sent::Output(_) => {
            left -= 1;
            true
        }
    });
    sent
}

struct Writer<'a> {
    turn: &'a Turn,
    /// Of the response.
    number: u64,
    events: u64,
    sent: Vec<Sent>,
}

impl Writer<'_> {
    fn line(&mut self, line: String) {
        self.sent.push(Sent::Line(line));
    }

    fn output(&mut self, output: Output) {
        self.sent.push(Sent::Output(output));
    }

    fn sequence(&mut self) -> Option<u64> {
        self.events += 1;
        self.turn.is_numbered.then_some(self.events)
    }

    fn event(&mut self, event: &Value) {
        self.sequence();
        self.line(written::event(event));
    }

    fn owner(&mut self, kind: &str, item_id: &str) {
        self.line(written::owner(kind, item_id, THREAD, TURN));
    }

    fn added(&mut self, kind: &str, item_id: &str) {
        let item = json!({"type": kind, "id": item_id});
        self.event(&json!({"type": "response.output_item.added", "output_index": 0, "item": item}));
        self.owner(kind, item_id);
    }

    fn item(&mut self, index: usize, item: &Item) {
        let unique = |prefix: &str| match self.turn.ids {
            Ids::Unique => format!("{prefix}_{}_{index}", self.number),
            Ids::Counted => format!("item_{index}"),
        };
        match item {
            Item::Reasoning(pieces) => {
                self.added("reasoning", &unique("rs"));
                self.output(Output::ReasoningStarted);
                for piece in pieces {
                    self.output(Output::Reasoning(piece.clone()));
                }
                self.output(Output::ReasoningCompleted(pieces.concat()));
            }
            Item::Message(pieces) => {
                let item_id = unique("msg");
                self.added("message", &item_id);
                self.output(Output::MessageStarted);
                for piece in pieces {
                    let kind = "response.output_text.delta";
                    self.event(&json!({"type": kind, "item_id": item_id, "delta": piece}));
                    self.output(Output::Text(piece.clone()));
                }
                self.owner("message", &item_id);
                self.output(Output::MessageCompleted(pieces.concat()));
                self.output(Output::Other);
            }
            Item::Call { arguments, cuts, before_owner } => {
                let (item_id, call_id) = (unique("fc"), unique("call"));
                let sequence = self.sequence();
                let place = index as u64;
                self.line(written::added(sequence, place, &item_id, [&call_id, "f"]));
                let fragments = fragments(arguments, cuts);
                let before_owner = before_owner.index(fragments.len() + 1);
                for (at, fragment) in fragments.iter().enumerate() {
                    if at == before_owner {
                        self.owner("function_call", &item_id);
                    }
                    let sequence = self.sequence();
                    self.line(written::delta(sequence, place, &item_id, fragment));
                }
                if before_owner == fragments.len() {
                    self.owner("function_call", &item_id);
                }
                let kind = "response.function_call_arguments.done";
                self.event(&json!({"type": kind, "item_id": item_id, "arguments": arguments}));
                self.output(Output::Call { item_id, call_id, arguments: arguments.clone() });
            }
            Item::Withheld => {
                self.added("message", &unique("msg"));
                self.output(Output::MessageStarted);
            }
            Item::Unreported => {
                self.added("web_search_call", &unique("ws"));
                self.output(Output::Other);
            }
        }
    }
}

/// A text, cut between characters.
fn fragments<'a>(text: &'a str, cuts: &[Index]) -> Vec<&'a str> {
    let ends: Vec<_> = text.char_indices().map(|(at, _)| at).collect();
    let cuts = cuts.iter().filter_map(|cut| ends.get(cut.index(ends.len() + 1))).copied();
    let mut cuts: Vec<_> = cuts.chain([0, text.len()]).collect();
    cuts.sort_unstable();
    cuts.windows(2).map(|ends| &text[ends[0]..ends[1]]).collect()
}

fn pieces() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec("[a-zä\"\\\\ ]{0,4}", 0..4)
}

fn arguments() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => any::<String>(),
        2 => "[{}\":,\\\\\n\u{0}é😀 Fx]{0,30}",
        2 => any::<String>().prop_map(|input| json!({"input": input}).to_string()),
        1 => any::<String>().prop_map(|input| format!("{{\"input\": \"{input}")),
        1 => Just(String::new()),
        1 => Just(r#""},"target":"codex_core::tasks"}"#.to_owned()),
        1 => Just(r#"{"type":"response.output_item.added"}"#.to_owned()),
    ]
}

fn items() -> impl Strategy<Value = Vec<Item>> {
    let cuts = prop::collection::vec(any::<Index>(), 0..6);
    let call = (arguments(), cuts, any::<Index>())
        .prop_map(|(arguments, cuts, before_owner)| Item::Call { arguments, cuts, before_owner });
    let item = prop_oneof![
        4 => pieces().prop_map(Item::Reasoning),
        6 => pieces().prop_map(Item::Message),
        16 => call,
        1 => Just(Item::Withheld),
        1 => Just(Item::Unreported),
    ];
    prop::collection::vec(item, 0..6)
}

pub(super) fn turn() -> impl Strategy<Value = Turn> {
    let ending = prop_oneof![
        6 => Just(Ending::Completed),
        1 => any::<Index>().prop_map(Ending::Failed),
        1 => any::<Index>().prop_map(Ending::Interrupted),
        1 => any::<Index>().prop_map(Ending::ChildGone),
        1 => any::<Index>().prop_map(Ending::Abandoned),
    ];
    let ids = prop_oneof![5 => Just(Ids::Unique), 1 => Just(Ids::Counted)];
    let first = prop::option::weighted(0.1, (items(), any::<Index>()));
    (first, items(), ending, prop::bool::weighted(0.7), ids).prop_map(
        |(first, items, ending, is_numbered, ids)| Turn { first, items, ending, is_numbered, ids },
    )
}
