//! A client for the official `codex app-server`.
//!
//! It runs Codex with everything of Codex's own switched off, and turns one request into one
//! ordered stream of typed events: [`Client::start_turn`] gives a [`Turn`].
//!
//! A [`Client`] is one child. A [`Pool`] keeps any number of them running: those that exit or hang
//! are brought back, and turns go to the one that has least to do. [`account`] is for signing in.
//!
//! Codex never acts here: it has no tools of its own, and the calls of the client's tools are
//! handed over as [`model_turn::TurnEvent::ToolCall`], unanswered, exactly as the model wrote
//! them.
//!
//! ```no_run
//! use codex_app_server::{Client, ClientConfig, CodexBinary};
//! use model_turn::{HistoryItem, Role, TurnRequest};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let binary = CodexBinary::locate(None, "copies".as_ref()).await?;
//! let client = Client::start(ClientConfig::new(binary, "codex-home")).await?;
//! let mut turn = client.start_turn(TurnRequest {
//!     model: "gpt-5.5".to_owned(),
//!     history: vec![HistoryItem::text(Role::User, "Hello")],
//!     ..TurnRequest::default()
//! })?;
//! while let Some(event) = turn.next().await {
//!     println!("{event:?}");
//! }
//! client.shutdown().await;
//! # Ok(())
//! # }
//! ```

pub mod account;
mod backoff;
mod binary;
mod canary;
mod catalog;
mod child;
mod child_log;
mod client;
mod client_config;
mod codex;
mod connection;
mod continuity;
mod custom_input;
mod failure;
mod guard;
mod heartbeat;
mod history;
mod home;
mod ids;
mod line;
mod line_budget;
mod log_database;
mod login_file;
mod login_home;
mod login_import;
mod login_watch;
mod message;
mod models;
mod outbox;
mod pool;
mod process;
pub mod protocol;
mod request_error;
mod stats;
mod stderr_line;
mod timing;
mod tool_names;
pub mod turn;
mod worker;

pub use binary::{BinaryError, CodexBinary, MINIMUM_VERSION};
pub use canary::{
    BrokenPromise, CanaryConfig, CanaryModel, CanaryState, Promise, StartCanaryModel,
    StartingCanaryModel,
};
pub use catalog::{CatalogError, DEMO_MODEL};
pub use child_log::EarlyArguments;
#[doc(hidden)]
pub use child_log::is_from_our_filter;
pub use client::{Client, StartError};
pub use client_config::{ClientConfig, StderrContent};
pub use codex::{Codex, Pending, Pipes, Process};
pub use connection::{Direction, Notification, WireTap};
pub use continuity::{Continued, ContinuityLimits, FreshReason, KeptCounts};
pub use heartbeat::Heartbeat;
pub use home::{CodexHome, HomeError};
pub use message::RpcError;
pub use models::{InvalidAlias, Model, ModelAlias, ModelAliases, ResolvedModel};
pub use pool::{Pool, PoolConfig, RenewError};
pub use request_error::RequestError;
pub use stats::StatsSnapshot;
pub use timing::{Timing, Timings};
pub use turn::{Consumer, Turn, TurnLimits, TurnOptions};
pub use worker::WorkerState;
