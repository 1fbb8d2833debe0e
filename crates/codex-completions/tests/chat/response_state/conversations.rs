//! Responses that go on from others.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{Home, assert_no_previous};
use crate::asking::{streamed, with};
use crate::responding::{
    Responder, after, id_of, items_of, question, results, text_of, with_flat_tools,
};

#[tokio::test]
async fn a_conversation_goes_on_over_restarts() {
    let home = Home::new().await;
    let mut said = Vec::new();
    let mut last = None;
    for (number, way) in (1..).zip([streamed, |request| request, streamed]) {
        let mut proxy = home.start().await;
        let client = Responder::new(&proxy);
        // What was told to one response counts for that one alone.
        let asked = with(
            question(&format!("[[text:Answer {number}]]")),
            json!({"instructions": format!("Rule {number}")}),
        );
        let asked = match &last {
            Some(last) => after(last, asked),
            None => asked,
        };
        let response = client.completed(&way(asked)).await;
        said.push(format!("user: [[text:Answer {number}]]"));
        let rule = [format!("developer: Rule {number}")];
        assert_eq!(home.seen(), [&rule, &said[..]].concat());
        said.push(format!("assistant: Answer {number}"));
        let previous = last.as_ref().map_or(&Value::Null, |last| &last["id"]);
        assert_eq!(response["previous_response_id"], *previous);
        last = Some(response);
        proxy.stop().await;
    }
    let proxy = home.start().await;
    let listed = Responder::new(&proxy).input_of(id_of(&last.unwrap())).await;
    assert_eq!(listed.len(), 5);
}

#[tokio::test]
async fn two_responses_can_go_on_from_the_same_one() {
    let home = Home::new().await;
    let proxy = home.start().await;
    let client = Responder::new(&proxy);
    let root = client.completed(&question("[[text:root]]")).await;
    let left = client.completed(&after(&root, question("[[text:left]]"))).await;
    let right = client.completed(&after(&root, streamed(question("[[text:right]]")))).await;
    for (branch, name) in [(left, "left"), (right, "right")] {
        let leaf = client.completed(&after(&branch, question("[[text:leaf]]"))).await;
        assert_eq!(text_of(&leaf), "leaf");
        let expected = ["root", name]
            .into_iter()
            .flat_map(|text| [format!("user: [[text:{text}]]"), format!("assistant: {text}")]);
        let expected: Vec<_> = expected.chain(["user: [[text:leaf]]".to_owned()]).collect();
        assert_eq!(home.seen(), expected);
    }
}

#[tokio::test]
async fn the_results_of_calls_are_all_that_a_client_sends() {
    let home = Home::new().await;
    let mut proxy = home.start().await;
    let client = Responder::new(&proxy);
    let ask = |text| with_flat_tools(question(text));
    let first = client.completed(&streamed(ask("Go. [[round-trip:3]]"))).await;
    let calls = items_of(&first, "function_call");
    assert_eq!(calls.len(), 3);
    let results = after(&first, with(ask(""), json!({"input": results(&first)})));
    proxy.stop().await;

    let proxy = home.start().await;
    let client = Responder::new(&proxy);
    let second = client.completed(&results).await;
    let quoted = "get_weather: of get_weather\nget_time: of get_time\nlookup: of lookup";
    assert_eq!(text_of(&second), quoted);
    let third = client.completed(&after(&second, question("[[text]] Thanks."))).await;
    // Three calls, their results, the text, and the two questions.
    assert_eq!(home.seen().len(), 9);
    assert_eq!(client.input_of(id_of(&third)).await.len(), 9);
    // A call without its result is refused, as it is without a previous response.
    let missing = client.create(&after(&first, question("[[text]]"))).await;
    assert_eq!(missing.status, 400, "{missing:?}");
    let call = calls[0]["call_id"].as_str().unwrap();
    assert!(missing.body.contains(call), "{missing:?}");
}

/// It goes on from its thoughts; another upstream could not read them.
#[tokio::test]
async fn encrypted_reasoning_goes_back_to_the_upstream_that_wrote_it() {
    let mut home = Home::new().await;
    let mut proxy = home.start().await;
    let client = Responder::new(&proxy);
    let first = client.completed(&question("[[reasoning]]")).await;
    proxy.stop().await;

    let again = after(&first, question("[[text]]"));
    let mut proxy = home.start().await;
    let second = Responder::new(&proxy).completed(&again).await;
    let input = home.model.last_request().unwrap().body["input"].clone();
    assert_eq!(input[1]["type"], "reasoning", "{input}");
    assert_eq!(input[1]["encrypted_content"], "ENCRYPTED_BLOB");
    assert_eq!(home.seen().len(), 4);
    proxy.stop().await;

    let elsewhere = Home::new().await.model;
    let here = std::mem::replace(&mut home.model, elsewhere);
    let mut proxy = home.start().await;
    let third = Responder::new(&proxy).completed(&after(&second, question("[[text]]"))).await;
    let told = "assistant: Hello from the scripted model.";
    assert_eq!(
        home.seen(),
        [
            "user: [[reasoning]]",
            "assistant: Answer after reasoning.",
            "user: [[text]]",
            told,
            "user: [[text]]",
        ]
    );
    proxy.stop().await;

    // It was left out, and not lost.
    home.model = here;
    let proxy = home.start().await;
    Responder::new(&proxy).completed(&after(&third, question("[[text]]"))).await;
    assert_eq!(home.seen().len(), 8);
}

#[tokio::test]
async fn a_response_that_nobody_knows_has_no_next_one() {
    let home = Home::new().await;
    let proxy = home.start().await;
    let client = Responder::new(&proxy);
    let mut messages = BTreeSet::new();
    for id in ["resp_0", "", "not an id", "msg_0"] {
        for way in [streamed, |request| request] {
            let request = after(&json!({"id": id}), way(question("[[text]]")));
            let answer = client.create(&request).await;
            assert_no_previous(&answer);
            messages.insert(answer.json()["error"]["message"].to_string());
        }
    }
    assert_eq!(messages.len(), 4, "{messages:?}");
    assert_eq!(home.model.requests(), 0);
}
