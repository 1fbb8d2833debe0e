//! Tests any OpenAI-compatible server against the rules that real clients depend on.
//!
//! The rules and the scenarios are data: the folder `conformance/` of the repository has them and
//! describes their format. What judges an exchange is pure; [`run`] alone talks to a server.
//! [`reading`] has the readers of answers, also for those who read only our own server's.

mod answer;
mod connection;
mod error_body;
mod exchange;
mod judge;
mod notes;
mod pace;
pub mod reading;
mod report;
mod rule;
mod runner;
mod scenario;
mod scripted;
mod secrets;
mod selection;
mod server;
mod setup;
mod verdict;

pub use report::{Ink, Report, Standing};
pub use rule::{Level, Rule, RuleId, rules};
pub use runner::{Plan, run};
pub use scenario::{Scenario, scenarios};
pub use scripted::ScriptedUpstream;
pub use selection::{NoSuchRule, Selection};
pub use server::{NotAServer, Server};
pub use setup::Unable;
pub use verdict::{Outcome, Verdict};
