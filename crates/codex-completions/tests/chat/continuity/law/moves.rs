//! What may happen in a conversation.

use serde_json::{Value, json};

use super::super::CONTINUITY;
use super::super::conversation::{Api, Conversation, Output};
use super::{CALLERS, Question, Talk, World, scenes};
use crate::asking::{streamed, with};

/// What a client, or fate, does next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Move {
    /// Something new is said, or every call has its result, as it should be.
    GoOn,
    /// The last request is sent again.
    Regenerate,
    /// What was said earlier is another text now.
    Edit,
    /// It goes on from an earlier point.
    Branch,
    NewPrompt,
    NewTools,
    NewFormat,
    NewEffort,
    NewModel,
    /// Results in another order than their calls.
    Reordered,
    /// A result is missing.
    Partial,
    /// The user says something besides the results.
    ResultsAndQuestion,
    ImageInResult,
    /// The same request, twice at once.
    TwiceAtOnce,
    /// Two ways to go on, at once.
    TwoWaysAtOnce,
    /// Somebody else sends the same conversation.
    AnotherKey,
    HeaderOff,
    HeaderOn,
    /// The answer is cut by a stop sequence.
    Cut,
    /// Only the first call is wanted.
    Capped,
    /// The model is told something at the end that is not in the conversation.
    Hinted,
    /// The client leaves in the middle of the answer.
    Leave,
    /// A child is killed before it goes on.
    Restart,
}

/// What a move must lead to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Expected {
    Anything,
    /// No turn waits for it; but a thread of an earlier turn may be there still.
    NotResumed,
    Fresh,
    Refused,
}

/// How often each move is made.
pub(super) const DECK: [(Move, usize); 23] = [
    (Move::GoOn, 100),
    (Move::Regenerate, 5),
    (Move::Edit, 4),
    (Move::Branch, 6),
    (Move::NewPrompt, 3),
    (Move::NewTools, 3),
    (Move::NewFormat, 3),
    (Move::NewEffort, 3),
    (Move::NewModel, 3),
    (Move::Reordered, 4),
    (Move::Partial, 4),
    (Move::ResultsAndQuestion, 4),
    (Move::ImageInResult, 4),
    (Move::TwiceAtOnce, 5),
    (Move::TwoWaysAtOnce, 5),
    (Move::AnotherKey, 5),
    (Move::HeaderOff, 4),
    (Move::HeaderOn, 3),
    (Move::Cut, 3),
    (Move::Capped, 3),
    (Move::Hinted, 3),
    (Move::Leave, 3),
    (Move::Restart, 3),
];

// === impl Move ===

impl Move {
    /// Whether it can be made in a conversation.
    pub(super) fn fits(self, talk: &Talk) -> bool {
        let conversation = &talk.conversation;
        let pending = conversation.pending.len();
        if talk.asked.is_none() {
            return self == Self::GoOn;
        }
        match self {
            Self::GoOn
            | Self::Branch
            | Self::Regenerate
            | Self::TwiceAtOnce
            | Self::TwoWaysAtOnce
            | Self::HeaderOff
            | Self::HeaderOn
            | Self::Hinted
            | Self::Restart => true,
            Self::Edit
            | Self::NewPrompt
            | Self::NewTools
            | Self::NewFormat
            | Self::NewEffort
            | Self::NewModel
            | Self::Cut
            | Self::Capped
            | Self::Leave => pending == 0,
            Self::AnotherKey => !talk.taken_over,
            Self::Reordered | Self::Partial => pending > 1,
            Self::ResultsAndQuestion | Self::ImageInResult => pending > 0,
        }
    }

    /// Whether the conversation may go on without it, too.
    pub(super) fn leaves_its_conversation(self) -> bool {
        matches!(self, Self::Branch | Self::AnotherKey)
    }

    /// Everything that is said has a number of its own, so that no two conversations meet again
    /// where one of them has changed.
    pub(super) fn expected(self) -> Expected {
        match self {
            Self::NewPrompt
            | Self::NewTools
            | Self::NewFormat
            | Self::AnotherKey
            | Self::HeaderOff => Expected::Fresh,
            Self::Edit | Self::Reordered | Self::ResultsAndQuestion | Self::ImageInResult => {
                Expected::NotResumed
            }
            Self::Partial => Expected::Refused,
            // The thread is there or not, for this reason or that.
            Self::GoOn
            | Self::Regenerate
            | Self::Branch
            | Self::NewEffort
            | Self::NewModel
            | Self::TwiceAtOnce
            | Self::TwoWaysAtOnce
            | Self::HeaderOn
            | Self::Cut
            | Self::Capped
            | Self::Hinted
            | Self::Leave
            | Self::Restart => Expected::Anything,
        }
    }
}

// === impl World ===

impl World {
    /// A new conversation of somebody's; gives its place.
    pub(super) fn begin(&mut self) -> usize {
        self.begun += 1;
        let api = self.dice.choice(Api::BOTH).expect("two");
        let mut conversation = Conversation::new(api);
        conversation.settings.model =
            self.dice.choice(["gpt-5.5", "gpt-5.5", "gpt-6.1-sol"]).expect("a model");
        // A name that Codex takes under another one only, and one that is called in texts.
        let more = ["mcp__notes__read", "localSearch"].map(str::to_owned);
        conversation.settings.tools.extend(more);
        let own = format!("m{:03}", self.begun);
        let caller = self.dice.usize(..CALLERS);
        self.talks.push(Talk { caller, own, taken_over: false, conversation, asked: None });
        self.talks.len() - 1
    }

