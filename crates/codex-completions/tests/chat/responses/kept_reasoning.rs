//! The model goes on from its thoughts when the results of its calls come, whatever the client sends.

use serde_json::{Value, json};

use super::asking::{ask, with_tools};
use super::client::{Responder, after, results};
use crate::asking::{self, call, items, streamed, with};
use crate::proxy::Proxy;
use crate::reply::Reply;
use crate::to_the_model::line;

/// The items of the newest request that the model has received: reasoning as its summary, everything
/// else as its type.
fn seen(proxy: &Proxy) -> Vec<String> {
    let told = |item: &Value| match item["type"].as_str().unwrap() {
        "reasoning" => {
            assert_eq!(item["encrypted_content"], "ENCRYPTED_BLOB", "{item}");
            format!("({})", item["summary"][0]["text"].as_str().unwrap())
        }
        "message" => line(item).split(':').next().unwrap().to_owned(),
        "function_call" => "call".to_owned(),
        "function_call_output" => "result".to_owned(),
        kind => panic!("{kind}"),
    };
    // Newer models have their tools there too.
    let items = input(proxy).into_iter().filter(|item| item["type"] != "additional_tools");
    items.map(|item| told(&item)).collect()
}

fn input(proxy: &Proxy) -> Vec<Value> {
    let request = proxy.model.last_request().expect("a request");
    request.body["input"].as_array().unwrap().clone()
}

/// A chat whose client sends calls and results back, and nothing else.
struct Chat<'a> {
    proxy: &'a Proxy,
    bearer: String,
    request: Value,
}

// === impl Chat ===

impl<'a> Chat<'a> {
    fn new(proxy: &'a Proxy, key: &str, text: &str) -> Self {
        // Streamed, because the text beside calls is in streams alone.
        let request = streamed(asking::with_tools(asking::ask(text)));
        Self { proxy, bearer: format!("Bearer {key}"), request }
    }

    /// Asks, and adds what was answered and the results of its calls.
    async fn step(&mut self) {
        let headers = [("authorization", self.bearer.as_str())];
        let answer = self.proxy.chat_with(&self.request, &headers).await;
        let reply = Reply::of(&answer);
        assert_eq!(reply.error, None);
        let choice = reply.choice();
        let calls = choice.calls.iter().map(|call| {
            let function = json!({"name": call.name, "arguments": call.arguments});
            json!({"id": call.id, "type": "function", "function": function})
        });
        let text = Some(choice.text()).filter(|text| !text.is_empty());
        let said =
            json!({"role": "assistant", "content": text, "tool_calls": calls.collect::<Vec<_>>()});
        let messages = self.request["messages"].as_array_mut().unwrap();
        messages.push(said);
        messages.extend(choice.calls.iter().map(|call| {
            json!({"role": "tool", "tool_call_id": call.id, "content": format!("of {}", call.name)})
        }));
    }

    async fn steps(&mut self, steps: usize) {
        for _ in 0..steps {
            self.step().await;
        }
    }
}

const KEY: &str = crate::proxy::KEY;

/// Every turn has a thread of its own: one that goes on has its thoughts without our help.
const ALWAYS_FRESH: (&str, &str) = ("PROXY_CONTINUITY", "off");

#[tokio::test]
async fn a_chat_client_has_its_models_thoughts_put_back() {
    let proxy = Proxy::start(&[ALWAYS_FRESH]).await;
    let mut chat = Chat::new(&proxy, KEY, "[[think-loop:3]]");
    chat.step().await;
    assert_eq!(seen(&proxy), ["user"]);
    let step = ["call", "call", "call", "result", "result", "result"];
    let mut expected = vec!["user".to_owned()];
    for number in 0..3 {
        let before = input(&proxy);
        chat.step().await;
        expected.push(format!("(Thought {number})"));
        expected.extend(step.map(str::to_owned));
        assert_eq!(seen(&proxy), expected);
        // What was sent before is sent again as it was: the upstream's cache knows it.
        assert_eq!(input(&proxy)[..before.len()], before[..]);
    }
    // What is not streamed just the same.
    chat.request = with(chat.request, json!({"stream": false}));
    chat.steps(2).await;
    assert_eq!(seen(&proxy).iter().filter(|item| item.starts_with('(')).count(), 5);
}

