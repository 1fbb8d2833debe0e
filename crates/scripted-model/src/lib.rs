//! A server of OpenAI's Responses API that plays scenarios instead of thinking.
//!
//! A mark such as `[[parallel:3]]` in a user message chooses the scenario; without a mark the
//! server is a small demo model that greets, calls the declared tools and quotes their results.
//! To Codex only streaming is spoken, because that is all it asks for; to gateways that are tested in
//! front of it also whole answers, and chat completions.

mod agent;
mod answer;
mod args;
mod call_events;
mod calls;
mod chat_chunks;
mod chat_request;
mod chunking;
mod collected;
mod complete_events;
mod demo;
mod events;
mod failures;
mod freeform;
mod gateway;
mod ids;
mod mark;
mod marked;
mod playback;
mod record;
mod request;
mod scenario;
mod server;
mod texts;
mod wire;

pub use args::long_arguments;
pub use marked::{MarkedAnswer, MarkedCall, NotMarked};
pub use record::{Counters, RecordedRequest};
pub use scenario::scenario_list;
pub use server::ScriptedModel;
