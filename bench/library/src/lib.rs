//! `tool-call-aggregator` beside its peers: the inputs, one adapter for each, and the judging.

/// The same charts as those of the server; the file needs nothing of its crate.
#[path = "../../server/src/chart.rs"]
pub mod chart;
pub mod contender;
pub mod corpus;
pub mod format;
pub mod inputs;
pub mod judge;
pub mod measure;
pub mod options;
pub mod ours;
pub mod peers;
pub mod reader;
pub mod report;
pub mod split;
pub mod structured;
pub mod translate;
