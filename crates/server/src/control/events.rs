//! `GET /v1/proxy/events`: what happens, as it happens.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::Extension;
use axum::extract::State;
use axum::http::HeaderValue;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse as _, Response};
use futures_util::{Stream, StreamExt as _, stream};
use serde::Serialize;
use serde_json::{Value, json};
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;
use tokio::time::{Interval, MissedTickBehavior, interval};

use super::status;
use crate::api::{ApiSettings, OwnerApi};
use crate::gate::admission::OwnerGrant;
use crate::headers::X_ACCEL_BUFFERING;
use crate::recent_turns::TurnRow;

/// How often the state is looked at while somebody watches. It costs microseconds.
const LOOKED_AT_EVERY: Duration = Duration::from_millis(250);

/// Silence after which a comment is sent.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// Somebody who watches.
struct Watcher {
    api: Arc<OwnerApi>,
    turns: broadcast::Receiver<Arc<TurnRow>>,
    status: Value,
    settings: Arc<ApiSettings>,
    looks: Interval,
}

pub(super) async fn follow(
    State(api): State<Arc<OwnerApi>>,
    Extension(grant): Extension<OwnerGrant>,
) -> Response {
    let (turns, changes) = api.recent.watch();
    let mut looks = interval(LOOKED_AT_EVERY);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let watcher = Watcher {
        turns: changes,
        // The first look finds another one.
        status: Value::Null,
        settings: api.settings.load_full(),
        looks,
        api,
    };
    let changes = stream::unfold(watcher, async |mut watcher| {
        let event = watcher.next().await?;
        Some((event, watcher))
    });
    let events = stream::iter(event("turns", &turns)).chain(changes);
    let events = while_granted(grant, events).map(Ok::<_, Infallible>);
    let keep_alive = KeepAlive::new().interval(KEEP_ALIVE);
    let mut response = Sse::new(events).keep_alive(keep_alive).into_response();
    response.headers_mut().insert(X_ACCEL_BUFFERING, HeaderValue::from_static("no"));
    response
}

/// The same events until the grant ends, however many are ready by then.
fn while_granted<E>(grant: OwnerGrant, events: impl Stream<Item = E>) -> impl Stream<Item = E> {
    let events = (grant, Box::pin(events));
    stream::unfold(events, async |(grant, mut events)| {
        let event = tokio::select! {
            biased;
            () = grant.ended() => return None,
            event = events.next() => event?,
        };
        Some((event, (grant, events)))
    })
}

fn event(name: &str, data: &impl Serialize) -> Option<Event> {
    Event::default().event(name).json_data(data).ok()
}

// === impl Watcher ===

impl Watcher {
    /// `None` when the server stops.
    async fn next(&mut self) -> Option<Event> {
        loop {
            tokio::select! {
                biased;
                () = self.api.stopping.cancelled() => return None,
                turn = self.turns.recv() => match turn {
                    Ok(turn) => return event("turn", &*turn),
                    // It was too slow for some: then it gets all of them.
                    Err(RecvError::Lagged(_)) => {
                        let (all, changes) = self.api.recent.watch();
                        self.turns = changes;
                        return event("turns", &all);
                    }
                    Err(RecvError::Closed) => return None,
                },
                _ = self.looks.tick() => {
                    if let Some(event) = self.look() {
                        return Some(event);
                    }
                }
            }
        }
    }

    fn look(&mut self) -> Option<Event> {
        let settings = self.api.settings.load_full();
        if !Arc::ptr_eq(&settings, &self.settings) {
            self.settings = settings;
            return event("settings", &json!({}));
        }
        let now = status::now(&self.api);
        if is_same(&now, &self.status) {
            return None;
        }
        let event = event("status", &now);
        self.status = now;
        event
    }
}

/// Nobody needs to be told that time passes.
fn is_same(one: &Value, other: &Value) -> bool {
    let (Value::Object(one), Value::Object(other)) = (one, other) else { return false };
    let told = |name: &str| name != "uptime_seconds";
    one.len() == other.len()
        && one.iter().all(|(name, value)| !told(name) || other.get(name) == Some(value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::{Access, AccessSettings, ApiKey};

    fn with_key(secret: &str) -> AccessSettings {
        AccessSettings {
            allowed_hosts: Vec::new(),
            allowed_origins: Vec::new(),
            keys: vec![ApiKey::new("default", "default", secret).of_the_owner()],
            key_hint: String::new(),
        }
    }

    #[tokio::test]
    async fn row_21_no_event_of_a_backlog_is_sent_once_the_grant_has_ended() {
        let access = Access::new(80, with_key("sk-one"));
        let events = while_granted(OwnerGrant::of_key(&access, "sk-one"), stream::iter(0..1_000));
        let mut events = std::pin::pin!(events);
        assert_eq!(events.next().await, Some(0));
        // A change that leaves the key as it was ends nothing.
        access.change(with_key("sk-one"));
        assert_eq!(events.next().await, Some(1));
        access.change(with_key("sk-two"));
        assert_eq!(events.next().await, None);
    }

    #[tokio::test]
    async fn row_21_a_stream_that_waits_for_events_ends_with_its_grant() {
        let access = Access::new(80, with_key("sk-one"));
        let grant = OwnerGrant::of_key(&access, "sk-one");
        let events = while_granted(grant, stream::pending::<()>());
        let rotate = async { access.change(with_key("sk-two")) };
        // Polled in this order: the stream waits when the key changes.
        let (rest, ()) = tokio::join!(biased; events.collect::<Vec<_>>(), rotate);
        assert_eq!(rest, []);
        // Nor does one begin after that.
        let grant = OwnerGrant::of_key(&access, "sk-one");
        assert_eq!(while_granted(grant, stream::iter([()])).count().await, 0);
    }
}
