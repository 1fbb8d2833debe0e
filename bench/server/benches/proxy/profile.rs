//! A profile of the server under requests of one kind, taken by perf.

use std::path::Path;
use std::process::Command;

use crate::case::{Case, Delivery};
use crate::server_process::ServerProcess;

/// How long perf looks.
const SECONDS: &str = "8";

/// Writes what perf has seen to a file. The kind is `request` or `stream`.
pub(crate) fn record(server: &Path, kind: &Path, file: &Path) {
    let case = match kind.to_str() {
        Some("request") => Case::text(1, Delivery::Whole),
        Some("stream") => Case::text(66, Delivery::Streamed),
        _ => panic!("no kind of request: {}", kind.display()),
    };
    let server = ServerProcess::start(server);
    let mut connection = server.endpoint.connect();
    let request = server.endpoint.request(&case);
    let mut perf = Command::new("perf")
        .args(["record", "-q", "-e", "cpu-clock", "-F", "2000", "--call-graph", "dwarf,16384"])
        .args(["-p", &server.id().to_string(), "-o"])
        .arg(file)
        .args(["--", "sleep", SECONDS])
        .spawn()
        .expect("perf is needed (Debian's package linux-perf)");
    let end = loop {
        if let Some(end) = perf.try_wait().expect("perf is lost") {
            break end;
        }
        let response = connection.ask(&request);
        server.endpoint.check(&case, response);
    };
    assert!(end.success(), "perf has failed: {end}");
}
