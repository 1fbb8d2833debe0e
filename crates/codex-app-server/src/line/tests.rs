use proptest::prelude::*;

use super::*;

fn split(chunks: &[&[u8]], limit: usize) -> Vec<Line> {
    let mut splitter = LineSplitter::new(limit);
    let mut lines = Vec::new();
    for chunk in chunks {
        splitter.space().extend_from_slice(chunk);
        while let Some(line) = splitter.next_line() {
            lines.push(line);
        }
    }
    lines
}

#[test]
fn an_oversize_line_keeps_both_ends_and_spares_its_neighbours() {
    let long: Vec<u8> = (0..5000_u32).map(|i| b'a' + u8::try_from(i % 26).unwrap()).collect();
    let mut input = b"before\n".to_vec();
    input.extend_from_slice(&long);
    input.extend_from_slice(b"\nafter\n");
    let expected = vec![
        Line::Whole(BytesMut::from(&b"before"[..])),
        Line::Oversize(LineEnds {
            bytes: 5000,
            head: long[..KEPT_END].to_vec(),
            tail: long[5000 - KEPT_END..].to_vec(),
        }),
        Line::Whole(BytesMut::from(&b"after"[..])),
    ];
    assert_eq!(split(&[&input], 1500), expected);
    let (first, second) = input.split_at(2500);
    assert_eq!(split(&[first, second], 1500), expected);
}

#[test]
fn the_memory_of_a_long_line_is_given_back() {
    let mut splitter = LineSplitter::new(1 << 30);
    let mut long = vec![b'x'; 16 * KEPT_ROOM];
    long.push(b'\n');
    for chunk in long.chunks(64 * 1024) {
        splitter.space().extend_from_slice(chunk);
        drop(splitter.next_line());
    }
    // A line whose allocation nobody else holds is room for the next one, until that is read.
    for _ in 0..2 {
        splitter.space().extend_from_slice(b"short\n");
        assert!(splitter.next_line().is_some());
    }
    assert!(splitter.space().capacity() <= KEPT_ROOM);
}

proptest! {
    #[test]
    fn lines_do_not_depend_on_where_the_chunks_are_cut(
        input in proptest::collection::vec(prop_oneof![Just(b'\n'), any::<u8>()], 0..300),
        cuts in proptest::collection::vec(0_usize..300, 0..12),
    ) {
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(input.len())).collect();
        cuts.sort_unstable();
        let mut chunks = Vec::new();
        let mut start = 0;
        for cut in cuts {
            chunks.push(&input[start..cut]);
            start = cut;
        }
        chunks.push(&input[start..]);
        let whole = split(&[&input], 1 << 20);
        let cut = split(&chunks, 1 << 20);
        prop_assert_eq!(&whole, &cut);
        let expected: Vec<&[u8]> = {
            let mut parts: Vec<&[u8]> = input.split(|byte| *byte == b'\n').collect();
            parts.pop();
            parts
        };
        let got: Vec<&[u8]> = whole
            .iter()
            .map(|line| match line {
                Line::Whole(bytes) => &bytes[..],
                Line::Oversize(_) => unreachable!("the limit is larger than any input"),
            })
            .collect();
        prop_assert_eq!(expected, got);
    }
}

#[test]
fn an_oversize_line_is_attributed_by_its_ends() {
    let line = |head: &str, tail: &str| LineEnds {
        bytes: 1 << 30,
        head: head.as_bytes().to_vec(),
        tail: tail.as_bytes().to_vec(),
    };
    let delta = line(
        r#"{"method":"item/agentMessage/delta","params":{"threadId":"T1","turnId":"x","delta":"aaa"#,
        r#"aaa"},"emittedAtMs":1}"#,
    );
    assert_eq!((delta.thread_id(), delta.response_id()), (Some("T1"), None));
    let item = line(
        r#"{"method":"item/completed","params":{"item":{"arguments":{"threadId":"EVIL"},"text":"aa"#,
        r#"\"threadId\":\"no\""},"threadId":"T2","turnId":"x"},"emittedAtMs":1}"#,
    );
    assert_eq!((item.thread_id(), item.response_id()), (Some("T2"), None));
    let response = line(r#"{"id":42,"result":{"data":["aaaa"#, r#"aaa"]}}"#);
    assert_eq!((response.thread_id(), response.response_id()), (None, Some(42)));
    let request = line(r#"{"id":42,"method":"x","params":{"a":"aaaa"#, r#"aaa"}}"#);
    assert_eq!((request.thread_id(), request.response_id()), (None, None));
}
