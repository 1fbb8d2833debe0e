use std::collections::BTreeSet;

use codex_app_server::StatsSnapshot;

use super::*;

/// Each counter of others is passed on under a name of its own.
#[test]
fn what_others_count_is_passed_on() {
    let codex = StatsSnapshot {
        turns: 1,
        restarts: 2,
        renewals: 3,
        retries: 4,
        reasoning_refused: 17,
        codex_retries: 5,
        repeated_outputs: 6,
        probes: 7,
        extra_model_requests: 8,
        declined_requests: 9,
        flood_retries: 10,
        oversize_lines: 11,
        unreadable_messages: 12,
        unclaimed_responses: 13,
        stale_events: 14,
        unconfirmed_ends: 15,
        fragments: 20,
        unattributed_fragments: 21,
        log_mismatches: 22,
    };
    let text =
        Metrics::default().encode(&Now { codex, usage_rows_lost: 16, ..Now::nothing() }).unwrap();
    let is_of_others = |line: &&str| {
        (line.starts_with("codex_") && line.contains("_total")) || line.starts_with("usage_rows")
    };
    assert_eq!(
        text.lines().filter(is_of_others).collect::<BTreeSet<_>>(),
        BTreeSet::from([
            "codex_restarts_total 2",
            "codex_completions_xml_values_altered_total 0",
            r#"codex_completions_custom_input_deviations_total{input="malformed"} 0"#,
            r#"codex_completions_custom_input_deviations_total{input="raw"} 0"#,
            "codex_renewals_total 3",
            r#"codex_incidents_total{kind="retry"} 4"#,
            r#"codex_incidents_total{kind="reasoning_refused"} 17"#,
            r#"codex_incidents_total{kind="codex_retry"} 5"#,
            r#"codex_incidents_total{kind="repeated_output"} 6"#,
            "codex_probes_total 7",
            "codex_extra_model_requests_total 8",
            "codex_declined_requests_total 9",
            r#"codex_incidents_total{kind="flood_retry"} 10"#,
            r#"codex_incidents_total{kind="oversize_line"} 11"#,
            r#"codex_incidents_total{kind="unreadable_message"} 12"#,
            r#"codex_incidents_total{kind="unclaimed_response"} 13"#,
            r#"codex_incidents_total{kind="stale_event"} 14"#,
            r#"codex_incidents_total{kind="unconfirmed_end"} 15"#,
            "usage_rows_lost_total 16",
            r#"codex_completions_tool_calls_total{delivery="streamed"} 0"#,
            r#"codex_completions_tool_calls_total{delivery="whole"} 0"#,
            "codex_completions_argument_fragments_total 20",
            "codex_completions_unattributed_fragments_total 21",
            "codex_completions_log_mismatches_total 22",
        ])
    );
}
