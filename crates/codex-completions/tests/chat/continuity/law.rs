//! Random conversations of several callers, asked of two servers: one that keeps threads, and one that
//! does not. The model behind the first receives what the model behind the second does, and nothing else.

mod moves;
mod scenes;

use std::collections::BTreeMap;
use std::time::Instant;

use futures_util::future::join_all;
use serde_json::Value;
use testkit::process::signal;
use testkit::{seed, times};

use super::conversation::{Api, Conversation};
use super::received::Received;
use super::{FRESH, RESUMED, REUSED, thread_of};
use crate::http::Answer;
use crate::proxy::Proxy;
use crate::strangers::marks;
use crate::{reply, responses};
use moves::{DECK, Expected, Move};

/// People with a key each.
const CALLERS: usize = 4;

/// So that threads are kept in more than one place.
const CHILDREN: usize = 2;

/// Conversations that may go on.
const TALKS: usize = 12;

/// A conversation that somebody has.
#[derive(Debug, Clone)]
struct Talk {
    /// Whose it is.
    caller: usize,
    /// `m042`, in everything that is said in it. One that was taken over from somebody, or branches
    /// off, has the same.
    own: String,
    /// Whether another has begun it.
    taken_over: bool,
    conversation: Conversation,
    /// What was asked last.
    asked: Option<Question>,
}

/// A request, and where its answer belongs.
#[derive(Debug, Clone)]
struct Question {
    caller: usize,
    own: String,
    taken_over: bool,
    /// Up to what is asked.
    conversation: Conversation,
    /// As the client sends it.
    body: Value,
    /// With nothing left to the server's memory.
    whole: Value,
    headers: Vec<(&'static str, &'static str)>,
    /// Whether the client leaves when the answer has begun.
    leaves: bool,
}

struct World {
    dice: fastrand::Rng,
    /// Keeps threads.
    server: Proxy,
    /// Does not.
    reference: Proxy,
    /// The keys of the callers, for the first server.
    bearers: Vec<String>,
    talks: Vec<Talk>,
    /// How many conversations were begun, and how much was said in all of them.
    begun: usize,
    words: usize,
    restarts: usize,
    /// What the last move has asked of each model.
    requests: u64,
    /// Whose thread has which key for the prompt cache.
    owners: BTreeMap<String, usize>,
    /// How turns came to their threads, by what was done.
    tally: BTreeMap<Move, BTreeMap<String, usize>>,
}

// === impl World ===

impl World {
    async fn new(seed: u64) -> Self {
        let workers = CHILDREN.to_string();
        let children = ("WORKER_COUNT", workers.as_str());
        let quick = ("WORKER_BACKOFF_INITIAL_MS", "50");
        // Some are pushed out by others.
        let most = ("PROXY_CONTINUITY_MAX", "10");
        let server = Proxy::start(&[children, quick, most]).await;
        let reference = Proxy::start(&[("PROXY_CONTINUITY", "off")]).await;
        let mut bearers = Vec::new();
        for caller in 0..CALLERS {
            let key = server.add_key(&format!("caller-{caller}")).await;
            bearers.push(format!("Bearer {key}"));
        }
        Self {
            dice: fastrand::Rng::with_seed(seed),
            server,
            reference,
            bearers,
            talks: Vec::new(),
            begun: 0,
            words: 0,
            restarts: 0,
            requests: 0,
            owners: BTreeMap::new(),
            tally: BTreeMap::new(),
        }
    }

    /// Makes a move, in a conversation where it can be made.
    async fn make(&mut self, a_move: Move) {
        loop {
            let talks = self.talks.iter().enumerate();
            let fitting: Vec<_> =
                talks.filter(|(_, talk)| a_move.fits(talk)).map(|(place, _)| place).collect();
            if let Some(place) = self.dice.choice(fitting) {
                return self.make_at(place, a_move).await;
            }
            let place = self.begin();
            self.make_at(place, Move::GoOn).await;
        }
    }

    async fn make_at(&mut self, place: usize, a_move: Move) {
        if a_move == Move::Restart {
            self.restart_a_child().await;
        }
        let questions = self.questions(self.talks[place].clone(), a_move);
        let answers = self.ask(&questions, a_move).await;
        let answered = questions.into_iter().zip(answers);
        let mut talks: Vec<_> =
            answered.filter_map(|(question, answer)| question.answered(&answer, a_move)).collect();
        if !a_move.leaves_its_conversation()
            && let Some(talk) = talks.pop()
        {
            self.talks[place] = talk;
        }
        self.talks.extend(talks);
        while self.talks.len() > TALKS {
            let gone = self.dice.usize(..self.talks.len());
            self.talks.swap_remove(gone);
        }
    }

