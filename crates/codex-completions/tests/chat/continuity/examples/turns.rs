//! Turns that are continued, and turns that are not.

use serde_json::{Value, json};

use super::super::conversation::{Api, Conversation, Output};
use super::super::received::Received;
use super::super::{FRESH, RESUMED, REUSED, thread_of};
use super::{answered, asked, goes_on_fresh, streamed};
use crate::asking::{self, call, items, with};
use crate::proxy::Proxy;
use crate::to_the_model::{PNG, seen};

/// A request as it is, or streamed.
type Way = fn(Value) -> Value;

fn whole(request: Value) -> Value {
    request
}

on_one_server! {
    what_is_said_after_an_answer_goes_to_the_same_thread,
    results_go_to_the_turn_that_waits_for_them,
    an_earlier_response_is_continued_where_it_ended,
    results_in_another_order_or_with_more_are_for_a_fresh_thread,
    a_missing_result_is_refused_and_can_be_brought_later,
    images_in_results_reach_the_model,
    text_before_calls_is_continued_if_the_client_has_it,
    a_thread_is_continued_once,
    an_edited_conversation_is_another_one,
    what_was_not_forwarded_as_it_was_said_is_not_continued,
    several_choices_are_several_fresh_threads,
    a_client_that_leaves_leaves_no_thread_behind,
    a_turn_that_failed_leaves_no_thread_behind,
}

async fn what_is_said_after_an_answer_goes_to_the_same_thread(proxy: &Proxy) {
    for api in Api::BOTH {
        let mut talk = answered(proxy, api, "One. [[text:First.]]").await;
        let first = Received::last(&proxy.model);
        talk.say("Two. [[text:Second.]]");
        assert_eq!(asked(&mut talk, proxy).await, REUSED);
        talk.say("Three. [[text:Third.]]");
        assert_eq!(streamed(&mut talk, proxy).await, REUSED);
        let third = Received::last(&proxy.model);
        assert_eq!(third.cache_key(), first.cache_key());
        assert_eq!(
            seen(proxy),
            [
                "user: One. [[text:First.]]",
                "assistant: First.",
                "user: Two. [[text:Second.]]",
                "assistant: Second.",
                "user: Three. [[text:Third.]]",
            ]
        );
    }
    assert_eq!(proxy.model.requests(), 6);
}

async fn results_go_to_the_turn_that_waits_for_them(proxy: &Proxy) {
    for api in Api::BOTH {
        for (calls, way) in
            [(1, whole as Way), (1, asking::streamed), (3, whole), (3, asking::streamed)]
        {
            let mut talk = Conversation::begun(api, &format!("[[round-trip:{calls}]]"));
            let first = api.ask(proxy, &way(talk.request()), &[]).await;
            assert_eq!(thread_of(&first), FRESH);
            talk.take(&first);
            assert_eq!(talk.pending.len(), calls);
            talk.give_results();
            let second = api.ask(proxy, &way(talk.request()), &[]).await;
            assert_eq!(thread_of(&second), RESUMED);
            talk.take(&second);
            // The model tells which result it had for which call.
            let said = talk.history.last().unwrap().to_string();
            assert!(said.contains("get_weather: result of get_weather"), "{said}");
            talk.say("Thanks. [[text]]");
            assert_eq!(asked(&mut talk, proxy).await, REUSED);
        }
    }
    assert_eq!(proxy.model.requests(), 24);
}

async fn an_earlier_response_is_continued_where_it_ended(proxy: &Proxy) {
    let mut talk = answered(proxy, Api::Responses, "[[round-trip:2]]").await;
    for (text, expected) in
        [(None, RESUMED), (Some("More. [[round-trip:2]]"), REUSED), (None, RESUMED)]
    {
        match text {
            Some(text) => talk.say(text),
            None => talk.give_results(),
        }
        let request = talk.request_after_stored().expect("it is stored");
        let answer = talk.api.ask(proxy, &request, &[]).await;
        assert_eq!(thread_of(&answer), expected);
        talk.take(&answer);
    }
}

