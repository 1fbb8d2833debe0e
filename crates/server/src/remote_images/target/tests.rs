use super::*;

/// Scheme, host, port, the header `host`, and path with query.
fn parts(target: &Target) -> (Scheme, &str, u16, &str, &str) {
    (target.scheme, &target.host, target.port, &target.authority, &target.path)
}

#[test]
fn addresses_are_taken_apart() {
    for (url, expected) in [
        ("http://a.example", (Scheme::Http, "a.example", 80, "a.example", "/")),
        ("HTTPS://a.example/b.png", (Scheme::Https, "a.example", 443, "a.example", "/b.png")),
        (
            "https://a.example:444?c=d#e",
            (Scheme::Https, "a.example", 444, "a.example:444", "/?c=d"),
        ),
        ("http://[2001:db8::1]:8/", (Scheme::Http, "2001:db8::1", 8, "[2001:db8::1]:8", "/")),
        ("http://1.2.3.4/%20", (Scheme::Http, "1.2.3.4", 80, "1.2.3.4", "/%20")),
        ("http://a.example/ü", (Scheme::Http, "a.example", 80, "a.example", "/%C3%BC")),
    ] {
        assert_eq!(parts(&Target::parse(url).unwrap()), expected, "{url}");
    }
}

#[test]
fn what_cannot_be_asked_is_refused() {
    for (url, error) in [
        ("", FetchError::InvalidUrl),
        ("http://", FetchError::InvalidUrl),
        ("http:///a.png", FetchError::InvalidUrl),
        ("http:a.png", FetchError::InvalidUrl),
        ("http://a.example/b c.png", FetchError::InvalidUrl),
        ("http://a.example/\r\nx: y", FetchError::InvalidUrl),
        ("http://a.example:99999/", FetchError::InvalidUrl),
        ("ftp://a.example/", FetchError::Scheme),
        ("file:///etc/passwd", FetchError::Scheme),
        ("http://me@a.example/", FetchError::Credentials),
        ("http://me:secret@a.example/", FetchError::Credentials),
        ("http://@a.example/", FetchError::Credentials),
    ] {
        assert_eq!(Target::parse(url), Err(error), "{url}");
    }
}

#[test]
fn redirects_are_relative_to_where_they_come_from() {
    let from = Target::parse("https://a.example:8/b/c?d").unwrap();
    for (location, expected) in [
        ("/x", (Scheme::Https, "a.example", 8, "a.example:8", "/x")),
        ("x?y", (Scheme::Https, "a.example", 8, "a.example:8", "/b/x?y")),
        ("../../x", (Scheme::Https, "a.example", 8, "a.example:8", "/x")),
        ("//e.example/x", (Scheme::Https, "e.example", 443, "e.example", "/x")),
        ("http://e.example/x", (Scheme::Http, "e.example", 80, "e.example", "/x")),
        ("/é", (Scheme::Https, "a.example", 8, "a.example:8", "/%C3%A9")),
    ] {
        assert_eq!(parts(&from.redirected(location).unwrap()), expected, "{location}");
    }
    for (location, error) in [
        ("/a b", FetchError::InvalidRedirect),
        ("gopher://a.example/", FetchError::Scheme),
        ("https://me:secret@a.example/", FetchError::Credentials),
    ] {
        assert_eq!(from.redirected(location), Err(error), "{location}");
    }
}
