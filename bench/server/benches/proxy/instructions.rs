//! The instructions of a request, counted by valgrind: the same however busy the machine is.

use std::path::Path;
use std::process::Command;

use serde_json::json;

use crate::case::{Case, Delivery};
use crate::server_process::ServerProcess;

/// Requests that are counted. Those before them have filled what is kept between requests.
const COUNTED: usize = 300;
const BEFORE: usize = 100;

/// Prints a line of JSON for each kind of request: its name, and the instructions of all threads of the server.
pub(crate) fn count(server: &Path) {
    let folder = tempfile::tempdir().expect("no temporary folder");
    let output = folder.path().join("callgrind");
    let into = format!("--callgrind-out-file={}", output.display());
    let server = ServerProcess::start_under(&["valgrind", "--tool=callgrind", &into], server);
    let cases = [
        ("text_1_delta", Case::text(1, Delivery::Whole)),
        ("text_1_delta_streamed", Case::text(1, Delivery::Streamed)),
        ("text_66_deltas_streamed", Case::text(66, Delivery::Streamed)),
        ("three_calls_streamed", Case::calls(Delivery::Streamed)),
    ];
    for (dump, (name, case)) in (1..).zip(&cases) {
        let mut connection = server.endpoint.connect();
        let request = server.endpoint.request(case);
        let mut ask = |times: usize| {
            for _ in 0..times {
                let response = connection.ask(&request);
                server.endpoint.check(case, response);
            }
        };
        ask(BEFORE);
        control(&["--zero"], server.id());
        ask(COUNTED);
        control(&["--dump"], server.id());
        let dump = output.with_extension(dump.to_string());
        let dump = std::fs::read_to_string(dump).expect("valgrind has written nothing");
        let instructions = total(&dump) / COUNTED as u64;
        println!("{}", json!({"name": format!("server::{name}"), "instructions": instructions}));
    }
}

fn control(arguments: &[&str], process: u32) {
    let done = Command::new("callgrind_control")
        .args(arguments)
        .arg(process.to_string())
        .output()
        .expect("callgrind_control is needed, which comes with valgrind");
    assert!(done.status.success(), "valgrind does not answer");
}

/// The sum that callgrind writes at the end of a dump.
fn total(dump: &str) -> u64 {
    let total = dump.lines().rev().find_map(|line| line.strip_prefix("totals: "));
    total.and_then(|total| total.trim().parse().ok()).expect("a dump without a sum")
}
