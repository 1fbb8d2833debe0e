//! Everything besides the conversation that decides whether it is continued.

use serde_json::json;
use testkit::process::signal;

use super::super::conversation::{Api, Conversation, Settings};
use super::super::received::Received;
use super::super::{CONTINUITY, FRESH, RESUMED, REUSED, thread_of};
use super::{answered, asked, goes_on_fresh};
use crate::asking::{call, items};
use crate::proxy::Proxy;

/// What a client may change while it goes on.
const CHANGES: [fn(&mut Settings); 6] = [
    |settings| settings.prompt = Some("Be kind.".to_owned()),
    |settings| settings.tools.push("another".to_owned()),
    |settings| settings.tools.swap(0, 1),
    |settings| settings.property = Some("answer".to_owned()),
    |settings| settings.effort = Some("high"),
    |settings| settings.model = "gpt-6.1-sol",
];

#[tokio::test]
async fn what_the_model_is_told_besides_must_be_the_same() {
    let proxy = Proxy::start(&[]).await;
    for api in Api::BOTH {
        for change in CHANGES {
            for text in ["[[text]]", "[[round-trip:2]]"] {
                let mut talk = answered(&proxy, api, text).await;
                change(&mut talk.settings);
                goes_on_fresh(&proxy, talk).await;
            }
        }
    }
}

#[tokio::test]
async fn calls_that_the_operator_does_not_want_are_not_continued() {
    let twice = items(&[call("lookup", "x"), call("lookup", "x")]);
    for (setting, text, calls) in [
        (("PROXY_STOP_AFTER_TOOLS_MODE", "first"), "[[parallel:2]]", 1),
        (("PROXY_ENABLE_PARALLEL_TOOL_CALLS", "false"), "[[parallel:2]]", 1),
        (("PROXY_TOOL_BLOCK_DEDUP", "true"), &twice, 1),
    ] {
        let proxy = Proxy::start(&[setting]).await;
        for api in Api::BOTH {
            let talk = answered(&proxy, api, text).await;
            assert_eq!(talk.pending.len(), calls, "{setting:?}");
            goes_on_fresh(&proxy, talk).await;
        }
    }
}

#[tokio::test]
async fn row_10_nobody_continues_the_thread_of_another_key() {
    let proxy = Proxy::start(&[]).await;
    let bearer = format!("Bearer {}", proxy.add_key("phone").await);
    for api in Api::BOTH {
        for (text, expected) in [("[[text]]", REUSED), ("[[round-trip:2]]", RESUMED)] {
            let mut talk = answered(&proxy, api, text).await;
            talk.go_on("Two. [[text]]");
            let key = Received::last(&proxy.model).cache_key().to_owned();
            let other = api.ask(&proxy, &talk.request(), &[("authorization", &bearer)]).await;
            assert_eq!(thread_of(&other), FRESH);
            assert_ne!(Received::last(&proxy.model).cache_key(), key);
            // Nor has it been taken from its owner.
            assert_eq!(asked(&mut talk, &proxy).await, expected);
            assert_eq!(Received::last(&proxy.model).cache_key(), key);
        }
    }
}

/// How a turn with this key came to its thread.
async fn asked_with(talk: &mut Conversation, proxy: &Proxy, key: &str) -> String {
    let bearer = format!("Bearer {key}");
    thread_of(&talk.ask(proxy, &[("authorization", &bearer)]).await).to_owned()
}

#[tokio::test]
async fn row_22_a_thread_belongs_to_a_key_that_is_rotated_and_not_to_its_name() {
    let proxy = Proxy::start(&[]).await;
    let mut phone = proxy.add_key("phone").await;
    for api in Api::BOTH {
        for (text, expected) in [("[[text]]", REUSED), ("[[round-trip:2]]", RESUMED)] {
            let mut talk = Conversation::begun(api, text);
            assert_eq!(asked_with(&mut talk, &proxy, &phone).await, FRESH);
            talk.go_on("Two. [[text]]");
            phone = proxy.rotate_key("phone").await;
            assert_eq!(asked_with(&mut talk, &proxy, &phone).await, expected);
            talk.go_on("Three. [[text]]");
            phone = proxy.replace_key("phone").await;
            assert_eq!(asked_with(&mut talk, &proxy, &phone).await, FRESH);
        }
    }
}

#[tokio::test]
async fn nothing_is_continued_after_the_child_is_lost() {
    let proxy = Proxy::start(&[("WORKER_BACKOFF_INITIAL_MS", "50")]).await;
    let mut talks = Vec::new();
    for api in Api::BOTH {
        for text in ["[[text]]", "[[round-trip:2]]"] {
            talks.push(answered(&proxy, api, text).await);
        }
    }
    signal(proxy.children()[0], "-KILL");
    proxy.logged("Codex was lost").await;
    for talk in talks {
        goes_on_fresh(&proxy, talk).await;
    }
}

#[tokio::test]
async fn a_header_decides_for_one_request() {
    let [on, off] = ["on", "off"].map(|value| [(CONTINUITY, value)]);
    // Without a header the setting decides.
    for (setting, with, without) in [("on", &[][..], &off[..]), ("off", &on[..], &[][..])] {
        let proxy = Proxy::start(&[("PROXY_CONTINUITY", setting)]).await;
        for api in Api::BOTH {
            let mut talk = Conversation::begun(api, "One. [[text]]");
            assert_eq!(thread_of(&talk.ask(&proxy, without).await), FRESH);
            // Nothing was kept of that one.
            talk.say("Two. [[text]]");
            assert_eq!(thread_of(&talk.ask(&proxy, with).await), FRESH);
            talk.say("Three. [[text]]");
            // Nor does such a one take anything.
            let request = talk.request();
            assert_eq!(thread_of(&api.ask(&proxy, &request, without).await), FRESH);
            assert_eq!(thread_of(&api.ask(&proxy, &request, with).await), REUSED);
        }
    }
}

#[tokio::test]
async fn a_header_that_says_neither_is_refused() {
    let proxy = Proxy::start(&[]).await;
    for api in Api::BOTH {
        let talk = Conversation::begun(api, "[[text]]");
        for value in ["", "maybe", "true"] {
            let refused = api.ask(&proxy, &talk.request(), &[(CONTINUITY, value)]).await;
            let expected = (400, json!(CONTINUITY), json!("invalid_value"));
            assert_eq!(refused.error(), expected, "{refused:?}");
        }
    }
    assert_eq!(proxy.model.requests(), 0);
}
