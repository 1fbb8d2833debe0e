//! Laws of early arguments, over the reader of the log, the attribution and the machine together:
//! standard output decides what a turn is, and the log only how early that is known.

mod damage;
mod turns;

use std::collections::VecDeque;

use model_turn::{Tool, ToolInput};
use proptest::prelude::*;

use super::*;
use crate::child_log::{Attribution, LogEvent, LogLine};
use damage::{Damage, LIVE_THREAD, OLD_CALL, damaged, may_fail, others_share_an_id};
use turns::{Ending, Ids, Output, Sent, THREAD, Turn, turn};

/// In which order lines and events come, of which each kind has an order of its own.
#[derive(Debug, Clone)]
enum Order {
    AsSent,
    LogFirst,
    /// True for a line.
    Random(Vec<bool>),
}

#[derive(Debug, Clone)]
struct Case {
    turn: Turn,
    /// Whether the tool that is called is a custom one.
    is_custom: bool,
    /// Whether it continues a turn whose call was answered.
    is_resumed: bool,
    order: Order,
    /// Lines that are read at once.
    batch: usize,
    damage: Vec<Damage>,
}

/// What came out.
#[derive(Debug, Default)]
struct Run {
    events: Vec<TurnEvent>,
    is_distrusted: bool,
    /// What another turn got that runs at the same time.
    others: String,
}

impl Case {
    fn run(&self, log_use: LogUse) -> Run {
        let sent = self.turn.sent();
        let schedule: Vec<bool> = match &self.order {
            Order::AsSent => sent.iter().map(|sent| matches!(sent, Sent::Line(_))).collect(),
            Order::LogFirst => vec![true; sent.len() * 2],
            Order::Random(order) => order.clone(),
        };
        // Codex does not ask once more before it has reported that it will.
        let retry = sent.iter().position(|sent| matches!(sent, Sent::Output(Output::RETRY)));
        let is_line = |sent: &&Sent| matches!(sent, Sent::Line(_));
        let lines_before_retry = retry.map(|at| sent[..at].iter().filter(is_line).count());
        let (mut lines, mut outputs) = (Vec::new(), VecDeque::new());
        for sent in sent {
            match sent {
                Sent::Line(line) => lines.push(line.into_bytes()),
                Sent::Output(output) => outputs.push_back(output),
            }
        }
        let mut lines = VecDeque::from(damaged(&self.turn, lines, &self.damage));
        let mut player = Player::new(log_use, self);
        let mut lines_read = 0;
        for takes_line in schedule {
            while lines_before_retry == Some(lines_read)
                && outputs.contains(&Output::RETRY)
                && let Some(output) = outputs.pop_front()
            {
                player.output(&output);
            }
            if takes_line && let Some(line) = lines.pop_front() {
                lines_read += 1;
                player.line(&line);
            } else if !takes_line && let Some(output) = outputs.pop_front() {
                player.output(&output);
            }
        }
        for output in &outputs {
            player.output(output);
        }
        for line in &lines {
            player.line(line);
        }
        player.deliver();
        player.pass();
        player.run
    }
}

/// A machine and what reads the log for it.
struct Player {
    machine: TurnMachine,
    attribution: Attribution,
    now: Instant,
    batch: usize,
    unread: usize,
    run: Run,
}

impl Player {
    fn new(log_use: LogUse, case: &Case) -> Self {
        let now = Instant::now();
        let limits = TurnLimits::default();
        let mut names = ToolNames::default();
        if case.is_custom {
            names.declare(&Tool { input: ToolInput::Text, ..Tool::function("f", "", json!({})) });
        }
        let mut machine = TurnMachine::new(Arc::new(names), limits, log_use, None, now, now);
        if case.is_resumed {
            machine.turn_id = Some(TurnId::from(TURN));
            machine.early.ignore(&EarlyCalls::new(true), [OLD_CALL].into_iter());
        }
        let (attribution, run) = (Attribution::default(), Run::default());
        Self { machine, attribution, now, batch: case.batch, unread: 0, run }
    }

