//! Adapters of the peers.

pub mod dynamo;
pub mod tool_parser;