#[tokio::test]
async fn thoughts_are_put_back_where_they_were() {
    let proxy = Proxy::start(&[ALWAYS_FRESH]).await;
    let thought = |text: &str| json!({"reasoning": text});
    for (said, expected) in [
        // Before the text, or between it and the call.
        (vec![thought("a"), json!("text"), call("lookup", "x")], vec!["(a)", "assistant", "call"]),
        (vec![json!("text"), thought("a"), call("lookup", "x")], vec!["assistant", "(a)", "call"]),
        (
            vec![thought("a"), json!("text"), thought("b"), call("lookup", "x")],
            vec!["(a)", "assistant", "(b)", "call"],
        ),
        (vec![thought("a"), thought("b"), call("lookup", "x")], vec!["(a)", "(b)", "call"]),
        (vec![call("lookup", "x"), thought("a"), call("lookup", "y")], vec!["call", "(a)", "call"]),
        // What leads to no call is of no use.
        (vec![call("lookup", "x")], vec!["call"]),
    ] {
        let mut chat = Chat::new(&proxy, KEY, &items(&said));
        chat.steps(2).await;
        let seen = seen(&proxy);
        let (before, after) = (&seen[..=expected.len()], &seen[expected.len() + 1..]);
        assert_eq!(before[1..], expected[..], "{said:?}");
        assert!(after.iter().all(|item| item == "result"), "{seen:?}");
    }
}

#[tokio::test]
async fn thoughts_belong_to_a_key_and_are_kept_in_memory_alone() {
    let folder = tempfile::tempdir().unwrap();
    let data = ("PROXY_DATA_DIR", folder.path().to_str().unwrap());
    let with_thought = ["user", "(Thought 0)", "call", "result"];
    let without = ["user", "call", "result"];
    let mut proxy = Proxy::start(&[ALWAYS_FRESH, data]).await;
    let mut chat = Chat::new(&proxy, KEY, "[[think-loop]]");
    chat.step().await;
    let request = chat.request.clone();
    assert_eq!(proxy.chat(&request).await.status, 200);
    assert_eq!(seen(&proxy), with_thought);
    // A client may ask again.
    assert_eq!(proxy.chat(&request).await.status, 200);
    assert_eq!(seen(&proxy), with_thought);
    proxy.stop().await;

    // The same model, so that nothing but the memory is another.
    let url = proxy.model.base_url();
    let again = Proxy::start(&[ALWAYS_FRESH, data, ("PROXY_UPSTREAM_BASE_URL", &url)]).await;
    assert_eq!(again.chat(&request).await.status, 200);
    assert_eq!(seen(&proxy), without);
}

#[tokio::test]
async fn another_key_has_thoughts_of_its_own() {
    let proxy = Proxy::start(&[ALWAYS_FRESH]).await;
    let phone = proxy.add_key("phone").await;
    let mut chat = Chat::new(&proxy, KEY, "[[think-loop]]");
    chat.step().await;
    let bearer = format!("Bearer {phone}");
    let answer = proxy.chat_with(&chat.request, &[("authorization", &bearer)]).await;
    assert_eq!(answer.status, 200);
    assert_eq!(seen(&proxy), ["user", "call", "result"]);
    Chat::new(&proxy, &phone, "[[think-loop]]").steps(2).await;
    assert_eq!(seen(&proxy), ["user", "(Thought 0)", "call", "result"]);
}

#[tokio::test]
async fn row_22_thoughts_belong_to_a_key_that_is_rotated_and_not_to_its_name() {
    let proxy = Proxy::start(&[ALWAYS_FRESH]).await;
    let phone = proxy.add_key("phone").await;
    let mut chat = Chat::new(&proxy, &phone, "[[think-loop]]");
    chat.step().await;
    let ask_again = async |key: &str| {
        let bearer = format!("Bearer {key}");
        let answer = proxy.chat_with(&chat.request, &[("authorization", &bearer)]).await;
        assert_eq!(answer.status, 200);
        seen(&proxy)
    };
    let rotated = proxy.rotate_key("phone").await;
    assert_eq!(ask_again(&rotated).await, ["user", "(Thought 0)", "call", "result"]);
    let new = proxy.replace_key("phone").await;
    assert_eq!(ask_again(&new).await, ["user", "call", "result"]);
}

#[tokio::test]
async fn nothing_is_kept_where_there_is_no_room_for_it() {
    let proxy = Proxy::start(&[ALWAYS_FRESH, ("PROXY_KEEP_REASONING_BYTES", "0")]).await;
    Chat::new(&proxy, KEY, "[[think-loop]]").steps(2).await;
    assert_eq!(seen(&proxy), ["user", "call", "result"]);
}

