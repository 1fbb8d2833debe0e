//! `serve`: the server, until it is told to stop.

use std::error::Error;
use std::io::Write as _;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;

use server::Readiness;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::cli::ServeOptions;
use crate::codex::Codex;
use crate::settings::Settings;

pub(crate) async fn run(
    options: ServeOptions,
    settings: Settings,
) -> Result<ExitCode, Box<dyn Error>> {
    let mut interrupted = signal(SignalKind::interrupt())?;
    let mut terminated = signal(SignalKind::terminate())?;
    let listeners = server::bind_loopback(options.port).await?;
    let address = listeners.first().map(tokio::net::TcpListener::local_addr).transpose()?;
    let (readiness, observed) = watch::channel(Readiness::Starting);
    let stop = CancellationToken::new();
    let serving = server::serve(listeners, observed, stop.clone());
    let working = async {
        let codex = tokio::select! {
            codex = Codex::start(&settings) => codex?,
            _ = interrupted.recv() => return Ok(()),
            _ = terminated.recv() => return Ok(()),
        };
        readiness.send_replace(Readiness::Ready { codex: codex.binary.version().to_string() });
        if let Some(address) = address {
            greet(&codex, address);
        }
        let mut gone = codex.client.gone();
        tokio::select! {
            _ = interrupted.recv() => {}
            _ = terminated.recv() => {}
            () = report_loss(&mut gone, &readiness) => {}
        }
        tracing::info!("stopping");
        codex.client.shutdown().await;
        Ok(())
    };
    let worked = async {
        let outcome: Result<(), Box<dyn Error>> = working.await;
        stop.cancel();
        outcome
    };
    let (outcome, ()) = tokio::join!(worked, serving);
    outcome.map(|()| ExitCode::SUCCESS)
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
