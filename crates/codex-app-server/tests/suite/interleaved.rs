//! Hundreds of turns of every kind at once, ended in every way: none sees anything of another.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use model_turn::{FailureKind as Kind, TurnEnd, TurnEvent};
use testkit::{TestPool, codex_binary, seed, times, tools};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::timeout;

const TURNS: usize = 200;
const AT_ONCE: usize = 25;
const NAMES: [&str; 3] = ["get_weather", "get_time", "lookup"];

/// Only a turn whose model hangs is silent for so long, however slow the machine is.
const SILENCE: Duration = Duration::from_secs(5);

/// No event takes so long: whoever waits longer waits for ever.
const PATIENCE: Duration = Duration::from_mins(1);

type End = Result<TurnEnd, Kind>;

/// What the model does with the user's text, which no two turns share.
#[derive(Debug, Clone, Copy)]
struct Scene {
    mark: &'static str,
    /// Thirds of the text that it says.
    thirds: usize,
    /// Calls that it makes, each with the text as an argument.
    calls: usize,
    /// How the turn ends if it is left alone.
    end: End,
}

const fn scene(mark: &'static str, thirds: usize, calls: usize, end: End) -> Scene {
    Scene { mark, thirds, calls, end }
}

const HANGS: End = Err(Kind::Timeout);

const SCENES: [Scene; 13] = [
    scene("echo", 3, 0, Ok(TurnEnd::Completed)),
    scene("echo-whole", 3, 0, Ok(TurnEnd::Completed)),
    scene("echo-slow:300", 3, 0, Ok(TurnEnd::Completed)),
    scene("echo-reasoning", 3, 0, Ok(TurnEnd::Completed)),
    scene("http:503,x1", 3, 0, Ok(TurnEnd::Completed)),
    scene("parallel:1", 0, 1, Ok(TurnEnd::ToolCalls)),
    scene("parallel:3", 0, 3, Ok(TurnEnd::ToolCalls)),
    scene("echo-hang", 2, 0, HANGS),
    scene("call-hang", 0, 1, HANGS),
    scene("silent", 0, 0, HANGS),
    scene("echo-cut", 2, 0, Err(Kind::StreamCut)),
    scene("http:400", 0, 0, Err(Kind::BadRequest)),
    scene("http:500", 0, 0, Err(Kind::ServerError)),
];

/// What the consumer does when it has seen so many events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Whim {
    Read,
    Interrupt,
    Drop,
    InterruptAndDrop,
}

/// One turn, as it is to happen.
#[derive(Debug)]
struct Story {
    scene: Scene,
    whim: Whim,
    /// Events before the consumer follows its whim.
    after: usize,
    text: String,
}

/// How a turn came out.
struct Outcome {
    /// `None` if it was dropped.
    end: Option<End>,
    response_ids: Vec<String>,
}

/// `SplitMix64`: the same seed tells the same stories.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        usize::try_from((mixed ^ (mixed >> 31)) % limit as u64).unwrap()
    }
}

impl Story {
    fn new(number: usize, dice: &mut Dice) -> Self {
        let scene = SCENES[dice.below(SCENES.len())];
        let whim = match dice.below(10) {
            0..4 => Whim::Read,
            4..7 => Whim::Interrupt,
            7..9 => Whim::Drop,
            _ => Whim::InterruptAndDrop,
        };
        // A model that hangs says little, and a time-out takes its time.
        let after = dice.below(if scene.end == HANGS { 2 } else { 6 });
        // Every word is the turn's own.
        let words = 3 * (1 + dice.below(12));
        let words: Vec<_> = (0..words).map(|word| format!("t{number:03}.{word:02} ")).collect();
        let text = words.concat();
        Self { scene, whim, after, text }
    }

    /// Everything that the model says if nobody stops it.
    fn whole_text(&self) -> &str {
        &self.text[..self.text.len() / 3 * self.scene.thirds]
    }

    fn whole_reasoning(&self) -> &str {
        if self.scene.mark == "echo-reasoning" { &self.text } else { "" }
    }