/// Clients of responses, with every way to bring the results back.
#[tokio::test]
async fn no_thought_comes_twice() {
    let proxy = Proxy::start(&[ALWAYS_FRESH]).await;
    let client = Responder::new(&proxy);
    let request = with_tools(ask("[[think-loop]]"));
    let expected = ["user", "(Thought 0)", "call", "result"];
    let whole_input = |said: &[Value], first: &Value| {
        let question = json!({"role": "user", "content": "[[think-loop]]"});
        let input = [&[question], said, &results(first)[..]].concat();
        with_tools(ask(input))
    };

    let first = client.completed(&request).await;
    client.completed(&after(&first, with_tools(ask(results(&first))))).await;
    assert_eq!(seen(&proxy), expected);

    let not_stored = json!({"store": false, "include": ["reasoning.encrypted_content"]});
    let first = client.completed(&with(request.clone(), not_stored)).await;
    let said = first["output"].as_array().unwrap();
    let next = with(whole_input(said, &first), json!({"store": false}));
    client.completed(&next).await;
    assert_eq!(seen(&proxy), expected);

    // One that did not ask for the encrypted part cannot send it.
    let first = client.completed(&with(request, json!({"store": false}))).await;
    let said = first["output"].as_array().unwrap();
    assert_eq!(said[0].get("encrypted_content"), None);
    for said in [&said[..], &said[1..]] {
        let next = with(whole_input(said, &first), json!({"store": false}));
        client.completed(&next).await;
        assert_eq!(seen(&proxy), expected, "{next}");
    }
}

/// Whoever has not sent reasoning cannot take it out either.
#[tokio::test]
async fn thoughts_that_the_upstream_cannot_read_are_left_out() {
    let proxy = Proxy::start(&[ALWAYS_FRESH, ("PROXY_UPSTREAM_RETRIES", "0")]).await;
    let mut chat = Chat::new(&proxy, KEY, "[[unread-reasoning]]");
    chat.steps(2).await;
    assert_eq!(seen(&proxy), ["user", "call", "result"]);
    let refused = r#"codex_incidents_total{kind="reasoning_refused"}"#;
    assert_eq!(proxy.counter(refused).await, 1);

    let client = Responder::new(&proxy);
    let first = client.completed(&with_tools(ask("[[unread-reasoning]]"))).await;
    let results = results(&first);
    let request = after(&first, with_tools(with(ask(""), json!({"input": results}))));
    client.completed(&request).await;
    assert_eq!(seen(&proxy), ["user", "call", "result"]);
    assert_eq!(proxy.counter(refused).await, 2);
    // What a client sends itself is its own affair.
    let mut input = vec![json!({"role": "user", "content": "[[unread-reasoning]]"})];
    let call = first["output"].as_array().unwrap().last().unwrap().clone();
    input.push(json!({"type": "reasoning", "summary": [], "encrypted_content": "OTHER"}));
    input.extend([call, results[0].clone()]);
    let answer = client.create(&with_tools(with(ask(""), json!({"input": input})))).await;
    assert_eq!(answer.status, 400);
    assert_eq!(answer.json()["error"]["code"], "invalid_encrypted_content");
}

/// Neither the thread that has them nor the memory of them is of any use then.
#[tokio::test]
async fn thoughts_of_a_kept_thread_that_the_upstream_cannot_read_are_left_out_too() {
    let proxy = Proxy::start(&[]).await;
    Chat::new(&proxy, KEY, "[[unread-reasoning]]").steps(2).await;
    assert_eq!(seen(&proxy), ["user", "call", "result"]);
    let refused = r#"codex_incidents_total{kind="reasoning_refused"}"#;
    assert_eq!(proxy.counter(refused).await, 1);
    let failed = r#"turn_continuity_total{continuity="fresh",reason="failed"}"#;
    assert_eq!(proxy.counter(failed).await, 1);
}

/// Some upstreams count the calls of every conversation anew.
#[tokio::test]
async fn calls_of_the_same_id_in_another_conversation_are_other_calls() {
    let proxy = Proxy::start(&[ALWAYS_FRESH]).await;
    let mut chat = Chat::new(&proxy, KEY, "[[think-loop]] one");
    chat.step().await;
    let mut other = Chat::new(&proxy, KEY, "[[think-loop]] two");
    other.request["messages"] = json!([
        {"role": "user", "content": "[[text]] two"},
        chat.request["messages"][1],
        chat.request["messages"][2],
    ]);
    other.step().await;
    assert_eq!(seen(&proxy), ["user", "call", "result"]);
    chat.step().await;
    assert_eq!(seen(&proxy), ["user", "(Thought 0)", "call", "result"]);
    // Nor does another model read them.
    chat.request["model"] = "gpt-6.1-sol".into();
    chat.request["messages"].as_array_mut().unwrap().truncate(3);
    chat.step().await;
    assert_eq!(seen(&proxy), ["user", "call", "result"]);
}
