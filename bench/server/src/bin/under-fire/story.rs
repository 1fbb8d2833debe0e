//! What one client asks, and how it behaves.

use std::time::Duration;

use fastrand::Rng;
use scripted_model::MarkedAnswer;
use serde_json::{Value, json};
use testkit::gray_jpeg;

use crate::expected::Mode;
use crate::mischief::{MISCHIEF, Mischief};

/// Bytes of a request that the server takes for large.
const BALLAST: std::ops::Range<usize> = 300_000..900_000;

/// One request of one client.
pub(crate) struct Story {
    /// The request's id.
    pub(crate) id: String,
    pub(crate) act: Act,
}

pub(crate) enum Act {
    Ask(Ask),
    /// A request that must be refused.
    Mischief(&'static Mischief),
    /// A path that is only looked at.
    Look(&'static str),
}

/// A request that is right, whatever its client does then.
#[derive(Debug, Clone)]
pub(crate) struct Ask {
    pub(crate) answer: MarkedAnswer,
    pub(crate) mode: Mode,
    pub(crate) streamed: bool,
    pub(crate) choices: u32,
    pub(crate) usage: bool,
    pub(crate) image: bool,
    /// Bytes that make the request larger.
    pub(crate) ballast: usize,
    pub(crate) manner: Manner,
}

/// How a client behaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Manner {
    /// It reads to the end.
    Patient,
    /// It reads slowly, but not too slowly.
    Slow,
    /// It rests while far more comes than the server keeps for it.
    TooSlow { rest: Duration },
    /// It closes its side when it has asked.
    HalfClosed,
    /// It leaves before it has seen anything.
    LeavesAtOnce { after: Duration },
    /// It leaves in the middle.
    LeavesAfter { bytes: usize },
}

/// Where stories come from.
pub(crate) struct Stories {
    pub(crate) dice: Rng,
    /// Of an answer.
    most_words: u32,
    /// Of the requests that it makes.
    prefix: String,
    made: u32,
}

// === impl Stories ===

impl Stories {
    /// Stories of one client, the same ones for the same seed.
    pub(crate) fn new(seed: u64, client: usize, most_words: u32) -> Self {
        let mut dice = Rng::with_seed(seed);
        // Neighbouring seeds give similar first numbers.
        for _ in 0..=client {
            dice = dice.fork();
        }
        Self { dice, most_words, prefix: format!("fire-{client}"), made: 0 }
    }

    pub(crate) fn next(&mut self) -> Story {
        self.made += 1;
        let act = match self.dice.u8(..100) {
            0..2 => Act::Look(self.dice.choice(LOOKS).copied().unwrap_or_default()),
            2..14 => Act::Mischief(&MISCHIEF[self.dice.usize(..MISCHIEF.len())]),
            _ => Act::Ask(self.ask()),
        };
        Story { id: format!("{}-{}", self.prefix, self.made), act }
    }

    fn ask(&mut self) -> Ask {
        let dice = &mut self.dice;
        let (streamed, manner) = match dice.u8(..100) {
            0..20 => (false, Manner::Patient),
            20..62 => (true, Manner::Patient),
            62..70 => (true, Manner::Slow),
            70..72 => (true, Manner::TooSlow { rest: Duration::from_millis(dice.u64(1500..4000)) }),
            72..78 => (dice.bool(), Manner::HalfClosed),
            78..86 => {
                (dice.bool(), Manner::LeavesAtOnce { after: Duration::from_millis(dice.u64(..40)) })
            }
            _ => (true, Manner::LeavesAfter { bytes: dice.usize(1..20_000) }),
        };
        let answer = self.answer(manner);
        let dice = &mut self.dice;
        Ask {
            answer,
            mode: if dice.bool() { Mode::Json } else { Mode::Xml },
            streamed,
            choices: if dice.u8(..10) == 0 { 2 } else { 1 },
            usage: dice.bool(),
            image: dice.u8(..10) == 0,
            ballast: if dice.u8(..200) == 0 { dice.usize(BALLAST) } else { 0 },
            manner,
        }
    }

    fn answer(&mut self, manner: Manner) -> MarkedAnswer {
        let dice = &mut self.dice;
        let id: String = std::iter::repeat_with(|| dice.lowercase()).take(12).collect();
        let text = MarkedAnswer {
            id,
            reasoning: if dice.u8(..4) == 0 { dice.u32(1..4) } else { 0 },
            words: dice.u32(1..self.most_words),
            blocks: 0,
            calls: 0,
            filler: 0,
            pause: dice.u32(1..41),
        };
        match manner {
            // Less than the server keeps for a slow client, and far more.
            Manner::Slow => MarkedAnswer { words: 80, filler: 2_000, pause: 5, ..text },
            Manner::TooSlow { .. } => MarkedAnswer { words: 400, filler: 8_000, pause: 2, ..text },
            _ => match dice.u8(..10) {
                0..5 => text,
                5..7 => MarkedAnswer { words: dice.u32(..20), calls: dice.u32(1..5), ..text },
                7..9 => MarkedAnswer { blocks: dice.u32(1..4), ..text },
                _ => MarkedAnswer { blocks: dice.u32(1..3), calls: dice.u32(1..4), ..text },
            },
        }
    }
}

const LOOKS: &[&str] = &["/v1/models", "/healthz", "/livez", "/metrics", "/"];

// === impl Ask ===

impl Ask {
    /// A small question without any trouble.
    pub(crate) fn probe(dice: &mut Rng) -> Self {
        let id = std::iter::repeat_with(|| dice.lowercase()).take(12).collect();
        let answer =
            MarkedAnswer { id, reasoning: 0, words: 5, blocks: 0, calls: 0, filler: 0, pause: 1 };
        Self {
            answer,
            mode: Mode::Json,
            streamed: true,
            choices: 1,
            usage: true,
            image: false,
            ballast: 0,
            manner: Manner::Patient,
        }
    }

    /// The body of the request.
    pub(crate) fn body(&self, model: &str) -> String {
        let mark = format!("[[marked:{}]]", self.answer);
        let content = if self.image {
            let image = json!({"type": "image_url", "image_url": {"url": gray_jpeg(64, 64)}});
            json!([image, {"type": "text", "text": mark}])
        } else {
            Value::from(mark)
        };
        let mut messages = vec![json!({"role": "user", "content": content})];
        if self.ballast > 0 {
            messages.insert(0, json!({"role": "user", "content": "b".repeat(self.ballast)}));
        }
        let mut body = json!({"model": model, "messages": messages, "n": self.choices});
        if self.streamed {
            body["stream"] = true.into();
            body["stream_options"] = json!({"include_usage": self.usage});
        }
        if self.answer.blocks + self.answer.calls > 0 {
            body["tools"] = ["get_weather", "get_time", "lookup"].map(tool).into_iter().collect();
        }
        body.to_string()
    }
}

fn tool(name: &str) -> Value {
    let parameters = json!({
        "type": "object",
        "properties": {"city": {"type": "string"}},
        "required": ["city"],
    });
    json!({"type": "function", "function": {"name": name, "parameters": parameters}})
}

// === impl Manner ===

impl Manner {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Patient => "patient",
            Self::Slow => "slow",
            Self::TooSlow { .. } => "too slow",
            Self::HalfClosed => "half-closed",
            Self::LeavesAtOnce { .. } => "leaves at once",
            Self::LeavesAfter { .. } => "leaves in the middle",
        }
    }
}
