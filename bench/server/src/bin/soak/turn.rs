//! One turn of the load: what is asked, and whether the answer is right.

use std::time::Duration;

use fastrand::Rng;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::answer::{Api, Delivery};
use crate::client::{Ask, Client, Outcome, Times};
use crate::conversation::{Conversation, Due, Step, Subject};

/// Longest that a turn may take, whatever it is.
const BOUND: Duration = Duration::from_mins(1);

/// Words of a short text, of a long one, and of one that nobody reads to its end.
const FEW: usize = 6;
const MANY: usize = 500;
const UNREAD: usize = 100;

/// Failures of the upstream, and how they are told.
const FAILURES: [(&str, u16, &str); 4] = [
    ("http:400", 400, "invalid_value"),
    ("http:429", 429, "rate_limit_exceeded"),
    ("http:500", 502, "upstream_error"),
    ("cut-early", 502, "stream_cut"),
];

/// What a turn is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Kind {
    /// A chat that begins, not streamed: its latency is judged.
    Fresh,
    /// The same, streamed: so is its time to the first text.
    FreshStreamed,
    /// A response without a conversation, which is not stored.
    Response,
    /// A long text in many deltas.
    Long,
    /// A conversation that goes on.
    Talk,
    /// A conversation with tools: a request for calls, or their results.
    Tools,
    /// A client that leaves in the middle.
    Leaves,
    /// A failure of the upstream.
    Fails,
}

/// Every kind, with how many of a hundred turns are of it.
pub(crate) const MIX: [(Kind, u32); 8] = [
    (Kind::Fresh, 22),
    (Kind::FreshStreamed, 18),
    (Kind::Response, 10),
    (Kind::Long, 6),
    (Kind::Talk, 20),
    (Kind::Tools, 18),
    (Kind::Leaves, 4),
    (Kind::Fails, 2),
];

/// A turn that is about to be played.
pub(crate) struct Turn {
    pub(crate) kind: Kind,
    pub(crate) id: String,
    pub(crate) dice: Rng,
    /// What it goes on with.
    pub(crate) conversation: Option<Conversation>,
}

/// A turn that went well.
pub(crate) struct Played {
    pub(crate) times: Option<Times>,
    pub(crate) continuity: String,
    /// Where it can go on.
    pub(crate) conversation: Option<Conversation>,
}

// === impl Kind ===

impl Kind {
    pub(crate) fn draw(dice: &mut Rng) -> Self {
        let all: u32 = MIX.iter().map(|(_, share)| share).sum();
        let mut number = dice.u32(..all);
        for (kind, share) in MIX {
            if number < share {
                return kind;
            }
            number -= share;
        }
        Self::Fresh
    }

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Fresh => "a new chat, not streamed",
            Self::FreshStreamed => "a new chat, streamed",
            Self::Response => "a new response, not stored",
            Self::Long => "a long text in deltas",
            Self::Talk => "a conversation that goes on",
            Self::Tools => "tool calls, and their results",
            Self::Leaves => "the client leaves in the middle",
            Self::Fails => "the upstream fails",
        }
    }

    /// What a conversation of this kind is about.
    pub(crate) fn subject(self) -> Option<Subject> {
        match self {
            Self::Talk => Some(Subject::Talk),
            Self::Tools => Some(Subject::Tools),
            _ => None,
        }
    }
}

// === impl Turn ===

impl Turn {
    /// Asks, and compares the answer with what it must be.
    pub(crate) async fn play(self, client: &Client) -> Result<Played, String> {
        let (kind, id) = (self.kind, self.id.clone());
        let late = |_| Err(format!("no end within {BOUND:?}"));
        let played = tokio::time::timeout(BOUND, self.play_on(client)).await.unwrap_or_else(late);
        played.map_err(|wrong| format!("{kind:?} {id}: {wrong}"))
    }

