//! `serve`: the server, until it is told to stop.

use std::convert::Infallible;
use std::error::Error;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::Path;
use std::pin::pin;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use codex_app_server::account::SeparateLogin;
use codex_app_server::{CodexBinary, CodexHome, Pool, WorkerState};
use configuration::table::WORKER_SHUTDOWN_GRACE_MS;
use configuration::{ApiKey, Inputs, Keys, Loaded, RunSecretFile, Settings};
use server::{
    Access, AccountLimits, AllowedHost, Api, Backend, BindError, IdleTimeout, ImageFetcher,
    ModelDirectory, Readiness, RunSecret,
};
use tokio::net::{TcpListener, lookup_host};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::app;
use crate::cli;
use crate::codex;
use crate::demo::{self, Demo};
use crate::greeting::Greeting;
use crate::logging::Logs;
use crate::reload::{InUse, Reload, TerminalGone};
use crate::service_manager::ServiceManager;
use crate::signals::Signals;
use crate::target::{Running, Target};
use crate::traces::Traces;

/// How long the end may wait for the disk.
const WRITTEN_WITHIN: Duration = Duration::from_secs(2);

pub(crate) async fn run(
    inputs: Inputs,
    loaded: Loaded,
    logs: Logs,
) -> Result<ExitCode, Box<dyn Error>> {
    let mut signals = Signals::new()?;
    let settings = loaded.settings.clone();
    let key = ApiKey::obtain(&settings)?;
    let keys = Keys::load(&settings)?;
    for warning in key.warnings.iter().chain(&keys.warnings) {
        tracing::warn!("{warning}");
    }
    if settings.log.content {
        tracing::warn!("PROXY_LOG_CONTENT is set: prompts, answers and arguments are in this log");
    }
    if let Some(folder) = &settings.captures {
        let folder = folder.display();
        tracing::warn!(%folder, "PROXY_CAPTURE_DIR is set: requests are recorded");
    }
    let (readiness, observed) = watch::channel(Readiness::default());
    let database = app::database(&settings).await;
    let api = Api::new(app::api_settings(&loaded), database.clone());
    let traces = Traces::start(&settings, &api)?;
    let listeners = match app::bind(settings.listen).await {
        Ok(listeners) => listeners,
        Err(error) => return Err(not_bound(error, &settings).await),
    };
    let address = listeners.first().map(TcpListener::local_addr).transpose()?;
    let port = address.map_or(0, |address| address.port());
    let run_secret = RunSecretFile::new(&settings, port);
    let secret = run_secret.renew()?;
    let page_host = page_host(&listeners, port).await;
    let access = Access::with_page_host(port, page_host, app::access_settings(&settings, &keys)?);
    let idle_timeout = IdleTimeout::new(settings.turn_options().limits.idle_timeout);
    let app = app::app(
        &settings,
        access.clone(),
        RunSecret::new(secret),
        idle_timeout.clone(),
        &api,
        observed,
    );
    let service_manager = Arc::<ServiceManager>::default();
    let in_use = InUse {
        access: access.clone(),
        idle_timeout,
        api: api.clone(),
        logs,
        service_manager: Arc::clone(&service_manager),
    };
    let mut reload = Reload::new(inputs, loaded, keys, in_use)?;
    let stop = CancellationToken::new();
    let tasks = TaskTracker::new();
    tasks.spawn(server::serve(listeners, app, stop.clone()));
    tasks.close();
    let greeting = address.map(|address| Greeting {
        address: reachable(address),
        key,
        access: access.clone(),
        upstream: settings.codex.upstream.clone(),
        service_manager: Arc::clone(&service_manager),
    });
    let backend = work(&settings, &api, &mut signals, &mut reload, &readiness, greeting).await?;
    tracing::info!("stopping");
    service_manager.stopping();
    readiness.send_modify(|now| now.workers.fill(WorkerState::Stopped));
    api.close();
    let grace = settings.values.millis(&WORKER_SHUTDOWN_GRACE_MS);
    let end = async {
        // The demo answers until then.
        if let Some((pool, _demo)) = backend {
            let _ = tokio::time::timeout(grace, api.sign_in_ended()).await;
            // What ends by itself in time is not cut off; all else is told.
            let _ = tokio::time::timeout(grace, api.queue().idle()).await;
            pool.shutdown().await;
        }
        // While the port is still ours: the next server of the port has a secret of its own.
        run_secret.remove(&secret);
        stop.cancel();
        // A client that never ends its request must not keep us.
        let _ = tokio::time::timeout(grace, tasks.wait()).await;
        // Nor must a disk or a collector that takes nothing.
        let told = async { tokio::join!(api.captured(), traces.finish()) };
        let _ = tokio::time::timeout(grace, told).await;
    };
    tokio::select! {
        () = end => {}
        // Who asks twice does not wait.
        () = signals.stop() => {}
    }
    if let Ok(database) = database {
        // Whatever has ended is written, unless the disk keeps us.
        let _ = tokio::time::timeout(WRITTEN_WITHIN, database.settle()).await;
    }
    Ok(ExitCode::SUCCESS)
}