async fn results_in_another_order_or_with_more_are_for_a_fresh_thread(proxy: &Proxy) {
    for api in Api::BOTH {
        let mut reordered = answered(proxy, api, "[[round-trip:2]]").await;
        let mut results = reordered.results("result", Output::Text);
        results.reverse();
        reordered.give(results);
        assert_eq!(asked(&mut reordered, proxy).await, FRESH);
        let last = seen(proxy);
        assert!(
            last[3].ends_with("of get_time") && last[4].ends_with("of get_weather"),
            "{last:?}"
        );

        let mut more = answered(proxy, api, "[[round-trip:2]]").await;
        more.give_results();
        more.say("Besides: [[text]]");
        assert_eq!(asked(&mut more, proxy).await, FRESH);
        assert_eq!(seen(proxy).last().unwrap(), "user: Besides: [[text]]");
    }
}

/// It is refused before anybody looks for its thread.
async fn a_missing_result_is_refused_and_can_be_brought_later(proxy: &Proxy) {
    for api in Api::BOTH {
        let talk = answered(proxy, api, "[[round-trip:2]]").await;
        let mut partial = talk.clone();
        partial.give(talk.results("result", Output::Text)[..1].to_vec());
        let refused = api.ask(proxy, &partial.request(), &[]).await;
        assert_eq!(refused.error().0, 400);
        let mut all = talk;
        all.give_results();
        assert_eq!(asked(&mut all, proxy).await, RESUMED);
    }
}

async fn images_in_results_reach_the_model(proxy: &Proxy) {
    for api in Api::BOTH {
        let mut talk = answered(proxy, api, "[[round-trip:1]]").await;
        let results = talk.results("result", Output::TextAndImage);
        talk.give(results);
        talk.ask(proxy, &[]).await;
        let last = seen(proxy);
        let last = last.last().unwrap();
        assert!(last.ends_with(&format!("result of get_weather + [{PNG}]")), "{last}");
    }
}

/// The text beside calls is in streams alone, so that only their clients send it back.
async fn text_before_calls_is_continued_if_the_client_has_it(proxy: &Proxy) {
    let said = items(&[json!("Let me see."), call("lookup", "x")]);
    let mut talk = answered(proxy, Api::Chat, &said).await;
    talk.give_results();
    assert_eq!(asked(&mut talk, proxy).await, RESUMED);

    let mut without = Conversation::begun(Api::Chat, &said);
    asked(&mut without, proxy).await;
    goes_on_fresh(proxy, without).await;

    let mut response = Conversation::begun(Api::Responses, &said);
    asked(&mut response, proxy).await;
    response.give_results();
    assert_eq!(asked(&mut response, proxy).await, RESUMED);
}

async fn a_thread_is_continued_once(proxy: &Proxy) {
    for api in Api::BOTH {
        let mut said = answered(proxy, api, "One. [[text]]").await;
        said.say("Two. [[text]]");
        let mut called = answered(proxy, api, "One. [[round-trip:2]]").await;
        called.give_results();
        for (talk, expected) in [(said, REUSED), (called, RESUMED)] {
            let request = talk.request();
            for expected in [expected, FRESH, FRESH] {
                let answer = api.ask(proxy, &request, &[]).await;
                assert_eq!(thread_of(&answer), expected);
            }
        }
        // Two tabs at the same time.
        let mut said = answered(proxy, api, "One. [[text]]").await;
        said.say("Two. [[text]]");
        let request = said.request();
        let (one, two) = tokio::join!(api.ask(proxy, &request, &[]), api.ask(proxy, &request, &[]));
        let mut threads = [thread_of(&one), thread_of(&two)];
        threads.sort_unstable();
        assert_eq!(threads, [FRESH, REUSED]);
    }
}

async fn an_edited_conversation_is_another_one(proxy: &Proxy) {
    for api in Api::BOTH {
        for text in ["One. [[text]]", "One. [[round-trip:2]]"] {
            let mut talk = answered(proxy, api, text).await;
            talk.edit(0, "One! [[text]]");
            goes_on_fresh(proxy, talk).await;
        }
        // What the model has said, too.
        let mut talk = answered(proxy, api, "One. [[text:First]]").await;
        let said = talk.history.pop().unwrap().to_string().replace("First", "Second");
        talk.history.push(serde_json::from_str(&said).unwrap());
        goes_on_fresh(proxy, talk).await;
    }
}

