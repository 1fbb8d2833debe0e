//! Rows that are too old.

use std::time::{Duration, SystemTime};

use store::UsageRow;
use testkit::until;

use crate::folder::{Folder, report, turn};

const DAY: Duration = Duration::from_hours(24);

fn old(name: &str, age: Duration) -> UsageRow {
    UsageRow { ended_at: SystemTime::now() - age, model: name.to_owned(), ..turn("a") }
}

#[tokio::test]
async fn only_what_is_old_is_deleted() {
    let folder = Folder::new();
    let usage = folder.open().usage();
    for _ in 0..1_100 {
        usage.record(old("old", 10 * DAY + Duration::from_secs(1)));
    }
    for _ in 0..700 {
        usage.record(old("young", 9 * DAY));
    }
    assert_eq!(report(&usage).await.totals.turns, 1_800, "for ever, until it is told");
    // Of more than are deleted at once.
    usage.keep_for(10 * DAY);
    until("the old are deleted", async || report(&usage).await.by_model.len() < 2).await;
    let models = report(&usage).await.by_model;
    assert_eq!((models[0].0.as_str(), models[0].1.turns), ("young", 700));

    usage.keep_for(11 * DAY);
    usage.record(old("old", 10 * DAY + Duration::from_secs(1)));
    assert_eq!(report(&usage).await.totals.turns, 701);
    usage.keep_for(9 * DAY);
    until("all are deleted", async || report(&usage).await.totals.turns == 0).await;
}
