//! The steady load: turns at moments that do not depend on how the server gets on.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use fastrand::Rng;
use testkit::server_process::Target;
use tokio::task::JoinSet;

use crate::answer::Api;
use crate::client::Client;
use crate::conversation::{Conversation, Subject};
use crate::record::{RecordFile, TurnLine};
use crate::turn::{Kind, Played, Turn};

/// Conversations of each subject that go on at the same time, about.
const CONVERSATIONS: usize = 8;

/// Turns of a conversation.
const TURNS: std::ops::Range<u32> = 2..7;

/// Whose turns they are: fairness between keys, and which threads make room, depend on it.
pub(crate) const KEYS: [&str; 3] = ["notes", "phone", "agent"];

/// Conversations that rest between two turns, the one that has rested longest first.
#[derive(Default)]
struct AtRest {
    talk: VecDeque<Conversation>,
    tools: VecDeque<Conversation>,
}

/// Everything that the turns share.
pub(crate) struct Load {
    clients: [Client; 3],
    at_rest: Mutex<AtRest>,
    record: Arc<RecordFile>,
    started: Instant,
}

// === impl Load ===

impl Load {
    pub(crate) fn new(
        address: SocketAddr,
        keys: &[String; 3],
        model: &'static str,
        record: Arc<RecordFile>,
        started: Instant,
    ) -> Self {
        let clients = keys.each_ref().map(|key| Client::new(Target::new(address, key, model)));
        Self { clients, at_rest: Mutex::default(), record, started }
    }

    /// Starts turns at this rate for this time, and waits for their ends. Dropped, it leaves none behind.
    pub(crate) async fn run(self: Arc<Self>, rate: f64, time: Duration, seed: u64) {
        let mut dice = Rng::with_seed(seed);
        let mut turns = JoinSet::new();
        let mut due = self.started;
        for number in 0_u64.. {
            due += Duration::from_secs_f64((0.5 + dice.f64()) / rate);
            if due - self.started > time {
                break;
            }
            tokio::time::sleep_until(due.into()).await;
            let late = due.elapsed();
            let turn = self.draw(number, &mut dice);
            let load = Arc::clone(&self);
            turns.spawn(async move { load.play(turn, late).await });
            while let Some(ended) = turns.try_join_next() {
                self.note_panic(ended);
            }
        }
        while let Some(ended) = turns.join_next().await {
            self.note_panic(ended);
        }
    }

    /// A reader that finds a broken contract panics.
    fn note_panic(&self, ended: Result<(), tokio::task::JoinError>) {
        if let Err(error) = ended {
            self.record.wrong(&format!("a reader gave up: {error}"));
        }
    }

    async fn play(&self, turn: Turn, late: Duration) {
        let (kind, at) = (turn.kind, self.started.elapsed());
        match turn.play(self.client(kind)).await {
            Ok(Played { times, continuity, conversation }) => {
                self.record.turn(&TurnLine {
                    at,
                    kind,
                    late,
                    took: times.as_ref().map(|times| times.took),
                    first_text: times.and_then(|times| times.first_text),
                    continuity,
                });
                if let Some(conversation) = conversation {
                    self.resting(conversation.subject, |rest| rest.push_back(conversation));
                }
            }
            Err(wrong) => self.record.wrong(&wrong),
        }
    }

    fn draw(&self, number: u64, dice: &mut Rng) -> Turn {
        let kind = Kind::draw(dice);
        // Of its own, so that the next turn does not depend on what this one draws.
        let mut own = dice.fork();
        let conversation = kind.subject().map(|subject| {
            let begins = own.u8(..8) == 0;
            let resting = self.resting(subject, |rest| {
                let may_begin = begins && rest.len() < CONVERSATIONS;
                if may_begin { None } else { rest.pop_front() }
            });
            resting.unwrap_or_else(|| {
                let api = if own.bool() { Api::Chat } else { Api::Responses };
                Conversation::new(api, subject, own.u32(TURNS))
            })
        });
        Turn { kind, id: format!("soak-{number}"), dice: own, conversation }
    }

    fn resting<T>(
        &self,
        subject: Subject,
        look: impl FnOnce(&mut VecDeque<Conversation>) -> T,
    ) -> T {
        let mut at_rest = self.at_rest.lock().unwrap_or_else(PoisonError::into_inner);
        look(match subject {
            Subject::Talk => &mut at_rest.talk,
            Subject::Tools => &mut at_rest.tools,
        })
    }

    fn client(&self, kind: Kind) -> &Client {
        let [notes, phone, agent] = &self.clients;
        match kind {
            Kind::Talk => phone,
            Kind::Tools => agent,
            _ => notes,
        }
    }
}
