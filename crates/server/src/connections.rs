//! Accepting connections, and HTTP on each of them.

mod activity;
mod refusal;
mod request_body;
mod roster;
mod watched;

use std::convert::Infallible;
use std::future::{Future as _, poll_fn};
use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Poll;
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::http::{HeaderValue, header};
use http_body::Body as _;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use openai_wire::ApiError;
use tokio::io::AsyncWriteExt as _;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::alarm::Alarm;
use crate::gate::Gate;
use crate::identity::{IDENTITY_PATH, LocalAddress};
use crate::network::{Listener, Stream};
use activity::{Activity, Lapse, Patience};
use request_body::RequestBody;
use roster::{Entry, Roster};
use watched::Watched;

pub(crate) use activity::{Hangup, Underway};

/// How long nothing is accepted after the system could not give us another connection.
const PAUSE: Duration = Duration::from_millis(200);
/// How often somebody is told about that at most.
const COMPLAIN_EVERY: Duration = Duration::from_secs(1);
/// How long what a client still sends is taken after its connection's last answer.
const LINGER: Duration = Duration::from_secs(2);
/// How many are told at once that there is no room; more are not told anything.
const MOST_TURNED_AWAY: usize = 64;
/// The number of headers for which hyper has room without asking for memory.
const HYPERS_OWN_MAX_HEADERS: usize = 100;

/// What connections may cost.
#[derive(Debug, Clone)]
pub struct ConnectionLimits {
    /// Most connections at once.
    pub max_connections: usize,
    /// How long the head of a request may take, from its first byte to its last.
    pub header_timeout: Duration,
    /// The longest head of a request.
    pub max_header_bytes: usize,
    /// Most headers of a request.
    pub max_headers: usize,
    /// How long a connection may be without a request, and how long a client may take nothing of its
    /// answer.
    pub idle_timeout: IdleTimeout,
}

/// A time that can change while the server runs. Clones share it.
#[derive(Debug, Clone)]
pub struct IdleTimeout(Arc<AtomicU64>);

/// What all connections share.
pub(crate) struct Connections {
    gate: Gate,
    http: http1::Builder,
    limits: ConnectionLimits,
    roster: Arc<Roster>,
    turned_away: Arc<Semaphore>,
    tasks: TaskTracker,
    stop: CancellationToken,
}

/// How a conversation came to its end.
enum End {
    /// By itself.
    Http(hyper::Result<()>),
    Lapsed(Lapse),
    HungUp,
}

// === impl IdleTimeout ===

impl IdleTimeout {
    /// It is this until it is changed.
    pub fn new(timeout: Duration) -> Self {
        Self(Arc::new(AtomicU64::new(millis(timeout))))
    }

    /// From now on it is this.
    pub fn change(&self, timeout: Duration) {
        self.0.store(millis(timeout), Ordering::Relaxed);
    }

