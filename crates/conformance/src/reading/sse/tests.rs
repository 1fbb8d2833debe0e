use super::*;

fn event(name: Option<&str>, data: &str) -> Frame {
    Frame::Event { name: name.map(str::to_owned), data: data.to_owned() }
}

#[test]
fn frames_come_whole_however_they_are_cut() {
    let stream = b"event: status\ndata: {\"a\":\"\xc3\xa9\"}\n\n: alive\n\nevent: turn\r\n\
        data:{}\r\ndata\r\n\r\n: one\n: two\ndata: x\nid: 7\n\n\n\n: three\nevent: half\n";
    let expected = [
        (event(Some("status"), "{\"a\":\"é\"}"), true),
        (Frame::Comment("alive".to_owned()), true),
        (event(Some("turn"), "{}\n"), false),
        (Frame::Comment("one".to_owned()), false),
        (Frame::Comment("two".to_owned()), false),
        (event(None, "x"), false),
        (Frame::Comment("three".to_owned()), false),
        (Frame::Unfinished("\n\n: three\nevent: half\n".to_owned()), false),
    ];
    for length in 1..=stream.len() {
        let mut reader = SseReader::default();
        let mut received: Vec<_> =
            stream.chunks(length).flat_map(|part| reader.take(part)).collect();
        assert!(!reader.is_clean());
        received.extend(reader.end());
        let frames = received.into_iter().map(|received| (received.frame, received.is_plain));
        assert_eq!(frames.collect::<Vec<_>>(), expected, "{length}");
    }
}

#[test]
fn only_the_shortest_way_is_plain() {
    for (stream, is_plain) in [
        ("data: x\n\n", true),
        (": x\n\n", true),
        ("event: x\ndata: y\n\n", true),
        ("data:x\n\n", false),
        (":x\n\n", false),
        ("data: x\n\n\n", true),
        ("\ndata: x\n\n", false),
        ("data: x\ndata: y\n\n", false),
        ("data: x\r\n\r\n", false),
        ("retry: 1\ndata: x\n\n", false),
        ("data: y\nevent: x\n\n", false),
    ] {
        let mut reader = SseReader::default();
        let received = reader.take(stream.as_bytes());
        assert_eq!(
            received.iter().map(|one| one.is_plain).collect::<Vec<_>>(),
            [is_plain],
            "{stream:?}"
        );
        assert_eq!(reader.is_clean(), !stream.ends_with("\n\n\n"));
    }
    let mut reader = SseReader::default();
    assert!(!reader.take(b"data: \xff\n\n")[0].is_plain, "not UTF-8");
}
