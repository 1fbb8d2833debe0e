//! Traces of requests, sent to a collector as OTLP over HTTP.
//!
//! No span is kept while a request runs: all of a request's spans are made from the times that are
//! known when it has ended, on a thread that does nothing else. [`Exporter::start`] gives the queue
//! to that thread.

mod exporter;
mod spans;

pub use exporter::{Exporter, StartError};