    fn now(&self) -> Duration {
        Duration::from_millis(self.0.load(Ordering::Relaxed))
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

// === impl Connections ===

impl Connections {
    pub(crate) fn new(
        gate: Gate,
        limits: ConnectionLimits,
        tasks: TaskTracker,
        stop: CancellationToken,
    ) -> Self {
        let mut http = http1::Builder::new();
        // Hyper's own limit would end idle connections as well.
        http.header_read_timeout(None).max_header_size(limits.max_header_bytes);
        if limits.max_headers != HYPERS_OWN_MAX_HEADERS {
            http.max_headers(limits.max_headers);
        }
        let roster = Arc::new(Roster::new(limits.max_connections));
        let turned_away = Arc::new(Semaphore::new(MOST_TURNED_AWAY));
        Self { gate, http, limits, roster, turned_away, tasks, stop }
    }

    /// Accepts connections until it is told to stop.
    pub(crate) async fn accept(self: Arc<Self>, listener: impl Listener) {
        let mut complained: Option<Instant> = None;
        while let Some(accepted) = self.stop.run_until_cancelled(listener.accept()).await {
            match accepted {
                Ok(stream) => match self.roster.admit(self.patience()) {
                    Some(entry) => {
                        self.tasks.spawn(Arc::clone(&self).converse(stream, entry));
                    }
                    None => self.turn_away(stream),
                },
                Err(error) if is_the_clients(&error) => {}
                // Usually too many open files: one that nobody uses is closed.
                Err(error) => {
                    if complained.is_none_or(|at| ambient::since(at) >= COMPLAIN_EVERY) {
                        complained = Some(ambient::now());
                        tracing::error!(%error, "cannot accept a connection");
                    }
                    let room = self.roster.make_room(self.patience());
                    let pause = tokio::time::timeout(PAUSE, room);
                    self.stop.run_until_cancelled(pause).await;
                }
            }
        }
    }

    fn patience(&self) -> Patience {
        Patience { head: self.limits.header_timeout, idle: self.limits.idle_timeout.now() }
    }

    /// Serves one connection. When it is told to stop, the request under way is the last one.
    async fn converse(self: Arc<Self>, stream: impl Stream, entry: Entry) {
        if let Err(error) = stream.set_nodelay() {
            tracing::debug!(%error, "a connection was lost");
            return;
        }
        let activity = entry.activity();
        let local = stream.local_addr().ok().map(LocalAddress);
        let service = service_fn(|mut request: hyper::Request<Incoming>| {
            let this = &self;
            let underway = activity.begin(!request.body().is_end_stream());
            request.extensions_mut().insert(activity.hangup().clone());
            // One path alone needs it, and an extension costs every request something.
            if let Some(local) = local.filter(|_| request.uri().path().starts_with(IDENTITY_PATH)) {
                request.extensions_mut().insert(local);
            }
            let noted = |body| Body::new(RequestBody { body, activity: Arc::clone(activity) });
            let request = request.map(noted);
            Box::pin(async move {
                let mut response = this.gate.answer(request, underway).await;
                if activity.has_unread_body() {
                    // HTTP ends here, and a client must not send its next request behind the body.
                    let close = HeaderValue::from_static("close");
                    response.headers_mut().insert(header::CONNECTION, close);
                }
                Ok::<_, Infallible>(response)
            })
        });
        let watched = TokioIo::new(Watched::new(stream, Arc::clone(activity)));
        let mut connection = self.http.serve_connection(watched, service);
        let mut alarm = Alarm::default();
        let mut hung_up = pin!(activity.hangup().0.cancelled());
        let mut stopped = pin!(self.stop.cancelled());
        let mut stopping = false;
        let end = poll_fn(|context| {
            // Before anything of an answer is taken that its client has left lying.
            if hung_up.as_mut().poll(context).is_ready() {
                return Poll::Ready(End::HungUp);
            }
            if !stopping && stopped.as_mut().poll(context).is_ready() {
                stopping = true;
                Pin::new(&mut connection).graceful_shutdown();
            }
            if let Poll::Ready(result) = connection.poll_without_shutdown(context) {
                return Poll::Ready(End::Http(result));
            }
            let Some((at, lapse)) = activity.deadline(self.patience()) else {
                return Poll::Pending;
            };
            alarm.poll_until(at, context).map(|()| End::Lapsed(lapse))
        })
        .await;
        let was_busy = activity.is_busy();
        if let End::Lapsed(Lapse::Reading) = end {
            // What is dropped now shall know why.
            activity.hangup().0.cancel();
        }
        activity.leave();
        let (stream, unanswered) = connection.into_parts().io.into_inner().into_parts();
        match end {
            End::Http(Ok(())) => self.part(stream, activity, None).await,
            End::Http(Err(error)) => {
                tracing::debug!(%error, "a connection ended early");
                if error.is_user() {
                    return cut(&stream);
                }
                let answer = unanswered.then(|| refusal::unreadable(&error, &self.limits));
                self.part(stream, activity, answer).await;
            }
            End::Lapsed(Lapse::Head) => {
                let answer = refusal::slow_head(&self.limits);
                self.part(stream, activity, Some(answer)).await;
            }
            End::Lapsed(Lapse::Reading) => {
                tracing::debug!("a connection was closed: its client does not read");
                cut(&stream);
            }
            End::HungUp if was_busy => {
                tracing::debug!("a connection was closed: its client reads too slowly");
                cut(&stream);
            }
            End::Lapsed(Lapse::Request) | End::HungUp => {}
        }
    }

    /// Tells somebody that there is no room.
    fn turn_away(self: &Arc<Self>, stream: impl Stream) {
        let Ok(permit) = Arc::clone(&self.turned_away).try_acquire_owned() else { return };
        let this = Arc::clone(self);
        self.tasks.spawn(async move {
            let answer = refusal::no_room(&this.limits);
            this.part(stream, &Activity::new(), Some(answer)).await;
            drop(permit);
        });
    }

    fn refusal(&self, error: ApiError) -> Vec<u8> {
        self.gate.metrics().connection_refused(error.code.as_deref().unwrap_or("other"));
        refusal::to_bytes(error)
    }

    /// Closes a connection, perhaps with an answer, in a way that lets the client read its last one.
    async fn part(&self, stream: impl Stream, activity: &Activity, answer: Option<ApiError>) {
        let bytes = answer.map(|error| self.refusal(error)).unwrap_or_default();
        let parting = tokio::time::timeout(LINGER, say_and_take_the_rest(stream, &bytes));
        tokio::select! {
            biased;
            _ = parting => {}
            () = activity.hangup().0.cancelled() => {}
            () = self.stop.cancelled() => {}
        }
    }
}

/// Closing at once while a refused body is still on its way would reset the connection, and most
/// clients would report that instead of the answer.
async fn say_and_take_the_rest(mut stream: impl Stream, bytes: &[u8]) -> io::Result<()> {
    stream.write_all(bytes).await?;
    stream.shutdown().await?;
    tokio::io::copy(&mut stream, &mut tokio::io::sink()).await?;
    Ok(())
}

/// Has a connection reset when it is dropped in the middle of an answer, so that this never looks like
/// its end: without a length or chunks a client knows the end only by how the connection closes.
/// Nothing that waits for the client is kept either.
fn cut(stream: &impl Stream) {
    if let Err(error) = stream.set_zero_linger() {
        tracing::debug!(%error, "a connection was lost");
    }
}

/// An error of a connection that was lost before we had it.
fn is_the_clients(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}
