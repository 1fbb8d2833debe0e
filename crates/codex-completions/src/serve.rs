//! `serve`: the server, until it is told to stop.

use std::convert::Infallible;
use std::error::Error;
use std::io::Write as _;
use std::net::SocketAddr;
use std::pin::pin;
use std::process::ExitCode;

use codex_app_server::{CodexBinary, CodexHome, Pool, WorkerState};
use configuration::Settings;
use server::{Readiness, WorkerHealth};
use tokio::net::TcpListener;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::cli;
use crate::codex;
use crate::listening;
use crate::signals::Signals;

pub(crate) async fn run(settings: Settings) -> Result<ExitCode, Box<dyn Error>> {
    let mut signals = Signals::new()?;
    let listeners = listening::bind(settings.listen).await?;
    let address = listeners.first().map(TcpListener::local_addr).transpose()?;
    let (readiness, observed) = watch::channel(Readiness::default());
    let stop = CancellationToken::new();
    let tasks = TaskTracker::new();
    let serving = tasks.spawn(server::serve(listeners, observed, stop.clone()));
    let outcome = work(&settings, &mut signals, &readiness, address).await;
    stop.cancel();
    // A client that never ends its request must not keep us, nor somebody who asks twice.
    if !matches!(outcome, Ok(Stop::AtOnce)) {
        tokio::select! {
            _ = serving => {}
            () = tokio::time::sleep(settings.codex.children.shutdown_grace) => {}
            () = signals.stop() => {}
        }
    }
    outcome.map(|_| ExitCode::SUCCESS)
}

/// How we were asked to stop.
enum Stop {
    Politely,
    /// For the second time: what still runs is killed.
    AtOnce,
}

/// Keeps the children running until somebody asks us to stop.
async fn work(
    settings: &Settings,
    signals: &mut Signals,
    readiness: &watch::Sender<Readiness>,
    address: Option<SocketAddr>,
) -> Result<Stop, Box<dyn Error>> {
    let renewals = signal(SignalKind::user_defined2())?;
    // What no restart can mend is an error at once.
    CodexHome::make(&settings.codex.home)?;
    let binary = tokio::select! {
        binary = codex::locate(settings) => binary?,
        () = signals.stop() => return Ok(Stop::Politely),
    };
    let pool = Pool::start(settings.pool_config(binary.clone()));
    let mut states = pool.states();
    let mut renewing = pin!(renew_on_request(&pool, renewals));
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
            never = &mut renewing => match never {},
            () = signals.stop() => break,
        }
    }
    tracing::info!("stopping");
    readiness.send_modify(|now| now.workers.fill(WorkerHealth::Stopped));
    tokio::select! {
        () = pool.shutdown() => Ok(Stop::Politely),
        () = signals.stop() => Ok(Stop::AtOnce),
    }
}

/// Takes up another version of Codex at every request; one that comes meanwhile is the next.
async fn renew_on_request(pool: &Pool, mut requests: Signal) -> Infallible {
    loop {
        requests.recv().await;
        match pool.renew().await {
            Ok(version) => tracing::info!(%version, "all turns go to a new Codex from now on"),
            Err(error) => tracing::error!(%error, "Codex was not renewed"),
        }
    }
}

fn health_of(states: &[WorkerState]) -> Readiness {
    let worker = |state: &WorkerState| match state {
        WorkerState::Starting => WorkerHealth::Starting,
        WorkerState::Ready { version, not_renewed, .. } => WorkerHealth::Ready {
            codex: version.to_string(),
            not_renewed: not_renewed.as_deref().map(str::to_owned),
        },
        WorkerState::Restarting { reason, failures, next_try } => WorkerHealth::Restarting {
            reason: reason.to_string(),
            failures: *failures,
            next_try: *next_try,
        },
        WorkerState::Stopped => WorkerHealth::Stopped,
    };
    Readiness { workers: states.iter().map(worker).collect() }
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