    fn line(&mut self, line: &[u8]) {
        let machine = &self.machine;
        self.attribution.on_line(LogLine::read(line), self.now, |thread, turn| match thread {
            THREAD => machine.is_running(turn),
            _ => thread == LIVE_THREAD,
        });
        self.unread += 1;
        if self.unread >= self.batch {
            self.deliver();
        }
    }

    fn deliver(&mut self) {
        self.unread = 0;
        let (machine, others) = (&mut self.machine, &mut self.run.others);
        let mut steps = Steps::new();
        self.attribution.take_events(|thread, turn, event| match event {
            event if thread == THREAD => {
                machine.on_event(turn, ThreadEvent::Logged(event), self.now, &mut steps);
            }
            LogEvent::CallStarted(call) => others.push_str(&call.call_id),
            LogEvent::Arguments { text, .. } => others.push_str(&text),
            LogEvent::Refusal(_) => {}
        });
        self.take(steps);
    }

    fn output(&mut self, output: &Output) {
        let mut steps = Steps::new();
        output.apply(&mut self.machine, self.now, &mut steps);
        self.take(steps);
    }

    /// A refusal that is awaited does not come.
    fn pass(&mut self) {
        let mut steps = Steps::new();
        self.machine.on_tick(self.now + Duration::from_millis(100), &mut steps);
        self.take(steps);
    }

    fn take(&mut self, steps: Steps) {
        for step in steps {
            match step {
                Step::Emit(event) => self.run.events.push(event),
                Step::DistrustLog(_) => self.run.is_distrusted = true,
                _ => {}
            }
        }
    }
}

fn is_early(event: &TurnEvent) -> bool {
    matches!(event, TurnEvent::ToolCallStart { .. } | TurnEvent::ToolCallArguments(_))
}

fn failed_as(events: &[TurnEvent], kind: FailureKind) -> bool {
    matches!(events.last(), Some(TurnEvent::Failed(failure)) if failure.kind == kind)
}

/// Every start is followed by its arguments and its whole call, unless the turn ends before.
fn check_calls(events: &[TurnEvent], is_abandoned: bool) -> Result<(), TestCaseError> {
    let mut open: Option<(&str, &model_turn::ToolName, String)> = None;
    for event in events {
        match (event, &mut open) {
            (TurnEvent::ToolCallStart { call_id, name, .. }, None) => {
                open = Some((call_id, name, String::new()));
            }
            (TurnEvent::ToolCallArguments(text), Some((_, _, streamed))) => {
                prop_assert!(!text.is_empty());
                streamed.push_str(text);
            }
            (TurnEvent::ToolCall(call), Some((call_id, name, streamed))) => {
                prop_assert_eq!((&*call.call_id, &call.name), (*call_id, *name));
                prop_assert!(call.arguments.starts_with(streamed.as_str()));
                open = None;
            }
            (TurnEvent::ToolCallArguments(_), None) => prop_assert!(false, "no call is open"),
            (TurnEvent::Failed(_) | TurnEvent::End(TurnEnd::Interrupted), _) | (_, None) => {}
            (event, Some(_)) => prop_assert!(false, "{:?} beside an open call", event),
        }
    }
    let ends_badly =
        matches!(events.last(), Some(TurnEvent::Failed(_) | TurnEvent::End(TurnEnd::Interrupted)));
    prop_assert!(open.is_none() || ends_badly || is_abandoned);
    Ok(())
}

/// What there is without early arguments. Reasoning waits for the first output, which may have been
/// the start of a call that never came whole.
fn without_early(events: &[TurnEvent], is_reasoning_early: bool) -> Vec<TurnEvent> {
    let is_start = |event: &TurnEvent| matches!(event, TurnEvent::ToolCallStart { .. });
    let is_call = |event: &TurnEvent| matches!(event, TurnEvent::ToolCall(_));
    let open = events.iter().rposition(is_start);
    let open = open.filter(|at| is_reasoning_early && !events[*at..].iter().any(is_call));
    let mut kept = Vec::new();
    for (at, event) in events.iter().enumerate() {
        if Some(at) == open {
            while matches!(kept.last(), Some(TurnEvent::ReasoningItem(_))) {
                kept.pop();
            }
        }
        if !is_early(event) {
            kept.push(event.clone());
        }
    }
    kept
}

