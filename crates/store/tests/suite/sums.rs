//! Sums of any rows are what they should be.

use std::collections::BTreeMap;
use std::time::SystemTime;

use jiff::{Timestamp, tz::TimeZone};
use model_turn::TokenUsage;
use proptest::prelude::*;
use store::{KeyUsage, UsageKey, UsageQuery, UsageReport, UsageRow, UsageSums};

use crate::folder::{DAY, Folder, everything, moment, report, turn};

const DAY_MS: u64 = 24 * 60 * 60 * 1000;

fn rows() -> impl Strategy<Value = Vec<UsageRow>> {
    let tokens = (0..1_000_u64, 0..1_000_u64, 0..1_000_u64, 0..1_000_u64);
    let tokens = tokens.prop_map(|(prompt, cached, completion, reasoning)| TokenUsage {
        input_tokens: prompt,
        cached_input_tokens: cached,
        output_tokens: completion,
        reasoning_output_tokens: reasoning,
        total_tokens: prompt + completion,
    });
    let row = (
        (0..4 * DAY_MS, 0..3_usize, 0..4_usize, any::<bool>(), any::<bool>()),
        ((0..3_usize, 0..3_usize), 0..3_usize, 0..2_usize, proptest::option::of(tokens)),
    );
    let row = row.prop_map(
        |((at, choice, calls, truncated, failed), ((id, name), model, real, tokens))| UsageRow {
            ended_at: moment(at),
            choice,
            key_id: format!("key-{id}"),
            key_name: format!("key-{name}"),
            model: format!("model-{model}"),
            backend_model: format!("model-{real}"),
            stop_reason: if failed { "failed" } else { "completed" },
            failed,
            tool_call_count: calls,
            truncated,
            tokens,
            ..turn("a")
        },
    );
    proptest::collection::vec(row, 0..60)
}

fn day_of(time: SystemTime) -> String {
    let at = Timestamp::try_from(time).unwrap();
    TimeZone::UTC.to_datetime(at).date().to_string()
}

fn sums<'a>(rows: impl IntoIterator<Item = &'a UsageRow>) -> UsageSums {
    let mut sums = UsageSums::default();
    for row in rows {
        sums.turns += 1;
        sums.requests += u64::from(row.choice == 0);
        sums.failed += u64::from(row.failed);
        sums.truncated += u64::from(row.truncated);
        sums.tool_calls += row.tool_call_count as u64;
        match row.tokens {
            Some(tokens) => {
                sums.prompt_tokens += tokens.input_tokens;
                sums.cached_tokens += tokens.cached_input_tokens;
                sums.completion_tokens += tokens.output_tokens;
                sums.reasoning_tokens += tokens.reasoning_output_tokens;
            }
            None => sums.turns_without_tokens += 1,
        }
    }
    sums
}

/// Groups by name.
fn grouped(rows: &[&UsageRow], by: impl Fn(&UsageRow) -> String) -> Vec<(String, UsageSums)> {
    let mut groups = BTreeMap::<String, Vec<&UsageRow>>::new();
    for row in rows {
        groups.entry(by(row)).or_default().push(row);
    }
    groups.into_iter().map(|(name, rows)| (name, sums(rows))).collect()
}

/// The same, those with the most turns first.
fn ranked(rows: &[&UsageRow], by: impl Fn(&UsageRow) -> String) -> Vec<(String, UsageSums)> {
    let mut groups = grouped(rows, by);
    groups.sort_by_key(|(_, sums)| std::cmp::Reverse(sums.turns));
    groups
}

/// By id, with the last name.
fn by_key(rows: &[&UsageRow]) -> Vec<KeyUsage> {
    let name_of = |id: &str| rows.iter().rfind(|row| row.key_id == id).unwrap().key_name.clone();
    let groups = ranked(rows, |row| row.key_id.clone());
    groups.into_iter().map(|(id, sums)| KeyUsage { name: name_of(&id), id, sums }).collect()
}