/// Keeps the children and the demo running until somebody asks us to stop; they are there unless
/// that was very soon.
async fn work(
    settings: &Settings,
    api: &Api,
    signals: &mut Signals,
    reload: &mut Reload,
    readiness: &watch::Sender<Readiness>,
    greeting: Option<Greeting>,
) -> Result<Option<(Pool, Demo)>, Box<dyn Error>> {
    let renewals = signal(SignalKind::user_defined2())?;
    // What no restart can mend is an error at once.
    CodexHome::make(&settings.codex.home)?;
    remove_leftovers(&settings.codex.home);
    let binary = tokio::select! {
        binary = codex::locate(settings) => binary?,
        () = signals.stop() => return Ok(None),
    };
    let demo = Demo::start().await?;
    let mut config = settings.pool_config(binary.clone());
    config.client.timings = Some(api.timings());
    config.client.canary = Some(demo::canary(settings));
    let pool = Pool::start(config);
    let account = AccountLimits::default();
    api.open(Backend {
        pool: pool.clone(),
        models: models(settings, &pool, &demo),
        images: ImageFetcher::new(),
        account: account.clone(),
    });
    let mut states = pool.states();
    let mut greeting = pin!(greet(greeting, readiness.subscribe(), pool.clone(), binary));
    let mut renewing = pin!(renew_on_request(pool.clone(), renewals));
    let mut following = pin!(account.follow(pool.clone()));
    let mut reloading = pin!(reload.run());
    loop {
        let now = Readiness { workers: states.borrow_and_update().clone() };
        readiness.send_replace(now);
        tokio::select! {
            _ = states.changed() => {}
            never = &mut greeting => match never {},
            never = &mut renewing => match never {},
            never = &mut following => match never {},
            TerminalGone = &mut reloading => break,
            () = signals.stop() => break,
        }
    }
    Ok(Some((pool, demo)))
}

/// A server that crashed during a sign-in has left tokens.
fn remove_leftovers(home: &Path) {
    match SeparateLogin::remove_leftovers(home) {
        Ok(0) => {}
        Ok(count) => tracing::info!(count, "removed what sign-ins had left after a crash"),
        Err(error) => {
            tracing::warn!(%error, "cannot remove what sign-ins have left after a crash");
        }
    }
}

/// A name of the page for this run. Browsers themselves take it for both loopback addresses, so both must be
/// ours; only Safari asks the system, which may not know it.
async fn page_host(listeners: &[TcpListener], port: u16) -> Option<AllowedHost> {
    let is_ours = |address: IpAddr| {
        let mut own = listeners.iter().filter_map(|listener| listener.local_addr().ok());
        own.any(|own| own.ip() == address)
    };
    let are_ours = is_ours(Ipv4Addr::LOCALHOST.into()) && is_ours(Ipv6Addr::LOCALHOST.into());
    let host = AllowedHost::random(port).filter(|_| are_ours)?;
    let is_known = !cfg!(target_os = "macos") || lookup_host(host.to_string()).await.is_ok();
    is_known.then_some(host)
}

/// Tells once that we are ready.
async fn greet(
    greeting: Option<Greeting>,
    readiness: watch::Receiver<Readiness>,
    pool: Pool,
    binary: CodexBinary,
) -> Infallible {
    if let Some(greeting) = greeting {
        greeting.tell(readiness, &pool, &binary).await;
    }
    std::future::pending().await
}

/// Who starts a second server by mistake should find the first one, and not another port.
async fn not_bound(error: BindError, settings: &Settings) -> Box<dyn Error> {
    if let (BindError::InUse(_), Ok(target)) = (&error, Target::of(settings))
        && let Running::Ours { .. } = Running::at(&target).await
    {
        let page = target.base_url.page();
        let program = cli::program();
        return format!(
            "codex-completions is running there already: its page is {page}, and `{program} status` prints \
             a link that opens it (another server needs another port: --port or PORT)"
        )
        .into();
    }
    error.into()
}

/// Takes up another version of Codex at every request; one that comes meanwhile is the next.
async fn renew_on_request(pool: Pool, mut requests: Signal) -> Infallible {
    loop {
        requests.recv().await;
        match pool.renew().await {
            Ok(version) => tracing::info!(%version, "all turns go to a new Codex from now on"),
            Err(error) => tracing::error!(%error, "Codex was not renewed"),
        }
    }
}

fn models(settings: &Settings, pool: &Pool, demo: &Demo) -> ModelDirectory {
    let codex = &settings.codex;
    ModelDirectory::new(pool.clone(), codex.model.clone(), codex.upstream.clone(), demo.upstream())
}

/// An address that this machine can be asked at, where we listen on all that it has.
fn reachable(address: SocketAddr) -> SocketAddr {
    match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => (Ipv4Addr::LOCALHOST, address.port()).into(),
        IpAddr::V6(ip) if ip.is_unspecified() => (Ipv6Addr::LOCALHOST, address.port()).into(),
        IpAddr::V4(_) | IpAddr::V6(_) => address,
    }
}
