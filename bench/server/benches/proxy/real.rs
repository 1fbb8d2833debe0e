//! The release binary in front of the real Codex: what a whole turn takes more through it.
//!
//! The scripted model is a process of its own. No thread is kept for later, so that the server sends the very
//! lines that the direct client plays. Codex is much slower than we are and varies by more than what we add:
//! the rounds say how far the difference can be trusted.

use std::path::Path;

use server_bench::own_process::OwnProcess;
use tokio::runtime::Runtime;

use crate::case::{Case, Delivery};
use crate::figures::Figures;
use crate::lane::{self, Effort, Rounds};
use crate::latency::Bench;
use crate::processor::Cores;
use crate::server_process::ServerProcess;
use crate::table::{self, Goal};

/// Its name on the command line. It needs a Codex, and so is measured only if asked for.
pub(crate) const PART: &str = "real";

/// What a Codex takes from the environment that makes a difference here: both have the same. Which root
/// certificates it reads is a third of a turn.
const SHARED: [&str; 4] = ["PATH", "SSL_CERT_FILE", "SSL_CERT_DIR", "CODEX_CA_CERTIFICATE"];

/// What may be added to a turn, in milliseconds.
const LIMIT: f64 = 0.5;

pub(crate) fn measure(runtime: &Runtime, server: &Path, effort: Effort) {
    Cores::All.pin();
    let codex = runtime.block_on(testkit::codex_binary());
    let model = OwnProcess::model().expect("no model");
    let cases = [
        Case::real_text(Delivery::Whole, &model.address),
        Case::real_text(Delivery::Streamed, &model.address),
        Case::real_calls(Delivery::Streamed, &model.address),
    ];
    let codex_path = codex.path().to_string_lossy();
    let mut settings =
        vec![("CODEX_BIN", codex_path.as_ref()), ("PROXY_UPSTREAM_BASE_URL", &model.address)];
    let environment = SHARED.map(|name| (name, std::env::var(name).ok()));
    settings
        .extend(environment.iter().filter_map(|(name, value)| Some((*name, value.as_deref()?))));
    let mut server = ServerProcess::start_with(server, &settings);
    server.endpoint.headers += "x-proxy-continuity: off\r\n";
    // The real Codex may cut a text as it likes.
    server.endpoint.judge = Case::judge_gateway;
    let bench = Bench::with(runtime, &codex, server, &cases);
    let mut lanes: Vec<_> = bench.lanes(&cases).flatten().collect();
    lane::run(&mut lanes, effort);
    for (case, lanes) in cases.iter().zip(lanes.chunks_exact(2)) {
        let (ours, direct) = (&lanes[0].rounds, &lanes[1].rounds);
        let name = |what: &str| format!("real Codex, {}: {what}", case.name);
        table::row(name("p50 through the server"), "ms", &medians(ours), Goal::None);
        table::row(name("p50 direct"), "ms", &medians(direct), Goal::None);
        let added = ours.added_to(direct);
        table::noisy_row(name("added p50"), "ms", &in_milliseconds(added.values()), LIMIT);
        let processor = in_milliseconds(&ours.processor());
        table::row(name("CPU of the server"), "ms", &processor, Goal::None);
    }
}

fn medians(rounds: &Rounds) -> Figures {
    in_milliseconds(&rounds.medians())
}

fn in_milliseconds(microseconds: &[f64]) -> Figures {
    microseconds.iter().map(|time| time / 1_000.0).collect()
}