    async fn play_on(mut self, client: &Client) -> Result<Played, String> {
        match (self.kind, self.conversation.take()) {
            (_, Some(conversation)) => self.go_on(client, conversation).await,
            (Kind::Leaves, _) => {
                let body = format!("[[echo-slow:3000]]{}", self.text(UNREAD));
                let (api, body) = self.question(&body);
                let ask = Ask { id: &self.id, api, delivery: Delivery::Streamed, body };
                client.ask_and_leave(ask).await?;
                Ok(Played { times: None, continuity: String::new(), conversation: None })
            }
            (Kind::Fails, _) => {
                let (mark, status, code) = FAILURES[self.dice.usize(..FAILURES.len())];
                let said = format!("{} [[{mark}]]", self.text(FEW));
                let (api, body) = self.question(&said);
                let ask = Ask { id: &self.id, api, delivery: Delivery::Whole, body };
                match client.ask(ask).await? {
                    (Outcome::Refused { status: told, code: why }, _)
                        if (told, why.as_str()) == (status, code) =>
                    {
                        Ok(Played { times: None, continuity: String::new(), conversation: None })
                    }
                    (Outcome::Refused { status: told, code: why }, _) => {
                        Err(format!("{told} {why} where {status} {code} is due"))
                    }
                    (Outcome::Answered(answer), _) => Err(format!("{answer:?} after {mark}")),
                }
            }
            (kind, _) => {
                let text = self.text(if kind == Kind::Long { MANY } else { FEW });
                let (api, body) = self.question(&format!("[[echo]]{text}"));
                let delivery = match kind {
                    Kind::Fresh => Delivery::Whole,
                    Kind::FreshStreamed | Kind::Long => Delivery::Streamed,
                    _ => self.delivery(),
                };
                let ask = Ask { id: &self.id, api, delivery, body };
                self.answered(client, ask, &Due::Text(text), None).await
            }
        }
    }

    async fn go_on(
        &mut self,
        client: &Client,
        mut conversation: Conversation,
    ) -> Result<Played, String> {
        let text = self.text(FEW);
        let due = if conversation.waiting.is_empty() {
            let step = match conversation.subject {
                Subject::Tools if self.dice.u8(..4) > 0 => {
                    Step::Calls(self.dice.choice([1, 3]).unwrap_or(1))
                }
                Subject::Tools | Subject::Talk => Step::Recall,
            };
            conversation.say(&text, step)
        } else {
            conversation.return_results(&text)
        };
        conversation.left = conversation.left.saturating_sub(1);
        let (api, body, delivery) = (conversation.api, conversation.body(), self.delivery());
        let ask = Ask { id: &self.id, api, delivery, body };
        self.answered(client, ask, &due, Some(conversation)).await
    }

    async fn answered(
        &self,
        client: &Client,
        ask: Ask<'_>,
        due: &Due,
        conversation: Option<Conversation>,
    ) -> Result<Played, String> {
        let (answer, times) = match client.ask(ask).await? {
            (Outcome::Answered(answer), times) => (answer, times),
            (Outcome::Refused { status, code }, _) => return Err(format!("{status} {code}")),
        };
        due.check(&answer)?;
        let conversation = conversation.map(|mut conversation| {
            conversation.take(&answer);
            conversation
        });
        // Calls are always answered, however long the conversation is.
        let goes_on =
            |conversation: &Conversation| conversation.left > 0 || !conversation.waiting.is_empty();
        Ok(Played {
            times: Some(times),
            continuity: answer.continuity,
            conversation: conversation.filter(goes_on),
        })
    }

    /// One message of the user.
    fn question(&mut self, text: &str) -> (Api, Value) {
        let api = match self.kind {
            Kind::Fresh | Kind::FreshStreamed => Api::Chat,
            Kind::Response => Api::Responses,
            _ => self.api(),
        };
        let message = json!([{"role": "user", "content": text}]);
        match api {
            Api::Chat => (api, json!({"messages": message})),
            Api::Responses => (api, json!({"input": message, "store": false})),
        }
    }

    fn api(&mut self) -> Api {
        if self.dice.bool() { Api::Chat } else { Api::Responses }
    }

    fn delivery(&mut self) -> Delivery {
        if self.dice.bool() { Delivery::Streamed } else { Delivery::Whole }
    }

    /// Words that nobody else has, with the turn's own id in front.
    fn text(&mut self, words: usize) -> String {
        let mut text = self.id.clone();
        for _ in 0..words {
            text.push(' ');
            for _ in 0..self.dice.usize(2..12) {
                text.push(self.dice.lowercase());
            }
        }
        text
    }
}
