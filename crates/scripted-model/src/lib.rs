//! A server of OpenAI's Responses API that plays scenarios instead of thinking.
//!
//! A mark such as `[[parallel:3]]` in a user message chooses the scenario; without a mark the
//! server is a small demo model that greets, calls the declared tools and quotes their results.
//! Only streaming is spoken, because that is all Codex asks for.

mod answer;
mod calls;
mod chunking;
mod demo;
mod events;
mod failures;
mod ids;
mod mark;
mod marked;
mod playback;
mod record;
mod request;
mod scenario;
mod server;
mod texts;

pub use marked::{MarkedAnswer, MarkedCall, NotMarked};
pub use record::{Counters, RecordedRequest};
pub use scenario::scenario_list;
pub use server::ScriptedModel;
