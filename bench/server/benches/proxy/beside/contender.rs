//! Everybody who is compared.

use std::fs;
use std::path::Path;
use std::time::Duration;

use server_bench::chart::Colour;
use testkit::process::{megabytes, resident_kilobytes};
use testkit::server_process::ServerFolder;

use crate::case::Case;
use crate::endpoint::Endpoint;
use crate::gateway::{Gateway, Product};
use crate::mock_upstream::MockUpstream;
use crate::processor::ProcessorTime;
use crate::server_process::ServerProcess;

/// Our limits, so that they are not what is measured.
const SETTINGS: [(&str, &str); 2] =
    [("PROXY_MAX_CONCURRENT_TURNS", "4096"), ("PROXY_MAX_CONNECTIONS", "8192")];

/// Somebody who is compared.
pub(crate) enum Contender {
    Ours(ServerProcess),
    Gateway(Product, Gateway),
}

/// All that run, and the upstream of the gateways.
pub(crate) struct Field {
    pub(crate) mock: MockUpstream,
    /// Ours is the first.
    pub(crate) contenders: Vec<Contender>,
    /// Those that do not run, and why.
    pub(crate) absent: Vec<(&'static str, String)>,
}

// === impl Field ===

impl Field {
    /// Starts ours and every gateway, and waits until each answers `case`.
    pub(crate) fn start(server: &Path, installed: &Path, case: &Case) -> Self {
        let mock = MockUpstream::start();
        let mut contenders = vec![Contender::start_ours(server)];
        let mut absent = Vec::new();
        for product in Product::ALL {
            match Gateway::start(product, installed, &mock, case) {
                Ok(gateway) => contenders.push(Contender::Gateway(product, gateway)),
                Err(reason) => absent.push((product.name(), reason)),
            }
        }
        Self { mock, contenders, absent }
    }
}

// === impl Contender ===

impl Contender {
    pub(crate) fn start_ours(server: &Path) -> Self {
        Self::Ours(ServerProcess::start_with(server, &SETTINGS))
    }

    /// The same in a folder that it may have had before, and how long it took to its first connection.
    pub(crate) fn start_ours_in(folder: &ServerFolder, server: &Path) -> (Self, Duration) {
        let (server, accepting) = ServerProcess::start_in(folder, server, &SETTINGS);
        (Self::Ours(server), accepting)
    }

    pub(crate) fn endpoint(&self) -> &Endpoint {
        match self {
            Self::Ours(server) => &server.endpoint,
            Self::Gateway(_, gateway) => &gateway.endpoint,
        }
    }

    pub(crate) fn name(&self) -> &'static str {
        self.endpoint().name
    }

    pub(crate) fn colour(&self) -> Colour {
        match self {
            Self::Ours(_) => Colour::Ours,
            Self::Gateway(product, _) => colour(*product),
        }
    }

    /// The server itself and what it has started, but for our child: that is the upstream.
    pub(crate) fn processes(&self) -> Vec<u32> {
        match self {
            Self::Ours(server) => vec![server.id()],
            Self::Gateway(_, gateway) => gateway.processes(),
        }
    }

    /// Microseconds of processor time so far.
    pub(crate) fn processor_time(&self) -> f64 {
        self.processes().into_iter().map(|process| ProcessorTime::of(process).total).sum()
    }

    pub(crate) fn megabytes(&self) -> f64 {
        self.processes().into_iter().map(|process| megabytes(resident_kilobytes(process))).sum()
    }

    /// From here on the peak is counted anew.
    pub(crate) fn forget_peak(&self) {
        for process in self.processes() {
            // Without the right to it the peak is that of the whole run: too high, never too low.
            let _ = fs::write(format!("/proc/{process}/clear_refs"), "5");
        }
    }

    pub(crate) fn peak_megabytes(&self) -> f64 {
        let peak = |process: u32| -> Option<u64> {
            let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
            let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
            line.trim().trim_end_matches(" kB").parse().ok()
        };
        self.processes().into_iter().filter_map(peak).map(megabytes).sum()
    }
}

pub(crate) fn colour(product: Product) -> Colour {
    match product {
        Product::Smg => Colour::First,
        Product::Portkey => Colour::Second,
        Product::LiteLlm => Colour::Third,
    }
}
