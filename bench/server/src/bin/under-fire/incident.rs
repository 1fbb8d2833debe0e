//! What befalls the child.

use std::ops::Range;
use std::time::{Duration, Instant};

use fastrand::Rng;
use testkit::process::{codex_children, send_signal};
use testkit::server_process::Target;
use tokio_util::sync::CancellationToken;

/// How long a child that only stalls is stopped.
const STALLS: Range<u64> = 300..2_500;

/// How long the server may take to have a child again. A child that hangs is noticed after 15 seconds.
const BACK_WITHIN: Duration = Duration::from_mins(1);

/// Between two looks at whether it is back.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// What befell a child, and until when that could be felt.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Incident {
    pub(crate) kind: IncidentKind,
    pub(crate) from: Instant,
    pub(crate) to: Instant,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum IncidentKind {
    /// It was killed.
    Killed,
    /// It was stopped, and went on a moment later.
    Stalled,
    /// It was stopped for good: the server has to notice.
    Hung,
}

/// Whoever causes incidents.
pub(crate) struct Trouble {
    pub(crate) server: u32,
    pub(crate) target: Target,
    pub(crate) dice: Rng,
    /// Between two incidents, in milliseconds.
    pub(crate) pauses: Range<u64>,
    /// Whether there is time for a child that hangs.
    pub(crate) may_hang: bool,
}

// === impl IncidentKind ===

impl IncidentKind {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Killed => "killed (SIGKILL)",
            Self::Stalled => "stalled (SIGSTOP, SIGCONT after 0.3 to 2.5 s)",
            Self::Hung => "hung (SIGSTOP, until the server kills it)",
        }
    }

    /// Whether the child is another one afterwards.
    pub(crate) fn costs_the_child(self) -> bool {
        match self {
            Self::Killed | Self::Hung => true,
            Self::Stalled => false,
        }
    }
}

// === impl Trouble ===

impl Trouble {
    /// Causes incidents until it is told to stop; there is a child again then. An error is what went
    /// wrong with the last of them.
    pub(crate) async fn cause(
        mut self,
        stop: CancellationToken,
        mut tell: impl FnMut(Result<Incident, String>),
    ) {
        loop {
            let pause = Duration::from_millis(self.dice.u64(self.pauses.clone()));
            if stop.run_until_cancelled(tokio::time::sleep(pause)).await.is_none() {
                return;
            }
            let kind = match self.dice.u8(..20) {
                0 if self.may_hang => IncidentKind::Hung,
                0..5 => IncidentKind::Stalled,
                _ => IncidentKind::Killed,
            };
            tell(self.befall(kind).await);
        }
    }

    async fn befall(&mut self, kind: IncidentKind) -> Result<Incident, String> {
        let found = codex_children(self.server);
        let [child] = found[..] else { return Err(format!("children of Codex: {found:?}")) };
        let from = Instant::now();
        let sent = match kind {
            IncidentKind::Killed => send_signal(child, "-KILL"),
            IncidentKind::Hung => send_signal(child, "-STOP"),
            IncidentKind::Stalled => {
                let stopped = send_signal(child, "-STOP");
                tokio::time::sleep(Duration::from_millis(self.dice.u64(STALLS))).await;
                stopped && send_signal(child, "-CONT")
            }
        };
        if !sent {
            return Err(format!("the child {child} had gone before it was {kind:?}"));
        }
        let back = tokio::time::timeout(BACK_WITHIN, self.until_back(child, kind)).await;
        back.map_err(|_| format!("no child within {BACK_WITHIN:?} after one was {kind:?}"))?;
        Ok(Incident { kind, from, to: Instant::now() })
    }

    /// Waits for a child that takes turns.
    async fn until_back(&self, old: u32, kind: IncidentKind) {
        loop {
            let now = codex_children(self.server);
            let is_another = !kind.costs_the_child() || (!now.is_empty() && !now.contains(&old));
            if is_another
                && self.target.look("/readyz").await.is_ok_and(|(status, _)| status == 200)
            {
                return;
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }
}
