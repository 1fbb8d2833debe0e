//! What a child writes to standard error, in the log.

use std::fmt;
use std::time::Instant;

use model_turn::TurnEnd;
use testkit::process::processor_time;
use tokio::sync::watch;
use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::{Context, SubscriberExt as _};

use super::{LONG, assert_undisturbed, ended, with_neighbour};

/// Lines under the target of the child.
#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    logged: u64,
    /// Lines that tell how many were not logged, and what these add up to.
    told: u64,
    left_out: u64,
}

struct Counting(watch::Sender<Counts>);

/// How many lines an event says were left out.
#[derive(Default)]
struct LeftOut(Option<u64>);

impl<S: Subscriber> Layer<S> for Counting {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        if event.metadata().target() != "codex" {
            return;
        }
        let mut left_out = LeftOut::default();
        event.record(&mut left_out);
        self.0.send_modify(|counts| match left_out.0 {
            None => counts.logged += 1,
            Some(lines) => {
                counts.told += 1;
                counts.left_out += lines;
            }
        });
    }
}

impl Visit for LeftOut {
    fn record_u64(&mut self, field: &Field, value: u64) {
        if field.name() == "lines" {
            self.0 = Some(value);
        }
    }

    fn record_debug(&mut self, _: &Field, _: &dyn fmt::Debug) {}
}

#[tokio::test]
async fn a_flood_on_standard_error_does_not_flood_the_log() {
    const LINES: u64 = 500_000;
    let (counting, mut counts) = watch::channel(Counts::default());
    let subscriber = tracing_subscriber::registry().with(Counting(counting));
    let _logging = tracing::subscriber::set_default(subscriber);
    let (codex, neighbour) = with_neighbour(|_| {}).await;
    let (asked, busy) = (Instant::now(), processor_time());
    let flooded = ended(codex.start(&format!("[[complaints:{LINES}]]"))).await;
    assert_eq!((flooded.text.as_str(), flooded.end), ("word0 ", Ok(TurnEnd::Completed)));
    assert_undisturbed(&codex, neighbour).await;

    // Every line is accounted for, without another one that would bring that about.
    let all = counts.wait_for(|counts| counts.logged + counts.left_out == LINES);
    let all = tokio::time::timeout(LONG, all).await.expect("lines are lost").unwrap();
    let (Counts { logged, told, .. }, took) = (*all, asked.elapsed());
    let busy = processor_time().saturating_sub(busy);
    println!("{logged} of {LINES} lines in {took:?}, with {busy:?} of processor time");
    let windows = took.as_secs() + 1;
    assert!(logged <= 100 * windows && told <= windows, "{logged} lines, {told} times told");
    drop(all);
    assert_eq!(codex.pool.stats().restarts, 0);
    codex.pool.shutdown().await;
}