    fn whole_calls(&self) -> Vec<(String, String)> {
        let mark = self.text.trim();
        let arguments = (0..).map(|i| format!(r#"{{"city": "C{i}", "mark": "{mark}"}}"#));
        NAMES.map(str::to_owned).into_iter().zip(arguments).take(self.scene.calls).collect()
    }

    /// Lives through the turn, and checks everything that it is told.
    async fn play(&self, codex: &TestPool) -> Outcome {
        let mut request = codex.ask(&format!("{}[[{}]]", self.text, self.scene.mark));
        request.tools = tools(&NAMES);
        let mut open = None::<(String, String)>;
        request.early_arguments = true;
        let mut turn = codex.pool.start_turn(request).unwrap();
        let (mut text, mut reasoning, mut calls) = (String::new(), String::new(), Vec::new());
        let mut outcome = Outcome { end: None, response_ids: Vec::new() };
        let mut interrupted = false;
        for seen in 0.. {
            if seen == self.after {
                if matches!(self.whim, Whim::Interrupt | Whim::InterruptAndDrop) {
                    turn.interrupt();
                    interrupted = true;
                }
                if matches!(self.whim, Whim::Drop | Whim::InterruptAndDrop) {
                    return outcome;
                }
            }
            let Ok(event) = timeout(PATIENCE, turn.next()).await else {
                panic!("{self:?} has no end after {text:?} {reasoning:?} {calls:?}")
            };
            match event.expect("a last event") {
                TurnEvent::Text(more) => text += &more,
                TurnEvent::Reasoning { text: more, .. } => reasoning += &more,
                TurnEvent::MessageStart { .. } | TurnEvent::ReasoningItem(_) => {}
                TurnEvent::ToolCallStart { name, .. } => open = Some((name.name, String::new())),
                TurnEvent::ToolCallArguments(more) => open.as_mut().expect("a call").1 += &more,
                TurnEvent::ToolCall(call) => {
                    let (name, streamed) =
                        open.take().unwrap_or_else(|| (call.name.name.clone(), String::new()));
                    assert!(
                        name == call.name.name && call.arguments.starts_with(&streamed),
                        "{self:?}"
                    );
                    calls.push((call.name.name, call.arguments));
                }
                TurnEvent::Refusal(text) => panic!("{self:?} was refused: {text}"),
                TurnEvent::ResponseEnd { response_id, .. } => {
                    outcome.response_ids.push(response_id);
                }
                TurnEvent::Failed(failure) => outcome.end = Some(Err(failure.kind)),
                TurnEvent::End(end) => outcome.end = Some(Ok(end)),
            }
            assert!(self.whole_text().starts_with(&text), "{self:?} was told {text:?}");
            assert!(self.whole_reasoning().starts_with(&reasoning), "{self:?} got {reasoning:?}");
            assert!(self.whole_calls().starts_with(&calls), "{self:?} got {calls:?}");
            if let Some((name, streamed)) = &open {
                let (own_name, own) = &self.whole_calls()[calls.len()];
                assert!(own_name == name && own.starts_with(streamed), "{self:?} got {open:?}");
            }
            if outcome.end.is_some() {
                break;
            }
        }
        assert_eq!(turn.next().await, None, "{self:?}");
        let end = outcome.end.unwrap();
        if end == Ok(TurnEnd::Interrupted) {
            assert!(interrupted, "{self:?} was interrupted by somebody else");
        } else {
            // An interrupt may come too late, but never too late for a model that hangs.
            assert!(!interrupted || self.scene.end != HANGS, "{self:?} ended as {end:?}");
            assert_eq!(end, self.scene.end, "{self:?}");
            assert_eq!(text, self.whole_text(), "{self:?}");
            assert_eq!(reasoning, self.whole_reasoning(), "{self:?}");
            assert_eq!(calls, self.whole_calls(), "{self:?}");
        }
        outcome
    }
}

/// `SEED=… ./test interleaved` plays the stories of an earlier run again; `TIMES=…`, up to 5, plays more.
#[tokio::test]
async fn row_10_hundreds_of_turns_ended_in_every_way_never_mix_and_leave_nothing() {
    let turns = TURNS * times();
    let codex = TestPool::with(codex_binary().await, |config| {
        config.workers = 2;
        config.client.turns.retries = 1;
        config.client.turns.limits.idle_timeout = SILENCE;
    })
    .await;
    codex.until_ready().await;
    let codex = Arc::new(codex);
    let started = Instant::now();
    let mut dice = Dice(seed());
    let places = Arc::new(Semaphore::new(AT_ONCE));
    let mut running = JoinSet::new();
    for number in 0..turns {
        let story = Story::new(number, &mut dice);
        let (codex, places) = (Arc::clone(&codex), Arc::clone(&places));
        running.spawn(async move {
            let _place = places.acquire().await.unwrap();
            story.play(&codex).await
        });
    }
    let outcomes = running.join_all().await;

    let mut ends = BTreeMap::<String, usize>::new();
    for outcome in &outcomes {
        *ends.entry(format!("{:?}", outcome.end)).or_default() += 1;
    }
    let response_ids: Vec<_> = outcomes.iter().flat_map(|outcome| &outcome.response_ids).collect();
    let distinct: HashSet<_> = response_ids.iter().collect();
    assert_eq!(distinct.len(), response_ids.len(), "one response was told twice");

    let let_go = codex.model.until(|counters| counters.in_flight == 0);
    timeout(PATIENCE, let_go).await.expect("the upstream still streams");
    codex.until_no_thread_is_loaded().await;
    let (stats, counters) = (codex.pool.stats(), codex.model.counters());
    println!("{turns} turns, {AT_ONCE} at once: {:?}", started.elapsed());
    println!("{ends:?}\n{stats:?}\n{counters:?}");
    assert_eq!(ends.len(), 8, "some way to end was never taken");
    assert_eq!(codex.pool.clients().len(), 2);
    assert!(counters.requests <= turns as u64 + stats.retries, "the model was asked too often");
    for (what, count) in [
        ("restarts", stats.restarts),
        ("repeated outputs", stats.repeated_outputs),
        ("extra model requests", stats.extra_model_requests),
        ("declined requests", stats.declined_requests),
        ("unreadable messages", stats.unreadable_messages),
        ("unconfirmed ends", stats.unconfirmed_ends),
    ] {
        assert_eq!(count, 0, "{what}");
    }
    codex.pool.shutdown().await;
}
