//! The ids that clients see, and the way back to the backend's.

use std::sync::Arc;

use tool_call_aggregator::{
    Arguments, CallEvent, IdContext, IdPolicy, Position, ToolCallAggregator, backend_call_id,
};

#[test]
fn ids_follow_the_policy() {
    let ids = |policy: IdPolicy, backend_ids: &[&str]| {
        let mut calls = ToolCallAggregator::builder().id_policy(policy).build();
        for id in backend_ids {
            calls.ingest(7, &CallEvent::whole(id, "f", id));
        }
        calls.snapshot(7).into_iter().map(|call| call.id).collect::<Vec<_>>()
    };
    let suffix = || IdPolicy::BackendSuffix(Arc::new(|| "random".to_owned()));
    let longest = "call_0123456789abcdefghijklmnopqr";
    assert_eq!(
        ids(
            suffix(),
            &["call_aB3", longest, "call_0123456789abcdefghijklmnopqrs", "call_a-b", "x", "call_"]
        ),
        [
            "tool_7_0_aB3".to_owned(),
            "tool_7_1_0123456789abcdefghijklmnopqr".to_owned(),
            "tool_7_2_random".to_owned(),
            "tool_7_3_random".to_owned(),
            "tool_7_4_random".to_owned(),
            "tool_7_5_random".to_owned(),
        ]
    );
    let factory = |context: &IdContext<'_>| match context.ordinal {
        0 => format!("{}-{}", context.name, context.backend_id.unwrap_or_default()),
        1 => "f-a".to_owned(),
        2 => String::new(),
        3 => "x".repeat(41),
        _ => "é".repeat(40),
    };
    assert_eq!(
        ids(IdPolicy::Factory(Arc::new(factory)), &["a", "b", "c", "d", "e"]),
        ["f-a".to_owned(), "tool_7_1".into(), "tool_7_2".into(), "tool_7_3".into(), "é".repeat(40)]
    );
}

#[test]
fn a_backend_id_is_carried_once() {
    let random = std::sync::atomic::AtomicU32::new(0);
    let random = move || format!("r{}", random.fetch_add(1, std::sync::atomic::Ordering::Relaxed));
    let policy = IdPolicy::BackendSuffix(Arc::new(random));
    let mut calls = ToolCallAggregator::builder().id_policy(policy).build();
    let mut ids = |choice: u32| {
        for item in ["fc_1", "fc_2", "fc_3"] {
            let event = CallEvent { item_id: Some(item), ..CallEvent::whole("call_x", "f", "") };
            calls.ingest(choice, &event);
        }
        let records = calls.snapshot(choice);
        assert!(records.iter().all(|record| record.backend_id.as_deref() == Some("call_x")));
        records.into_iter().map(|record| record.id).collect::<Vec<_>>()
    };
    assert_eq!(ids(0), ["tool_0_0_x", "tool_0_1_r0", "tool_0_2_r1"]);
    assert_eq!(ids(1), ["tool_1_0_x", "tool_1_1_r2", "tool_1_2_r3"]);
    // A header under another chat index.
    let event = |index| CallEvent {
        position: Some(Position::ChatIndex(index)),
        arguments: Arguments::Increment(""),
        complete: false,
        ..CallEvent::whole("call_y", "f", "")
    };
    for index in 0..2 {
        calls.ingest(2, &event(index));
    }
    let found: Vec<_> = calls.snapshot(2).into_iter().map(|record| record.id).collect();
    assert_eq!(found, ["tool_2_0_y", "tool_2_1_r4"]);
}

#[test]
fn an_id_leads_back_to_the_backends() {
    let back = |id: &str| backend_call_id(id);
    assert_eq!(back("tool_0_0_aB3"), Some("call_aB3".to_owned()));
    assert_eq!(
        back("tool_12_345_0123456789abcdefghijklmnopqr").as_deref(),
        Some("call_0123456789abcdefghijklmnopqr")
    );
    for other in [
        "tool_0_0",
        "tool_0_0_",
        "tool__0_a",
        "tool_0__a",
        "tool_x_0_a",
        "tool_0_x_a",
        "tool_0_0_a_b",
        "tool_0_0_a-b",
        "tool_0_0_0123456789abcdefghijklmnopqrs",
        "call_aB3",
        "xtool_0_0_a",
        "tool_0",
        "",
    ] {
        assert_eq!(back(other), None, "{other}");
    }
}

#[test]
fn an_id_is_never_longer_than_a_history_may_hold() {
    let policy = IdPolicy::BackendSuffix(Arc::new(|| "r".repeat(20)));
    let mut calls = ToolCallAggregator::builder().id_policy(policy).build();
    let backend = format!("call_{}", "b".repeat(28));
    for (choice, expected) in [
        (123, format!("tool_123_0_{}", "b".repeat(28))),
        (1_234, format!("tool_1234_0_{}", "b".repeat(28))),
        (12_345, format!("tool_12345_0_{}", "r".repeat(20))),
    ] {
        calls.ingest(choice, &CallEvent::whole(&backend, "f", ""));
        assert_eq!(calls.snapshot(choice)[0].id, expected);
    }
    assert_eq!(format!("{:?}", IdPolicy::Ordinal), "Ordinal");
}
