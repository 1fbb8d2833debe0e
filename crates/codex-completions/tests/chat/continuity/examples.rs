//! What is continued and what is not, one reason at a time. Whatever the thread, the model receives
//! everything that was said.

mod settings;
mod turns;

use super::conversation::{Api, Conversation};
use super::{FRESH, thread_of};
use crate::proxy::Proxy;

/// Asks, and tells how the turn came to its thread.
async fn asked(talk: &mut Conversation, proxy: &Proxy) -> String {
    thread_of(&talk.ask(proxy, &[]).await).to_owned()
}

/// The same with a stream.
async fn streamed(talk: &mut Conversation, proxy: &Proxy) -> String {
    thread_of(&talk.ask_streamed(proxy).await).to_owned()
}

/// A conversation in which the user was answered, on a fresh thread.
async fn answered(proxy: &Proxy, api: Api, text: &str) -> Conversation {
    let mut talk = Conversation::begun(api, text);
    assert_eq!(streamed(&mut talk, proxy).await, FRESH);
    talk
}

/// The conversation goes on, on a fresh thread: nothing was kept for it.
async fn goes_on_fresh(proxy: &Proxy, mut talk: Conversation) {
    talk.go_on("And now? [[text]]");
    assert_eq!(asked(&mut talk, proxy).await, FRESH);
}
