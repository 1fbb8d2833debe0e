//! The scripted model behind a server, as far as the runner knows it.

use std::time::Duration;

use serde_json::Value;
use tokio::time::{Instant, sleep};

use crate::server::{Asked, Key, Server};

/// How long a server may take to end the model's request when its client has left.
const LEFT_WITHIN: Duration = Duration::from_secs(10);

/// Between two looks.
const LOOK_PAUSE: Duration = Duration::from_millis(20);

/// What is known of the model behind the server.
#[derive(Debug, Clone)]
pub enum ScriptedUpstream {
    /// Nothing: it may be any.
    Unknown,
    /// It is the scripted one, and says what a mark tells it to.
    Marks,
    /// It is the scripted one, and can be asked here what became of its requests.
    Controlled(Box<Server>),
}

/// Whether the model's request ended when the client left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Afterwards {
    Ended,
    StillRunning,
    Unknown(String),
}

/// How many of the model's requests its client has left before their end.
pub(crate) async fn disconnects(control: &Server) -> Result<u64, String> {
    let asked = Asked { path: "/ctl/stats", body: None, key: Key::Own };
    let stats = control.ask(asked).await.map_err(|error| error.to_string())?;
    let stats: Value = serde_json::from_str(&stats.body).unwrap_or_default();
    stats["disconnects"].as_u64().ok_or_else(|| "it tells no counters".to_owned())
}

/// Waits for one more than there were.
pub(crate) async fn one_more_than(control: &Server, before: u64) -> Afterwards {
    let deadline = Instant::now() + LEFT_WITHIN;
    loop {
        match disconnects(control).await {
            Ok(now) if now > before => return Afterwards::Ended,
            Ok(_) if Instant::now() > deadline => return Afterwards::StillRunning,
            Ok(_) => sleep(LOOK_PAUSE).await,
            Err(why) => return Afterwards::Unknown(why),
        }
    }
}