fn expected(rows: &[UsageRow], query: &UsageQuery) -> UsageReport {
    let is_asked_for = |row: &&UsageRow| {
        let day = day_of(row.ended_at).parse().unwrap();
        let names = [&row.model, &row.backend_model];
        (query.from..=query.to).contains(&day)
            && match &query.key {
                UsageKey::Any => true,
                UsageKey::Called(key) => [&row.key_id, &row.key_name].contains(&key),
                UsageKey::Only(id) => row.key_id == *id,
            }
            && query.model.as_ref().is_none_or(|model| names.contains(&model))
    };
    let rows: Vec<_> = rows.iter().filter(is_asked_for).collect();
    UsageReport {
        totals: sums(rows.iter().copied()),
        by_day: grouped(&rows, |row| day_of(row.ended_at)),
        by_model: ranked(&rows, |row| row.model.clone()),
        by_backend_model: ranked(&rows, |row| row.backend_model.clone()),
        by_key: by_key(&rows),
        by_stop_reason: ranked(&rows, |row| row.stop_reason.to_owned()),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn sums_are_those_of_the_rows(
        rows in rows(),
        first in 0..4_i64,
        days in 0..4_i64,
        key in proptest::option::of((any::<bool>(), 0..4_usize)),
        model in proptest::option::of(0..4_usize),
    ) {
        let from = DAY.checked_add(jiff::Span::new().days(first)).unwrap();
        let query = UsageQuery {
            from,
            to: from.checked_add(jiff::Span::new().days(days)).unwrap(),
            key: key.map_or(UsageKey::Any, |(only, key)| {
                let key = format!("key-{key}");
                if only { UsageKey::Only(key) } else { UsageKey::Called(key) }
            }),
            model: model.map(|model| format!("model-{model}")),
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let told = runtime.block_on(async {
            let folder = Folder::new();
            let usage = folder.open().usage();
            for row in &rows {
                usage.record(row.clone());
            }
            usage.flush().await;
            [usage.report(query.clone()).await, usage.report(everything()).await].map(Result::unwrap)
        });
        prop_assert_eq!(told, [expected(&rows, &query), expected(&rows, &everything())]);
    }
}

/// From the first millisecond of the day to its last.
#[tokio::test]
async fn a_day_is_a_day_in_utc() {
    let folder = Folder::new();
    let usage = folder.open().usage();
    for at in [0, DAY_MS - 1, DAY_MS] {
        usage.record(UsageRow { ended_at: moment(at), ..turn("a") });
    }
    usage.flush().await;
    let query = UsageQuery { from: DAY, to: DAY, ..everything() };
    let days: Vec<_> = usage.report(query).await.unwrap().by_day;
    assert_eq!(days.len(), 1);
    assert_eq!((days[0].0.as_str(), days[0].1.turns), ("2026-03-01", 2));
}

#[tokio::test]
async fn no_figure_of_an_upstream_breaks_the_sums() {
    let folder = Folder::new();
    let usage = folder.open().usage();
    let all = u64::MAX;
    for _ in 0..1_000 {
        let tokens = TokenUsage {
            input_tokens: all,
            cached_input_tokens: all,
            output_tokens: all,
            reasoning_output_tokens: all,
            total_tokens: all,
        };
        usage.record(UsageRow { tokens: Some(tokens), ..turn("a") });
    }
    assert_eq!(report(&usage).await.totals.prompt_tokens, 1_000 << 40);
}

/// A client of another upstream can name any model.
#[tokio::test]
async fn not_every_name_is_listed_if_there_are_many() {
    let folder = Folder::new();
    let usage = folder.open().usage();
    for name in 0..1_500 {
        usage.record(UsageRow { model: name.to_string(), ..turn("a") });
    }
    usage.record(UsageRow { model: "usual".to_owned(), ..turn("a") });
    usage.record(UsageRow { model: "usual".to_owned(), ..turn("a") });
    let told = report(&usage).await;
    assert_eq!((told.totals.turns, told.by_model.len()), (1_502, 1_000));
    assert_eq!((told.by_model[0].0.as_str(), told.by_model[0].1.turns), ("usual", 2));
}