fn check(case: &Case) -> Result<(), TestCaseError> {
    let reference = case.run(LogUse::Nothing).events;
    prop_assert!(!reference.iter().any(is_early));
    let run = case.run(LogUse::Everything);
    let is_abandoned = matches!(case.turn.ending, Ending::Abandoned(_));
    let last = run.events.iter().position(TurnEvent::is_last);
    prop_assert!(last.map_or(is_abandoned, |last| last + 1 == run.events.len()));
    check_calls(&run.events, is_abandoned)?;
    let mut events = without_early(&run.events, false);
    if without_early(&run.events, true) == reference {
        events.clone_from(&reference);
    }
    let may_fail = may_fail(&case.turn, &case.damage);
    if !may_fail && !others_share_an_id(&case.damage) {
        let is_theirs = run.others.replace("call_foreign", "").chars().all(|char| char == 'F');
        prop_assert!(is_theirs, "another turn got {}", run.others);
    }
    if events == reference {
        prop_assert!(!run.is_distrusted || failed_as(&events, FailureKind::Unexpected));
        return Ok(());
    }
    // A retry of Codex after a start fails the turn: what was sent cannot be taken back.
    let is_retried = case.turn.first.is_some() && failed_as(&events, FailureKind::StreamCut);
    let is_contradicted = run.is_distrusted && failed_as(&events, FailureKind::Unexpected);
    prop_assert!(
        is_retried || is_contradicted && may_fail,
        "may fail: {}\n{:?}\ninstead of\n{:?}",
        may_fail,
        run.events,
        reference
    );
    events.pop();
    prop_assert!(is_retried || reference.starts_with(&events));
    Ok(())
}

fn order() -> impl Strategy<Value = Order> {
    prop_oneof![
        2 => Just(Order::AsSent),
        1 => Just(Order::LogFirst),
        1 => prop::collection::vec(any::<bool>(), 0..150).prop_map(Order::Random),
        1 => prop::collection::vec(prop::bool::weighted(0.8), 0..150).prop_map(Order::Random),
    ]
}

fn case(damage: impl Strategy<Value = Vec<Damage>>) -> impl Strategy<Value = Case> {
    (turn(), any::<bool>(), any::<bool>(), order(), 1..4_usize, damage).prop_map(
        |(turn, is_custom, is_resumed, order, batch, damage)| {
            // Only a turn that was resumed has an earlier response.
            let damage = damage.into_iter().filter(|damage| is_resumed || !damage.is_of_turn());
            Case { turn, is_custom, is_resumed, order, batch, damage: damage.collect() }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn a_damaged_log_yields_the_same_answer_or_an_explicit_failure(
        case in case(prop::collection::vec(damage::damage(), 1..5))
    ) {
        check(&case)?;
    }

    #[test]
    fn an_undamaged_log_yields_the_same_answer(case in case(Just(Vec::new()))) {
        check(&case)?;
    }

    /// The laws would hold without early arguments, too.
    #[test]
    fn with_the_log_ahead_every_call_is_streamed(
        case in case(Just(Vec::new())), is_log_first in any::<bool>()
    ) {
        let order = if is_log_first { Order::LogFirst } else { Order::AsSent };
        let turn = Turn { ids: Ids::Unique, ..case.turn.reported().completed() };
        let run = Case { turn, order, batch: 1, ..case }.run(LogUse::Everything);
        let mut streamed: Option<String> = None;
        for event in run.events {
            match event {
                TurnEvent::ToolCallStart { .. } => streamed = Some(String::new()),
                TurnEvent::ToolCallArguments(text) => streamed.as_mut().unwrap().push_str(&text),
                TurnEvent::ToolCall(call) => {
                    let streamed = streamed.take().unwrap();
                    // What may be the head of an input is held back until the end.
                    let is_whole = streamed == call.arguments;
                    prop_assert!(is_whole || call.deviation.is_some(), "{call:?} {streamed:?}");
                    prop_assert!(call.arguments.starts_with(&streamed));
                }
                _ => {}
            }
        }
        prop_assert!(!run.is_distrusted);
    }
}