/// What a client has not received as it was said it cannot send back.
async fn what_was_not_forwarded_as_it_was_said_is_not_continued(proxy: &Proxy) {
    let xml = ("x-proxy-output-mode", "obsidian-xml");
    let search = json!({"tools": asking::tools(&["localSearch"])});
    for (text, more, header) in [
        ("[[text:one two three]]", json!({"stop": ["two"]}), None),
        ("[[text:one two three]]", json!({"max_tokens": 1}), None),
        ("[[parallel:2]]", json!({"parallel_tool_calls": false}), None),
        ("[[parallel:2]]", json!({}), Some(xml)),
        ("[[use-tool]]", search.clone(), Some(xml)),
        ("[[use-tool]]", search, None),
        ("[[two-messages]]", json!({}), None),
        (r#"[[items:["One.","Two."]]]"#, json!({}), None),
        (
            r#"[[items:["One.","Two.",{"name":"get_weather","arguments":"{}"}]]]"#,
            json!({"stream": true}),
            None,
        ),
        ("[[text-after-call]]", json!({}), None),
    ] {
        let mut talk = Conversation::begun(Api::Chat, text);
        let headers: Vec<_> = header.into_iter().collect();
        let answer = proxy.chat_with(&with(talk.request(), more.clone()), &headers).await;
        assert_eq!(thread_of(&answer), FRESH);
        talk.take(&answer);
        talk.go_on("And now? [[text]]");
        let answer = proxy.chat_with(&with(talk.request(), more.clone()), &headers).await;
        assert_eq!(thread_of(&answer), FRESH, "{text} {more}");
    }
}

async fn several_choices_are_several_fresh_threads(proxy: &Proxy) {
    let mut talk = answered(proxy, Api::Chat, "One. [[text]]").await;
    talk.say("Two. [[text]]");
    let request = with(talk.request(), json!({"n": 2}));
    assert_eq!(thread_of(&proxy.chat(&request).await), FRESH);
    // Nor do they take a thread from anybody.
    assert_eq!(asked(&mut talk, proxy).await, REUSED);

    let mut talk = Conversation::begun(Api::Chat, "One. [[text:First.]]");
    let request = with(talk.request(), json!({"n": 2}));
    assert_eq!(thread_of(&proxy.chat(&request).await), FRESH);
    talk.history.push(json!({"role": "assistant", "content": "First."}));
    goes_on_fresh(proxy, talk).await;
}

async fn a_client_that_leaves_leaves_no_thread_behind(proxy: &Proxy) {
    for api in Api::BOTH {
        let mut talk = answered(proxy, api, "One. [[text]]").await;
        let before = talk.clone();
        talk.say("[[hang]]");
        let left = proxy.model.disconnects() + 1;
        let request = asking::streamed(talk.request());
        let mut stream = api.open(proxy, &request, &[]).await;
        stream.until("This").await;
        drop(stream);
        proxy.model.until(|counters| counters.disconnects == left && counters.in_flight == 0).await;
        // The thread that it was on has heard the question.
        goes_on_fresh(proxy, before).await;
    }
}

/// Nobody is told of the failure, and the thread that has heard the question is left.
#[tokio::test]
async fn a_turn_that_failed_in_its_thread_is_tried_again_in_a_fresh_one() {
    let proxy = Proxy::start(&[("PROXY_UPSTREAM_RETRIES", "1")]).await;
    for api in Api::BOTH {
        let mut talk = answered(&proxy, api, "One. [[text]]").await;
        let key = Received::last(&proxy.model).cache_key().to_owned();
        talk.say(&format!("{api:?} [[http:500,x1]]"));
        let asked_before = proxy.model.requests();
        assert_eq!(asked(&mut talk, &proxy).await, FRESH);
        assert_eq!(proxy.model.requests(), asked_before + 2);
        assert_ne!(Received::last(&proxy.model).cache_key(), key);
    }
}

async fn a_turn_that_failed_leaves_no_thread_behind(proxy: &Proxy) {
    for api in Api::BOTH {
        let mut talk = answered(proxy, api, "One. [[text]]").await;
        let before = talk.clone();
        talk.say("[[http:500]]");
        let failed = api.ask(proxy, &talk.request(), &[]).await;
        assert_eq!(failed.status, 502);
        goes_on_fresh(proxy, before).await;
    }
}
