//! Whether the log of this Codex has what early arguments are made of: one turn is played, and its
//! fragments are compared with its call.

use std::time::Duration;

use super::EarlyArguments;
use crate::client::Client;
use crate::failure::{Failure, FailureKind};
use crate::turn::TurnRequest;
use crate::turn::event::TurnEvent;

/// For the turn and its fragments. A busy machine takes its time, and nothing waits for the check.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The fragments come through another pipe than the call, but at about the same time.
const FRAGMENTS_TIMEOUT: Duration = Duration::from_secs(5);

/// How a check ended that has found no fault.
enum Checked {
    Passed,
    /// There is nothing left to check.
    ChildGone,
}

// === impl Client ===

impl Client {
    /// Plays a turn with a call, and trusts the log if its fragments are those of the call. The turn
    /// is not counted.
    pub async fn check_early_arguments(&self, request: TurnRequest) -> EarlyArguments {
        let trust = self.connection().log_trust();
        if !trust.begin_check() {
            return trust.state();
        }
        let checked = tokio::time::timeout(TIMEOUT, self.play_call(request));
        match checked.await.unwrap_or_else(|_| Err(format!("no end after {TIMEOUT:?}"))) {
            Ok(Checked::Passed) => trust.gain(),
            Ok(Checked::ChildGone) => {}
            Err(reason) => {
                tracing::warn!(%reason, "arguments are not streamed: Codex's log was not as expected");
                trust.lose(&reason);
            }
        }
        trust.state()
    }

    async fn play_call(&self, request: TurnRequest) -> Result<Checked, String> {
        let mut turn = self.start_uncounted_turn(request).map_err(|error| error.to_string())?;
        let mut calls = Vec::new();
        while let Some(event) = turn.next().await {
            match event {
                TurnEvent::ToolCall(call) => calls.push(call),
                TurnEvent::Failed(Failure {
                    kind: FailureKind::ChildGone | FailureKind::Stopping,
                    ..
                }) => return Ok(Checked::ChildGone),
                TurnEvent::Failed(failure) => {
                    return Err(format!("the check's turn failed: {}", failure.message));
                }
                _ => {}
            }
        }
        let Some(call) = calls.first() else {
            return Err("the check's turn made no call".to_owned());
        };
        let witnessed =
            self.connection().log_trust().until_witnessed(&call.call_id, &call.arguments);
        tokio::time::timeout(FRAGMENTS_TIMEOUT, witnessed)
            .await
            .map(|()| Checked::Passed)
            .map_err(|_| "Codex's log has no fragments of a call's arguments".to_owned())
    }
}
