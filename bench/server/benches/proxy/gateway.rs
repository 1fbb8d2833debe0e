//! Other gateways, each in front of the HTTP mock.

use std::fs::{self, File};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;
use testkit::process::{KilledOnDrop, descendants};

use crate::case::{Case, MODEL};
use crate::endpoint::Endpoint;
use crate::mock_upstream::MockUpstream;
use crate::server_process::{KNOCK_PAUSE, free_port};

/// How long one may take to listen, and then to answer.
const LISTENING_WITHIN: Duration = Duration::from_secs(90);
const ANSWERING_WITHIN: Duration = Duration::from_secs(10);

/// It does not start without a strong one.
const LITELLM_KEY: &str = "sk-a-long-enough-key-of-a-benchmark-0123456789";

/// Between two attempts to get an answer.
const ASK_PAUSE: Duration = Duration::from_millis(100);

/// A gateway that can be installed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Product {
    Smg,
    Portkey,
    LiteLlm,
}

/// A running gateway; dropping it ends it.
pub(crate) struct Gateway {
    process: KilledOnDrop,
    pub(crate) endpoint: Endpoint,
    /// From the process to its first connection.
    pub(crate) accepting: Duration,
    _folder: TempDir,
}

// === impl Product ===

impl Product {
    pub(crate) const ALL: [Self; 3] = [Self::Smg, Self::Portkey, Self::LiteLlm];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Smg => "smg",
            Self::Portkey => "portkey",
            Self::LiteLlm => "litellm",
        }
    }

    /// How it is started, from the folder that `bench/peers/install` has installed it into.
    fn command(self, installed: &Path, folder: &Path, port: u16, upstream: &str) -> Command {
        let port = port.to_string();
        let python = installed.join("python/bin");
        match self {
            Self::Smg => {
                let mut command = Command::new(python.join("smg"));
                command
                    .args(["launch", "--backend", "openai", "--history-backend", "none"])
                    .args(["--host", "127.0.0.1", "--port", &port, "--log-level", "warn"])
                    .args(["--prometheus-port", &free_port().to_string()])
                    .args(["--worker-urls", upstream]);
                command
            }
            Self::Portkey => {
                let mut command = Command::new("node");
                let script = "node/node_modules/@portkey-ai/gateway/build/start-server.js";
                command.arg(installed.join(script)).arg(format!("--port={port}")).arg("--headless");
                command
            }
            Self::LiteLlm => {
                let config = folder.join("litellm.yaml");
                let settings = format!(
                    "model_list:\n  - model_name: {MODEL}\n    litellm_params:\n      \
                     model: openai/{MODEL}\n      api_base: {upstream}/v1\n      api_key: none\n"
                );
                fs::write(&config, settings).expect("no configuration for litellm");
                let mut command = Command::new(python.join("litellm"));
                command.args(["--host", "127.0.0.1", "--port", &port, "--config"]).arg(config);
                command.env("LITELLM_LOCAL_MODEL_COST_MAP", "True");
                command.env("LITELLM_MASTER_KEY", LITELLM_KEY);
                command
            }
        }
    }

    fn headers(self, upstream: &str) -> String {
        match self {
            Self::Smg => "authorization: Bearer none\r\n".to_owned(),
            Self::LiteLlm => format!("authorization: Bearer {LITELLM_KEY}\r\n"),
            Self::Portkey => format!(
                "authorization: Bearer none\r\nx-portkey-provider: openai\r\n\
                 x-portkey-custom-host: {upstream}/v1\r\n"
            ),
        }
    }
}

// === impl Gateway ===

impl Gateway {
    /// Starts one, and waits until it answers `case`; says why it does not.
    pub(crate) fn start(
        product: Product,
        installed: &Path,
        upstream: &MockUpstream,
        case: &Case,
    ) -> Result<Self, String> {
        let folder = tempfile::tempdir().expect("no temporary folder");
        let log = File::create(folder.path().join("log")).expect("no log");
        let (port, url) = (free_port(), upstream.url());
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let mut command = product.command(installed, folder.path(), port, &url);
        command.stdin(Stdio::null()).stdout(log.try_clone().expect("no log")).stderr(log);
        let started = Instant::now();
        let spawned = command.spawn();
        let spawned =
            spawned.map_err(|error| format!("{} does not start: {error}", product.name()))?;
        let mut process = KilledOnDrop(spawned);
        let words = || fs::read_to_string(folder.path().join("log")).unwrap_or_default();
        while TcpStream::connect(address).is_err() {
            if process.try_wait().is_ok_and(|end| end.is_some()) {
                return Err(format!("{} ended: {}", product.name(), last_words(&words())));
            }
            if started.elapsed() > LISTENING_WITHIN {
                return Err(format!("{} does not listen", product.name()));
            }
            std::thread::sleep(KNOCK_PAUSE);
        }
        let accepting = started.elapsed();
        let endpoint = Endpoint {
            name: product.name(),
            address,
            headers: product.headers(&url),
            judge: Case::judge_gateway,
        };
        let gateway = Self { process, endpoint, accepting, _folder: folder };
        gateway.until_it_answers(case)?;
        Ok(gateway)
    }

    /// It and all that it has started.
    pub(crate) fn processes(&self) -> Vec<u32> {
        [vec![self.process.id()], descendants(self.process.id())].concat()
    }

    /// Says what is wrong with its answers to this kind of request, if anything is.
    pub(crate) fn refusal(&self, case: &Case) -> Option<String> {
        let mut connection = self.endpoint.connect();
        let response = connection.ask(&self.endpoint.request(case));
        self.endpoint.verdict(case, response.status, &response.body).err()
    }

    fn until_it_answers(&self, case: &Case) -> Result<(), String> {
        let started = Instant::now();
        while let Some(refusal) = self.refusal(case) {
            if started.elapsed() > ANSWERING_WITHIN {
                return Err(format!("{} does not answer: {refusal}", self.endpoint.name));
            }
            std::thread::sleep(ASK_PAUSE);
        }
        Ok(())
    }
}

fn last_words(log: &str) -> String {
    let lines: Vec<_> = log.lines().rev().take(3).collect();
    lines.into_iter().rev().collect::<Vec<_>>().join(" / ")
}
