//! An agent that calls tools at every step, for a model that thinks at every step.

use serde_json::Value;

use super::conversation::{Api, Conversation};
use super::received::Received;
use super::{FRESH, RESUMED, thread_of};
use crate::asking::streamed;
use crate::proxy::Proxy;

const STEPS: usize = 10;

/// How the client tells what came before.
#[derive(Clone, Copy, PartialEq)]
enum Memory {
    Client,
    Server,
}

async fn run(api: Api, memory: Memory, way: fn(Value) -> Value) {
    let proxy = Proxy::start(&[]).await;
    let mut talk = Conversation::begun(api, "[[think-loop:2]]");
    talk.settings.prompt = Some("Think.".to_owned());
    let mut threads = Vec::new();
    let mut received: Vec<Received> = Vec::new();
    for _ in 0..=STEPS {
        let request = match memory {
            Memory::Client => talk.request(),
            Memory::Server => talk.request_after_stored().unwrap_or_else(|| talk.request()),
        };
        let answer = api.ask(&proxy, &way(request), &[]).await;
        threads.push(thread_of(&answer).to_owned());
        received.push(Received::last(&proxy.model));
        assert!(talk.take(&answer));
        talk.give_results();
    }
    assert_eq!(threads[0], FRESH);
    assert_eq!(threads[1..], [RESUMED; STEPS]);
    assert_eq!(proxy.model.requests(), threads.len() as u64);
    for (step, pair) in received.windows(2).enumerate() {
        let [before, after] = pair else { unreachable!("two") };
        assert_eq!(after.cache_key(), before.cache_key());
        // To the byte, or the upstream's cache does not know it.
        let prefix = before.input().len();
        let [known, sent] =
            [before.input(), &after.input()[..prefix]].map(|items| Value::from(items).to_string());
        assert_eq!(sent, known, "step {step}");
        // A thought, two calls and their results.
        assert_eq!(after.input().len(), prefix + 5);
        assert_eq!(after.count("reasoning"), step + 1);
    }
}

fn whole(request: Value) -> Value {
    request
}

#[tokio::test]
async fn ten_steps_of_a_chat_are_one_thread() {
    run(Api::Chat, Memory::Client, whole).await;
    run(Api::Chat, Memory::Client, streamed).await;
}

#[tokio::test]
async fn ten_steps_of_responses_are_one_thread() {
    run(Api::Responses, Memory::Client, whole).await;
    run(Api::Responses, Memory::Server, streamed).await;
}
