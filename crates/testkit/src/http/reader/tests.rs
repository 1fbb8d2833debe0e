use super::*;

/// Every kind of framing, and what is read of it.
const RESPONSES: [(&str, u16, &str); 6] = [
    ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nwords", 200, "words"),
    ("HTTP/1.1 404 None\r\ncontent-length: 0\r\n\r\n", 404, ""),
    ("HTTP/1.1 100 Continue\r\n\r\n", 100, ""),
    ("HTTP/1.1 204 Nothing\r\nconnection: close\r\n\r\n", 204, ""),
    (
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\na\r\n\r\n00C;x=y\r\n0123456789ab\r\n0\r\n\r\n",
        200,
        "a\r\n0123456789ab",
    ),
    ("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n", 200, ""),
];

fn body(reader: &ResponseReader) -> &str {
    std::str::from_utf8(&reader.body).unwrap()
}

#[test]
fn a_response_is_the_same_however_its_bytes_are_cut() {
    for (text, status, expected) in RESPONSES {
        for most in 1..=text.len() {
            let mut reader = ResponseReader::default();
            let mut parts = text.as_bytes().chunks(most).peekable();
            while let Some(part) = parts.next() {
                assert_eq!(reader.push(part).unwrap(), parts.peek().is_none(), "{text} by {most}");
            }
            assert_eq!((reader.status, body(&reader)), (status, expected), "by {most}");
            assert_eq!((reader.wire_bytes, reader.is_clean()), (text.len(), true));
            assert_eq!(reader.head().unwrap().status, status);
        }
    }
}

#[test]
fn what_comes_behind_a_response_begins_the_next() {
    let all: String = RESPONSES.map(|(text, ..)| text).concat();
    for most in [1, 7, all.len()] {
        let mut reader = ResponseReader::default();
        let mut parts = all.as_bytes().chunks(most);
        for (text, status, expected) in RESPONSES {
            reader.begin();
            let mut is_whole = reader.push(b"").unwrap();
            while !is_whole {
                is_whole = reader.push(parts.next().unwrap()).unwrap();
            }
            let read = (reader.status, body(&reader), reader.wire_bytes);
            assert_eq!(read, (status, expected, text.len()), "by {most}");
        }
        assert!(reader.is_clean());
    }
}

#[test]
fn a_body_without_a_length_ends_with_the_connection() {
    for head in ["HTTP/1.0 200 OK\r\n\r\n", "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n"] {
        let mut reader = ResponseReader::default();
        assert!(!reader.push(head.as_bytes()).unwrap());
        assert!(!reader.push(b"words").unwrap());
        reader.close().unwrap();
        assert_eq!((reader.is_whole(), body(&reader)), (true, "words"));
    }
}

#[test]
fn a_connection_that_ends_earlier_is_a_cut() {
    for (text, ..) in RESPONSES {
        for end in 0..text.len() {
            let mut reader = ResponseReader::default();
            reader.push(&text.as_bytes()[..end]).unwrap();
            assert!(matches!(reader.close(), Err(Gone::Cut(_))), "{text} up to {end}");
        }
    }
}

#[test]
fn what_is_not_http_is_an_error() {
    for text in [
        "nonsense\r\n\r\n",
        "HTTP/1.1 200 OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\ncontent-length: some\r\n\r\n",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nx\r\n",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\nabc",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\nx: trailer\r\n\r\n",
    ] {
        let read = ResponseReader::default().push(text.as_bytes());
        assert!(matches!(read, Err(Gone::Unreadable(_))), "{text}: {read:?}");
    }
}
