//! `serve`: the server, until it is told to stop.

use std::error::Error;
use std::io::Write as _;
use std::net::SocketAddr;
use std::pin::pin;
use std::process::ExitCode;

use codex_app_server::{CodexBinary, CodexHome, Pool, WorkerState};
use server::{Readiness, WorkerHealth};
use tokio::net::TcpListener;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::cli::{self, ServeOptions};
use crate::codex;
use crate::settings::Settings;

pub(crate) async fn run(
    options: ServeOptions,
    settings: Settings,
) -> Result<ExitCode, Box<dyn Error>> {
    let mut signals = Signals::new()?;
    let listeners = server::bind_loopback(options.port).await?;
    let address = listeners.first().map(TcpListener::local_addr).transpose()?;
    let (readiness, observed) = watch::channel(Readiness::default());
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
        () = signals.stop() => {}
    }
    outcome.map(|()| ExitCode::SUCCESS)
}

/// Keeps the children running until somebody asks us to stop.
async fn work(
    settings: &Settings,
    signals: &mut Signals,
    readiness: &watch::Sender<Readiness>,
    address: Option<SocketAddr>,
) -> Result<(), Box<dyn Error>> {
    let mut renewals = signal(SignalKind::user_defined2())?;
    let binary = codex::locate(settings).await?;
    // What no restart can mend is an error at once.
    CodexHome::check(&settings.codex_home)?;
    let pool = Pool::start(settings.pool_config(binary.clone()));
    let tasks = TaskTracker::new();
    let mut states = pool.states();
    let mut greeted = false;
    loop {
        let now = health_of(&states.borrow_and_update());
        if now.is_ready()
            && !std::mem::replace(&mut greeted, true)
            && let Some(address) = address
        {
            greet(&binary, address);
        }
        readiness.send_replace(now);
        tokio::select! {
            _ = states.changed() => {}
            _ = renewals.recv() => {
                tasks.spawn(renew(pool.clone()));
            }
            () = signals.stop() => break,
        }
    }
    tracing::info!("stopping");
    tokio::select! {
        () = pool.shutdown() => {}
        // Who asks twice does not want to wait: what still runs is killed.
        () = signals.stop() => {}
    }
    Ok(())
}

/// Takes up another version of Codex, on request.
async fn renew(pool: Pool) {
    match pool.renew().await {
        Ok(version) => tracing::info!(%version, "new turns go to a new Codex"),
        Err(error) => tracing::error!(%error, "Codex was not renewed"),
    }
}

fn health_of(states: &[WorkerState]) -> Readiness {
    let worker = |state: &WorkerState| match state {
        WorkerState::Starting => WorkerHealth::Starting,
        WorkerState::Ready { version, .. } => WorkerHealth::Ready { codex: version.to_string() },
        WorkerState::Restarting { reason, failures, next_try } => WorkerHealth::Restarting {
            reason: reason.to_string(),
            failures: *failures,
            next_try: *next_try,
        },
        WorkerState::Stopped => WorkerHealth::Stopped,
    };
    Readiness { workers: states.iter().map(worker).collect() }
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

    async fn stop(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

/// Tells a person what there is. Whether anybody reads it does not matter to the server.
fn greet(binary: &CodexBinary, address: SocketAddr) {
    let program = cli::program();
    let greeting = format!(
        "codex-completions {} is ready\n\
         \n  address  http://{address}\
         \n  health   http://{address}/healthz\
         \n  codex    {} ({})\
         \n  try      {program} ask --model demo \"hello\"\n\n",
        env!("CARGO_PKG_VERSION"),
        binary.version(),
        binary.path().display(),
    );
    let _ = std::io::stdout().write_all(greeting.as_bytes());
}