    /// What a move asks.
    pub(super) fn questions(&mut self, talk: Talk, a_move: Move) -> Vec<Question> {
        match a_move {
            Move::Regenerate => return vec![talk.asked.expect("it was asked")],
            Move::TwiceAtOnce => {
                let question = self.question(talk, Self::go_on, &json!({}));
                return vec![question.clone(), question];
            }
            Move::TwoWaysAtOnce => {
                let one = self.question(talk.clone(), Self::go_on, &json!({}));
                return vec![one, self.question(talk, Self::go_on, &json!({}))];
            }
            _ => {}
        }
        let more = match a_move {
            Move::Cut => json!({"stop": ["said"]}),
            Move::Capped => json!({"parallel_tool_calls": false}),
            Move::Hinted => json!({"tool_choice": "required"}),
            _ => json!({}),
        };
        let caller = talk.caller;
        let mut question = self.question(
            talk,
            |world, own, conversation| world.change(a_move, own, conversation),
            &more,
        );
        match a_move {
            Move::AnotherKey => {
                question.caller = (caller + 1) % CALLERS;
                // What is stored is the other's.
                question.body = question.whole.clone();
            }
            Move::HeaderOff => question.headers.push((CONTINUITY, "off")),
            Move::HeaderOn => question.headers.push((CONTINUITY, "on")),
            Move::Leave => {
                question.leaves = true;
                question.body = streamed(question.body);
                question.whole = streamed(question.whole);
            }
            _ => {}
        }
        vec![question]
    }

    /// The request of a conversation that has changed.
    fn question(
        &mut self,
        talk: Talk,
        change: impl FnOnce(&mut Self, &str, &mut Conversation),
        more: &Value,
    ) -> Question {
        let Talk { caller, own, taken_over, mut conversation, .. } = talk;
        change(self, &own, &mut conversation);
        let whole = conversation.request();
        // The server's own memory is as good as the client's.
        let after = conversation.request_after_stored().filter(|_| self.dice.bool());
        let body = after.unwrap_or_else(|| whole.clone());
        let stream = json!({"stream": self.dice.bool()});
        let store = match (conversation.api, self.dice.u8(..4)) {
            (Api::Responses, 0) => {
                json!({"store": false, "include": ["reasoning.encrypted_content"]})
            }
            _ => json!({}),
        };
        let [body, whole] = [body, whole]
            .map(|request| [more, &stream, &store].into_iter().cloned().fold(request, with));
        let xml = conversation.api == Api::Chat && self.dice.u8(..8) == 0;
        let headers = if xml { vec![("x-proxy-output-mode", "obsidian-xml")] } else { Vec::new() };
        Question { caller, own, taken_over, conversation, body, whole, headers, leaves: false }
    }

    fn change(&mut self, a_move: Move, own: &str, conversation: &mut Conversation) {
        let word = self.word(own);
        let settings = &mut conversation.settings;
        match a_move {
            Move::Edit | Move::Branch => {
                let at = self.dice.choice(conversation.spoken()).expect("the user has spoken");
                if a_move == Move::Edit {
                    conversation.edit(at, &format!("{word} edited"));
                } else {
                    conversation.back_to(at);
                }
            }
            Move::NewPrompt => settings.prompt = Some(format!("{word} is the prompt.")),
            Move::NewTools => settings.tools.push(format!("tool_{}", self.words)),
            Move::NewFormat => settings.property = Some(format!("p{}", self.words)),
            Move::NewEffort => {
                settings.effort = self.dice.choice([Some("low"), Some("high")]).expect("an effort");
            }
            Move::NewModel => {
                settings.model =
                    if settings.model == "gpt-5.5" { "gpt-6.1-sol" } else { "gpt-5.5" };
            }
            Move::Reordered => {
                let mut results = conversation.results(&word, Output::Text);
                results.rotate_left(1);
                return conversation.give(results);
            }
            Move::Partial => {
                let mut results = conversation.results(&word, Output::Text);
                results.swap_remove(self.dice.usize(..results.len()));
                return conversation.give(results);
            }
            Move::ResultsAndQuestion => {
                conversation.give(conversation.results(&word, Output::Text));
            }
            Move::ImageInResult => {
                return conversation.give(conversation.results(&word, Output::TextAndImage));
            }
            Move::Capped => return conversation.say(&format!("{word} [[parallel:3]]")),
            Move::Leave => return conversation.say(&format!("{word} [[hang]]")),
            Move::Cut => return conversation.say(&format!("{word} [[text:{word} is said here.]]")),
            Move::GoOn
            | Move::Regenerate
            | Move::TwiceAtOnce
            | Move::TwoWaysAtOnce
            | Move::AnotherKey
            | Move::HeaderOff
            | Move::HeaderOn
            | Move::Hinted
            | Move::Restart => {}
        }
        self.go_on(own, conversation);
    }

    /// The results of the calls in their order, or something new.
    fn go_on(&mut self, own: &str, conversation: &mut Conversation) {
        let word = self.word(own);
        if conversation.pending.is_empty() {
            conversation.say(&scenes::draw(&word, &mut self.dice));
        } else {
            let output =
                self.dice.choice([Output::Text, Output::Text, Output::Parts, Output::Nothing]);
            conversation.give(conversation.results(&word, output.expect("an output")));
        }
    }

    /// Something that nobody has said yet.
    fn word(&mut self, own: &str) -> String {
        self.words += 1;
        format!("{own}.{}", self.words)
    }
}