    /// Asks everything at once, and checks what the models have received.
    async fn ask(&mut self, questions: &[Question], a_move: Move) -> Vec<Answer> {
        self.nothing_more_was_asked();
        let Self { server, reference, bearers, .. } = &*self;
        let asked = questions.iter().map(|question| async {
            let mut headers = question.headers.clone();
            headers.push(("authorization", &bearers[question.caller]));
            question.play(server, &question.body, &headers).await
        });
        let expected = questions
            .iter()
            .map(|question| question.play(reference, &question.whole, &question.headers));
        let (answers, references) = tokio::join!(join_all(asked), join_all(expected));
        self.check(questions, a_move, &answers, &references);
        answers
    }

    /// Since the last move; the next one is counted anew.
    fn nothing_more_was_asked(&self) {
        for proxy in [&self.server, &self.reference] {
            assert_eq!(proxy.model.requests(), self.requests);
            proxy.model.reset();
        }
    }

    fn check(
        &mut self,
        questions: &[Question],
        a_move: Move,
        answers: &[Answer],
        references: &[Answer],
    ) {
        let [received, wanted] = [&self.server, &self.reference]
            .map(|proxy| proxy.model.recorded().into_iter().map(Received::new).collect::<Vec<_>>());
        let refused = a_move.expected() == Expected::Refused;
        let count = if refused { 0 } else { questions.len() };
        assert_eq!((received.len(), wanted.len()), (count, count), "{a_move:?}: {answers:?}");
        self.requests = count as u64;
        assert_eq!(comparable(&received), comparable(&wanted), "{a_move:?}: {questions:?}");
        for (question, (answer, reference)) in questions.iter().zip(answers.iter().zip(references))
        {
            assert_eq!(question.heard(answer), question.heard(reference), "{a_move:?}");
            self.note(a_move, answer);
        }
        self.check_owners(&questions[0], &received, answers);
    }

    /// Whatever is asked at once is asked by the same caller, in the same conversation.
    fn check_owners(&mut self, question: &Question, received: &[Received], answers: &[Answer]) {
        let mut known = 0;
        for received in received {
            let text = received.text();
            for at in marks(&text) {
                assert_eq!(text[at..at + 4], question.own, "{text}");
            }
            if let Some(owner) =
                self.owners.insert(received.cache_key().to_owned(), question.caller)
            {
                assert_eq!(owner, question.caller, "somebody else's thread");
                known += 1;
            }
        }
        if answers.iter().all(|answer| answer.status == 200) {
            let continued = answers.iter().filter(|answer| thread_of(answer) != FRESH).count();
            assert_eq!(continued, known, "{answers:?}");
        }
    }

    /// Counts an answer, and checks that it may be what it is.
    fn note(&mut self, a_move: Move, answer: &Answer) {
        let outcome = if answer.status == 200 { thread_of(answer) } else { "failed" };
        println!("  {a_move:?}: {outcome}");
        *self.tally.entry(a_move).or_default().entry(outcome.to_owned()).or_default() += 1;
        match a_move.expected() {
            Expected::Anything => {}
            Expected::NotResumed => assert_ne!(outcome, RESUMED, "{answer:?}"),
            Expected::Fresh => assert!([FRESH, "failed"].contains(&outcome), "{answer:?}"),
            Expected::Refused => assert_eq!(answer.status, 400, "{answer:?}"),
        }
    }

    async fn restart_a_child(&mut self) {
        // One that has not started yet is not lost.
        self.server.logged_times("Codex is ready", CHILDREN + self.restarts).await;
        let children = self.server.children();
        let child = *self.dice.choice(&children).expect("a child");
        signal(child, "-KILL");
        self.restarts += 1;
        self.server.logged_times("Codex was lost", self.restarts).await;
    }

    /// Lets go of every thread that is kept.
    async fn end(mut self) {
        self.server.stop().await;
        self.reference.stop().await;
        self.nothing_more_was_asked();
    }
}

// === impl Question ===

