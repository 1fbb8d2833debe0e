//! A Codex whose log is not what it was, played by a filter in front of the real one.

use std::sync::Arc;

use codex_app_server::{CanaryState, CodexBinary, EarlyArguments};
use futures_util::future::join_all;
use model_turn::{FailureKind as Kind, TurnEnd};
use tempfile::TempDir;
use testkit::{TestCodex, canary, codex_binary, write_altered_codex};

use super::{ask, assert_calls};

/// A child whose standard error goes through a command of `sed`.
async fn with_log(command: &str) -> (TestCodex, TempDir) {
    let (binary, folder) = altered(command).await;
    (TestCodex::with(|config| config.codex = Arc::new(binary)).await, folder)
}

async fn altered(command: &str) -> (CodexBinary, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let (real, path) = (codex_binary().await, folder.path().join("codex"));
    let pipeline = format!("{{ CODEX 2>&1 1>&3 | sed -u '{command}' >&2; }} 3>&1");
    write_altered_codex(&path, real.path(), &pipeline);
    (CodexBinary::at(&path).await.unwrap(), folder)
}

/// The same with a canary, once it has been played.
async fn after_canary(command: &str) -> (TestCodex, TempDir) {
    let (binary, folder) = altered(command).await;
    let codex = TestCodex::with(|config| {
        config.codex = Arc::new(binary);
        config.canary = Some(canary());
    });
    let codex = codex.await;
    let played = codex.client.play_canary().await;
    assert_eq!(played, CanaryState::Passed { git_attribution: false }, "{command}");
    (codex, folder)
}

#[tokio::test]
async fn a_log_that_has_changed_costs_early_arguments_and_nothing_else() {
    // Another wording, no line of turns, another name, another form, nothing at all.
    let changes = [
        "s/SSE event: /Event: /",
        "s/Output item/Item/",
        "s/function_call_arguments.delta/function_call.delta/",
        "s/^{/ {/",
        "d",
    ];
    let runs = changes.map(async |command| {
        let (codex, _folder) = after_canary(command).await;
        let checked = codex.client.early_arguments();
        assert!(matches!(checked, EarlyArguments::Lost(_)), "{command}: {checked:?}");
        let outcome = codex.run(ask(&codex, "ms=5,calls=2,text", "x")).await;
        assert_calls(&outcome, 2, "x", 200);
        assert_eq!((&outcome.streamed[..], codex.client.stats().log_mismatches), (&[][..], 0));
        codex.client.shutdown().await;
    });
    join_all(runs).await;
}

#[tokio::test]
async fn a_log_as_it_should_be_passes_the_check_uncounted() {
    let (codex, _folder) = after_canary("").await;
    assert_eq!(codex.client.early_arguments(), EarlyArguments::On);
    assert_eq!(codex.client.stats().turns, 0);
    codex.client.shutdown().await;
}

/// The filler of arguments has a 漢; another character stands in the log.
const CONTRADICTION: &str = "/arguments.delta/s/漢/汉/";

#[tokio::test]
async fn a_log_that_contradicts_the_output_fails_the_turn_and_is_not_used_again() {
    let (codex, _folder) = with_log(CONTRADICTION).await;
    let failed = codex.run(ask(&codex, "ms=5", "x")).await;
    assert_eq!(failed.failure(), Kind::Unexpected, "{failed:?}");
    assert_eq!((failed.calls.len(), failed.streamed.len()), (0, 1), "{failed:?}");
    assert_eq!(codex.client.stats().log_mismatches, 1);
    assert!(matches!(codex.client.early_arguments(), EarlyArguments::Lost(_)));
    let outcome = codex.run(ask(&codex, "ms=5", "x")).await;
    assert_calls(&outcome, 1, "x", 200);
    assert_eq!((outcome.streamed.len(), outcome.end), (0, Ok(TurnEnd::ToolCalls)));
    codex.client.shutdown().await;
}

/// With numbers a missing line is noticed, and the rest comes with the whole call.
#[tokio::test]
async fn lines_that_are_missing_or_doubled_change_no_numbered_answer() {
    // Every third line of a fragment.
    for command in ["/arguments.delta/{n;n;n;n;d}", "/arguments.delta/p"] {
        let (codex, _folder) = with_log(command).await;
        let outcome = codex.run(ask(&codex, "ms=5,calls=2,numbered", "x")).await;
        assert_calls(&outcome, 2, "x", 200);
        assert_eq!(codex.client.stats().log_mismatches, 0, "{command}");
        codex.client.shutdown().await;
    }
}
