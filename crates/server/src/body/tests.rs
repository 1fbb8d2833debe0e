use std::io;
use std::sync::Arc;

use futures_util::stream;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::metrics::{Metrics, Now};

fn within(bytes: usize) -> BodyLimits {
    BodyLimits { bytes, time: Duration::from_hours(1) }
}

async fn read(body: Body, limits: BodyLimits) -> Result<Bytes, ApiError> {
    let large = LargeBodies::new(Duration::ZERO);
    read_body(body, limits, &large, &Caller::named("owner")).await.map(|whole| whole.bytes)
}

/// Nobody can tell the length of these before the end.
fn in_chunks(chunks: &'static [&'static str]) -> Body {
    Body::from_stream(stream::iter(chunks.iter().map(|chunk| Ok::<_, io::Error>(*chunk))))
}

#[tokio::test]
async fn a_body_may_be_as_long_as_the_limit_and_no_longer() {
    assert_eq!(read(in_chunks(&["ab", "cd"]), within(4)).await, Ok(Bytes::from("abcd")));
    assert_eq!(read(in_chunks(&["ab", "cd", "e"]), within(4)).await, Err(too_large(4)));
    assert_eq!(read(Body::from("abcd"), within(4)).await, Ok(Bytes::from("abcd")));
    assert_eq!(read(Body::from("abcde"), within(4)).await, Err(too_large(4)));
    assert_eq!(read(Body::empty(), within(0)).await, Ok(Bytes::new()));
    assert_eq!(too_large(4).status, 413);
}

#[tokio::test]
async fn a_body_that_breaks_off_is_the_clients_error() {
    let broken = Body::from_stream(stream::iter([Ok("{"), Err(io::Error::other("reset"))]));
    let error = read(broken, within(10)).await.unwrap_err();
    assert_eq!((error.status, error.code.as_deref()), (400, Some("incomplete_body")));
}

#[tokio::test(start_paused = true)]
async fn a_body_may_take_as_long_as_the_limit_and_no_longer() {
    let limits = BodyLimits { time: Duration::from_millis(300), ..within(10) };
    let (chunks, body) = tokio::sync::mpsc::unbounded_channel::<io::Result<&str>>();
    let body = stream::unfold(body, async |mut body| Some((body.recv().await?, body)));
    let started = Instant::now();
    chunks.send(Ok("{")).unwrap();
    assert_eq!(read(Body::from_stream(body), limits).await, Err(too_slow(limits.time)));
    assert_eq!(started.elapsed(), limits.time);
}

/// Memory is for few large bodies at once, always for small ones, and for every key.
#[tokio::test(start_paused = true)]
async fn row_6_a_large_body_waits_for_room_and_a_small_one_does_not() {
    let metrics = Arc::<Metrics>::default();
    let bodies = LargeBodies::counted(Duration::from_secs(30), Arc::clone(&metrics));
    let (greedy, other) = (Caller::named("greedy"), Caller::named("other"));
    let large = |caller| read_body(Body::from(vec![b' '; LARGE]), within(1 << 20), &bodies, caller);
    let mut held = Vec::new();
    while let Ok(whole) = large(&greedy).await {
        held.push(whole);
    }
    assert_eq!(held.len(), 8);
    let refused = large(&greedy).await.unwrap_err();
    assert_eq!((refused.status, refused.retry_after), (429, Some(Duration::from_secs(1))));
    let small = Body::from(vec![b' '; LARGE - 1]);
    let small = read_body(small, within(1 << 20), &bodies, &greedy).await.unwrap();
    assert!(small.room.is_none());
    // The next room is for the key that has none, whoever came first.
    let freed = async { drop(held.pop()) };
    let (first, second, ()) = tokio::join!(large(&greedy), large(&other), freed);
    assert_eq!((first.unwrap_err().status, second.unwrap().bytes.len()), (429, LARGE));
    let counted = metrics.encode(&Now::nothing());
    let line = "requests_refused_total{reason=\"too_many_large_requests\"} 3\n";
    assert!(counted.unwrap().contains(line));
}

#[test]
fn brackets_in_strings_do_not_count() {
    for (json, depth) in [
        ("", 0),
        ("1", 0),
        ("[]", 1),
        (r#"{"a":[{}],"b":{}}"#, 3),
        (r#"["[[[", "\"[[", "\\", []]"#, 2),
        (r#"["\\\"[["#, 1),
        (r#"["\"#, 1),
        ("]]]][[", 2),
    ] {
        assert_eq!(check_json_depth(json.as_bytes(), depth), Ok(()), "{json}");
        if depth > 0 {
            assert_eq!(check_json_depth(json.as_bytes(), depth - 1), Err(too_deep(depth - 1)));
        }
    }
}

fn depth_of(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth_of).max().unwrap_or(0),
        Value::Object(members) => 1 + members.values().map(depth_of).max().unwrap_or(0),
        _ => 0,
    }
}

proptest! {
    #[test]
    fn the_depth_is_that_of_the_parsed_value(value in any_json()) {
        let (text, depth) = (value.to_string(), depth_of(&value));
        prop_assert_eq!(check_json_depth(text.as_bytes(), depth), Ok(()));
        if let Some(less) = depth.checked_sub(1) {
            prop_assert_eq!(check_json_depth(text.as_bytes(), less), Err(too_deep(less)));
        }
    }
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = r#"[\[\]{}"\\a]{0,6}"#.prop_map(|text| json!(text));
    leaf.prop_recursive(6, 40, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((r#"[\[{"\\b]{0,3}"#, inner), 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}
