//! A conversation that goes on from an earlier response: the model receives all of it, whichever way
//! it is sent.

use serde_json::{Value, json};

use super::asking::{ask, respond, with_tools};
use super::reply::Reply;
use crate::asking::{streamed, with};
use crate::http::Answer;
use crate::proxy::Proxy;
use crate::reply::Call;
use crate::to_the_model::seen;

/// What the client says, turn by turn: a question that leads to reasoning, text and two calls, their
/// results, and two more questions.
fn said(turn: usize, last: Option<&Reply>) -> Value {
    let user = |text: &str| json!([{"role": "user", "content": text}]);
    match turn {
        0 => user("Go. [[mixed-reasoning]]"),
        1 => {
            let result = |call: Call| json!({"type": "function_call_output", "call_id": call.id, "output": call.name});
            last.unwrap().calls().into_iter().map(result).collect()
        }
        2 => user("Why? [[reasoning]]"),
        _ => user("And? [[two-messages]]"),
    }
}

const TURNS: usize = 4;

fn asked(input: Value) -> Value {
    let more = json!({"include": ["reasoning.encrypted_content"]});
    with(with_tools(ask(input)), more)
}

fn reply(answer: &Answer) -> Reply {
    assert_eq!(answer.status, 200, "{}", answer.body);
    Reply::of(answer)
}

/// What the model has received last.
fn input(proxy: &Proxy) -> Value {
    proxy.model.last_request().unwrap().body["input"].take()
}

/// What a client sends back of an item.
type SentBack = fn(&Value) -> Value;

#[tokio::test]
async fn the_whole_conversation_reaches_the_model_in_every_form() {
    // What was kept, of a call's reasoning or in its thread, would hide that it was not sent.
    let kept = [("PROXY_KEEP_REASONING_BYTES", "0"), ("PROXY_CONTINUITY", "off")];
    let proxy = Proxy::start(&kept).await;
    let whole: SentBack = Value::clone;
    let by_id: SentBack = |item| json!({"type": "item_reference", "id": item["id"]});
    let by_id_alone: SentBack = |item| json!({"id": item["id"]});
    // As clients do that do not know what else there is about reasoning.
    let reasoning_by_id: SentBack = |item| {
        let mut item = item.clone();
        item.as_object_mut().unwrap().remove("encrypted_content");
        item
    };
    for way in [streamed, |request| request] {
        let mut conversation: Vec<(Value, Reply)> = Vec::new();
        let mut received = Vec::new();
        for turn in 0..TURNS {
            let last = conversation.last().map(|(_, reply)| reply);
            let said = said(turn, last);
            let previous = json!({"previous_response_id": last.map(Reply::id)});
            let request = way(with(asked(said.clone()), previous));
            let reply = reply(&respond(&proxy, &request).await);
            received.push(input(&proxy));
            conversation.push((said, reply));
        }
        assert!(received.last().unwrap().to_string().contains("ENCRYPTED_BLOB"));
        for form in [whole, by_id, by_id_alone, reasoning_by_id] {
            let mut sent: Vec<Value> = Vec::new();
            for (turn, (said, reply)) in conversation.iter().enumerate() {
                sent.extend(said.as_array().unwrap().iter().cloned());
                assert_eq!(respond(&proxy, &asked(json!(sent))).await.status, 200);
                assert_eq!(input(&proxy), received[turn], "turn {turn}: {sent:?}");
                sent.extend(reply.items().iter().map(form));
            }
        }
    }
}

on_one_server! {
    instructions_are_for_one_turn,
    nothing_new_need_be_said,
}

async fn instructions_are_for_one_turn(proxy: &Proxy) {
    let first = with(ask("[[text:One.]]"), json!({"instructions": "Be brief."}));
    let first = reply(&respond(proxy, &first).await);
    assert_eq!(first.response["instructions"], "Be brief.");
    assert_eq!(seen(proxy), ["developer: Be brief.", "user: [[text:One.]]"]);
    let earlier = ["user: [[text:One.]]", "assistant: One."];
    for (instructions, told) in
        [(Value::Null, None), (json!("Be kind."), Some("developer: Be kind."))]
    {
        let more = json!({"previous_response_id": first.id(), "instructions": instructions});
        let second = reply(&respond(proxy, &with(ask("[[text]]"), more)).await);
        assert_eq!(second.response["previous_response_id"], first.id());
        let expected: Vec<_> = told.into_iter().chain(earlier).chain(["user: [[text]]"]).collect();
        assert_eq!(seen(proxy), expected);
    }
}

/// Who goes on without saying anything new asks for more.
async fn nothing_new_need_be_said(proxy: &Proxy) {
    let first = reply(&respond(proxy, &ask("[[text:One.]]")).await);
    let more = with(ask(json!([])), json!({"previous_response_id": first.id()}));
    reply(&respond(proxy, &more).await);
    assert_eq!(seen(proxy), ["user: [[text:One.]]", "assistant: One."]);
    let told = with(ask(json!([])), json!({"instructions": "Say something."}));
    reply(&respond(proxy, &told).await);
    assert_eq!(seen(proxy), ["developer: Say something."]);
}
