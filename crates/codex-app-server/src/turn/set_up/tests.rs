use std::sync::Arc;

use futures_util::FutureExt as _;
use tokio::sync::oneshot;

use super::*;

/// A consumer, what it holds, and how it commands.
fn consumer() -> (Waiting, Arc<()>, watch::Sender<Command>) {
    let held = Arc::new(());
    let consumer = Consumer { held: Box::new(Arc::clone(&held)), ..Consumer::default() };
    let (control, commands) = watch::channel(Command::Run);
    (Waiting::new(consumer, commands), held, control)
}

fn is_held(held: &Arc<()>) -> bool {
    Arc::strong_count(held) > 1
}

#[test]
fn who_waits_keeps_what_it_holds() {
    let set_ups = SetUps::default();
    let (mut waiting, held, control) = consumer();
    let answer = waiting.see_through(&set_ups, std::future::ready(1)).now_or_never();
    assert_eq!(answer, Some(1));
    assert!(is_held(&held));
    // An answer that is there already counts more than a consumer that has just left.
    drop(control);
    assert_eq!(waiting.see_through(&set_ups, std::future::ready(2)).now_or_never(), Some(2));
    assert!(is_held(&held));
}

#[test]
fn who_leaves_or_interrupts_holds_nothing_while_the_answer_is_waited_for() {
    let leave: fn(watch::Sender<Command>) = drop;
    let interrupt = |control: watch::Sender<Command>| {
        control.send_replace(Command::Interrupt);
    };
    for stop in [leave, interrupt] {
        let set_ups = SetUps::default();
        let (mut waiting, held, control) = consumer();
        let (codex, answer) = oneshot::channel();
        let mut seen = Box::pin(waiting.see_through(&set_ups, answer));
        assert_eq!((&mut seen).now_or_never(), None);
        assert!(is_held(&held));
        stop(control);
        assert_eq!((&mut seen).now_or_never(), None);
        assert!(!is_held(&held));
        codex.send("an answer").unwrap();
        assert_eq!(seen.now_or_never(), Some(Ok("an answer")));
    }
}

#[test]
fn not_everybody_can_be_waited_for_without_a_place() {
    let set_ups = SetUps::default();
    let mut consumers: Vec<_> = (0..=ABANDONED_AT_ONCE).map(|_| consumer()).collect();
    let mut requests = Vec::new();
    for (waiting, held, control) in &mut consumers {
        control.send_replace(Command::Interrupt);
        let (codex, answer) = oneshot::channel::<()>();
        let mut seen = Box::pin(waiting.see_through(&set_ups, answer));
        assert_eq!((&mut seen).now_or_never(), None);
        requests.push((codex, seen, held));
    }
    let held = requests.iter().filter(|(_, _, held)| is_held(held)).count();
    assert_eq!(held, 1);
    // An answer makes room for the next one.
    let (codex, seen, _) = requests.remove(0);
    codex.send(()).unwrap();
    assert_eq!(seen.now_or_never(), Some(Ok(())));
    let (mut waiting, held, control) = consumer();
    drop(control);
    let next = waiting.see_through(&set_ups, std::future::pending::<()>());
    assert_eq!(next.now_or_never(), None);
    assert!(!is_held(&held));
}