impl Question {
    /// The conversation with its answer, if there was one.
    fn answered(self, answer: &Answer, a_move: Move) -> Option<Talk> {
        let mut conversation = self.conversation.clone();
        if self.leaves || !conversation.take(answer) {
            return None;
        }
        let taken_over = self.taken_over || a_move == Move::AnotherKey;
        let (caller, own) = (self.caller, self.own.clone());
        Some(Talk { caller, own, taken_over, conversation, asked: Some(self) })
    }

    /// What the client learns from an answer, but for ids.
    fn heard(&self, answer: &Answer) -> String {
        // The words of a refusal depend on how the conversation was sent.
        if self.leaves || answer.status == 400 {
            return answer.status.to_string();
        }
        match self.conversation.api {
            Api::Chat => {
                let mut reply = reply::Reply::of(answer);
                let choices = reply.choices.iter_mut();
                choices.flat_map(|choice| &mut choice.calls).for_each(|call| call.id.clear());
                reply.usage = reply.usage.filter(is_reported);
                format!("{} {reply:?}", answer.status)
            }
            Api::Responses => {
                let reply = responses::reply::Reply::of(answer);
                let items = (reply.error.is_none()).then(|| reply.steady_items());
                let usage = Some(&reply.response["usage"]).filter(|usage| is_reported(usage));
                format!("{} {items:?} {usage:?} {:?}", answer.status, reply.error)
            }
        }
    }

    async fn play(&self, proxy: &Proxy, body: &Value, headers: &[(&str, &str)]) -> Answer {
        let mut exchange = self.conversation.api.open(proxy, body, headers).await;
        if !self.leaves {
            return exchange.whole().await;
        }
        let (status, headers) = (exchange.status, exchange.headers.clone());
        let body = exchange.until("This").await.to_owned();
        drop(exchange);
        proxy.model.until(|counters| counters.in_flight == 0).await;
        Answer { status, headers, body }
    }
}

/// Whether these are the scripted model's tokens. Where it has not told, they are estimated, from the
/// thoughts of earlier turns too.
fn is_reported(usage: &Value) -> bool {
    ["prompt_tokens", "input_tokens"].iter().any(|name| usage[name] == 123)
}

/// How often turns were fresh for which reason.
fn fresh_reasons(proxy: &Proxy) -> BTreeMap<String, usize> {
    let mut reasons = BTreeMap::new();
    let log = proxy.log();
    let lines = log.as_array().into_iter().flatten();
    for reason in lines.filter_map(|line| line["fresh_reason"].as_str()) {
        *reasons.entry(reason.to_owned()).or_default() += 1;
    }
    reasons
}

/// In an order that does not depend on which of two requests was the first.
fn comparable(received: &[Received]) -> Vec<String> {
    let mut bodies: Vec<_> =
        received.iter().map(|received| received.comparable().to_string()).collect();
    bodies.sort_unstable();
    bodies
}

/// `SEED=… ./test continuity::law` draws the conversations of an earlier run again, and `TIMES=…` has more.
#[tokio::test]
async fn the_model_receives_what_a_fresh_thread_would_have_sent() {
    let mut world = World::new(seed()).await;
    let started = Instant::now();
    let repeated = |&(a_move, count)| std::iter::repeat_n(a_move, count * times());
    let mut deck: Vec<_> = DECK.iter().flat_map(repeated).collect();
    world.dice.shuffle(&mut deck);
    for (number, &a_move) in deck.iter().enumerate() {
        println!("{number}: {a_move:?}");
        world.make(a_move).await;
    }
    println!("{} moves in {:?}", deck.len(), started.elapsed());
    for (a_move, threads) in &world.tally {
        println!("{a_move:?}: {threads:?}");
    }
    let total = |thread: &str| -> usize {
        world.tally.values().filter_map(|threads| threads.get(thread)).sum()
    };
    let [fresh, reused, resumed] = [FRESH, REUSED, RESUMED].map(total);
    println!("fresh {fresh}, reused {reused}, resumed {resumed}");
    assert!(reused >= 12 && resumed >= 20, "too few to mean anything");
    let reasons = fresh_reasons(&world.server);
    println!("{reasons:?}");
    for reason in ["off", "first", "unknown", "taken", "evicted", "child_gone", "outputs"] {
        assert!(reasons.contains_key(reason), "never {reason}");
    }
    world.end().await;
}
