//! `serve`: the server, until it is told to stop.

use std::error::Error;
use std::io::Write as _;
use std::net::SocketAddr;
use std::pin::pin;
use std::process::ExitCode;
use std::sync::Arc;

use server::Readiness;
use tokio::net::TcpListener;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::cli::ServeOptions;
use crate::codex::Codex;
use crate::settings::Settings;

pub(crate) async fn run(
    options: ServeOptions,
    settings: Settings,
) -> Result<ExitCode, Box<dyn Error>> {
    let mut signals = Signals::new()?;
    let listeners = server::bind_loopback(options.port).await?;
    let address = listeners.first().map(TcpListener::local_addr).transpose()?;
    let (readiness, observed) = watch::channel(Readiness::Starting);
    let stop = CancellationToken::new();
    let mut serving = pin!(server::serve(listeners, observed, stop.clone()));
    let outcome = tokio::select! {
        outcome = work(&settings, &mut signals, &readiness, address) => outcome,
        () = &mut serving => Ok(()),
    };
    stop.cancel();
    // A client that never ends its request must not keep us, nor somebody who asks twice.
    tokio::select! {
        () = serving => {}
        () = tokio::time::sleep(settings.shutdown_grace) => {}
        () = signals.next() => {}
    }
    outcome.map(|()| ExitCode::SUCCESS)
}

/// Runs the child until somebody asks us to stop.
async fn work(
    settings: &Settings,
    signals: &mut Signals,
    readiness: &watch::Sender<Readiness>,
    address: Option<SocketAddr>,
) -> Result<(), Box<dyn Error>> {
    let codex = tokio::select! {
        codex = Codex::start(settings) => codex?,
        () = signals.next() => return Ok(()),
    };
    readiness.send_replace(Readiness::Ready { codex: codex.binary.version().to_string() });
    if let Some(address) = address {
        greet(&codex, address);
    }
    let mut gone = codex.client.gone();
    tokio::select! {
        () = signals.next() => {}
        () = report_loss(&mut gone, readiness) => {}
    }
    tracing::info!("stopping");
    codex.client.shutdown().await;
    Ok(())
}

/// Ctrl-C, and the polite way of ending a process.
struct Signals {
    interrupt: Signal,
    terminate: Signal,
}

impl Signals {
    fn new() -> std::io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

/// Makes a lost child visible, and never returns: the process goes on answering for it.
async fn report_loss(
    gone: &mut watch::Receiver<Option<Arc<str>>>,
    readiness: &watch::Sender<Readiness>,
) {
    let lost = gone.wait_for(Option::is_some).await.ok().and_then(|reason| reason.clone());
    if let Some(reason) = lost {
        tracing::error!(%reason, "Codex has gone; restart the server");
        readiness.send_replace(Readiness::Unavailable { reason: reason.to_string() });
    }
    std::future::pending::<()>().await;
}

/// Tells a person what there is. Whether anybody reads it does not matter to the server.
fn greet(codex: &Codex, address: SocketAddr) {
    // As it was called, so that the line can be pasted.
    let program = std::env::args().next().unwrap_or_else(|| "codex-completions".to_owned());
    let greeting = format!(
        "codex-completions {} is ready\n\
         \n  address  http://{address}\
         \n  health   http://{address}/healthz\
         \n  codex    {} ({})\
         \n  try      {program} ask --model demo \"hello\"\n\n",
        env!("CARGO_PKG_VERSION"),
        codex.binary.version(),
        codex.binary.path().display(),
    );
    let _ = std::io::stdout().write_all(greeting.as_bytes());
}
